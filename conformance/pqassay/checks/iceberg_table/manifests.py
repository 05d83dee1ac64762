"""Checks of manifest lists against the manifests that they list, tier ``meta``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pqassay.checks import rule
from pqassay.checks.iceberg_table.subjects import MANIFEST, TABLE
from pqassay.tables import repairs
from pqassay.tables.claims import Place
from pqassay.tables.iceberg.manifests import Entry, Summary
from pqassay.tables.iceberg.schema import PartitionField
from pqassay.tables.iceberg.state import PUFFIN
from pqassay.tables.iceberg.values import UnknownTypeError, partition_scalar, shown, value_of
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.tables.iceberg_entries import ManifestUnderTest
from pqassay.under_test.tables.iceberg_table import IcebergTable
from pqassay.under_test.violation import Violation
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import ADDED, DATA, DELETED, EXISTING, MANIFEST_FILE

REMEDY = repairs.ICEBERG_MANIFESTS.text

COUNTS = {
    field_ids.ADDED_FILES_COUNT: (ADDED, False),
    field_ids.EXISTING_FILES_COUNT: (EXISTING, False),
    field_ids.DELETED_FILES_COUNT: (DELETED, False),
    field_ids.ADDED_ROWS_COUNT: (ADDED, True),
    field_ids.EXISTING_ROWS_COUNT: (EXISTING, True),
    field_ids.DELETED_ROWS_COUNT: (DELETED, True),
}
"""The fields of counts: the status of the entries that they count, and whether they count rows."""


def _wrong(one: ManifestUnderTest, place: Place, message: str, expected: str, actual: str) -> Violation:
    return Violation(message, one.field(place), expected, actual, remedy=REMEDY)


@rule("ICE-005", of=MANIFEST)
def lengths_are_true(one: ManifestUnderTest) -> Iterator[Violation]:
    """A reader that asks for so many bytes gets less than the manifest, or none."""
    given = one.manifest.listed.value(field_ids.MANIFEST_LENGTH)
    if given != one.manifest.size:
        said = f"manifest_length of {one.name} is {given}, and the file has {one.manifest.size} bytes"
        yield _wrong(
            one,
            one.manifest.listed.place(field_ids.MANIFEST_LENGTH),
            said,
            str(one.manifest.size),
            str(given),
        )


@rule("ICE-006", of=MANIFEST)
def counts_are_those_of_the_entries(one: ManifestUnderTest) -> Iterator[Violation]:
    """A manifest without live files is not read, and engines answer counts from the sums."""
    files: Counter[int] = Counter()
    rows: Counter[int] = Counter()
    for entry in one.manifest.entries:
        files[entry.status] += 1
        rows[entry.status] += entry.value(field_ids.RECORD_COUNT)
    for field, (status, is_of_rows) in COUNTS.items():
        given = one.manifest.listed.value(field)
        actual = (rows if is_of_rows else files)[status]
        if given is not None and given != actual and not (is_of_rows and given < 0):
            said = f"{MANIFEST_FILE.called(field)} of {one.name} is {given}, and its entries come to {actual}"
            yield _wrong(one, one.manifest.listed.place(field), said, str(actual), str(given))


def has_summaries(one: ManifestUnderTest) -> bool:
    """Whether there are summaries of partition fields, or there should be."""
    return bool(one.manifest.listed.summaries)


@rule("ICE-007", of=MANIFEST, only=has_summaries)
def summaries_cover_their_entries(one: ManifestUnderTest) -> Iterator[Violation]:
    """A manifest that can hold nothing for a query by its summaries is not read."""
    summaries = one.manifest.listed.summaries or ()
    live = list(one.manifest.live)
    for summary, field in zip(summaries, one.spec, strict=False):
        values = [value for entry in live if (value := _partition_value(entry, field)) is not _ABSENT]
        yield from _of_summary(one, summary, field, values)


_ABSENT = object()


def _partition_value(entry: Entry, field: PartitionField) -> Any:
    is_there, value = entry.partition_value(field.id)
    return value if is_there else _ABSENT


def _of_summary(
    one: ManifestUnderTest, summary: Summary, field: PartitionField, values: list[Any]
) -> Iterator[Violation]:
    def wrong(member: str, said: str, expected: str, actual: str) -> Violation:
        message = f"the summary of partition field {field.name} of {one.name} {said}"
        return _wrong(
            one, one.manifest.listed.summary_place(summary.number, member), message, expected, actual
        )

    if summary.contains_null is False and any(value is None for value in values):
        yield wrong("contains_null", "says that no value is null, and one is", "true", "false")
    are_nan = [isinstance(value, float) and math.isnan(value) for value in values]
    if summary.contains_nan is False and any(are_nan):
        yield wrong("contains_nan", "says that no value is NaN, and one is", "true", "false")
    kind = one.result_type(field)
    held = [value for value, is_nan in zip(values, are_nan, strict=True) if value is not None and not is_nan]
    if kind is None or kind == "uuid" or not held:  # there are two orders of these in use
        return
    if (
        summary.lower is None
        and summary.upper is None
        and summary.contains_null is False
        and not any(are_nan)
    ):
        said = "has no bounds and no nulls, and readers take it for one of no values"
        yield wrong("lower_bound", said, "bounds", "null")
    for member, raw, is_upper in (
        ("lower_bound", summary.lower, False),
        ("upper_bound", summary.upper, True),
    ):
        if raw is None:
            continue
        try:
            bound = value_of(kind, raw).value
        except (ValueError, UnknownTypeError):
            continue  # another rule says so
        comparable = [
            number for value in held if (number := partition_scalar(bound, value, kind)) is not None
        ]
        if not comparable:
            continue
        extreme = max(comparable) if is_upper else min(comparable)
        if (bound < extreme) if is_upper else (bound > extreme):  # type: ignore[operator]
            place = comparable.index(extreme)
            actual = str(held[place])[:60]
            said = (
                f"has the {member.replace('_', ' ')} {shown(kind, raw)}, and an entry has the value {actual}"
            )
            yield wrong(member, said, f"{actual} or {'more' if is_upper else 'less'}", shown(kind, raw))


@rule("ICE-008", of=MANIFEST)
def summaries_are_those_of_the_spec(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers take the summaries one after the other for the fields of the spec."""
    summaries = one.manifest.listed.summaries
    if summaries is None or one.manifest.listed.spec not in one.table.state.schema.specs:
        raise NotApplicable
    if len(summaries) != len(one.spec):
        said = f"{one.name} has {len(summaries)} summaries, and its spec {len(one.spec)} fields"
        yield _wrong(
            one,
            one.manifest.listed.place(field_ids.PARTITIONS),
            said,
            str(len(one.spec)),
            str(len(summaries)),
        )
        return
    for summary, field in zip(summaries, one.spec, strict=True):
        kind = one.result_type(field)
        for member, raw in (("lower_bound", summary.lower), ("upper_bound", summary.upper)):
            if raw is None or kind is None:
                continue
            try:
                value = value_of(kind, raw).value
            except UnknownTypeError:
                continue
            except ValueError as error:
                reason = str(error)
            else:
                if not isinstance(value, float) or not math.isnan(value):
                    continue
                reason = "it is NaN"
            said = f"the {member.replace('_', ' ')} of partition field {field.name} of {one.name} is no {kind}: {reason}"
            place = one.manifest.listed.summary_place(summary.number, member)
            yield _wrong(one, place, said, f"a value of type {kind}", shown(kind, raw))


