"""Golden cases of ``_pm``: the valid files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pqassay_golden.pm.recipes import Plan, PmFile, PmGood, Prune
from pqassay_golden.pm.values import (
    AFTERNOON,
    BY_TS,
    CHAIN,
    EVENING,
    FIRST_CHUNK,
    FOOTER_LENGTH,
    MORNING,
    NOON,
    ORDER,
    PLAIN,
    THEN_APPENDED,
    TRADES,
    TS,
    VENUE,
    bitset,
    chunk,
    optional,
    replaced,
    required,
    row_group,
    snapshot,
    uuid,
)
from pqassay_spec.pm.codes import (
    ARRAY_ELEMENT_SHIFT,
    NO_COLUMN,
    NO_TYPE,
    Codec,
    ColumnType,
    EncodingBit,
    PhysicalType,
    Repetition,
)
from pqassay_spec.pm.value import (
    ExternalBloom,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)

# ------------------------------------------------------------------------------------------ few and many columns

MINIMAL = SnapshotValue((), (), 0, 0)
EMPTY = SnapshotValue((required("x", PhysicalType.BOOLEAN, ColumnType.INT, 0),), (), 0, 0)
"""The file in QuestDB's own tests of its writer, which decide the physical type."""
NO_ROW_GROUPS = SnapshotValue(TRADES, (), FIRST_CHUNK, FOOTER_LENGTH, designated_timestamp=0, sorting=BY_TS)

MANY = snapshot(
    (TS,),
    [row_group((TS,), [(NOON + 10 * number,), (NOON + 10 * number + 9,)]) for number in range(64)],
    designated_timestamp=0,
    sorting=BY_TS,
)

NAMES = ("ts", "città", "температура", "温度", "🌡️", "e\u0301", "é", "a b", "a.b", '"', "\u200d", "")
NAMED = [optional(name, PhysicalType.INT32, ColumnType.INT, number) for number, name in enumerate(NAMES)]
UNICODE = snapshot(NAMED, [row_group(NAMED, [range(len(NAMES)), range(1, len(NAMES) + 1)])])

# ------------------------------------------------------------------------------------------ types and encodings

ALL_TYPES = (
    required("boolean", PhysicalType.BOOLEAN, ColumnType.BOOLEAN, 0),
    optional("int32", PhysicalType.INT32, ColumnType.INT, 1),
    optional("int64", PhysicalType.INT64, ColumnType.LONG, 2),
    optional("int96", PhysicalType.INT96, NO_TYPE, NO_COLUMN),
    optional("float", PhysicalType.FLOAT, ColumnType.FLOAT, 4),
    optional("double", PhysicalType.DOUBLE, ColumnType.DOUBLE, 5),
    optional("binary", PhysicalType.BYTE_ARRAY, ColumnType.BINARY, 6),
    optional("bytes5", PhysicalType.FIXED_LEN_BYTE_ARRAY, NO_TYPE, NO_COLUMN, fixed_byte_len=5),
)
TYPES = snapshot(
    ALL_TYPES,
    [
        row_group(
            ALL_TYPES,
            [
                (False, -(1 << 31), -(1 << 63), bytes(12), -0.5, -1e300, b"\0", b"\0\0\0\0\1"),
                (True, (1 << 31) - 1, (1 << 63) - 1, b"\1" * 12, 0.25, 1e300, b"\xff" * 8, b"\xff" * 5),
                (True, None, None, None, None, None, None, None),
            ],
        )
    ],
)

LIST = SnapshotColumn(
    "quotes",
    PhysicalType.DOUBLE,
    0,
    ColumnType.ARRAY | ColumnType.DOUBLE << ARRAY_ELEMENT_SHIFT,
    max_rep_level=1,
    max_def_level=3,
    repetition=Repetition.OPTIONAL,
)
NESTED = snapshot((LIST,), [replace(row_group((LIST,), [(1.5,), (2.5,), (None,), (4.0,)]), num_rows=2)])

