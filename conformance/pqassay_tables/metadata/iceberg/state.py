"""An Iceberg table at a snapshot: its columns, and the manifest entries of its live files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from pqassay.tables.files import TableFiles
from pqassay_spec.base.errors import Malformed
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, DELETED
from pqassay_tables.metadata.column_types import TableSchema
from pqassay_tables.metadata.delta.actions import object_of
from pqassay_tables.metadata.iceberg.fields import table_schema
from pqassay_tables.metadata.iceberg.manifests import Entry, ListedManifest, Manifest, read_list
from pqassay_tables.metadata.iceberg.metadata import Json, metadata_file, read_metadata, snapshot_of
from pqassay_tables.metadata.iceberg.row_ids import ids_of_manifest
from pqassay_tables.metadata.iceberg.schema import IcebergSchema, objects, schema_of

CURRENT, LIST, MANIFEST = "ICE-002", "ICE-003", "ICE-004"


PARQUET, PUFFIN = "parquet", "puffin"


class ElsewhereError(Exception):
    """A metadata file is outside the table's folder."""


@dataclass(eq=False)  # derived results are cached for each state
class IcebergState:
    """The facts of the metadata about a snapshot.

    Attributes:
        file: The metadata file, relative to the table.
        metadata: Its content.
        schema: Columns and partition fields.
        snapshot: The snapshot; ``None`` for an empty table.
        list_file: The manifest list, relative to the table; empty if there is none.
        manifests: The manifests.
        entries: The live entries, in the order of the manifests.
        sizes: The files that were read, relative to the table, with their sizes.
    """

    file: str
    metadata: Json
    schema: IcebergSchema
    snapshot: Json | None = None
    list_file: str = ""
    manifests: list[Manifest] = field(default_factory=list[Manifest])
    entries: list[Entry] = field(default_factory=list[Entry])
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def version(self) -> int:
        """The version of the format."""
        return cast("int", self.metadata["format-version"])

    @property
    def snapshot_id(self) -> int:
        """The id of the snapshot; -1 for an empty table."""
        return cast("int", (self.snapshot or {}).get("snapshot-id", -1))

    @property
    def kept(self) -> dict[Any, Json]:
        """The existing snapshots in the metadata, by id."""
        return {one.get("snapshot-id"): one for one in objects(self.metadata, "snapshots")}

    @cached_property
    def fields(self) -> TableSchema:
        """The columns that readers look for in data files."""
        last_id = self.metadata.get("last-column-id")
        return table_schema(self.schema.newest, self.schema.aliases, self.version, last_id)

    @cached_property
    def first_row_ids(self) -> dict[Entry, int]:
        """The id of the first row of each live data file that has one."""
        return {ids.entry: ids.first for manifest in self.manifests for ids in ids_of_manifest(manifest)}

    @cached_property
    def by_path(self) -> dict[str, Entry]:
        """The live entries of data files, by the path in the manifest."""
        found: dict[str, Entry] = {}
        for entry in self.data:
            found.setdefault(entry.path, entry)
        return found

    @cached_property
    def vectors(self) -> dict[str, Entry]:
        """The entries of deletion vectors, by the data file that they name."""
        found: dict[str, Entry] = {}
        for entry in self.entries:
            if entry.format == PUFFIN and isinstance(entry.value(field_ids.REFERENCED_DATA_FILE), str):
                found.setdefault(entry.value(field_ids.REFERENCED_DATA_FILE), entry)
        return found

    @property
    def data(self) -> Iterator[Entry]:
        """The live entries of data files."""
        return (entry for entry in self.entries if entry.content == DATA)


