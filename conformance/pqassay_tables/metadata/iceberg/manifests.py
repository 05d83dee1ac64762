"""Manifest lists and manifests: their entries, with the field ids of their writers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pqassay.tables.claims import ClaimPlace
from pqassay_spec.base.errors import Malformed, boundary
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import (
    ADDED,
    DATA,
    DATA_FILE,
    DELETED,
    EXISTING,
    FIELD_SUMMARY,
    MANIFEST_ENTRY,
    MANIFEST_FILE,
)
from pqassay_tables.metadata.avro import Container, container
from pqassay_tables.metadata.iceberg.records import Layout, without_null

LIST, MANIFEST = "ICE-003", "ICE-004"


class Summary:
    """The claims of a manifest list about one partition field.

    Attributes:
        number: The position of the field.
        contains_null, contains_nan: Whether values are null or NaN; ``None`` if unknown.
        lower, upper: Bounds of the other values.
    """

    __slots__ = ("contains_nan", "contains_null", "lower", "number", "upper")

    def __init__(self, number: int, layout: Layout, record: list[Any]) -> None:
        self.number = number
        self.contains_null: bool | None = layout.value(record, field_ids.CONTAINS_NULL)
        self.contains_nan: bool | None = layout.value(record, field_ids.CONTAINS_NAN)
        self.lower: bytes | None = layout.value(record, field_ids.LOWER_BOUND)
        self.upper: bytes | None = layout.value(record, field_ids.UPPER_BOUND)


@dataclass
class ListedManifest:
    """The entry of a manifest in a manifest list.

    Attributes:
        file: The manifest list, relative to the table.
        number: The number of the entry.
        path: The path of the manifest in the list.
        inside: The manifest relative to the table; ``None`` if it is outside.
        summaries: The summaries of the partition fields; ``None`` if absent.
    """

    file: str
    number: int
    path: str
    inside: str | None
    summaries: Sequence[Summary] | None
    _record: list[Any]
    _layout: Layout
    _of_summaries: Layout | None = None

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts of the list's fields and of its summaries."""
        return (self._layout,) if self._of_summaries is None else (self._layout, self._of_summaries)

    def value(self, identifier: int) -> Any:
        """The value of a field by id; ``None`` if absent."""
        return self._layout.value(self._record, identifier)

    def place(self, identifier: int, *below: str) -> ClaimPlace:
        """The place of a field."""
        return ClaimPlace(self.file, self.number, (self._layout.name(identifier), *below))

    def summary_place(self, number: int, member: str) -> ClaimPlace:
        """The place of a member of a summary."""
        return ClaimPlace(
            self.file, self.number, (f"{self._layout.name(field_ids.PARTITIONS)}[{number}]", member)
        )

    @property
    def content(self) -> int:
        """0 for data files, 1 for delete files."""
        found: int | None = self.value(field_ids.MANIFEST_CONTENT)
        return DATA if found is None else found

    @property
    def spec(self) -> int:
        """The id of the partition spec of its files."""
        return cast("int", self.value(field_ids.PARTITION_SPEC_ID))


def read_list(name: str, data: bytes, inside: Any) -> list[ListedManifest]:
    """The manifests in a manifest list.

    Args:
        name: The list, relative to the table.
        data: Its bytes.
        inside: Makes a path relative to the table's folder; ``None`` outside it.

    Raises:
        FormatError: ICE-003.
    """
    file = container(name, data, LIST)
    with boundary(rule=LIST, field=name):
        layout = Layout(file, file.schema, MANIFEST_FILE)
        items: Any = layout.schemas.get(field_ids.PARTITIONS)
        of_summaries = None
        if items is not None:
            of_summaries = Layout(file, without_null(items.get("items")), FIELD_SUMMARY)
    manifests: list[ListedManifest] = []
    for number, record in enumerate(file.objects()):
        path = layout.value(record, field_ids.MANIFEST_PATH)
        given = layout.value(record, field_ids.PARTITIONS)
        summaries = None
        if given is not None and of_summaries is not None:
            summaries = [Summary(place, of_summaries, one) for place, one in enumerate(given)]
        manifests.append(
            ListedManifest(name, number, path, inside(path), summaries, record, layout, of_summaries)
        )
    return manifests