CODECS = tuple(
    optional(codec.name.lower(), PhysicalType.INT32, ColumnType.INT, number)
    for number, codec in enumerate(Codec)
)
CODED = snapshot(
    CODECS,
    [
        row_group(
            CODECS,
            [range(8), range(8, 16)],
            **{column.name: {"codec": codec} for column, codec in zip(CODECS, Codec, strict=True)},
        )
    ],
)

ENCODINGS = tuple(
    optional(encoding.name or "", PhysicalType.INT64, ColumnType.LONG, number)
    for number, encoding in enumerate(EncodingBit)
)
SUM_OF_ENCODINGS = EncodingBit(sum(EncodingBit))
ENCODED_WAYS = snapshot(
    (*ENCODINGS, optional("all", PhysicalType.INT64, ColumnType.LONG, 6), optional("none", PhysicalType.INT64, ColumnType.LONG, 7)),
    [
        SnapshotRowGroup(
            1,
            tuple(chunk(ENCODINGS[0], [5], encodings=mask) for mask in (*EncodingBit, SUM_OF_ENCODINGS, EncodingBit(0))),
        )
    ],
)  # fmt: skip

# -------------------------------------------------------------------------------------------------- statistics

BYTES = optional("bytes", PhysicalType.BYTE_ARRAY, ColumnType.BINARY, 0)


LENGTHS = (1, 8, 9, 16)
BY_LENGTH = tuple(replace(BYTES, name=f"bytes{length}", id=number) for number, length in enumerate(LENGTHS))
OF_LENGTHS = [[letter * length for length in LENGTHS] for letter in (b"a", b"b")]
LENGTHWISE = snapshot(BY_LENGTH, [row_group(BY_LENGTH, OF_LENGTHS)])
NO_MIN: dict[str, Any] = {"min": None, "min_exact": False}
NO_BOUNDS: dict[str, Any] = {**NO_MIN, "max": None, "max_exact": False}
ONE_SIDED = snapshot(
    BY_LENGTH,
    [
        row_group(
            BY_LENGTH,
            OF_LENGTHS,
            bytes1=NO_MIN,
            bytes8={"max": None, "max_exact": False},
            bytes9=NO_MIN,
            bytes16={**NO_BOUNDS, "distinct_count": 2},
        )
    ],
)
MIXED = snapshot((BYTES,), [row_group((BYTES,), [(b"a",), (b"b" * 9,)])])
LONGEST = snapshot((BYTES,), [row_group((BYTES,), [(b"a",), (b"b" * 65_535,)])])
INEXACT = snapshot(
    (VENUE,),
    [row_group((VENUE,), [("Adelaide",), ("Zürich",)], venue={"min": b"A", "max": b"[", "min_exact": False, "max_exact": False})],
)  # fmt: skip

# ----------------------------------------------------------------------------------------------- bloom filters

FILTERED = snapshot(
    TRADES,
    [
        row_group(
            TRADES,
            MORNING,
            venue={"bloom": bitset(VENUE, [row[2] for row in MORNING])},
            order_id={"bloom": bitset(ORDER, [row[3] for row in MORNING], 64)},
        ),
        row_group(TRADES, AFTERNOON, order_id={"bloom": bitset(ORDER, [row[3] for row in AFTERNOON])}),
        row_group(TRADES, EVENING, venue={"bloom": bitset(VENUE, [row[2] for row in EVENING])}),
    ],
    designated_timestamp=0,
    sorting=BY_TS,
    bloom_columns=(2, 3),
)
FILTERED_NOWHERE = replace(PLAIN, bloom_columns=(1,))


def _filters_behind(value: SnapshotValue) -> SnapshotValue:
    """The same value with bloom filters in the Parquet file, between its last chunk and its footer."""
    position = value.parquet_footer_offset
    groups: list[SnapshotRowGroup] = []
    for group in value.row_groups:
        chunks = list(group.chunks)
        for number, one in enumerate(chunks):
            if isinstance(one.bloom, bytes):
                chunks[number] = replace(one, bloom=ExternalBloom(position, len(one.bloom)))
                position += len(one.bloom)
        groups.append(replace(group, chunks=tuple(chunks)))
    return replace(value, row_groups=tuple(groups), parquet_footer_offset=position, bloom_external=True)


