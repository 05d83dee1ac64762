"""A drawn file and a question about it, as data: written by pyarrow, stored as JSON, and shrunk field by field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay.literals.predicate import (
    CONNECTIVES,
    MEMBERSHIPS,
    NEGATION,
    NULL_TESTS,
    Semantics,
    keeps,
    literal,
)
from pqassay_spec.golden.literals import Value, write_value
from pqassay_suite.cases.queries import as_json
from pqassay_suite.exploring.changes import Lie, changed
from pqassay_suite.exploring.kinds import KINDS, ColumnKind

FEW = {"ndv": 100}
"""The most distinct values of a bloom filter. With the default of a million, pyarrow fills a megabyte and folds it to the same bytes."""

Tree = tuple[Any, ...]
"""A predicate of the protocol whose values are those of the physical type."""


class QuestionError(ValueError):
    """A text that is not a question, or a file that cannot be written."""


@dataclass(frozen=True)
class DrawnColumn:
    """A column: its name, the name of its kind, a value for each row, whether it may be null, and its encoding."""

    name: str
    kind: str
    values: tuple[Any, ...]
    optional: bool = True
    encoding: str = "PLAIN"

    @property
    def of(self) -> ColumnKind:
        """Its kind."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class DrawnFile:
    """A file. Every field except the columns has a simple default.

    Attributes:
        columns: Its columns, all with the same number of values.
        row_group_rows: The most rows of a row group; all rows by default.
        page_rows: The most rows of a page; all rows by default.
        version: Version of the data pages.
        dictionary: Whether columns with encoding PLAIN have dictionaries.
        codec: Compression.
        statistics: Whether chunks have statistics.
        page_index: Whether there is a page index.
        bloom: Whether columns have bloom filters.
        checksums: Whether pages have CRCs.
        without: Optional fields to remove, see `pqassay_suite.exploring.changes.OPTIONAL`.
        lie: The false statement in it.
    """

    columns: tuple[DrawnColumn, ...]
    row_group_rows: int = 0
    page_rows: int = 0
    version: int = 1
    dictionary: bool = False
    codec: str = "none"
    statistics: bool = False
    page_index: bool = False
    bloom: bool = False
    checksums: bool = False
    without: tuple[str, ...] = ()
    lie: Lie | None = None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.columns[0].values)

    @cached_property
    def rows(self) -> list[dict[str, Value]]:
        """The rows of the file, as values of the protocol."""
        names = [column.name for column in self.columns]
        values = [column.of.values(column.values) for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]

    def written(self) -> bytes:
        """The bytes of the file.

        Raises:
            QuestionError: pyarrow cannot write it, or a change does not fit.
        """
        schema = pa.schema([pa.field(each.name, each.of.type, each.optional) for each in self.columns])
        out = BytesIO()
        options: dict[str, Any] = {
            "row_group_size": self.row_group_rows or max(self.count, 1),
            "data_page_version": f"{self.version}.0",
            "compression": self.codec,
            "write_statistics": self.statistics,
            "write_page_index": self.page_index,
            "write_page_checksum": self.checksums,
            "use_dictionary": self._dictionaries(),
            "column_encoding": {leaf: each.encoding for each in self.columns for leaf in _leaves(each) if each.encoding != "PLAIN"},
            "store_schema": False,
        }  # fmt: skip
        if self.page_rows:
            options |= {"max_rows_per_page": self.page_rows, "write_batch_size": self.page_rows}
        if self.bloom:
            options["bloom_filter_options"] = {
                leaf: FEW for each in self.columns for leaf in _leaves(each) if each.kind != "boolean"
            }
        try:
            arrays = [each.of.array(each.values) for each in self.columns]
            pq.write_table(pa.table(arrays, schema=schema), out, **options)
            return changed(out.getvalue(), self.without, self.lie)
        except (pa.ArrowException, ValueError, OSError) as error:
            raise QuestionError(str(error)) from None

    def _dictionaries(self) -> list[str] | bool:
        plain = [
            leaf
            for each in self.columns
            for leaf in _leaves(each)
            if each.encoding == "PLAIN" and each.kind != "boolean"
        ]
        return plain if self.dictionary and plain else False