class Manifest:
    """A manifest.

    Attributes:
        listed: Its entry in the manifest list.
        name: The manifest, relative to the table.
        size: Its size in bytes.
        metadata: The metadata in its header.
        entries: All its entries.
        misnumbered_files: The entries with an impossible file sequence number, which no snapshot up to the manifest's has: number, status and value. ``None`` if the manifest has no such numbers.
    """

    def __init__(self, listed: ListedManifest, name: str, data: bytes) -> None:
        self.listed = listed
        self.name = name
        self.size = len(data)
        self.file: Container = container(name, data, MANIFEST)
        self.metadata = self.file.metadata
        with boundary(rule=MANIFEST, field=name):
            self.layout = Layout(self.file, self.file.schema, MANIFEST_ENTRY)
            self.files = Layout(self.file, self.layout.schemas[field_ids.DATA_FILE], DATA_FILE)
            partition = self.files.schemas.get(field_ids.PARTITION)
            self.partition = None if partition is None else Layout(self.file, partition, None)
        status, data_file, sequence, snapshot, of_file = (
            self.layout.places.get(number)
            for number in (
                field_ids.STATUS,
                field_ids.DATA_FILE,
                field_ids.SEQUENCE_NUMBER,
                field_ids.SNAPSHOT_ID,
                field_ids.FILE_SEQUENCE_NUMBER,
            )
        )
        own = listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER)
        self.misnumbered_files: list[tuple[int, int, int | None]] | None = None
        if of_file is not None and own is not None:
            self.misnumbered_files = []
        self.entries: list[Entry] = []
        for number, record in enumerate(self.file.objects()):
            if (given := record[cast("int", status)]) not in (EXISTING, ADDED, DELETED):
                reason, field = f"entry {number} of {name} has the status {given}", f"{name}[{number}].status"
                raise Malformed(reason, rule=MANIFEST, field=field, expected="0, 1 or 2", file=name)
            self.entries.append(
                Entry(
                    self,
                    number,
                    record[cast("int", status)],
                    None if sequence is None else record[sequence],
                    record[cast("int", data_file)],
                    None if snapshot is None else record[snapshot],
                )
            )
            if of_file is not None and self.misnumbered_files is not None:
                its, kind = record[of_file], record[cast("int", status)]
                if kind != DELETED and (
                    its not in (None, own) if kind == ADDED else its is None or its > own
                ):
                    self.misnumbered_files.append((number, kind, its))
        # Findings read their bytes again, since bytes of ten thousand files do not fit in memory.
        self.file = Container(name, b"", MANIFEST, {}, None, "null", b"", 0)

    @property
    def live(self) -> Iterator[Entry]:
        """The entries that are not deleted."""
        return (entry for entry in self.entries if entry.status != DELETED)


@dataclass(slots=True, eq=False)
class Entry:
    """The entry of a file in a manifest.

    Attributes:
        manifest: The manifest.
        number: Its number in the manifest.
        status: 0 existing, 1 added, 2 deleted.
        own_sequence: Its own data sequence number; ``None`` if inherited.
        own_snapshot: Its own id of the snapshot that added the file; ``None`` if inherited.
        inside: The file relative to the table; ``None`` if it is outside. For live entries.
    """

    manifest: Manifest
    number: int
    status: int
    own_sequence: int | None
    _file: list[Any]
    own_snapshot: int | None = None
    inside: str | None = None

    def value(self, identifier: int) -> Any:
        """The value of a file's field by id; ``None`` if absent."""
        place = self.manifest.files.places.get(identifier)
        return None if place is None else self._file[place]

    def map(self, identifier: int) -> dict[int, Any]:
        """The map of a file by field id; empty if absent."""
        found: dict[int, Any] = self.value(identifier) or {}
        return found

    @property
    def path(self) -> str:
        """The path of the file in the manifest."""
        return cast("str", self._file[self.manifest.files.places[field_ids.FILE_PATH]])

    @property
    def content(self) -> int:
        """0 for data, 1 for position deletes, 2 for equality deletes."""
        found: int | None = self.value(field_ids.CONTENT)
        return DATA if found is None else found

    @property
    def format(self) -> str:
        """The format of the file, in lower case."""
        return cast("str", self.value(field_ids.FILE_FORMAT)).lower()

    @property
    def sequence(self) -> int | None:
        """The data sequence number; ``None`` if unknown."""
        if self.own_sequence is not None:
            return self.own_sequence
        if self.status != ADDED:
            return None
        inherited: int | None = self.manifest.listed.value(field_ids.MANIFEST_SEQUENCE_NUMBER)
        return inherited

    @property
    def snapshot(self) -> int | None:
        """The snapshot that added the file; ``None`` if unknown."""
        if self.own_snapshot is not None:
            return self.own_snapshot
        inherited: int | None = self.manifest.listed.value(field_ids.ADDED_SNAPSHOT_ID)
        return inherited

    @property
    def partition(self) -> list[Any]:
        """The values of the partition fields, in the order of the manifest's schema."""
        return self.value(field_ids.PARTITION) or []

    def partition_value(self, identifier: int) -> tuple[bool, Any]:
        """Whether the entry has a value of a partition field, and the value."""
        layout = self.manifest.partition
        if layout is None or identifier not in layout.places:
            return False, None
        return True, layout.value(self.partition, identifier)

    def place(self, identifier: int, key: int | None = None) -> ClaimPlace:
        """The place of a field of the file, or of a key's value in a map."""
        name = self.manifest.files.name(identifier)
        return self.own.below(name if key is None else f"{name}[{key}]")

    @property
    def own(self) -> ClaimPlace:
        """The place of the record of the file."""
        return self.own_place(field_ids.DATA_FILE)

    def partition_place(self, identifier: int) -> ClaimPlace:
        """The place of a partition value."""
        layout = self.manifest.partition
        name = str(identifier) if layout is None else layout.name(identifier)
        return self.place(field_ids.PARTITION).below(name)

    def own_place(self, identifier: int) -> ClaimPlace:
        """The place of a field of the entry itself."""
        return ClaimPlace(self.manifest.name, self.number, (self.manifest.layout.name(identifier),))
