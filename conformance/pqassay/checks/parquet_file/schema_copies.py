"""Checks of copies of the schema in the footer's key-value metadata, which readers take for the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import Subject
from pqassay.under_test.arrow_copy import arrow_faults
from pqassay.under_test.file import Broken, FileUnderTest
from pqassay.under_test.footer_parts import KeyValueUnderTest
from pqassay.under_test.geo_copy import GEO_KEY, geo_faults
from pqassay.under_test.pandas_copy import PANDAS_KEY, pandas_faults
from pqassay.under_test.schema_copies import Copies
from pqassay.under_test.spark_copy import spark_faults
from pqassay.under_test.violation import Violation
from pqassay_spec.parquet.arrow_schema import ARROW_KEY
from pqassay_spec.parquet.spark_types import SPARK_KEY


def _pairs(key: str) -> Callable[[FileUnderTest], list[KeyValueUnderTest]]:
    """The pairs of a key that have a value."""

    def find(file: FileUnderTest) -> list[KeyValueUnderTest]:
        return [
            KeyValueUnderTest(file, "key_value_metadata", number, pair)
            for number, pair in enumerate(file.key_values)
            if pair.key == key and pair.value is not None
        ]

    return find


def _violations(copies: Copies, pair: KeyValueUnderTest, rule_id: str, *needed: str) -> Iterator[Violation]:
    """The faults of a copy by which a rule is broken; ``needed`` are the rules that say whether it can be read."""
    faults = copies.faults(pair)
    for fault in faults:
        if fault.rule in needed:
            raise Broken(fault.rule)
    for fault in faults:
        if fault.rule == rule_id:
            message = f"{pair.part.key}: {fault.message}"
            field = pair.field / "value"
            yield Violation(message, field, fault.expected, fault.actual, column=fault.column)


ARROW = Copies(arrow_faults)
ARROW_COPY = Subject("ARROW:schema", _pairs(ARROW_KEY))
"""A copy that Arrow keeps."""


@rule("PQF-111", of=ARROW_COPY, screen=ARROW.is_sound)
def arrow_copy_can_be_read(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """Readers that look for it refuse the whole file if they cannot read it."""
    yield from _violations(ARROW, pair, "PQF-111")


@rule("PQF-112", of=ARROW_COPY, screen=ARROW.is_sound)
def arrow_copy_has_the_same_fields(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """Readers go through both schemas side by side."""
    yield from _violations(ARROW, pair, "PQF-112", "PQF-111")


@rule("PQF-113", of=ARROW_COPY, screen=ARROW.is_sound)
def arrow_copy_has_types_of_the_columns(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """A reader that follows the copy returns other values than are stored."""
    yield from _violations(ARROW, pair, "PQF-113", "PQF-111")


@rule("PQF-114", of=ARROW_COPY, screen=ARROW.is_sound)
def arrow_copy_contradicts_no_column(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """Readers take the type of the column, until one does not."""
    yield from _violations(ARROW, pair, "PQF-114", "PQF-111")


SPARK = Copies(spark_faults)
SPARK_COPY = Subject("schema of Spark", _pairs(SPARK_KEY))
"""A copy that Spark keeps."""


@rule("PQF-115", of=SPARK_COPY, screen=SPARK.is_sound)
def spark_copy_can_be_read(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """Spark drops what it cannot read, and what only the copy says with it."""
    yield from _violations(SPARK, pair, "PQF-115")


@rule("PQF-116", of=SPARK_COPY, screen=SPARK.is_sound)
def spark_copy_has_the_columns(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """Spark reads the columns that the copy lists, and returns nulls for those that are not there."""
    yield from _violations(SPARK, pair, "PQF-116", "PQF-115")


@rule("PQF-117", of=SPARK_COPY, screen=SPARK.is_sound)
def spark_copy_has_types_of_the_columns(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """Spark reads values as the copy says: it fails, or returns other ones."""
    yield from _violations(SPARK, pair, "PQF-117", "PQF-115")


PANDAS = Copies(pandas_faults)
PANDAS_COPY = Subject("frame of pandas", _pairs(PANDAS_KEY))
"""The description of a frame."""


@rule("PQF-118", of=PANDAS_COPY, screen=PANDAS.is_sound)
def pandas_copy_can_be_read(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """A frame is made by it, and nothing is read if that cannot be done."""
    yield from _violations(PANDAS, pair, "PQF-118")


@rule("PQF-119", of=PANDAS_COPY, screen=PANDAS.is_sound)
def pandas_index_is_in_the_file(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """A reader that looks for the index fails."""
    yield from _violations(PANDAS, pair, "PQF-119", "PQF-118")


GEO = Copies(geo_faults)
GEO_COPY = Subject("GeoParquet document", _pairs(GEO_KEY))
"""The description of columns with geometries."""


@rule("PQF-120", of=GEO_COPY, screen=GEO.is_sound)
def geo_document_can_be_read(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """Readers that know GeoParquet refuse the whole file if they cannot read it."""
    yield from _violations(GEO, pair, "PQF-120")


@rule("PQF-121", of=GEO_COPY, screen=GEO.is_sound)
def geo_document_describes_columns(pair: KeyValueUnderTest) -> Iterator[Violation]:
    """A geometry that is described elsewhere is bytes."""
    yield from _violations(GEO, pair, "PQF-121", "PQF-120")