def _leaves(column: DrawnColumn) -> list[str]:
    """The paths of a column's leaves."""
    if not column.of.is_nested:
        return [column.name]
    within = {"list": ["list.element"], "map": ["key_value.key", "key_value.value"], "struct": ["x", "y"]}
    return [f"{column.name}.{path}" for path in within[column.kind.partition("<")[0]]]


@dataclass(frozen=True)
class Question:
    """A file and a question about it.

    Attributes:
        file: The file.
        predicate: The condition on rows; ``None`` for a read of all rows.
        columns: The columns to return.
    """

    file: DrawnFile
    predicate: Tree | None
    columns: tuple[str, ...]

    @property
    def asked(self) -> list[Any]:
        """The predicate in the form of the protocol."""
        kinds = {column.name: column.of for column in self.file.columns}
        return [] if self.predicate is None else _asked(self.predicate, kinds)

    def truth(self, semantics: Semantics) -> list[list[Value]]:
        """The right rows, under the comparisons that the driver declares."""
        tree = self.asked
        kept = [row for row in self.file.rows if not tree or keeps(tree, row, semantics)]
        return [[row[name] for name in self.columns] for row in kept]

    def to_json(self) -> str:
        """One line that `from_json` reads. Default values are left out."""
        file: dict[str, Any] = {
            field.name: value
            for field in fields(DrawnFile)
            if (value := getattr(self.file, field.name)) != field.default
            and field.name not in ("columns", "lie")
        }
        file["columns"] = [
            {"name": each.name, "kind": each.kind, "values": [_plain(value) for value in each.values]}
            | ({} if each.optional else {"optional": False})
            | ({} if each.encoding == "PLAIN" else {"encoding": each.encoding})
            for each in self.file.columns
        ]
        if self.file.lie is not None:
            file["lie"] = asdict(self.file.lie)
        predicate = None if self.predicate is None else _plain(self.predicate)
        return json.dumps({"file": file, "predicate": predicate, "columns": self.columns})

    @staticmethod
    def from_json(text: str) -> Question:
        """Parse the result of `to_json`.

        Raises:
            QuestionError: The text is not a question.
        """
        try:
            members = json.loads(text)
            file = members["file"]
            columns = tuple(
                DrawnColumn(**{**each, "values": _raw(each["values"])}) for each in file.pop("columns")
            )
            lie = Lie(**told) if (told := file.pop("lie", None)) else None
            without = tuple(file.pop("without", ()))
            predicate = None if members["predicate"] is None else _raw(members["predicate"])
            question = Question(
                DrawnFile(columns, without=without, lie=lie, **file), predicate, tuple(members["columns"])
            )
            question.truth(Semantics())
            question.file.written()
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, pa.ArrowException) as error:
            raise QuestionError(f"not a question as `pqassay suite explore` prints it: {error!r}") from None
        return question


def columns_asked(tree: Tree | None) -> list[str]:
    """The columns in a predicate, without repetition."""
    return list(dict.fromkeys(part[1] for part in parts_of(tree)))


def parts_of(tree: Tree | None) -> list[Tree]:
    """The comparisons and tests of a predicate."""
    if tree is None:
        return []
    if tree[0] in CONNECTIVES or tree[0] == NEGATION:
        return [each for part in tree[1:] for each in parts_of(part)]
    return [tree]


def _asked(tree: Tree, kinds: dict[str, ColumnKind]) -> list[Any]:
    if tree[0] in CONNECTIVES or tree[0] == NEGATION:
        return [tree[0], *(_asked(part, kinds) for part in tree[1:])]
    if tree[0] in NULL_TESTS:
        return list(tree)
    values: Sequence[Any] = tree[2] if tree[0] in MEMBERSHIPS else (tree[2],)
    written = [as_json(write_value(value)) for value in kinds[tree[1]].values(values)]
    return [tree[0], tree[1], written if tree[0] in MEMBERSHIPS else written[0]]


def _plain(value: Any) -> Any:
    """A value of the physical type in JSON; bytes, and numbers that JSON lacks, have a tag."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return (
        {name: _plain(each) for name, each in value.items()}
        if isinstance(value, dict)
        else as_json(write_value(value))
    )


def _raw(value: Any) -> Any:
    """The inverse of `_plain`; lists become tuples, so questions can be compared."""
    if isinstance(value, list):
        return tuple(_raw(each) for each in value)
    if isinstance(value, dict) and len(value) > 1:
        return {name: _raw(each) for name, each in value.items()}
    return literal(value)
