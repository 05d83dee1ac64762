"""Checks of partition values, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pqassay.checks import rule
from pqassay.tables.claims import UnknownType
from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Violation
from pqassay_tables.checks.delta_table.subjects import ENTRY
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json
from pqassay_tables.metadata.delta.statistics import written
from pqassay_tables.metadata.delta.values import partition_value
from pqassay_tables.under_test.delta_entries import DeltaEntry

RESTATED = repairs.DELTA_PARTITION.text


def _values(one: DeltaEntry) -> Json | None:
    given: Any = one.entry.action.get("partitionValues")
    return cast("Json", given) if isinstance(given, dict) else None


@rule("DLT-016", of=ENTRY)
def partition_values_are_complete(one: DeltaEntry) -> Iterator[Violation]:
    """Readers take a missing value for null."""
    names = [column.path[0] for column in one.schema.partition]
    values = _values(one)
    have = sorted(values or {})
    if values is None and not names and one.entry.action.get("partitionValues") is None:
        return  # writers of unpartitioned tables omit it
    if values is None or have != sorted(names):
        said = f"partitionValues of {one.data_file} has " + (
            ", ".join(have) or "no members" if values is not None else "not in a known form"
        )
        place, expected = one.entry.place.below("partitionValues"), ", ".join(names) or "no members"
        yield one.wrong(place, said, expected, ", ".join(have) or "none", remedy=RESTATED)


@rule("DLT-017", of=ENTRY, only=lambda one: bool(one.schema.partition))
def partition_values_are_of_their_types(one: DeltaEntry) -> Iterator[Violation]:
    """Readers take unreadable values for null, or fail."""
    values = _values(one)
    if values is None:
        raise Broken("DLT-016")
    for column in one.schema.partition:
        raw = values.get(column.path[0])
        if raw is None or raw == "":
            continue
        try:
            if not isinstance(raw, str):
                raise ValueError("it is not text")  # noqa: TRY301, TRY004 - reported like a text that is not a value
            _ = partition_value(column, raw)
        except UnknownType:
            continue
        except ValueError as error:
            said = (
                f"the partition value of column {column.name} is {written(raw)} for {one.data_file}: {error}"
            )
            place = one.entry.place.below("partitionValues", column.path[0])
            expected = f"a value of type {column.type}"
            yield one.wrong(place, said, expected, written(raw), remedy=RESTATED, column=column.name)