@rule("ICE-009", of=MANIFEST)
def the_least_sequence_number_is_no_greater(one: ManifestUnderTest) -> Iterator[Violation]:
    """Deletes are not looked for in manifests that are too new."""
    given = one.manifest.listed.value(field_ids.MIN_SEQUENCE_NUMBER)
    numbers = [number for entry in one.manifest.live if (number := entry.sequence) is not None]
    if given is None or not numbers or one.table.state.version < 2:
        raise NotApplicable
    if given > min(numbers):
        said = f"min_sequence_number of {one.name} is {given}, and a live entry has {min(numbers)}"
        yield _wrong(
            one,
            one.manifest.listed.place(field_ids.MIN_SEQUENCE_NUMBER),
            said,
            f"{min(numbers)} or less",
            str(given),
        )


@rule("ICE-011", of=TABLE)
def files_are_live_once(table: IcebergTable) -> Iterator[Violation]:
    """Engines read the file as often as it is listed."""
    seen: dict[tuple[str, Any], Entry] = {}
    if not table.state.entries:
        raise NotApplicable
    for entry in table.state.entries:
        key = entry.path, entry.value(field_ids.CONTENT_OFFSET) if entry.format == PUFFIN else None
        before = seen.setdefault(key, entry)
        if before is not entry:
            one = ManifestUnderTest(table, entry.manifest)
            said = f"{entry.inside or entry.path} is live a second time; the first is entry {before.number} of {before.manifest.name}"
            yield _wrong(one, entry.place(field_ids.FILE_PATH), said, "one live entry", "two")


