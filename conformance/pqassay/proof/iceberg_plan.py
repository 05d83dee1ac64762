"""The rows of an Iceberg table, for queries and their true answers, and a copy of its metadata that says nothing of values."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from pqassay.proof.table_plan import TableRows, require_few
from pqassay.tables.avro import container
from pqassay.tables.claims import FileClaims
from pqassay.tables.iceberg.entry_claims import claims_of
from pqassay.tables.iceberg.manifests import Manifest
from pqassay.tables.iceberg.state import PARQUET, IcebergState, read_iceberg
from pqassay.under_test.file import NotChecked
from pqassay_spec.table.avro import BLOCK_HEADER, CODEC_KEY, CONTAINER_HEADER, MAGIC, grammar_of
from pqassay_spec.table.iceberg import DATA, DATA_FILE, DELETED, MANIFEST_FILE
from pqassay_spec.table.json_objects import JsonObject
from pqassay_spec.table.layout import ICEBERG_METADATA

Json = dict[str, Any]

METRICS = (108, 109, 110, 137, 125, 128)
"""Fields of a data file that say something of its values: sizes, counts and bounds of columns."""

PATH, LIST_PATH, LIST_LENGTH, SUMMARIES = 100, 500, 501, 507
"""Fields with the path of a data file; with the path and the length of a manifest, and what it says of partitions."""


@dataclass
class IcebergRows(TableRows):
    """The rows of an Iceberg table at its current snapshot."""

    _state: IcebergState | None = None

    @property
    def state(self) -> IcebergState:
        """What its metadata say. Raises `FormatError`, `NotChecked` and `OSError`."""
        if self._state is None:
            state = read_iceberg(self.table)
            if any(entry.content != DATA or entry.format != PARQUET for entry in state.entries):
                raise NotChecked("some rows are deleted, or in other files than Parquet", "tool")
            require_few(len(state.entries))
            self._state = state
        return self._state

    @property
    def live(self) -> Mapping[str, tuple[str, FileClaims]]:
        """See `TableRows.live`."""
        found: dict[str, tuple[str, FileClaims]] = {}
        for entry in self.state.entries:
            if entry.inside is None:
                raise NotChecked(f"{entry.path} is outside of the folder of the table", "file")
            found[entry.inside] = f"{entry.manifest.name}[{entry.number}]", claims_of(self.state, entry)
        return found

    def write_plain(self, table: pa.Table, folder: Path) -> None:
        """Write the metadata anew, with the same data files and nothing that lets readers pass over them."""
        _ = table
        out = folder / ICEBERG_METADATA
        out.mkdir(parents=True)
        state = self.state
        written: dict[str, tuple[str, int]] = {}
        for number, manifest in enumerate(state.manifests):
            content = _rewritten(self._read(manifest.name), "manifest", self._silent(manifest))
            path = out / f"manifest-{number}.avro"
            path.write_bytes(content)
            written[manifest.listed.path] = str(path), len(content)

        def moved(record: Json) -> None:
            names = _names(MANIFEST_FILE)
            path, length = written[record[names[LIST_PATH]]]
            record |= {names[LIST_PATH]: path, names[LIST_LENGTH]: length}
            if names[SUMMARIES] in record:
                record[names[SUMMARIES]] = None

        listed = out / "snap.avro"
        listed.write_bytes(_rewritten(self._read(state.list_file), "manifest list", moved))
        metadata = {**state.metadata, "location": str(folder)}
        metadata["snapshots"] = [{**cast("Json", state.snapshot), "manifest-list": str(listed)}]
        for left_out in ("snapshot-log", "metadata-log", "statistics", "partition-statistics"):
            metadata.pop(left_out, None)
        (out / "v1.metadata.json").write_text(json.dumps(metadata, default=str), "utf-8")

    def _read(self, name: str) -> bytes:
        return self.table.read(name)

    def _silent(self, manifest: Manifest) -> Any:
        own, names = manifest.layout.name(2), _names(DATA_FILE)
        paths = {entry.path: entry.inside for entry in manifest.entries if entry.status != DELETED}

        def silent(record: Json) -> None:
            data_file = record[own]
            inside = paths.get(data_file[names[PATH]])
            if inside is not None:
                data_file[names[PATH]] = str(Path(self.table.path_of(inside)).resolve())
            for field in METRICS:
                if names[field] in data_file:
                    data_file[names[field]] = None

        return silent


def _names(declared: JsonObject) -> dict[int, str]:
    return {one.id: one.name for one in declared.members if one.id is not None}


def _rewritten(data: bytes, name: str, change: Any) -> bytes:
    """An object container after a change of each of its objects, without compression."""
    file = container(name, data, "")
    grammar = grammar_of(file.schema)
    metadata = {**file.metadata, CODEC_KEY: b"null"}
    parts = [CONTAINER_HEADER.build({"magic": MAGIC, "metadata": metadata, "sync": file.sync})]
    for block in file.blocks:
        stream = io.BytesIO(file.plain(block))
        records = [grammar.parse_stream(stream) for _ in range(block.count)]
        for record in records:
            change(record)
        packed = b"".join(grammar.build(record) for record in records)
        parts += [BLOCK_HEADER.build({"count": len(records), "size": len(packed)}), packed, file.sync]
    return b"".join(parts)
