"""Measure how often the wrong side is named when values and metadata contradict each other: ``docs/data/weighing.json``.

Small files without CRCs are damaged: either bytes of pages, or claims about them. They are checked at tier ``values``; only files with a
contradiction count. The guide shows the table on the site.
"""

from __future__ import annotations

import io
import json
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pqassay
from pqassay.report.weighing import SIDES, Side, worst
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.file_tree import ChunkParts, FileTree, Page

FIGURES = Path(__file__).parents[1] / "docs/data/weighing.json"

ROWS, PAGES = 240, 4

Raws = np.ndarray[Any, Any]
Draw = np.random.Generator

WORDS = (
    ("adit", "assay", "bar", "collar", "drift", "gold", "ore", "shaft"),
    ("copper", "crosscut", "flux", "gangue", "lode", "slag", "tin", "vein"),
)


def _numbers(draw: Draw, of: int) -> Any:
    return draw.integers(-500 + 900 * of, 5000 + 900 * of, ROWS)


COLUMNS: Mapping[str, tuple[pa.DataType, str, Callable[[Draw, int], Any]]] = {
    "int32": (pa.int32(), "<i", _numbers),
    "ascending": (pa.int64(), "<q", lambda _, of: np.arange(1000, 1000 + ROWS) + 300 * of),
    "few": (pa.int64(), "<q", lambda draw, of: draw.integers(1 + of, 9 + 3 * of, ROWS)),
    "double": (pa.float64(), "<d", lambda draw, of: draw.normal(20 + 8 * of, 5, ROWS).round(2)),
    "float": (pa.float32(), "<f", lambda draw, of: draw.normal(-3 + 8 * of, 5, ROWS).astype(np.float32)),
    "time": (pa.int64(), "<q", lambda draw, of: 16 * 10**14 + draw.integers(0, 10**13, ROWS) + of * 10**12),
    "decimal": (pa.decimal128(30, 2), "", lambda draw, of: [Decimal(int(each)) / 100 for each in _numbers(draw, of)]),
    "number in text": (pa.string(), "", lambda draw, of: [f"{'kn'[of]}{each:05d}" for each in draw.integers(0, 10**5, ROWS)]),
    "words": (pa.string(), "", lambda draw, of: [" ".join(WORDS[of][each] for each in row) for row in draw.integers(0, 8, (ROWS, 3))]),
}  # fmt: skip
"""Kinds of columns: type, conversion of a value to bytes, and values of column ``a`` (0) and of its neighbor ``b`` (1)."""


class Setting(NamedTuple):
    """The structures of a file."""

    has_index: bool
    has_filter: bool
    pages: int
    has_dictionary: bool
    is_nullable: bool


SETTINGS = [
    Setting(has_index, has_filter, pages, has_dictionary, is_nullable)
    for has_index, has_filter in ((False, False), (True, False), (False, True), (True, True))
    for pages in (1, PAGES)
    for has_dictionary, is_nullable in ((False, False), (True, False), (False, True))
]


@dataclass
class Written:
    """A file before it is damaged.

    Attributes:
        kind: The kind of its two columns.
        setting: The structures of the file.
        data: Its bytes.
        values: The non-null values of column ``a``, by page.
        other: The non-null values of column ``b``, by page.
    """

    kind: str
    setting: Setting
    data: bytes
    values: list[list[Any]]
    other: list[list[Any]]

    @property
    def tree(self) -> FileTree:
        """The parsed file."""
        return take_apart(self.data)

    def raw(self, value: Any) -> bytes:
        """A value as bytes."""
        _, form, _ = COLUMNS[self.kind]
        if form:
            return struct.pack(form, value)
        if isinstance(value, str):
            return value.encode()
        return int(value * 100).to_bytes(13, "big", signed=True)


@cache
def written(kind: str, setting: Setting) -> Written:
    """A file of two columns."""
    draw = np.random.default_rng(0)
    data_type, _, drawn = COLUMNS[kind]
    lists = [np.asarray(drawn(draw, of)).tolist() for of in (0, 1)]
    if setting.is_nullable:
        lists = [[None if row % 9 == 4 else value for row, value in enumerate(each)] for each in lists]
    schema = pa.schema([pa.field(name, data_type, setting.is_nullable) for name in "ab"])
    filters = {name: {"ndv": ROWS, "fpp": 0.001} for name in "ab"}
    out = io.BytesIO()
    step = ROWS // setting.pages
    more: Any = {"bloom_filter_options": filters} if setting.has_filter else {}
    pq.write_table(
        pa.Table.from_arrays([pa.array(each, data_type) for each in lists], schema=schema),
        out,
        compression="none",
        use_dictionary=setting.has_dictionary,
        write_page_index=setting.has_index,
        data_page_size=1 if setting.pages > 1 else 1 << 20,
        write_batch_size=step,
        **more,
    )
    pages = [
        [
            [value for value in each[start : start + step] if value is not None]
            for start in range(0, ROWS, step)
        ]
        for each in lists
    ]
    return Written(kind, setting, out.getvalue(), *pages)


