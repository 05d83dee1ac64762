"""Checks of manifest lists against their manifests, tier ``meta``."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pqassay.checks import rule
from pqassay.tables.claims import ClaimPlace, UnknownType
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import (
    ADDED,
    DATA,
    DELETED,
    EQUALITY_DELETES,
    EXISTING,
    FORMAT_VERSION,
    HEADER_KEYS,
    MANIFEST_FILE,
    POSITION_DELETES,
    TRANSFORMS,
)
from pqassay_tables.checks.iceberg_table.subjects import MANIFEST, TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import parse
from pqassay_tables.metadata.iceberg.manifests import Entry, Summary
from pqassay_tables.metadata.iceberg.schema import PartitionField, objects, partition_fields
from pqassay_tables.metadata.iceberg.state import PUFFIN, plain_path
from pqassay_tables.metadata.iceberg.values import partition_scalar, shown, value_of
from pqassay_tables.under_test.iceberg_entries import ManifestUnderTest
from pqassay_tables.under_test.iceberg_table import IcebergTable

REMEDY = repairs.ICEBERG_MANIFESTS.text

BEFORE_NUMBERS = 0
"""The sequence number of files from version 1."""

CONTENTS = (0, 1)
"""Contents of manifests: data files, or delete files."""

PARAMETERS = ("bucket", "truncate")
"""Transforms with a number as parameter."""

COUNTS = {
    field_ids.ADDED_FILES_COUNT: (ADDED, False),
    field_ids.EXISTING_FILES_COUNT: (EXISTING, False),
    field_ids.DELETED_FILES_COUNT: (DELETED, False),
    field_ids.ADDED_ROWS_COUNT: (ADDED, True),
    field_ids.EXISTING_ROWS_COUNT: (EXISTING, True),
    field_ids.DELETED_ROWS_COUNT: (DELETED, True),
}
"""The fields of counts: the status of the counted entries, and whether rows are counted."""


def wrong(one: ManifestUnderTest, place: ClaimPlace, message: str, expected: str, actual: str) -> Violation:
    """The violation in a manifest, or in its entry of the list."""
    return one.table.wrong(place, message, expected, actual, remedy=REMEDY)


def wrong_listed(one: ManifestUnderTest, field: int, message: str, expected: str, actual: str) -> Violation:
    """The violation in a field of a manifest's entry in the manifest list."""
    return wrong(one, one.manifest.listed.place(field), message, expected, actual)


@rule("ICE-005", of=MANIFEST)
def lengths_are_true(one: ManifestUnderTest) -> Iterator[Violation]:
    """A reader that requests this number of bytes gets only a part of the manifest, or nothing."""
    given = one.manifest.listed.value(field_ids.MANIFEST_LENGTH)
    if given != one.manifest.size:
        said = f"manifest_length of {one.name} is {given}, but the file has {one.manifest.size} bytes"
        yield wrong_listed(one, field_ids.MANIFEST_LENGTH, said, str(one.manifest.size), str(given))


