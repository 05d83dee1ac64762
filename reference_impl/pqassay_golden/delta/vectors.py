"""Golden Delta tables with deletion vectors, in a file or in the log, and copies with one false claim about them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pqassay_golden.delta.states import protocol
from pqassay_golden.delta.table import (
    COLUMNS,
    FILES,
    INFO,
    PARTS,
    READ_FAILS,
    ROWS_LOST,
    STATS,
    WRONG_COUNT,
    Json,
    add,
    bad,
    change,
    commit,
    compact,
    footer,
    lines,
    metadata,
    schema,
    stats_of,
    values,
)
from pqassay_golden.tables import GoodTable
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table import deletion_vector, roaring, z85
from pqassay_spec.table.delta import DELETION_VECTOR_NAME

PROTOCOL = protocol(["deletionVectors"], ["deletionVectors"])


def vector(positions: Sequence[int]) -> bytes:
    """A deletion vector of ascending positions below 65536."""
    numbers = b"".join(position.to_bytes(roaring.NUMBER_SIZE, "little") for position in positions)
    offset = (
        roaring.COOKIE_SIZE + roaring.SIZE_SIZE + roaring.DESCRIPTION_SIZE + roaring.OFFSET_SIZE
    )  # of the only container
    bitmap = {
        "key": 0,
        "cookie": roaring.COOKIE,
        "size": 1,
        "run_flags": None,
        "descriptions": [{"key": 0, "others": len(positions) - 1}],
        "offsets": [offset],
        "containers": [{"run_count": None, "numbers": numbers}],
    }
    return deletion_vector.VECTOR.build({"bitmap": {"count": 1, "bitmaps": [bitmap]}})


def inline(positions: Sequence[int]) -> str:
    """A deletion vector as the log stores it."""
    data = vector(positions)
    return z85.encode(data + bytes(-len(data) % z85.BYTES))


UNIQUE = uuid.UUID("e5c1a8b0-57a3-4b1c-9d0e-0b6f1b2f4d11")
FILE = DELETION_VECTOR_NAME.format(UNIQUE)
IN_FILE, IN_LOG = vector([1, 7]), vector([7])

VECTORS: list[Json] = [
    {
        "storageType": "u",
        "pathOrInlineDv": z85.encode(UNIQUE.bytes),
        "offset": deletion_vector.HEAD_SIZE,
        "sizeInBytes": len(IN_FILE),
        "cardinality": 2,
    },
    {"storageType": "i", "pathOrInlineDv": inline([7]), "sizeInBytes": len(IN_LOG), "cardinality": 1},
]

WIDE: Json = {**STATS[0], "tightBounds": False}
TIGHT = stats_of(
    8,
    {"id": 100, "metal": "gold", "price": 1, "day": "2022-04-18", "at": "1970-04-11T00:00:00.000Z", "mass": 100},
    {"id": 106, "metal": "zinc", "price": 6.94, "day": "2022-04-24", "at": "1970-04-11T00:00:07.407402Z", "mass": 101},
    {"id": 0, "metal": 1, "price": 0, "day": 0, "at": 0, "mass": 2},
    tightBounds=True,
)  # fmt: skip

DELETED = {
    commit(0): lines(
        INFO,
        PROTOCOL,
        metadata(schema(**COLUMNS), **{"delta.enableDeletionVectors": "true"}),
        add("part-0.parquet", PARTS[0], WIDE, deletionVector=VECTORS[0]),
        add("part-1.parquet", PARTS[1], TIGHT, deletionVector=VECTORS[1]),
    ),
    FILE: deletion_vector.FILE_HEAD.build({"version": deletion_vector.FILE_VERSION})
    + deletion_vector.stored(IN_FILE),
    **FILES,
}

GOOD_TABLES = (
    GoodTable(
        "dlt/deleted",
        "Deletion vectors in a file and in the log, with statistics that are wide and tight",
        DELETED,
    ),
)

OTHER_ROWS = "Rows that were deleted come back, and others are gone."


def _in_file(offset: int, to: str) -> TableMutation:
    return TableMutation(file=FILE, op="bytes", offset=offset, to=to)


_CHECKSUM = deletion_vector.HEAD_SIZE + deletion_vector.SIZE_SIZE + len(IN_FILE)

_PROTOCOL = (
    DELETED[commit(0)]
    .split(b"\n")
    .index(next(one for one in DELETED[commit(0)].split(b"\n") if b'"protocol"' in one))
)
"""The line of the protocol action."""

BAD_TABLES = (
    bad("features-of-version-2", "Features are listed, and readers are asked for a version without features", "Readers of that version return rows that were deleted.", change("protocol.minReaderVersion", 2, line=_PROTOCOL), "057", of="deleted"),
    bad("feature-for-readers-alone", "A feature is for readers, and not for writers", READ_FAILS, change("protocol.writerFeatures", [], line=_PROTOCOL), "064", of="deleted"),
    bad("vectors-without-feature", "Files have deletion vectors, and readers are not asked to know them", "Readers that do not know them return rows that were deleted.", change("protocol.readerFeatures", [], line=_PROTOCOL), "058", of="deleted"),
    bad("deleted-and-not-counted", "A file with a deletion vector does not say how many rows it has", WRONG_COUNT, change("add.stats", compact({"tightBounds": False})), "014", of="deleted"),
    bad("deleted-beyond-the-rows", "A deletion vector is said to remove more rows than there are", WRONG_COUNT, change("add.deletionVector.cardinality", 9), "015", of="deleted"),
    bad("vector-of-no-size", "The descriptor of a deletion vector does not say how many bytes it has", READ_FAILS, TableMutation(file=commit(0), op="remove", line=3, path="add.deletionVector.sizeInBytes"), "018", of="deleted"),
    bad("vector-file-missing", "The file of a deletion vector was deleted", READ_FAILS, TableMutation(file=FILE, op="drop"), "019", of="deleted"),
    footer("vector-file-of-version-2", "A file of deletion vectors begins with another version", READ_FAILS, _in_file(0, "02"), "029", of="deleted"),
    footer("vector-longer", "The length before a deletion vector is not that in the log", READ_FAILS, _in_file(1, (len(IN_FILE) + 1).to_bytes(4, "big").hex()), "030", of="deleted"),
    footer("vector-turned", "A bit of a deletion vector was turned: another row is deleted", OTHER_ROWS, _in_file(_CHECKSUM - 2, "06"), "031", of="deleted"),
    footer("vector-no-bitmap", "A deletion vector begins with another number", READ_FAILS, change("add.deletionVector.pathOrInlineDv", "00000" + inline([7])[5:], line=4), "032", of="deleted"),
    footer("deleted-and-miscounted", "The log says that fewer rows are deleted than the vector does", WRONG_COUNT, change("add.deletionVector.cardinality", 1), "033", of="deleted"),
    footer("deleted-and-not-there", "A deletion vector removes a row that the file does not have", OTHER_ROWS, change("add.deletionVector.pathOrInlineDv", inline([8]), line=4), "034", of="deleted"),
    values("deleted-and-bounded", "The upper bound is the value of a deleted row, though the statistics are said to be tight", "Engines that answer MAX by the log give the value of a row that was deleted.", change("add.stats.maxValues.id", 107, line=4), "035", of="deleted"),
    values("maximum-of-the-rest-lowered", "The upper bound of a column is below a value that was not deleted", ROWS_LOST, change("add.stats.maxValues.id", 5), "027", of="deleted"),
)  # fmt: skip