def read_iceberg(
    files: TableFiles, pointer: str = "", snapshot: int | None = None, ref: str | None = None
) -> IcebergState:
    """Read a snapshot of a table, by default the current one.

    Args:
        files: The files of the table.
        pointer: The requested metadata file.
        snapshot: The id of a snapshot.
        ref: The name of a branch or tag.

    Raises:
        FormatError: The metadata cannot be read; rules ICE-001 to ICE-004.
        NotKnownError: The state does not exist, or is ambiguous.
        ElsewhereError: A manifest is outside the table's folder.
        OSError: A file cannot be read.
    """
    name = metadata_file(files, pointer)
    metadata, size = read_metadata(files, name)
    try:
        one = snapshot_of(metadata, snapshot, ref)
        given: Any = None if one is None or (snapshot is None and ref is None) else one.get("schema-id")
        schema = schema_of(metadata, given)
    except Malformed as error:
        error.file = error.file or name
        raise
    state = IcebergState(name, metadata, schema, one, sizes={name: size})
    if one is None:
        return state
    inside = Inside(files, metadata["location"])
    listed = one.get("manifest-list")
    if not isinstance(listed, str):
        if isinstance(one.get("manifests"), list):
            raise ElsewhereError(
                "the metadata list manifests themselves, as in version 1; pqassay does not read that"
            )
        raise Malformed(
            f"snapshot {one.get('snapshot-id')} has no manifest list",
            rule=CURRENT,
            field="metadata.snapshots",
            expected="the path of a manifest list",
            actual=repr(listed)[:80],
            file=name,
        )
    state.list_file, data = _read(files, inside, listed, LIST, "metadata.snapshots", name)
    state.sizes[state.list_file] = len(data)
    for manifest in read_list(state.list_file, data, inside):
        _add(state, files, manifest, inside)
    return state


def _add(state: IcebergState, files: TableFiles, listed: ListedManifest, inside: Inside) -> None:
    place = listed.place(field_ids.MANIFEST_PATH)
    name, data = _read(files, inside, listed.path, MANIFEST, str(place), place.file)
    state.sizes[name] = len(data)
    manifest = Manifest(listed, name, data)
    state.manifests.append(manifest)
    for entry in manifest.entries:
        if entry.status != DELETED:
            entry.inside = inside(entry.path)
            state.entries.append(entry)


def _read(
    files: TableFiles, inside: Inside, path: str, rule: str, field_: str, file: str
) -> tuple[str, bytes]:
    name = inside(path)
    if name is None:
        raise ElsewhereError(f"{path} is not reachable: it is outside of the folder of the table")
    try:
        return name, files.read(name)
    except FileNotFoundError:
        raise Malformed(
            f"there is no file {name}",
            rule=rule,
            field=field_,
            expected="a file of that name",
            actual="none",
            file=file,
        ) from None


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?")


def plain_path(path: str) -> str:
    """A path or URI in the normal form for comparison: aliases of a scheme are unified, and ``file:`` is dropped.

    >>> plain_path("file:///tmp/t/"), plain_path("file:/tmp/t"), plain_path("s3a://b/t")
    ('/tmp/t', '/tmp/t', 's3://b/t')
    """
    match = _SCHEME.match(path)
    if match is not None:
        scheme, rest = match[1].lower(), path[match.end() :]
        path = (
            f"/{rest.lstrip('/')}"
            if scheme == "file"
            else f"{ {'s3a': 's3', 's3n': 's3'}.get(scheme, scheme) }://{rest}"
        )
    return path.rstrip("/")


class Inside:
    """Converts paths in the metadata to paths relative to the table's folder, even if the table has moved.

    Args:
        files: The files of the table.
        location: The location of the table according to the metadata.
    """

    def __init__(self, files: TableFiles, location: str) -> None:
        self._files = files
        self._location = location.rstrip("/") + "/"
        self._plain = plain_path(location) + "/"

    def __call__(self, path: str) -> str | None:
        """The path relative to the table; ``None`` if it is outside."""
        rest = None
        if path.startswith(self._location):
            rest = path[len(self._location) :]
        else:
            plain = plain_path(path)
            if plain.startswith(self._plain):
                rest = plain[len(self._plain) :]
        if rest is None:
            return self._files.inside(path)
        names = rest.split("/")
        return None if {"", ".", ".."} & set(names) else rest


def total(summary: Any, name: str) -> int | None:
    """A total in the summary of a snapshot, parsed from text; ``None`` if absent."""
    given = object_of(summary).get(name)
    if not isinstance(given, str) or len(given) > 19 or not given.removeprefix("-").isdecimal():
        return None
    return int(given)
