"""Damage to every kind of file that a table's metadata consist of: there is an answer, nothing else is raised, and nothing swells.

`make damages` damages 20,000 files of each kind, and `make test` a part of them.  The readers get them from memory; a few go through the whole
judge.  Where bytes are compressed or have a checksum, what is inside is damaged and packed again, so that damage reaches what is behind.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import struct
import uuid
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from damage import bounded_memory, bounded_residence, require_report, scattered
from pqassay_golden.delta.states import CHECKSUM, CHECKSUMMED, LAST, POINTED
from pqassay_golden.delta.table import (
    CHECKPOINTED,
    PARTITIONED,
    PARTS,
    PLAIN,
    STATS,
    add,
    commit,
    compact,
    lines,
    metadata,
    schema,
    stats_of,
)
from pqassay_golden.iceberg import evolved as iceberg_evolved
from pqassay_golden.iceberg import files as iceberg_files
from pqassay_golden.tiny.avro import Codec, container, record_schema
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table import deletion_vector, z85
from pqassay_spec.table.avro import BLOCK_HEADER, CONTAINER_HEADER, MAGIC, SYNC
from pqassay_spec.table.iceberg import DATA_FILE, MANIFEST_ENTRY
from pqassay_spec.table.layout import DELTA_LOG, DELTA_SIDECARS
from pqassay_tables.metadata.delta.segment import NoVersionError
from pqassay_tables.metadata.delta.state import read_state
from pqassay_tables.metadata.delta.statistics import claims_of as delta_claims
from pqassay_tables.metadata.iceberg.entry_claims import claims_of as iceberg_claims
from pqassay_tables.metadata.iceberg.metadata import NotKnownError
from pqassay_tables.metadata.iceberg.state import ElsewhereError, read_iceberg
from pqassay_tables.values.roaring import decode

pytestmark = pytest.mark.slow

Files = dict[str, bytes]

WHOLE = os.environ.get("PQASSAY_DAMAGES") == "all"
MOST = 20_000 if WHOLE else 60
JUDGED = 200 if WHOLE else 2
"""Files of each kind that go through the whole judge."""


class InMemory:
    """The files of a table; see `pqassay.tables.files.TableFiles`."""

    name = "t"

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def listed(self, folder: str) -> Mapping[str, int]:
        below = {name.rpartition("/")[::2]: len(data) for name, data in self._files.items()}
        return {name: size for (where, name), size in below.items() if where == folder}

    def read(self, path: str) -> bytes:
        if path not in self._files:
            raise FileNotFoundError(path)
        return self._files[path]

    def size_of(self, path: str) -> int | None:
        data = self._files.get(path)
        return None if data is None else len(data)

    def inside(self, path: str) -> str | None:
        return None if path.startswith(("/", "..")) else path


# ------------------------------------------------------------------------------------------------------- damages

WORDS = (b"null", b"-1", b"0", b"1e999", b"9" * 300, b'"\\ud800"', b'"\\u0000"', b"[]", b"{}", b"true", b'""', b"[" * 400, b'{"a":1,"a":2}', b"NaN", b"1.5")  # fmt: skip
VARINTS = (
    b"\0",
    b"\x01",
    b"\x02",
    b"\xff" * 9 + b"\x01",
    b"\xfe" * 9 + b"\x01",
    b"\xff" * 12,
    b"\x80" * 4,
    b"\x7f",
)


def json_damage(data: bytes, chance: Random) -> bytes:
    """A JSON text with another value somewhere, or with bytes that are damaged."""
    if chance.random() < 0.3:
        return scattered(data, chance, chance.randint(1, 2))
    text = bytearray(data)
    for _ in range(chance.randint(1, 2)):
        colons = [place for place, byte in enumerate(text) if byte in b":,"]
        if not colons:
            break
        start = chance.choice(colons) + 1
        end = next((place for place in range(start, len(text)) if text[place] in b",]}\n"), len(text))
        text[start:end] = chance.choice(WORDS)
    return bytes(text)


def avro_damage(data: bytes, chance: Random) -> bytes:
    """Avro with bytes that are damaged, or numbers that announce too much."""
    if chance.random() < 0.6:
        return scattered(data, chance, chance.randint(1, 3))
    place = chance.randrange(len(data))
    new = chance.choice(VARINTS)
    return data[:place] + new + data[place + chance.choice((0, 1, len(new))) :]


PACK: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": lambda plain: zlib.compress(plain, 1, -zlib.MAX_WBITS),
    "snappy": lambda plain: pa.Codec("snappy").compress(plain, asbytes=True) + struct.pack(">I", zlib.crc32(plain)),
    "zstandard": lambda plain: pa.Codec("zstd").compress(plain, asbytes=True),
}  # fmt: skip


def repacked(data: bytes, codec: str, chance: Random) -> bytes:
    """A container of one block without compression, with damage in its block, compressed."""
    header = CONTAINER_HEADER.parse(data)
    body = len(CONTAINER_HEADER.build(header))
    start = BLOCK_HEADER.parse(data[body:])
    size = len(BLOCK_HEADER.build(start))
    plain = avro_damage(data[body + size : -SYNC], chance)
    about = {**header.metadata, "avro.codec": codec.encode()}
    packed = PACK[codec](plain)
    count = start.count if chance.random() < 0.8 else chance.choice((0, -1, 1 << 40, 7))
    made = CONTAINER_HEADER.build({"magic": MAGIC, "metadata": about, "sync": header.sync})
    whole = made + BLOCK_HEADER.build({"count": count, "size": len(packed)}) + packed + header.sync
    return whole if chance.random() < 0.8 else avro_damage(whole, chance)


# --------------------------------------------------------------------------------------------------------- kinds

EVOLVED = iceberg_evolved.EVOLVED
LIST, MANIFEST, METADATA = iceberg_files.LIST, iceberg_files.MANIFEST, iceberg_files.METADATA


def checkpoint(actions: list[dict[str, Any]]) -> bytes:
    """A checkpoint in Parquet."""
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(actions), sink)
    return sink.getvalue()


def _add(number: int) -> dict[str, Any]:
    one = add(f"part-{number}.parquet", PARTS[number], None)["add"]
    return {"add": {**one, "partitionValues": [], "stats": compact(STATS[number])}}


_DESCRIBED: list[dict[str, Any]] = [
    {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
    {"metaData": {**metadata(schema(id="long", metal="string"))["metaData"], "format": {"provider": "parquet"}, "configuration": [], "partitionColumns": ["metal"]}},
]  # fmt: skip
CLASSIC = f"{DELTA_LOG}/{1:020}.checkpoint.parquet"
PART = f"{DELTA_LOG}/{1:020}.checkpoint.{{:010}}.{2:010}.parquet"
V2 = f"{DELTA_LOG}/{1:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
SIDECAR = f"{DELTA_LOG}/{DELTA_SIDECARS}/a.parquet"
_DATA = {f"part-{number}.parquet": PARTS[number] for number in (0, 1)}
_COMMIT = {commit(2): lines({"commitInfo": {}})}

DELTA: dict[str, tuple[Files, str]] = {
    "commit": (dict(PLAIN), commit(0)),
    "partitioned commit": (dict(PARTITIONED), commit(1)),
    "JSON checkpoint": (dict(CHECKPOINTED), next(name for name in CHECKPOINTED if "checkpoint" in name)),
    "classic checkpoint": ({**_DATA, **_COMMIT, CLASSIC: checkpoint([*_DESCRIBED, _add(0), _add(1)])}, CLASSIC),
    "multi-part checkpoint": ({**_DATA, **_COMMIT, PART.format(1): checkpoint(_DESCRIBED), PART.format(2): checkpoint([_add(0), _add(1)])}, PART.format(2)),
    "sidecar": ({**_DATA, **_COMMIT, V2: lines(*({**one} for one in (_DESCRIBED[0], metadata(schema(id="long", metal="string")))), {"sidecar": {"path": "a.parquet"}}), SIDECAR: checkpoint([_add(0), _add(1)])}, SIDECAR),
    "version checksum file": (dict(CHECKSUMMED), CHECKSUM),
    "last checkpoint file": (dict(POINTED), LAST),
}  # fmt: skip
ICEBERG: dict[str, tuple[Files, str]] = {
    "metadata": (dict(EVOLVED), METADATA),
    "manifest list": (dict(EVOLVED), LIST),
    "manifest": (dict(EVOLVED), MANIFEST),
}
_UNIQUE = uuid.UUID(int=25)
VECTORS = f"deletion_vector_{_UNIQUE}.bin"


TWO_BITMAPS = (
    struct.pack("<Q", 2)
    + struct.pack("<IIIHHIHH", 0, 12346, 1, 0, 1, 16, 1, 7)
    + struct.pack("<IIBHHHHH", 2, 12347, 1, 0, 3, 1, 5, 3)
)
"""A bitmap of an array, with 1 and 7, and one of a run of four numbers."""


def _deleting(raw: bytes) -> Files:
    stats = stats_of(8, {"id": 0}, {"id": 7}, {"id": 0}, tightBounds=False)
    descriptor = {
        "storageType": "u",
        "pathOrInlineDv": z85.encode(_UNIQUE.bytes),
        "offset": 1,
        "sizeInBytes": len(raw),
        "cardinality": 2,
    }
    protocol = {
        "protocol": {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["deletionVectors"],
            "writerFeatures": ["deletionVectors"],
        }
    }
    one = add("part-0.parquet", PARTS[0], stats, deletionVector=descriptor)
    log = lines(protocol, metadata(schema(id="long")), one)
    return {commit(0): log, VECTORS: b"\x01" + deletion_vector.stored(raw), "part-0.parquet": PARTS[0]}  # fmt: skip


def read_delta(files: Files) -> None:
    """Read a Delta table, and what it says about its files."""
    try:
        state = read_state(InMemory(files))
    except (FormatError, NoVersionError, OSError):
        return
    for entry in state.entries:
        _ = delta_claims(state, entry)


def read_iceberg_(files: Files) -> None:
    """Read an Iceberg table, and what it says about its files."""
    try:
        state = read_iceberg(InMemory(files))
    except (FormatError, NotKnownError, ElsewhereError, OSError):
        return
    for entry in state.entries:
        _ = iceberg_claims(state, entry)


def put(folder: Path, files: Files, name: str, data: bytes) -> None:
    """Write a table, or one of its files once it is there."""
    for path, content in files.items() if not (folder / name).exists() else ():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / name).write_bytes(data)


def damaged(
    kind: str, files: Files, name: str, damage: Callable[[bytes, Random], bytes], read: Callable[[Files], None], folder: Path
) -> None:  # fmt: skip
    """Read many damaged files of a kind, and judge some."""
    good, chance = files[name], Random(zlib.crc32(kind.encode()))
    read(files)
    with bounded_residence(len(good)):
        for number in range(MOST):
            data = damage(good, chance)
            try:
                read({**files, name: data})
                if number < JUDGED:
                    put(folder, files, name, data)
                    for file in pqassay.check(folder, tier="values" if number % 2 else "footer").files:
                        require_report(file)
            except Exception as error:
                error.add_note(f"{kind}, damage {number}: {data.hex()[:4000]}")
                raise


@pytest.mark.parametrize("kind", DELTA)
def test_damaged_files_of_delta_tables_get_an_answer(kind: str, tmp_path: Path) -> None:
    files, name = DELTA[kind]
    damage = json_damage if not name.endswith(".parquet") else lambda data, chance: scattered(data, chance, chance.randint(1, 3))  # fmt: skip
    damaged(kind, files, name, damage, read_delta, tmp_path)


@pytest.mark.parametrize("kind", ICEBERG)
def test_damaged_files_of_iceberg_tables_get_an_answer(kind: str, tmp_path: Path) -> None:
    files, name = ICEBERG[kind]
    damaged(kind, files, name, json_damage if kind == "metadata" else avro_damage, read_iceberg_, tmp_path)


def test_damaged_metadata_that_are_compressed_get_an_answer(tmp_path: Path) -> None:
    name = "metadata/v1.gz.metadata.json"
    files = {name: gzip.compress(EVOLVED[METADATA]), **{key: data for key, data in EVOLVED.items() if key != METADATA}}  # fmt: skip

    def damage(data: bytes, chance: Random) -> bytes:
        packed = gzip.compress(json_damage(EVOLVED[METADATA], chance), 1)
        return packed if chance.random() < 0.5 else scattered(data, chance, 2)

    damaged("gz", files, name, damage, read_iceberg_, tmp_path)


@pytest.mark.parametrize("codec", list(PACK))
def test_damage_within_compressed_blocks_gets_an_answer(codec: Codec, tmp_path: Path) -> None:
    plain = EVOLVED[MANIFEST]
    damaged(codec, dict(EVOLVED), MANIFEST, lambda _, chance: repacked(plain, codec, chance), read_iceberg_, tmp_path)  # fmt: skip


def test_damaged_deletion_vectors_get_an_answer(tmp_path: Path) -> None:
    good = deletion_vector.MAGIC.to_bytes(deletion_vector.MAGIC_SIZE, "little") + TWO_BITMAPS

    def damage(_: bytes, chance: Random) -> bytes:
        raw = scattered(good, chance, chance.randint(1, 2))
        return b"\x01" + deletion_vector.stored(raw) if chance.random() < 0.8 else scattered(good, chance, 2)

    def read(files: Files) -> None:
        with contextlib.suppress(FormatError):
            _ = decode(files[VECTORS][1 + deletion_vector.SIZE_SIZE + deletion_vector.MAGIC_SIZE :])

    assert (6, (2 << 32) + 8) == ((bitmap := decode(TWO_BITMAPS)).count, bitmap.greatest)
    damaged("vector", _deleting(good), VECTORS, damage, read, tmp_path)


# --------------------------------------------------------------------------------------------------------- bombs


def _manifest(schema_: Any, plain: bytes, codec: str = "null", count: int = 1) -> bytes:
    empty = container(schema_, [])
    header = CONTAINER_HEADER.parse(empty)
    about = {**header.metadata, "avro.codec": codec.encode()}
    packed = PACK[codec](plain)
    whole: bytes = (
        CONTAINER_HEADER.build({"magic": MAGIC, "metadata": about, "sync": header.sync})
        + BLOCK_HEADER.build({"count": count, "size": len(packed)})
        + packed
        + header.sync
    )
    return whole


_EMPTY: dict[str, Any] = {"type": "record", "name": "e0", "fields": []}
_ENTRY = record_schema(MANIFEST_ENTRY, data_file=record_schema(DATA_FILE, partition={**_EMPTY, "name": "r102"}))  # fmt: skip


def _with(kind: Any) -> Any:
    return {**_ENTRY, "fields": [*_ENTRY["fields"], {"name": "more", "type": kind}]}


def doubling(times: int) -> Any:
    """A record whose types hold the one before them twice, ``depth`` times; what is named before is not nested."""
    fields: list[Any] = [{"name": "f0", "type": _EMPTY}]
    for number in range(1, times):
        both = [{"name": name, "type": f"e{number - 1}"} for name in "ab"]
        fields.append(
            {"name": f"f{number}", "type": {"type": "record", "name": f"e{number}", "fields": both}}
        )
    return {"type": "record", "name": "top", "fields": fields}


ZEROS = bytes(1 << 25)
BOMBS: dict[str, Callable[[], bytes]] = {
    "types that double": lambda: _manifest(_with(doubling(60)), bytes(300)),
    "lists of nothing": lambda: _manifest(_with({"type": "array", "items": _EMPTY}), bytes(300)),
    **{f"zeros by {codec}": partial(_manifest, _ENTRY, ZEROS, codec, 1000) for codec in ("deflate", "zstandard")},
    "more objects than bytes": lambda: _manifest(_ENTRY, bytes(300), "deflate", 1 << 40),
    "deep schema": lambda: CONTAINER_HEADER.build({"magic": MAGIC, "metadata": {"avro.schema": b"[" * 9000 + b"]" * 9000}, "sync": bytes(SYNC)}),
    "announced entries": lambda: MAGIC + BLOCK_HEADER.build({"count": 1 << 60, "size": 1}) + b"a" * 1000,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_manifest_only_claims_asks_for_no_memory(name: str, tmp_path: Path) -> None:
    data = BOMBS[name]()
    put(tmp_path, dict(EVOLVED), MANIFEST, data)
    with bounded_memory(len(data)):
        for file in pqassay.check(tmp_path, tier="meta").files:
            require_report(file)


def test_metadata_that_swell_are_not_read_on(tmp_path: Path) -> None:
    data = gzip.compress(b'{"a":[' + b"[]," * 3_000_000 + b"[]]}")
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata/v1.gz.metadata.json").write_bytes(data)
    (file,) = pqassay.check(tmp_path, tier="meta").files

    assert "bytes without compression" in str(file.error)


@pytest.mark.parametrize("path", ["a\\u0000b", "a\\ud800b", "%00", "\\u001b[31m"])
def test_a_path_that_no_file_can_have_is_one_that_is_missing(path: str, tmp_path: Path) -> None:
    log = lines({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, metadata(schema(id="long")), add("PATH", PARTS[0], None))  # fmt: skip
    put(tmp_path, {}, "part-0.parquet", PARTS[0])
    (tmp_path / DELTA_LOG).mkdir()
    (tmp_path / commit(0)).write_bytes(log.replace(b"PATH", path.encode()))
    (file,) = pqassay.check(tmp_path).files

    assert ["DLT-007"] == [finding.rule for finding in file.findings]
    assert json.loads(json.dumps(file.path))