# ------------------------------------------------------------------------------------------------ damaged values

WIDTHS = {"<i": 4, "<q": 8, "<d": 8, "<f": 4}


def _width(kind: str) -> int:
    """The size of a value in bytes; 0 for texts."""
    return WIDTHS.get(COLUMNS[kind][1], 13 if kind == "decimal" else 0)


def _value_pages(chunk: ChunkParts) -> list[Page]:
    """The pages with values; the dictionary page, if there is one."""
    return [page for page in chunk.pages if page.header.dictionary_page_header is not None] or chunk.pages


def _levels(page: Page, setting: Setting) -> int:
    """The number of bytes of levels before the values of a page."""
    has_levels = setting.is_nullable and page.header.dictionary_page_header is None
    return 4 + int.from_bytes(page.body[:4], "little") if has_levels else 0


def _rows(change: Callable[[Raws], Raws]) -> ValueDamage:
    def damage(content: bytes, width: int, _: Draw) -> bytes:
        if not width:
            return content
        return np.ascontiguousarray(change(np.frombuffer(content, np.uint8).reshape(-1, width))).tobytes()

    return damage


ValueDamage = Callable[[bytes, int, Draw], bytes]
"""A function ``(values, width of one, draw)`` that returns other bytes; unchanged if the damage is impossible."""


def _flipped(content: bytes, _: int, draw: Draw) -> bytes:
    changed = bytearray(content)
    changed[int(draw.integers(0, len(content)))] ^= 1 << int(draw.integers(0, 8))
    return bytes(changed)


def _noise(content: bytes, _: int, draw: Draw) -> bytes:
    at = int(draw.integers(0, max(len(content) - 24, 1)))
    return content[:at] + draw.bytes(min(24, len(content) - at)) + content[at + 24 :]


def _characters(content: bytes, width: int, draw: Draw) -> bytes:
    changed, at = bytearray(content), 0
    while at < len(content) and not width:
        length = int.from_bytes(content[at : at + 4], "little")
        if draw.integers(0, 6) == 0 and length:
            changed[at + 4 + int(draw.integers(0, min(length, 3)))] ^= 1 << int(draw.integers(0, 8))
        at += 4 + length
    return bytes(changed)


VALUES_OF_OTHERS = ("values of another column", "values of another page")

DAMAGES_IN_PLACE: Mapping[str, ValueDamage] = {
    "bytes of values in another order": _rows(lambda rows: rows[:, ::-1]),
    "values shifted by a byte": _rows(lambda rows: np.append(rows.reshape(-1)[1:], 0).astype(np.uint8)),
    "values split into streams": _rows(lambda rows: rows.T),
    "zeros": _rows(np.zeros_like),
    "noise": _rows(lambda rows: np.random.default_rng(len(rows)).integers(0, 256, rows.shape, np.uint8)),
    "some bytes of noise": _noise,
    "a flipped bit": _flipped,
    "changed characters": _characters,
}


def with_damaged_values(file: Written, how: str, draw: Draw, *, in_all: bool) -> bytes:
    """The file with changed bytes in one page, or in all pages."""
    tree = file.tree
    chunk, beside = (tree.row_groups[0].columns[number] for number in (0, 1))
    pages, of_others = _value_pages(chunk), _value_pages(beside)
    if how == "values of another page":
        of_others = [*pages[1:], pages[0]]
    bodies = [page.body for page in of_others]
    chosen = range(len(pages)) if in_all else [int(draw.integers(0, len(pages)))]
    for number in chosen:
        page = pages[number]
        start = _levels(page, file.setting)
        content = page.body[start:]
        if how in VALUES_OF_OTHERS:
            other = bodies[number][_levels(of_others[number], file.setting) :]
            content = other if len(other) == len(content) else content
        else:
            content = DAMAGES_IN_PLACE[how](content, _width(file.kind), draw)
        page.body = page.body[:start] + content
    return put_together(tree, ())


# ---------------------------------------------------------------------------------------------- damaged metadata


Falsehood = Callable[[list[list[Any]], list[list[Any]]], tuple[list[Any], list[Any]]]
"""A function ``(values by part, those of the other column)`` that returns false bounds of each part."""


def _near(value: Any, way: int) -> Any:
    """A value that is slightly less or greater."""
    if isinstance(value, str):
        return value[:-1] if way < 0 else value + "0"
    return value + way * (Decimal("0.01") if isinstance(value, Decimal) else 1)