@rule("ICE-012", of=MANIFEST)
def contents_are_not_mixed(one: ManifestUnderTest) -> Iterator[Violation]:
    """Delete files that are taken for data become rows, and data files that are taken for deletes are missing."""
    content = one.manifest.listed.content
    for entry in one.manifest.live:
        if (entry.content == DATA) is not (content == DATA):
            said = f"{one.name} is listed with content {content}, and its entry {entry.number} has content {entry.content}"
            yield _wrong(
                one,
                entry.place(field_ids.CONTENT),
                said,
                "0" if content == DATA else "1 or 2",
                str(entry.content),
            )
            return
    header = one.manifest.metadata.get("content")
    if header is not None and header not in ((b"data",) if content == DATA else (b"deletes", b"delete")):
        said = f"{one.name} is listed with content {content}, and says {header.decode(errors='replace')[:20]!r} in its header"
        yield _wrong(
            one,
            one.manifest.listed.place(field_ids.MANIFEST_CONTENT),
            said,
            "0" if header == b"data" else "1",
            str(content),
        )


@rule("ICE-063", of=MANIFEST)
def partition_specs_are_known(one: ManifestUnderTest) -> Iterator[Violation]:
    """Nobody knows what the partition values of its files mean."""
    spec, known = one.manifest.listed.spec, one.table.state.schema.specs
    if spec not in known:
        said = f"the partition spec of {one.name} is {spec}, which the metadata do not have"
        expected = f"one of {', '.join(map(str, sorted(known)[:20])) or 'none'}"
        yield _wrong(one, one.manifest.listed.place(field_ids.PARTITION_SPEC_ID), said, expected, str(spec))


@rule("ICE-064", of=MANIFEST)
def partition_specs_are_those_of_the_manifests(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers that take the one make other partition values of it than those that take the other."""
    raw = one.manifest.metadata.get("partition-spec-id")
    if raw is None:
        raise NotApplicable
    own, spec = raw.decode(errors="replace")[:20], one.manifest.listed.spec
    if own != str(spec):
        said = f"the partition spec of {one.name} is {spec} in the manifest list, and {own} in its header"
        yield _wrong(one, one.manifest.listed.place(field_ids.PARTITION_SPEC_ID), said, own, str(spec))


@rule("ICE-065", of=MANIFEST)
def manifests_are_no_newer_than_their_snapshot(one: ManifestUnderTest) -> Iterator[Violation]:
    """Files that inherit the number seem newer than deletes that are about them."""
    state = one.table.state
    given, latest = (
        one.manifest.listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER),
        (state.snapshot or {}).get("sequence-number"),
    )
    if given is None or type(latest) is not int or state.version < 2:
        raise NotApplicable
    if given > latest:
        said = f"sequence_number of {one.name} is {given}, and that of the snapshot {latest}"
        yield _wrong(
            one,
            one.manifest.listed.place(field_ids.MANIFEST_SEQUENCE_NUMBER),
            said,
            f"{latest} or less",
            str(given),
        )
