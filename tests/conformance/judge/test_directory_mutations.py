"""Damage to index directories and their blobs: there is a report, nothing else is raised, and nothing hangs or swells."""

from __future__ import annotations

import base64
import contextlib
import zlib
from collections.abc import Sequence
from functools import cache
from random import Random

import pytest

import pqassay
from damage import Damaged, bounded_memory, require_report, scattered
from directory_files import (
    COMPLETE,
    LOT_SUMS,
    METAL_LOT_SUMS,
    Index,
    metal_sets,
    parquet,
    sums,
    table,
    with_directory,
)
from idx1_files import edited
from pqassay.dump import JsonLines, Tree, dump
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory import entries
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import CompressionCodec, FileMetaData

pytestmark = pytest.mark.slow

SMALL = parquet(table().select(["metal", "lot"]))

FILES = {
    "body": with_directory(Index(), sums(METAL_LOT_SUMS, "metal", "lot", value_count=5), data=SMALL),
    "inline": with_directory(
        Index(placement=Placement.INLINE, codec=CompressionCodec.GZIP),
        sums(LOT_SUMS, "lot", value_count=2, placement=Placement.INLINE),
        data=SMALL,
    ),
    "extension": with_directory(
        Index(placement=Placement.EXTENSION, granularity=Granularity.PAGE),
        sums(LOT_SUMS, "lot", value_count=2, placement=Placement.EXTENSION),
        data=SMALL,
    ),
}


def metadata_of(data: bytes) -> FileMetaData:
    """The footer of a file."""
    source = BytesSource(data)
    return read_footer(source, read_framing(source))[0]


def key_of(data: bytes) -> bytes:
    """The decoded directory of a file."""
    pairs = metadata_of(data).key_value_metadata or []
    return entries.decode_text(next(pair.value or "" for pair in pairs if pair.key == entries.KEY))


def with_key(data: bytes, directory: bytes) -> bytes:
    """The file with another directory."""

    def edit(metadata: FileMetaData) -> None:
        for pair in metadata.key_value_metadata or []:
            if pair.key == entries.KEY:
                pair.value = base64.b64encode(directory).decode()

    return edited(data, edit)


class TestDamagedDirectories(Damaged):
    files = FILES
    drawn, stacked, least = 200, 100, 380

    def read_good(self, data: bytes) -> None:
        assert [] == [
            one.rule for one in pqassay.check(data, tier="values").files[0].findings if one.verdict != "INFO"
        ]

    def read(self, data: bytes) -> None:
        """What reads the whole file field by field is slow, and gets every sixteenth file."""
        some = zlib.crc32(data) % 16
        report = pqassay.check(data, tier="values" if some < 4 else "index")
        require_report(report.files[0])
        if some == 0:
            for writer in (Tree, JsonLines):
                dump(BytesSource(data), writer(lambda line: line.encode()))
            with contextlib.suppress(FormatError):
                take_apart(data)

    @classmethod
    def possible(cls, name: str) -> Sequence[Mutation]:
        """Every twenty-fourth of those of the directory: other structures have other tests."""
        found = [mutation for mutation in super().possible(name) if mutation.path.startswith("directory")]
        return found[sorted(cls.files).index(name) :: 24]

    def damaged(self, chance: Random) -> bytes:
        """A directory some of whose decoded bytes are damaged, with a checksum that fits."""
        name = chance.choice(sorted(self.files))
        directory = scattered(key_of(self.files[name]), chance, chance.randint(1, 3))
        return with_key(self.files[name], entries.with_crc(directory))


@cache
def imported() -> None:
    """Have all modules imported that a check needs."""
    pqassay.check(SMALL, tier="values")


HOSTILE = {
    "parts": metal_sets((COMPLETE, ()))[:4].replace(b"\1", b"\xff") + b"\xff" * 8,
    "values": b"\1\0\0\0" + b"\4\0\0\0" + b"\xff" * 12,
    "groups": b"\1\0\0\0" + b"\xff" * 4 + b"\0\0\1\0" + b"\1\0\0\0",
    "keys": b"\0\0\0\0\0\0\0\0\xff\xff\1\0",
    "sketches": b"\xff\xff\xff\x7f",
}


@pytest.mark.parametrize("kind", [IndexType.DISTINCT_SET, IndexType.ZONE_SUMS, IndexType.HLL, IndexType.KLL])
@pytest.mark.parametrize("blob", HOSTILE)
def test_hostile_counts_in_a_blob_ask_for_no_memory(kind: IndexType, blob: str) -> None:
    data = with_directory(Index(kind, HOSTILE[blob], (("lot",),), Granularity.FILE), data=SMALL)
    imported()
    with bounded_memory(len(data)):
        (file,) = pqassay.check(data, tier="values").files

    assert {"DIR-020"} == {finding.rule for finding in file.findings}


@pytest.mark.parametrize("codec", [CompressionCodec.ZSTD, CompressionCodec.SNAPPY])
def test_a_blob_that_grows_beyond_its_length_is_not_decompressed_whole(codec: CompressionCodec) -> None:
    bomb = bytes(100 << 20)
    good = Index(blob=bomb, codec=codec, head={"plain_length": 1 << 20})
    data = with_directory(good, data=SMALL)
    del bomb
    with bounded_memory(0):  # less than the blob would take
        (file,) = pqassay.check(data, tier="index").files

    assert ["DIR-015"] == [finding.rule for finding in file.findings]


def test_a_length_beyond_what_is_looked_into_is_not_checked() -> None:
    index = Index(codec=CompressionCodec.ZSTD, head={"plain_length": 1 << 60})
    report = pqassay.check(with_directory(index, data=SMALL), tier="index")
    (file,) = report.files
    why = report.coverages[file.coverage].not_checked["DIR-015"].reason

    assert ([], True) == (file.findings, "pqassay reads up to" in why)