@rule("ICE-006", of=MANIFEST)
def counts_are_those_of_the_entries(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers skip a manifest without live files, and engines answer counts from the sums."""
    files: Counter[int] = Counter()
    rows: Counter[int] = Counter()
    for entry in one.manifest.entries:
        files[entry.status] += 1
        rows[entry.status] += entry.value(field_ids.RECORD_COUNT)
    for field, (status, is_of_rows) in COUNTS.items():
        given = one.manifest.listed.value(field)
        actual = (rows if is_of_rows else files)[status]
        if given is not None and given != actual and not (is_of_rows and given < 0):
            said = (
                f"{MANIFEST_FILE.called(field)} of {one.name} is {given}, but its entries add up to {actual}"
            )
            yield wrong(one, one.manifest.listed.place(field), said, str(actual), str(given))


@rule("ICE-007", of=MANIFEST, only=lambda one: bool(one.manifest.listed.summaries))
def summaries_cover_their_entries(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers skip a manifest whose summaries exclude the values of a query."""
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
    def of_member(member: str, said: str, expected: str, actual: str) -> Violation:
        text = f"the summary of partition field {field.name} of {one.name} {said}"
        return wrong(one, one.manifest.listed.summary_place(summary.number, member), text, expected, actual)

    if summary.contains_null is False and any(value is None for value in values):
        yield of_member("contains_null", "says that no value is null, but one is", "true", "false")
    are_nan = [isinstance(value, float) and math.isnan(value) for value in values]
    if summary.contains_nan is False and any(are_nan):
        yield of_member("contains_nan", "says that no value is NaN, but one is", "true", "false")
    kind = one.result_type(field)
    present = [
        value for value, is_nan in zip(values, are_nan, strict=True) if value is not None and not is_nan
    ]
    if kind is None or kind == "uuid" or not present:  # two orders of these are in use
        return
    for member, raw, is_upper in (
        ("lower_bound", summary.lower, False),
        ("upper_bound", summary.upper, True),
    ):
        if raw is None:
            said = (
                f"has no {member.replace('_', ' ')}, but an entry has the value "
                f"{str(present[0])[:60]}; readers assume that there are no values"
            )
            yield of_member(member, said, "a bound", "null")
            if not is_upper and summary.upper is None:
                return  # said once
            continue
        try:
            bound = value_of(kind, raw).value
        except (ValueError, UnknownType):
            continue  # another rule says so
        comparable = [
            number for value in present if (number := partition_scalar(bound, value, kind)) is not None
        ]
        if not comparable:
            continue
        extreme = max(comparable) if is_upper else min(comparable)
        if (bound < extreme) if is_upper else (bound > extreme):  # type: ignore[operator]
            place = comparable.index(extreme)
            actual = str(present[place])[:60]
            said = (
                f"has the {member.replace('_', ' ')} {shown(kind, raw)}, but an entry has the value {actual}"
            )
            yield of_member(member, said, f"{actual} or {'more' if is_upper else 'less'}", shown(kind, raw))


@rule("ICE-008", of=MANIFEST)
def summaries_are_those_of_the_spec(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers assign the summaries to the fields of the spec by position."""
    summaries = one.manifest.listed.summaries
    if summaries is None or one.manifest.listed.spec not in one.table.state.schema.specs:
        raise NotApplicable
    if len(summaries) != len(one.spec):
        text = f"{one.name} has {len(summaries)} summaries, but its spec has {len(one.spec)} fields"
        yield wrong_listed(one, field_ids.PARTITIONS, text, str(len(one.spec)), str(len(summaries)))
        return
    for summary, field in zip(summaries, one.spec, strict=True):
        kind = one.result_type(field)
        for member, raw in (("lower_bound", summary.lower), ("upper_bound", summary.upper)):
            if raw is None or kind is None:
                continue
            try:
                value = value_of(kind, raw).value
            except UnknownType:
                continue
            except ValueError as error:
                reason = str(error)
            else:
                if not isinstance(value, float) or not math.isnan(value):
                    continue
                reason = "it is NaN"
            text = f"the {member.replace('_', ' ')} of partition field {field.name} of {one.name} is not a value of type {kind}: {reason}"
            place = one.manifest.listed.summary_place(summary.number, member)
            yield wrong(one, place, text, f"a value of type {kind}", shown(kind, raw))


@rule("ICE-009", of=MANIFEST)
def the_least_sequence_number_is_no_greater(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers do not look for deletes in manifests that are too new."""
    stated = one.manifest.listed.value(field_ids.MIN_SEQUENCE_NUMBER)
    numbers = [number for entry in one.manifest.live if (number := entry.sequence) is not None]
    if stated is None or not numbers or one.table.state.version < 2:
        raise NotApplicable
    if stated > min(numbers):
        said = f"min_sequence_number of {one.name} is {stated}, but a live entry has {min(numbers)}"
        yield wrong_listed(one, field_ids.MIN_SEQUENCE_NUMBER, said, f"{min(numbers)} or less", str(stated))


@rule("ICE-011", of=TABLE)
def files_are_live_once(table: IcebergTable) -> Iterator[Violation]:
    """Engines read the file as often as it is listed."""
    seen: dict[tuple[str, Any], Entry] = {}
    if not table.state.entries:
        raise NotApplicable
    for entry in table.state.entries:
        offset = entry.value(field_ids.CONTENT_OFFSET) if entry.format == PUFFIN else None
        key = entry.inside or plain_path(entry.path), offset
        before = seen.setdefault(key, entry)
        if before is not entry:
            one = ManifestUnderTest(table, entry.manifest)
            said = f"{entry.inside or entry.path} is live a second time; the first is entry {before.number} of {before.manifest.name}"
            yield wrong(one, entry.place(field_ids.FILE_PATH), said, "one live entry", "two")


@rule("ICE-012", of=MANIFEST)
def contents_are_not_mixed(one: ManifestUnderTest) -> Iterator[Violation]:
    """Delete files that are taken for data become rows, and data files that are taken for deletes are missing."""
    content = one.manifest.listed.content
    if content not in CONTENTS:
        text = f"{one.name} is listed with content {content}"
        yield wrong_listed(one, field_ids.MANIFEST_CONTENT, text, "0 or 1", str(content))
        return
    allowed = (DATA,) if content == DATA else (POSITION_DELETES, EQUALITY_DELETES)
    for entry in one.manifest.live:
        if entry.content not in allowed:
            text = (
                f"{one.name} is listed with content {content}, but its entry "
                f"{entry.number} has content {entry.content}"
            )
            yield wrong(
                one,
                entry.place(field_ids.CONTENT),
                text,
                "0" if content == DATA else "1 or 2",
                str(entry.content),
            )
            return
    header = one.manifest.metadata.get("content")
    if header is not None and header not in ((b"data",) if content == DATA else (b"deletes", b"delete")):
        text = (
            f"{one.name} is listed with content {content}, but its header says "
            f"{header.decode(errors='replace')[:20]!r}"
        )
        yield wrong_listed(
            one, field_ids.MANIFEST_CONTENT, text, "0" if header == b"data" else "1", str(content)
        )


@rule("ICE-063", of=MANIFEST)
def partition_specs_are_known(one: ManifestUnderTest) -> Iterator[Violation]:
    """Without the spec, readers do not know the meaning of the partition values."""
    spec, known = one.manifest.listed.spec, one.table.state.schema.specs
    if spec not in known:
        said = f"the partition spec of {one.name} is {spec}, which is not in the metadata"
        expected = f"one of {', '.join(map(str, sorted(known)[:20])) or 'none'}"
        yield wrong_listed(one, field_ids.PARTITION_SPEC_ID, said, expected, str(spec))


@rule("ICE-064", of=MANIFEST)
def partition_specs_are_those_of_the_manifests(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers that use one spec compute other partition values than readers that use the other."""
    raw = one.manifest.metadata.get("partition-spec-id")
    if raw is None:
        raise NotApplicable
    own, spec = raw.decode(errors="replace")[:20], one.manifest.listed.spec
    if own != str(spec):
        said = f"the partition spec of {one.name} is {spec} in the manifest list, but {own} in its header"
        yield wrong_listed(one, field_ids.PARTITION_SPEC_ID, said, own, str(spec))


@rule("ICE-065", of=MANIFEST)
def manifests_are_as_old_as_their_snapshot(one: ManifestUnderTest) -> Iterator[Violation]:
    """Files that inherit the number seem newer or older than the deletes that apply to them."""
    listed, state = one.manifest.listed, one.table.state
    stated = listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER)
    added = listed.value(field_ids.ADDED_SNAPSHOT_ID)
    known = state.kept
    if stated is None or state.version < 2:
        raise NotApplicable
    if added in known:
        its = known[added].get("sequence-number", BEFORE_NUMBERS)
        is_right, expected, of = stated == its, str(its), f"snapshot {added}, which added it"
    else:  # that one is gone
        its = (state.snapshot or {}).get("sequence-number", BEFORE_NUMBERS)
        is_right, expected, of = type(its) is not int or stated <= its, f"{its} or less", "the snapshot"
    if not is_right:
        said = f"sequence_number of {one.name} is {stated}, but that of {of}, is {its}"
        said = said.replace("snapshot,", "snapshot")
        yield wrong_listed(one, field_ids.MANIFEST_SEQUENCE_NUMBER, said, expected, str(stated))


@rule("ICE-073", of=MANIFEST)
def entries_have_their_partition_fields(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers take a missing value for null, and skip the file for every other value."""
    layout, listed = one.manifest.partition, one.manifest.listed
    if listed.spec not in one.table.state.schema.specs:
        raise Broken("ICE-063")
    if not one.spec:
        raise NotApplicable
    header = one.manifest.metadata.get("partition-spec-id")
    if header is not None and header != str(listed.spec).encode():
        raise Broken("ICE-064")
    there = {} if layout is None else layout.places
    for field in one.spec:
        if field.id not in there:
            said = f"the entries of {one.name} have no value of partition field {field.id}, {field.name}, of spec {listed.spec}"
            actual = f"values of {', '.join(map(str, sorted(there)[:20])) or 'no field'}"
            yield wrong_listed(one, field_ids.PARTITION_SPEC_ID, said, f"a value of field {field.id}", actual)


def _unknown(field: PartitionField) -> bool:
    """Whether the format does not define the transform of a field."""
    named = re.sub(r"\[.*", "", field.transform)
    return named not in TRANSFORMS or (named in PARAMETERS and not field.parameter)


@rule("ICE-076", of=MANIFEST, only=lambda one: bool(one.spec) and any(True for _ in one.manifest.live))
def transforms_are_known(one: ManifestUnderTest) -> Iterator[Violation]:
    """With an unknown transform, readers do not know which files can have rows for a query."""
    for field in one.spec:
        if _unknown(field):
            said = f"partition field {field.name} of {one.name} has the transform {field.transform[:40]!r}"
            yield wrong_listed(
                one, field_ids.PARTITION_SPEC_ID, said, ", ".join(TRANSFORMS), field.transform[:40]
            )


@rule("ICE-079", of=MANIFEST)
def headers_have_their_keys(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers that find no schema or partition spec in the header do not read the manifest."""
    header, listed = one.manifest.metadata, one.manifest.listed
    is_numbered = FORMAT_VERSION in header or bool(listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER))
    raw = header.get(FORMAT_VERSION, b"")
    since = int(raw[:9]) if raw.isdigit() else 2 if is_numbered else 1
    for key, first in HEADER_KEYS.items():
        if key not in header and first <= since:
            said = f"the header of {one.name} has no {key}"
            yield wrong_listed(one, field_ids.MANIFEST_PATH, said, f"a key {key}", "none")


@rule("ICE-082", of=MANIFEST)
def headers_have_the_spec_of_the_table(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers that use the spec of the header compute other partition values, and skip files with matching rows."""
    raw, listed = one.manifest.metadata.get("partition-spec"), one.manifest.listed
    header = one.manifest.metadata.get("partition-spec-id")
    if raw is None:
        raise Broken("ICE-079")
    if listed.spec not in one.table.state.schema.specs:
        raise Broken("ICE-063")
    if header is not None and header != str(listed.spec).encode():
        raise Broken("ICE-064")
    if any(_unknown(field) for field in one.spec):
        raise Broken("ICE-076")
    if any(
        field.id not in (one.manifest.partition.places if one.manifest.partition else ())
        for field in one.spec
    ):
        raise Broken("ICE-073")
    own = _fields_of(raw)
    known = [(field.id, field.source, _transform(field)) for field in one.spec]
    if own is None or sorted(own) != sorted(known):
        said = f"the partition spec in the header of {one.name} is not spec {listed.spec} of the table"
        actual = raw.decode(errors="replace")[:80]
        expected = (
            ", ".join(f"{number}: {name} of column {source}" for number, source, name in known) or "no fields"
        )
        yield wrong_listed(one, field_ids.PARTITION_SPEC_ID, said, expected[:200], actual)


def _transform(field: PartitionField) -> str:
    return f"{field.transform}[{field.parameter}]" if field.parameter else field.transform


def _fields_of(raw: bytes) -> list[tuple[int, int, str]] | None:
    """Id, source and transform of each field of a partition spec in a header; ``None`` if it is not a spec."""
    try:
        given = parse(raw.decode())
        return [
            (field.id, field.source, _transform(field))
            for field in partition_fields(objects({"fields": given}, "fields"))
        ]
    except (ValueError, FormatError):
        return None
