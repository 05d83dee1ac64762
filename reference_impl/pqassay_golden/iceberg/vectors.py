"""Golden Iceberg tables with deletion vectors, and copies with one false claim about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from pqassay_golden.delta.vectors import vector
from pqassay_golden.iceberg.files import LOCATION, METADATA, Files, Json, data_file, entry, parts_of, table
from pqassay_golden.iceberg.table import ADDED, BY_EARLIER, COLUMNS, PARTS, ROWS, bad
from pqassay_golden.tables import GoodTable
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table import deletion_vector, puffin

PUFFIN = "data/vectors.puffin"
GAP = bytes(8)
"""Bytes between two blobs, which need not be adjacent."""

POSITIONS = ([0, 1, 2, 3, 4, 5, 6, 7], [1, 7])
"""The deleted rows of each file."""


def puffin_file(blobs: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """A Puffin file of deletion vectors, and the offsets of the vectors."""
    data = puffin.HEAD.build({})
    starts: list[int] = []
    for blob in blobs:
        starts.append(len(data))
        data += blob + GAP
    described: list[Json] = [
        {
            "type": "deletion-vector-v1",
            "fields": [],
            "snapshot-id": -1,
            "sequence-number": -1,
            "offset": start,
            "length": len(blob),
            "properties": {
                "referenced-data-file": f"{LOCATION}/data/part-{number}.parquet",
                "cardinality": str(len(POSITIONS[number])),
            },
        }
        for number, (start, blob) in enumerate(zip(starts, blobs, strict=True))
    ]
    payload = json.dumps({"blobs": described}, separators=(",", ":")).encode()
    tail = puffin.TAIL.build({"size": len(payload), "flags": 0})
    return data + puffin.MAGIC + payload + tail, starts


def vectors(
    change: Json | None = None, second: bytes | None = None, first_row_id: int | None = None
) -> Files:
    """A table of version 3 with a deletion vector for each of its files.

    Args:
        change: Other claims about the second vector.
        second: The second vector itself.
        first_row_id: The first row id of the manifest of vectors in the manifest list.
    """
    raws = [vector(positions) for positions in POSITIONS]
    blobs = [deletion_vector.stored(raws[0]), deletion_vector.stored(second or raws[1])]
    packed, starts = puffin_file(blobs)
    files = [
        data_file(
            PUFFIN,
            packed,
            len(POSITIONS[number]),
            content=1,
            file_format="PUFFIN",
            split_offsets=None,
            referenced_data_file=f"{LOCATION}/data/part-{number}.parquet",
            content_offset=starts[number],
            content_size_in_bytes=len(blobs[number]),
        )
        for number in range(2)
    ]
    files[1].update(change or {})
    entries = [entry(one) for one in files]
    return table(
        COLUMNS,
        ADDED,
        {PUFFIN: packed, **parts_of(PARTS)},
        manifests_of=3,
        of_list={**BY_EARLIER, "first_row_id": 0},
        deletes=entries,
        of_deletes={"sequence_number": 2, "min_sequence_number": 2, "added_rows_count": None, "first_row_id": first_row_id},
        sequence=2,
        version=3,
        next_row_id=2 * ROWS,
    )  # fmt: skip


VECTORS = vectors()

GOOD_TABLES = (
    GoodTable(
        "ice/vectors", "Deletion vectors of two files, in a list that does not count their rows", VECTORS
    ),
)

COME_BACK = "Deleted rows come back."
_START = VECTORS[PUFFIN].index(deletion_vector.stored(vector(POSITIONS[1])))
_CHECKSUM = _START + deletion_vector.SIZE_SIZE + len(vector(POSITIONS[1]))
_OTHER_MAGIC = bytes([vector(POSITIONS[1])[0] ^ 1]) + vector(POSITIONS[1])[1:]


_bad = partial(bad, GOOD_TABLES, of="vectors")
_footer = partial(_bad, tier="footer")


def _of_footer(old: bytes, new: bytes) -> TableMutation:
    """A mutation that changes bytes in the footer; if both vectors have them, those of the second."""
    return TableMutation(file=PUFFIN, op="bytes", offset=VECTORS[PUFFIN].rindex(old), to=new.hex())


BAD_TABLES = (
    _bad("no-next-row-id", "The metadata do not say which row ids were given away", "Queries fail.", TableMutation(file=METADATA, op="remove", line=0, path="next-row-id"), "078"),
    _footer("puffin-without-magic", "A Puffin file does not end with its magic number", "Queries fail.", _of_footer(puffin.MAGIC, b"PFA2"), "070"),
    _footer("puffin-vector-elsewhere", "The footer of a Puffin file says that a deletion vector begins a byte before it does", "Other rows are deleted, or queries fail.", _of_footer(b'"offset":' + str(_START).encode(), b'"offset":' + str(_START - 1).encode()), "071"),
    _footer("puffin-vector-of-more-rows", "The footer of a Puffin file says that a deletion vector removes a row more than it does", "Engines that count rows by it give a wrong number.", _of_footer(b'"cardinality":"2"', b'"cardinality":"3"'), "072"),

    _bad("vector-of-no-bytes", "A deletion vector is said to have fewer bytes than its length and checksum", COME_BACK, vectors({"content_size_in_bytes": 4}), "023"),
    _bad("two-vectors", "Two deletion vectors are of one file", COME_BACK, vectors({"referenced_data_file": f"{LOCATION}/data/part-0.parquet"}), "024"),
    _bad("vector-behind-the-end", "A deletion vector is said to lie behind the end of its file", "Queries fail.", vectors({"content_offset": 4000}), "025"),
    _footer("vector-shorter", "A deletion vector is said to have a byte less than it has", "Queries fail, or other rows are deleted.", vectors({"content_size_in_bytes": 43}), "035"),
    _footer("vector-checksum", "The checksum of a deletion vector is that of other bytes", "Queries fail.", TableMutation(file=PUFFIN, op="bytes", offset=_CHECKSUM, to="00000000"), "036"),
    _footer("vector-of-another-magic", "A deletion vector does not begin with its magic number", "Queries fail.", vectors(second=_OTHER_MAGIC), "037"),
    _footer("vector-of-more-rows", "A deletion vector is said to delete a row more than it does", "Engines that count rows by manifests give a wrong number.", vectors({"record_count": 3}), "038"),
    _footer("vector-of-another-file", "A deletion vector deletes a row that its file does not have", COME_BACK, vectors(second=vector([1, 9])), "039"),
)  # fmt: skip
