"""The trace of an index directory: every field once, where the bytes are that hold it."""

from __future__ import annotations

import base64

import pytest

from directory_files import LOT_SUMS, Index, sums, with_directory
from pqassay.dump import Hexdump, dump
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory.codes import Placement
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.parquet.thrift import CompressionCodec

FLAGS = "directory.entries[0].blob.heads[0].flags"


def leaves_of(data: bytes) -> dict[str, Leaf]:
    """The leaves of a directory and its blobs, by path."""
    found: list[Leaf] = []
    errors = dump(BytesSource(data), found.extend)
    assert [] == errors
    return {leaf.path: leaf for leaf in found if leaf.path.startswith("directory")}


@pytest.mark.parametrize("placement", [Placement.BODY, Placement.EXTENSION])
def test_a_field_of_a_blob_has_its_place_in_the_file(placement: Placement) -> None:
    data = with_directory(Index(placement=placement))
    leaf = leaves_of(data)[FLAGS]

    assert (5, "NULLS|COMPLETE") == (leaf.value, leaf.label)
    assert (5).to_bytes(4, "little") == data[leaf.offset : leaf.offset + leaf.length]


@pytest.mark.parametrize("path", ["directory.magic", "directory.entries[0].head.shape", FLAGS])
def test_a_field_in_base64_has_the_place_of_its_characters(path: str) -> None:
    data = with_directory(Index(placement=Placement.INLINE))
    leaf = leaves_of(data)[path]
    value = leaf.value if isinstance(leaf.value, bytes) else leaf.value.to_bytes(8, "little").rstrip(b"\0")

    assert value in base64.b64decode(data[leaf.offset : leaf.offset + leaf.length])


def test_a_compressed_blob_is_shown_as_stored_and_field_by_field() -> None:
    index = Index(codec=CompressionCodec.ZSTD)
    data = with_directory(index)
    leaves = leaves_of(data)
    stored = leaves["directory.entries[0].blob"]

    assert index.stored() == data[stored.offset : stored.offset + stored.length]
    assert (stored.offset, stored.length, 5) == (
        leaves[FLAGS].offset,
        leaves[FLAGS].length,
        leaves[FLAGS].value,
    )


def test_every_entry_is_shown_with_its_blob() -> None:
    data = with_directory(Index(), sums(LOT_SUMS, "lot", value_count=2, placement=Placement.INLINE))
    leaves = leaves_of(data)

    assert (24, 33) == tuple(
        leaves[f"directory.entries[1].blob.groups[{number}].sum_low"].value for number in (0, 1)
    )


def test_the_hexdump_of_a_whole_file_shows_each_blob_once() -> None:
    data = with_directory(Index())
    rows: list[str] = []
    dump(BytesSource(data), Hexdump(rows.append, BytesSource(data), whole=True))

    assert 1 == sum(FLAGS in row for row in rows)


def test_a_directory_that_is_damaged_is_shown_and_the_damage_said() -> None:
    data = with_directory(Index(), decoded=lambda data: data[:-1] + b"\0")
    found: list[Leaf] = []
    (error,) = dump(BytesSource(data), found.extend)

    assert ("DIR-004", True) == (
        error.rule,
        any(leaf.path == "directory.entries[0].head.type" for leaf in found),
    )
