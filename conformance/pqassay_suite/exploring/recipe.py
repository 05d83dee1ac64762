"""A finding as the recipe of a golden case for the tiny writer of golden files, if that writer supports it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pqassay_spec.mutation.mutations import Inapplicable
from pqassay_suite.exploring.changes import lie_in
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question

CODECS = {"gzip": "GZIP"}
"""Codecs of the tiny writer by their names in pyarrow; its LZ4 is the deprecated one, which pyarrow does not write."""

ENCODINGS = {"DELTA_BINARY_PACKED": "delta", "BYTE_STREAM_SPLIT": "split", "RLE": "runs"}
"""The field of a layout that selects an encoding."""

WITHOUT = {"bounds": "bounds", "null_count": "null_count", "null_counts": "null_counts"}
"""The field of a layout that removes an optional field."""

BY_DEFAULT = frozenset({"exactness", "deprecated bounds", "size_statistics", "encoding_stats", "histograms"})
"""Parts that the tiny writer omits by default."""


def recipe(question: Question, name: str, title: str) -> str:
    """The lines of the recipe; the last lines list the differences of the tiny writer.

    A lie is a separate case, made from the valid one by a mutation.
    """
    file = question.file
    layouts = [_layout(file, column) for column in file.columns]
    is_common = len(set(layouts)) == 1
    columns = [
        _column(column, "" if is_common else layout)
        for column, layout in zip(file.columns, layouts, strict=True)
    ]
    lines = [f"good({_text(name)}, {_text(title)}, TinyParquet("]
    lines.append(f"    ({', '.join(columns)},),")
    arguments = {
        "row_group_rows": file.row_group_rows or None,
        "page_index": file.page_index or None,
        "bloom_filters": tuple(each.name for each in file.columns if not each.of.is_nested)
        if file.bloom
        else None,
        "statistics": None if file.statistics else False,
    }
    lines += [f"    {key}={value!r}," for key, value in arguments.items() if value is not None]
    if is_common:
        lines.append(f"    layout=Layout({layouts[0]}),")
    lines.append(f"), {_literal(tuple(question.asked)) if question.asked else '()'})")
    if file.lie:
        lines.append(_lie(question, name))
    return "\n".join([*lines, *(f"# not by the tiny writer: {words}" for words in _lacking(file))])


def _column(column: DrawnColumn, layout: str) -> str:
    kind = column.of.recipe or _text(column.kind)
    is_list = column.of.is_nested
    values = [list(value) if is_list and isinstance(value, tuple) else value for value in column.values]
    optional = "" if column.optional else ", optional=False"
    own = f", layout=Layout({layout})" if layout else ""
    return f"Column({_text(column.name)}, {kind}, {_literal(values)}{optional}{own})"


def _layout(file: DrawnFile, column: DrawnColumn) -> str:
    """The arguments of a column's layout."""
    has_dictionary = file.dictionary and column.encoding == "PLAIN" and column.kind != "boolean"
    arguments: dict[str, Any] = {
        "page_rows": file.page_rows or None,
        "version": 2 if file.version == 2 else None,
        "dictionary": "Encoding.RLE_DICTIONARY" if has_dictionary else None,
        ENCODINGS.get(column.encoding, ""): True if column.encoding in ENCODINGS else None,
        "codec": f"CompressionCodec.{CODECS[file.codec]}"
        if file.codec in CODECS and file.version == 1
        else None,
        "crc": None if file.checksums else False,
        "exact": True if file.statistics and "exactness" not in file.without else None,
        **{WITHOUT[name]: False for name in file.without if name in WITHOUT},
    }
    return ", ".join(f"{key}={value}" for key, value in arguments.items() if value is not None)


def _lie(question: Question, name: str) -> str:
    lie = question.file.lie
    if lie is None:
        return ""
    try:
        mutation = lie_in(replace(question.file, lie=None).written(), lie)
    except Inapplicable as error:
        return f"# {error}"
    told = f"Mutation({_text(mutation.op)}, {_text(mutation.path)}, {mutation.to!r})"
    return f'bad("{name}-lie", {_text(lie.name.capitalize())}, "Rows are lost.", {_text(name)}, {told})'


def _lacking(file: DrawnFile) -> list[str]:
    encodings = {each.encoding for each in file.columns} - {"PLAIN", *ENCODINGS}
    is_packed = file.codec == "none" or (file.codec in CODECS and file.version == 1)
    codec = [] if is_packed else [f"the codec {file.codec} in pages of version {file.version}"]
    without = [f"no {name}" for name in file.without if name not in WITHOUT and name not in BY_DEFAULT]
    return [*(f"the encoding {name}" for name in sorted(encodings)), *codec, *without]


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _literal(value: Any) -> str:
    """A value as a Python literal; floats without a literal are written as `float("nan")`."""
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):  # noqa: PLR0124 - NaN equals nothing
        return f'float("{value}")'
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, list | tuple):
        parts = ", ".join(map(_literal, value))
        return f"[{parts}]" if isinstance(value, list) else f"({parts},)" if len(value) == 1 else f"({parts})"
    return repr(value)