EXTERNAL = _filters_behind(FILTERED)
FILTERED_THEN_REPLACED = replaced(
    FILTERED, 1, row_group(TRADES, AFTERNOON[:1], venue={"bloom": bitset(VENUE, ["XLON"])})
)

# -------------------------------------------------------------------------------------------------- snapshots


def _rewritten(times: int) -> tuple[SnapshotValue, ...]:
    """The snapshots of a row group with one column that is rewritten several times."""
    columns = (TS,)
    values = [snapshot(columns, [row_group(columns, [(NOON,)])], designated_timestamp=0, sorting=BY_TS)]
    for number in range(1, times):
        values.append(replaced(values[-1], 0, row_group(columns, [(NOON,), (NOON + number,)])))
    return tuple(values)


FIFTY = _rewritten(50)

# ------------------------------------------------------------------------------------------------ sorting order

UNSORTED = replace(PLAIN, sorting=(), designated_timestamp=NO_COLUMN)
DOWN = snapshot(
    TRADES,
    [row_group(TRADES, sorted(MORNING, reverse=True, key=lambda row: row[0]))],
    sorting=(SnapshotSorting(0, descending=True), SnapshotSorting(2)),
)
UP_AND_DOWN = replace(
    PLAIN, sorting=(SnapshotSorting(0), SnapshotSorting(1, descending=True), SnapshotSorting(3))
)

UNKNOWN_TIMES = (replace(TS, name="received", type=ColumnType.TIMESTAMP),)
WITHOUT_STATISTICS = snapshot(
    UNKNOWN_TIMES,
    [
        row_group(UNKNOWN_TIMES, [(NOON,)], received=NO_BOUNDS),
        row_group(UNKNOWN_TIMES, [(NOON + 1,)], received=NO_BOUNDS),
    ],
    sorting=BY_TS,
)

VENUE_OF_MORNING = ["=", "venue", "XNYS"]

