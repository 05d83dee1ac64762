"""The grammars of structures attached to Parquet files as Kaitai Struct definitions, one file each."""

from __future__ import annotations

from typing import Any

from construct import Bytes, GreedyRange, Struct

from pqassay_spec.directory import distinct_set, entries, sketches, zone_sums
from pqassay_spec.grammar.constructs import expressed
from pqassay_spec.grammar.kaitai import Definition, Place
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.bloom import BLOCK
from pqassay_spec.parquet.thrift import BloomFilterHeader
from pqassay_spec.pm import places as pm

ENDING = ".ksy"
"""The file extension of definitions."""


@expressed("num_bytes")
def _bitset_length(filter_: Any) -> int:
    return int(filter_.header.numBytes)


BLOOM_FILTER = Struct(
    "header" / grammar(BloomFilterHeader) * "The header, in Thrift's compact protocol.",
    "bitset" / Bytes(_bitset_length) * "The bits.",
)
"""The definition of a bloom filter in a Parquet file."""

BITSET = Struct(
    "blocks" / GreedyRange(Struct("words" / BLOCK * "Eight words, with one bit each for a value."))
)

NUM_BYTES = Place(
    "num_bytes",
    "Bytes of the bitset: the first field. Kaitai Struct cannot look for a field by its number.",
    value="header.fields[0].value.as<compact_value>.value.as<varint>.signed",
)

_BLOBS = {
    "distinct_set": ("Blob of type DISTINCT_SET of an index directory", distinct_set.SETS),
    "zone_sums": ("Blob of type ZONE_SUMS of an index directory", zone_sums.SUMS),
    "sketches": ("Blob of type HLL or KLL of an index directory", sketches.SKETCHES),
}

_NAMES = {
    "set_head": distinct_set.SetHead,
    "sums_head": zone_sums.SumsHead,
    "group": zone_sums.Group,
    "key_values": zone_sums.KEY_VALUES,
    "bounds": zone_sums.BOUNDS,
}


def definitions() -> list[Definition]:
    """All definitions, in the order of their names."""
    directory = Definition(
        "index_directory",
        "Index directory: what a footer key says about the indexes of a file, after Base64",
        {
            "entry_head": entries.EntryHead,
            "path": entries.PATH,
            "name": entries.NAME,
            "entry": entries.ENTRY,
            "framed_entry": entries.FRAMED_ENTRY,
        },
        {"framed_entry.entry": entries.ENTRY},
        "Not expressed: the checksum. Blobs have definitions of their own, by the type of the entry.",
    )
    bloom = Definition(
        "bloom_filter",
        "Bloom filter of a column chunk of a Parquet file",
        {"bloom_filter_header": BLOOM_FILTER.header},
        {"bloom_filter.bitset": BITSET},
        "Not expressed: fields of Thrift in another order than that of their numbers, and unknown fields that are lists, sets or maps.",
    )
    blob = Definition(
        "idx1",
        "IDX1: the distinct values of one column",
        doc="The payload is one field: values of any length, with a line feed between two of them.",
    )
    made = [
        directory.with_root(entries.DIRECTORY),
        bloom.with_root(BLOOM_FILTER, [NUM_BYTES]),
        blob.with_root(idx1.BLOB),
        pm.definition(),
        *(Definition(name, title, _NAMES).with_root(of) for name, (title, of) in _BLOBS.items()),
    ]
    return sorted(made, key=lambda one: one.id)
