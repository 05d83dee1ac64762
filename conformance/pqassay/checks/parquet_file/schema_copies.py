"""Checks of copies of the schema in the footer's key-value metadata, which some readers use as the schema.

All rules about a copy are evaluated at once. This module only declares the name and the reason of each rule.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import wraps

from pqassay.checks import rule
from pqassay.checks.subjects import FOOTER, Subject
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import Broken, FileUnderTest, Hindrances, NotChecked
from pqassay.under_test.footer_parts import KeyValueUnderTest
from pqassay.under_test.schemas.arrow_copy import arrow_faults, arrow_meaning
from pqassay.under_test.schemas.geo_copy import GEO_KEY, geo_faults, planar_boxes
from pqassay.under_test.schemas.pandas_copy import PANDAS_KEY, pandas_faults
from pqassay.under_test.schemas.schema_copies import LONGEST, Copies, Faults
from pqassay.under_test.schemas.spark_copy import spark_faults
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_spec.parquet.schema.tree import SchemaNode, schema_tree
from pqassay_spec.parquet.schema_copies.arrow import ARROW_KEY
from pqassay_spec.parquet.schema_copies.arrow_types import KEEP_UNITS
from pqassay_spec.parquet.schema_copies.spark_types import SPARK_KEY
from pqassay_spec.parquet.thrift import BoundingBox
from pqassay_spec.rules import created_by

Declaration = Callable[[], None]
"""A function without code: its name is the obligation of the rule, its docstring the reason."""


class CopyRules:
    """The rules about the values of one key.

    Args:
        what: The name of such a value in messages.
        key: The key.
        find: Finds all faults of a value.
        readable: The rule that the value can be read. If it is broken, the other rules are not checked.
    """

    def __init__(self, what: str, key: str, find: Faults, *, readable: str) -> None:
        self._key, self._readable, self._copies = key, readable, Copies(find)
        self.subject = Subject(what, self._pairs, shape=self._copies.shape)

    def __call__(
        self, rule_id: str, *, only: Callable[[KeyValueUnderTest], bool] | None = None
    ) -> Callable[[Declaration], Declaration]:
        """Declare one of the rules; ``only`` selects the values to which it applies."""

        def register(declaration: Declaration) -> Declaration:
            @rule(rule_id, of=self.subject, only=only)
            @wraps(declaration)
            def test(pair: KeyValueUnderTest) -> Iterator[Violation]:
                return self._violations(pair, rule_id)

            return declaration

        return register

    def require_readable(self, pair: KeyValueUnderTest) -> None:
        """Raise `Broken` if a value cannot be read."""
        if any(fault.rule == self._readable for fault in self._copies.faults(pair)):
            raise Broken(self._readable)

    def _pairs(self, file: FileUnderTest) -> list[KeyValueUnderTest]:
        """The pairs with the key that have a value."""
        return [
            KeyValueUnderTest(file, "key_value_metadata", number, pair)
            for number, pair in enumerate(file.key_values)
            if pair.key == self._key and pair.value is not None
        ]

    def _violations(self, pair: KeyValueUnderTest, rule_id: str) -> Iterator[Violation]:
        if rule_id != self._readable:
            self.require_readable(pair)
        unknown = Hindrances()
        for fault in self._copies.faults(pair):
            if fault.rule == rule_id and fault.is_unknown:
                unknown.note(NotChecked(f"{self._key}: {fault.message}", "tool"), fault.column)
            elif fault.rule == rule_id:
                message = f"{self._key}: {fault.message}"
                yield Violation(
                    message, pair.field / "value", fault.expected, fault.actual, column=fault.column
                )
        unknown.raise_any()


arrow_rule = CopyRules("ARROW:schema", ARROW_KEY, arrow_faults, readable="PQF-111")
"""Rules about the copy that Arrow stores."""


@arrow_rule("PQF-111")
def arrow_copy_can_be_read() -> None:
    """Readers that use the copy refuse the whole file if they cannot read it."""


@arrow_rule("PQF-112")
def arrow_copy_has_the_same_fields() -> None:
    """Readers go through both schemas side by side."""


@arrow_rule("PQF-113")
def arrow_copy_has_types_of_the_columns() -> None:
    """A reader that follows the copy returns values other than the stored ones."""


@arrow_rule("PQF-114")
def arrow_copy_contradicts_no_column() -> None:
    """Readers use the type of the column, but not all readers do."""


def _keeps_units(pair: KeyValueUnderTest) -> bool:
    writer = created_by.parse(pair.file.metadata.created_by or "")
    return writer is not None and any(fnmatchcase(writer.application, name) for name in KEEP_UNITS)


@arrow_rule("PQF-142", only=_keeps_units)
def arrow_copy_has_units_of_the_columns() -> None:
    """One of the units is wrong, so times of 2024 appear as times of 1970."""


spark_rule = CopyRules("schema of Spark", SPARK_KEY, spark_faults, readable="PQF-115")
"""Rules about the copy that Spark stores."""


@spark_rule("PQF-115")
def spark_copy_can_be_read() -> None:
    """Spark ignores a copy that it cannot read, and with it all information that only the copy has."""


@spark_rule("PQF-116")
def spark_copy_has_the_columns() -> None:
    """Spark reads the columns that the copy lists, and returns nulls for missing columns."""


@spark_rule("PQF-117")
def spark_copy_has_types_of_the_columns() -> None:
    """Spark reads values with the types of the copy: it fails, or returns other values."""


pandas_rule = CopyRules("frame of pandas", PANDAS_KEY, pandas_faults, readable="PQF-118")
"""Rules about the description of a pandas frame."""


@pandas_rule("PQF-118")
def pandas_copy_can_be_read() -> None:
    """The frame is built from it, and pandas reads nothing if that fails."""


@pandas_rule("PQF-119")
def pandas_index_is_in_the_file() -> None:
    """A reader that looks for the index fails."""


@pandas_rule("PQF-144")
def pandas_copy_has_types_of_the_columns() -> None:
    """The column is converted to this type by pandas: the conversion fails, or returns other values."""


geo_rule = CopyRules("GeoParquet document", GEO_KEY, geo_faults, readable="PQF-120")
"""Rules about the description of geometry columns."""


@geo_rule("PQF-120")
def geo_document_can_be_read() -> None:
    """Readers that know GeoParquet refuse the whole file if they cannot read it."""


@geo_rule("PQF-121")
def geo_document_describes_columns() -> None:
    """A geometry column without a description is read as bytes."""


_MEANINGS: dict[str, Callable[[str, SchemaNode], object]] = {
    ARROW_KEY: arrow_meaning,
    **{key: lambda value, _: json.loads(value) for key in (SPARK_KEY, PANDAS_KEY, GEO_KEY)},
}
"""The function that parses a copy of each key, for comparison. It raises `Malformed`, `ValueError` or `RecursionError` if it cannot."""


def _copies(file: FileUnderTest) -> dict[str, list[tuple[int, str]]]:
    """The values of each key, each with its position."""
    found: dict[str, list[tuple[int, str]]] = {}
    for number, pair in enumerate(file.key_values):
        if pair.key in _MEANINGS and pair.value is not None:
            found.setdefault(pair.key, []).append((number, pair.value))
    return found


@rule("PQF-186", of=FOOTER, only=lambda file: bool(_copies(file)))
def copies_of_one_key_agree(file: FileUnderTest) -> Iterator[Violation]:
    """Some readers use the first copy, others the last."""
    for key, copies in _copies(file).items():
        said = list(_said(file, key, copies)) if len(copies) > 1 else []
        for number, meaning in said[1:]:
            if meaning != said[0][1]:
                field = in_footer(file, f"key_value_metadata[{number}]") / "value"
                message = f"{key} occurs {len(copies)} times, and copy {number} differs from {said[0][0]}"
                yield Violation(message, field, f"the same as copy {said[0][0]}", "something else")


def _said(file: FileUnderTest, key: str, copies: Iterable[tuple[int, str]]) -> Iterator[tuple[int, object]]:
    """The parsed content of each readable copy; other rules report the unreadable copies."""
    _ = file.leaves
    root = schema_tree(file.metadata.schema)
    for number, value in copies:
        if len(value) > LONGEST:
            raise NotChecked(
                f"{key} is longer than {LONGEST:,} characters, the most that pqassay reads", "tool"
            )
        with suppress(Malformed, ValueError, RecursionError):
            yield number, _MEANINGS[key](value, root)


def _has_boxes(pair: KeyValueUnderTest) -> bool:
    return bool(_boxes(pair.file))


def _boxes(file: FileUnderTest) -> list[tuple[ColumnChunkUnderTest, BoundingBox]]:
    """The geometry boxes of each chunk."""
    return [
        (chunk, geospatial.bbox)
        for chunk in file.part(ColumnChunks).all
        if (geospatial := chunk.facts.geospatial_statistics) is not None
        and geospatial.bbox is not None
        and (logical := chunk.leaf.element.logicalType) is not None
        and logical.GEOMETRY is not None
    ]


# Without a shape: it depends on data that no copy of the schema has.
_GEO_DOCUMENT = Subject("geo document", geo_rule.subject.find)


@rule("PQF-143", of=_GEO_DOCUMENT, only=_has_boxes)
def geo_boxes_hold_those_of_the_chunks(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """A reader that selects files by the box of a document misses geometries outside it."""
    geo_rule.require_readable(pair)
    described = planar_boxes(pair.part.value or "")
    for chunk, box in _boxes(pair.file):
        for span in described.get(chunk.column, []):
            low, high = getattr(box, f"{span.axis}min"), getattr(box, f"{span.axis}max")
            if low is not None and high is not None and low <= high and span.lacks(low, high):
                yield Violation(
                    f"geo: the bbox of column {chunk.column} is {span.axis} {span.low} to {span.high}, "
                    f"and row group {chunk.row_group} has {low} to {high}",
                    pair.field / "value",
                    expected=f"{span.axis} from {low} to {high} at least",
                    actual=f"{span.low} to {span.high}",
                    column=chunk.column,
                    row_group=chunk.row_group,
                )
