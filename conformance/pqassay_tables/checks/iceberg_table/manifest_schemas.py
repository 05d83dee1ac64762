"""Checks of the schemas in headers of manifests, and of the snapshots that their entries name, tier ``meta``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from pqassay.checks import rule
from pqassay.tables.claims import ClaimPlace
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, Remembered
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import ADDED, MANIFEST_ENTRY
from pqassay_tables.checks.iceberg_table.manifests import REMEDY, wrong
from pqassay_tables.checks.iceberg_table.metadata import fields_of, first_version
from pqassay_tables.checks.iceberg_table.subjects import MANIFEST, TABLE
from pqassay_tables.metadata.delta.actions import object_of, parse
from pqassay_tables.metadata.iceberg.records import Layout
from pqassay_tables.metadata.iceberg.schema import Columns, columns_of, objects
from pqassay_tables.under_test.iceberg_entries import ManifestUnderTest
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import claim_field


@lru_cache(maxsize=64)
def _in_header(raw: bytes) -> tuple[int | None, Columns] | None:
    """The id and the columns of a schema in a header; ``None`` if it is not a schema. Cached, since many manifests share it."""
    try:
        given: Any = parse(raw.decode())
        identifier: Any = object_of(given).get("schema-id")
        return (identifier if type(identifier) is int else None), columns_of(given)
    except (ValueError, FormatError):
        return None


class _Sound:
    """Whether the schemas of the metadata are sound enough for comparison, checked once for all manifests."""

    def __init__(self, file: FileUnderTest) -> None:
        self._table = file.part(IcebergTable)

    @Remembered
    def broken(self) -> str | None:
        """The rule that they break; ``None`` if they are sound."""
        state = self._table.state
        if any(first_version(column.type) is None for column in state.schema.columns.values()):
            return "ICE-075"
        counts = (Counter(one for one, _, _ in fields_of(it)).values() for it in objects(state.metadata, "schemas"))  # fmt: skip
        return "ICE-081" if any(max(one, default=1) > 1 for one in counts) else None


@rule("ICE-083", of=MANIFEST)
def headers_have_a_schema_of_the_table(one: ManifestUnderTest) -> Iterator[Violation]:
    """A reader of only the manifest assumes other columns in its files."""
    raw = one.manifest.metadata.get("schema")
    if raw is None:
        raise Broken("ICE-079")
    place = one.manifest.listed.place(field_ids.MANIFEST_PATH)
    own = _in_header(raw)
    if own is None:
        message = f"the header of {one.name} does not hold a schema"
        yield wrong(one, place, message, "a schema as JSON", raw.decode(errors="replace")[:80])
        return
    if (broken := one.table.file.part(_Sound).broken) is not None:
        raise Broken(broken)
    identifier, columns = own
    known = one.table.schemas.get(identifier if identifier is not None else _numbered(one))
    if known is None:
        raise NotApplicable  # that schema is no longer in the metadata
    if columns != known:
        message = (
            f"the schema in the header of {one.name} differs in its columns from the "
            "schema with that id in the metadata"
        )
        theirs, mine = (", ".join(sorted(str(each) for each in ones)[:3])[:80] for ones in (known - columns, columns - known))  # fmt: skip
        yield wrong(one, place, message, theirs or "no further column", mine or "columns that are missing")


def _numbered(one: ManifestUnderTest) -> int | None:
    """The schema id in its own key of the header."""
    raw = one.manifest.metadata.get("schema-id", b"")
    return int(raw) if raw.isdigit() and len(raw) < 10 else None


@rule("ICE-088", of=TABLE)
def fields_have_their_numbers(table: IcebergTable) -> Iterator[Violation]:
    """Readers find fields by id, so a field with a wrong id is missing for them."""
    state = table.state
    if not state.manifests:
        raise NotApplicable
    first = state.manifests[0].listed
    yield from _misnumbered(table, state.list_file, first.layouts, f"the manifest list {state.list_file}")
    for manifest in state.manifests:
        yield from _misnumbered(table, manifest.name, (manifest.layout, manifest.files), manifest.name)


def _misnumbered(
    table: IcebergTable, file: str, layouts: tuple[Layout, ...], said: str
) -> Iterator[Violation]:
    for layout in layouts:
        wrong: Mapping[str, tuple[int, int]] = layout.misnumbered
        for name, (actual, expected) in wrong.items():
            message = f"field {name} of {said} has the id {actual}, but the format gives it {expected}"
            field = claim_field(table.file, ClaimPlace(file, 0, (name,)))
            yield Violation(message, field, str(expected), str(actual)[:40], remedy=REMEDY)


@rule("ICE-089", of=MANIFEST)
def added_entries_are_of_the_snapshot_that_added_them(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers of the additions of a snapshot do not find the file, or find an older one."""
    added = one.manifest.listed.value(field_ids.ADDED_SNAPSHOT_ID)
    entries = [entry for entry in one.manifest.entries if entry.status == ADDED]
    if added is None or not entries:
        raise NotApplicable
    for entry in entries:
        if entry.own_snapshot is not None and entry.own_snapshot != added:
            said = (
                f"entry {entry.number} of {one.name} was added by snapshot "
                f"{entry.own_snapshot}, but the manifest by snapshot {added}"
            )
            yield wrong(one, entry.own_place(field_ids.SNAPSHOT_ID), said, str(added), str(entry.own_snapshot))  # fmt: skip
            return


@rule("ICE-090", of=MANIFEST)
def file_sequence_numbers_are_those_of_the_snapshots(one: ManifestUnderTest) -> Iterator[Violation]:
    """Readers of changes take the file for older or newer than it is."""
    numbered = one.manifest.misnumbered_files
    if numbered is None:
        raise NotApplicable
    name = MANIFEST_ENTRY.called(field_ids.FILE_SEQUENCE_NUMBER)
    of_manifest = one.manifest.listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER)
    for number, status, actual in numbered[:1]:
        expected = f"null or {of_manifest}" if status == ADDED else f"a number up to {of_manifest}"
        kind = "added" if status == ADDED else "existing"
        said = f"{name} of the {kind} entry {number} of {one.name} is {'null' if actual is None else actual}"
        place = ClaimPlace(one.name, number, (one.manifest.layout.name(field_ids.FILE_SEQUENCE_NUMBER),))
        yield wrong(one, place, said, expected, "null" if actual is None else str(actual))