def _coarse(value: Any) -> Any:
    """A value rounded to fewer digits."""
    if isinstance(value, str):
        return value[:4]
    return type(value)(value // 10 * 10)


FALSEHOODS: Mapping[str, Falsehood] = {
    "greatest value left out": lambda own, _: ([min(part) for part in own], [sorted(set(part))[-2] for part in own]),
    "bounds of half of the values": lambda own, _: ([min(part[: len(part) // 2]) for part in own], [max(part[: len(part) // 2]) for part in own]),
    "upper bound a little too low": lambda own, _: ([min(part) for part in own], [_near(max(part), -1) for part in own]),
    "both bounds a little too narrow": lambda own, _: ([_near(min(part), 1) for part in own], [_near(max(part), -1) for part in own]),
    "digits cut off both bounds": lambda own, _: ([_coarse(min(part)) for part in own], [_coarse(max(part)) for part in own]),
    "bounds of another column": lambda _, other: ([min(part) for part in other], [max(part) for part in other]),
    "bounds of another page or row group": lambda own, _: _of_the_next(own),
    "bounds of the values before an update": lambda own, _: _before(own),
    "zeros or nothing as bounds": lambda own, _: ([type(part[0])() for part in own], [type(part[0])() for part in own]),
}  # fmt: skip


def _of_the_next(values: list[list[Any]]) -> tuple[list[Any], list[Any]]:
    if len(values) == 1:
        third = len(values[0]) // 3
        return [min(values[0][:third])], [max(values[0][:third])]
    turned = [*values[1:], values[0]]
    return [min(part) for part in turned], [max(part) for part in turned]


def _before(values: list[list[Any]]) -> tuple[list[Any], list[Any]]:
    """The bounds of parts in which one value was different."""
    lows, highs = list[Any](), list[Any]()
    for part in values:
        old = list(part)
        old.remove(max(old))
        lows.append(min(old))
        highs.append(max(old))
    return lows, highs


WHERE = ("the chunk", "the pages", "both")


def with_false_claims(file: Written, how: str, where: str) -> bytes:
    """The file with false bounds of its first column."""
    tree = file.tree
    facts: Any = tree.footer.row_groups[0].columns[0].meta_data
    statistics = facts.statistics
    index = tree.row_groups[0].columns[0].column_index
    if where != "the pages":
        whole = [[value for part in each for value in part] for each in (file.values, file.other)]
        lows, highs = FALSEHOODS[how]([whole[0]], [whole[1]])
        statistics.min_value, statistics.max_value = file.raw(lows[0]), file.raw(highs[0])
        statistics.min = statistics.max = None
        if lows[0] > highs[0]:
            return file.data
    if where != "the chunk":
        if index is None:
            return file.data
        lows, highs = FALSEHOODS[how](file.values, file.other)
        index.min_values, index.max_values = list(map(file.raw, lows)), list(map(file.raw, highs))
        index.boundary_order = type(index.boundary_order)(0)
        if any(low > high for low, high in zip(lows, highs, strict=True)):
            return file.data
    return put_together(tree, ())


def with_other_filter(file: Written, how: str, draw: Draw) -> bytes:
    """The file with a false bloom filter of its first column."""
    tree = file.tree
    first, other = (tree.row_groups[0].columns[number].bloom_filter for number in (0, 1))
    if first is None or other is None:
        return file.data
    if how == "filter of another column":
        first.bitset = other.bitset
    else:
        bits = np.unpackbits(np.frombuffer(first.bitset, np.uint8))
        bits[draw.choice(np.flatnonzero(bits), max(1, int(bits.sum()) // 50), replace=False)] = 0
        first.bitset = np.packbits(bits).tobytes()
    return put_together(tree, ())


# ------------------------------------------------------------------------------------------------------- measure


class Trial(NamedTuple):
    """A damaged file: which side is wrong, how, and its bytes."""

    wrong: Side
    how: str
    data: bytes


def trials(kinds: Iterable[str] = COLUMNS) -> Iterator[Trial]:
    """Yield all damaged files with columns of some kinds."""
    draw = np.random.default_rng(1000)
    for kind in kinds:
        for setting in SETTINGS:
            file = written(kind, setting)
            yield from (trial for trial in _of_file(file, draw) if trial.data != file.data)


def _of_file(file: Written, draw: Draw) -> Iterator[Trial]:
    for how in (*DAMAGES_IN_PLACE, *VALUES_OF_OTHERS):
        for in_all in {False, file.setting.pages > 1 and how != "values of another page"}:
            yield Trial("values", how, with_damaged_values(file, how, draw, in_all=in_all))
    for how in FALSEHOODS:
        for where in WHERE:
            yield Trial("metadata", how, with_false_claims(file, how, where))
    for how in ("filter of another column", "bits missing in a filter"):
        yield Trial("metadata", how, with_other_filter(file, how, draw))


def answered(data: bytes) -> Side | None:
    """The side that a report names as more likely wrong; ``None`` if nothing was weighed."""
    findings = pqassay.check(data, tier="values").files[0].findings
    weighed = worst(each.weighed for each in findings if each.weighed is not None)
    return weighed.wrong if weighed is not None else None


def main() -> None:
    """Measure, and store the figures."""
    counts: dict[tuple[Side, str], Counter[Side]] = {}
    for trial in trials():
        if (side := answered(trial.data)) is not None:
            counts.setdefault((trial.wrong, trial.how), Counter())[side] += 1
    kinds = [{"wrong": wrong, "how": how, **{side: count[side] for side in SIDES}} for (wrong, how), count in counts.items()]  # fmt: skip
    FIGURES.write_text("[\n " + ",\n ".join(map(json.dumps, kinds)) + "\n]\n")


if __name__ == "__main__":
    main()