GOOD = (
    PmGood("pm/minimal", "No columns, no row groups: the shortest file that there can be", PmFile((MINIMAL,))),
    PmGood("pm/empty", "One column, no row groups", PmFile((EMPTY,)), prune=(Prune(["=", "x", 1], []),), plan=(Plan(["x"]),)),
    PmGood("pm/no-row-groups", "Four columns, a designated timestamp, no row groups", PmFile((NO_ROW_GROUPS,)), prune=(Prune([">", "ts", NOON], []),)),
    PmGood("pm/plain", "Four columns, two row groups, statistics inline and out of line, sorted by the designated timestamp", PmFile((PLAIN,)),
           prune=(
               Prune(["<", "ts", NOON + 5], [0]),
               Prune([">", "price", {"float": "3.0"}], [1]),
               Prune(VENUE_OF_MORNING, [0], [0, 1]),
               Prune(["=", "venue", "ABCD"], []),
               Prune(["=", "order_id", {"bytes": uuid(12).hex()}], [1]),
               Prune(["in", "venue", ["XTKS", "ABCD"]], [1]),
               Prune(["is null", "ts"], []),
               Prune(["is null", "price"], [0, 1]),
               Prune(["and", [">=", "ts", NOON + 5], ["<", "price", {"float": "0.0"}]], [0]),
           ),
           plan=(Plan(["price"]), Plan(["order_id", "ts"], [1]), Plan([]))),
    PmGood("pm/many-row-groups", "64 row groups", PmFile((MANY,)), prune=(Prune(["=", "ts", NOON + 355], [], [35]), Prune([">=", "ts", NOON + 620], [62, 63])), plan=(Plan(["ts"], [0, 63]),)),
    PmGood("pm/unicode-names", "Names beyond ASCII and the BMP, of combining characters, of one character, of none", PmFile((UNICODE,)), plan=(Plan(["温度", "e\u0301"]),)),
    PmGood("pm/physical-types", "Every physical type, with the ends of its range", PmFile((TYPES,)), plan=(Plan(["bytes5", "boolean"]),)),
    PmGood("pm/list", "A column of lists, which has more values than rows", PmFile((NESTED,)), plan=(Plan(["quotes"]),)),
    PmGood("pm/codecs", "Every codec", PmFile((CODED,))),
    PmGood("pm/encodings", "Every encoding alone, all together, none", PmFile((ENCODED_WAYS,))),
    PmGood("pm/statistics-by-length", "Statistics of 1, 8, 9 and 16 bytes: up to 8 they are stored in their slots", PmFile((LENGTHWISE,))),
    PmGood("pm/statistics-on-one-side", "Chunks with a minimum alone, a maximum alone, neither", PmFile((ONE_SIDED,))),
    PmGood("pm/statistics-inline-and-out-of-line", "A minimum in its slot, a maximum out of line", PmFile((MIXED,))),
    PmGood("pm/longest-statistic", "A maximum of 65,535 bytes, the longest that can be referred to", PmFile((LONGEST,)), asked=()),
    PmGood("pm/inexact-statistics", "Bounds that were shortened, and say so", PmFile((INEXACT,)), prune=(Prune(["=", "venue", "Bern"], [], [0]),)),
    PmGood("pm/bloom-filters", "Bloom filters in the file, absent for some row groups", PmFile((FILTERED,)),
           prune=(
               Prune(["=", "venue", "XMIL"], [], [1]),
               Prune(VENUE_OF_MORNING, [0], [0, 1]),
               Prune(["in", "order_id", [{"bytes": uuid(9).hex()}, {"bytes": uuid(8).hex()}]], [0], [0, 2]),
           )),
    PmGood("pm/bloom-filters-nowhere", "A column is announced to have bloom filters, and no row group has one", PmFile((FILTERED_NOWHERE,))),
    PmGood("pm/bloom-filters-external", "Bloom filters in the Parquet file, absent for some row groups", PmFile((EXTERNAL,))),
    PmGood("pm/bloom-filters-replaced", "A row group with bloom filters replaced by one with others", PmFile((FILTERED, FILTERED_THEN_REPLACED))),
    PmGood("pm/three-snapshots", "Written, a row group appended, the first row group replaced", PmFile(CHAIN),
           prune=(
               Prune(["=", "venue", "XNAS"], [0], [0, 1]),
               Prune(["is not null", "price"], [0, 1]),
               Prune([">", "ts", NOON + 100], [], snapshot=PLAIN),
               Prune([">", "ts", NOON + 100], [2], snapshot=THEN_APPENDED),
           ),
           plan=(Plan(["venue"]),)),
    PmGood("pm/fifty-snapshots", "A row group replaced 49 times", PmFile(FIFTY), asked=(FIFTY[49], FIFTY[48], FIFTY[25], FIFTY[0])),
    PmGood("pm/orphan-tail", "Bytes behind the committed size, of an update that broke off", PmFile((PLAIN,), tail=b"\x07" * 100), encode=None),
    PmGood("pm/dead-bytes", "Bytes between two snapshots, of an update that broke off and that the next one passed over", PmFile((PLAIN, THEN_APPENDED), dead=b"\x07" * 101)),
    PmGood("pm/sorting-written-out", "Sorted by the designated timestamp, which a sorting column says and no flag", PmFile((PLAIN,), written_out=True), encode=None),
    PmGood("pm/sorted-by-three", "Three sorting columns, one of them descending", PmFile((UP_AND_DOWN,))),
    PmGood("pm/sorted-descending", "Sorted by a timestamp that is not designated, descending, and by text", PmFile((DOWN,))),
    PmGood("pm/sorted-without-statistics", "Sorted by a timestamp that is not designated, without statistics", PmFile((WITHOUT_STATISTICS,)), prune=(Prune(["=", "received", NOON], [0], [0, 1]),)),
    PmGood("pm/unsorted", "No order and no designated timestamp", PmFile((UNSORTED,))),
)  # fmt: skip
