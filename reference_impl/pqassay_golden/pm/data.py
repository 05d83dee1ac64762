"""Golden cases of ``_pm`` beside its ``data.parquet``: pairs that agree, and pairs with one disagreement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pqassay_golden.pm.recipes import (
    Plan,
    PmFile,
    PmGood,
    Prune,
    add_to,
    chunk_field,
    column_field,
    pm_bad,
)
from pqassay_golden.pm.values import (
    BY_TS,
    DESIGNATED,
    MIDNIGHT,
    NOON,
    bitset,
    optional,
    required,
    row_group,
    size_of,
)
from pqassay_golden.recipes import set_to
from pqassay_golden.tiny import parquet as tiny_parquet
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_reference.pm.storage import MemoryStorage
from pqassay_reference.pm.txn import commit
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.field_paths import get
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.file_tree import Piece
from pqassay_spec.mutation.mutations import IN_DATA, Mutation, mutate
from pqassay_spec.parquet.file import TAIL_SIZE, read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import NO_COLUMN, ColumnFlag, ColumnType, PhysicalType, StatFlag
from pqassay_spec.pm.txn import PARQUET_BIT, Partition, Txn, TxnRecord
from pqassay_spec.pm.value import ExternalBloom, SnapshotColumn, SnapshotRowGroup, SnapshotValue

# ------------------------------------------------------------------------------------------ the Parquet files

ROWS_OF_A_GROUP = 4

TIMES = [NOON, NOON + 5, NOON + 7, NOON + 10, NOON + 10, NOON + 20, NOON + 30, NOON + 31]
VENUES = ["XETR", "XLON", "XNYS", "XETR", "XTKS", None, None, "XLON"]
PRICES = [0.5, 1.5, 2.5, 2.0, None, 8.0, 7.25, 7.5]
NOTES = [b"a", None, b"bbbbbb", b"c", None, None, None, None]
VALUES: Sequence[Sequence[Any]] = (TIMES, VENUES, PRICES, NOTES)

COLUMNS = (
    required("ts", PhysicalType.INT64, DESIGNATED, NO_COLUMN),
    optional("venue", PhysicalType.BYTE_ARRAY, ColumnType.VARCHAR, NO_COLUMN, is_ascii=True),
    optional("price", PhysicalType.DOUBLE, ColumnType.DOUBLE, NO_COLUMN),
    optional("note", PhysicalType.BYTE_ARRAY, ColumnType.BINARY, NO_COLUMN),
)
VENUE = COLUMNS[1]


WITH_IDS = tuple(replace(column, id=number) for column, number in zip(COLUMNS, (0, 2, 3, 4), strict=True))
UNDESIGNATED = (replace(COLUMNS[0], type=ColumnType.TIMESTAMP), *COLUMNS[1:])


def questdb_json(columns: Sequence[SnapshotColumn] = COLUMNS, **more: Any) -> str:
    """The value of the key of the Parquet footer, as QuestDB writes it."""
    schema: list[dict[str, Any]] = [
        {"column_type": int(column.type), "column_top": 0, **({"ascii": True} if column.is_ascii else {})}
        for column in columns
    ]
    return json.dumps({"version": 1, "schema": schema, **more}, separators=(",", ":"))


def tiny(
    rows: int = len(TIMES),
    key: str | None = questdb_json(),
    described_columns: Sequence[SnapshotColumn] = COLUMNS,
    **options: Any,
) -> TinyParquet:
    """The Parquet file of the first rows, with this value of the key and the IDs of these columns."""
    kinds: Sequence[tiny_parquet.Kind] = ("int64", "string", "double", "binary")
    columns = [
        tiny_parquet.Column(
            column.name,
            kind,
            values[:rows],
            optional=bool(column.max_def_level),
            field_id=None if column.id == NO_COLUMN else column.id,
        )
        for column, kind, values in zip(described_columns, kinds, VALUES, strict=True)
    ]
    keys = () if key is None else ((pm.JSON_KEY, key),)
    return TinyParquet(columns, row_group_rows=ROWS_OF_A_GROUP, keys=keys, **options)


PLAIN = tiny(bloom_filters=("venue",)).build()
"""A file with two row groups, bloom filters of one column, and the key."""

WITHOUT_KEY = tiny(key=None).build()
"""The same file, as other software than QuestDB writes it."""

WITH_GAP = tiny(described_columns=WITH_IDS).build()
"""A file of a table from which a column was dropped: the numbers of its columns have a gap."""

WITHOUT_ROWS = tiny(0, key=None).build()
WITHOUT_TIMESTAMP = tiny(key=questdb_json(UNDESIGNATED)).build()
"""A file of a table without designated timestamp."""

_OF_PRICES = "footer.row_groups[0].columns[2].meta_data.statistics"
WITH_INEXACT = mutate(
    mutate(PLAIN, set_to(f"{_OF_PRICES}.is_min_value_exact", False)),
    set_to(f"{_OF_PRICES}.distinct_count", 4),
)
"""A file with an inexact bound and a distinct count, which the tiny writer does not write."""

BEFORE = tiny(ROWS_OF_A_GROUP).build()
"""A file with only the first row group."""


def _appended() -> bytes:
    """The same file after an update: the old footer stays after the first row group, and is unused."""
    metadata, start, _ = _footer(BEFORE)
    tree = take_apart(tiny(key=questdb_json(unused_bytes=len(BEFORE) - start)).build())
    tree.body.insert(len(metadata.row_groups[0].columns), Piece("", lambda: BEFORE[start:]))
    return put_together(tree)


def _footer(data: bytes) -> tuple[FileMetaData, int, int]:
    """The footer of a Parquet file, its offset and its length."""
    source = BytesSource(data)
    framing = read_framing(source)
    return read_footer(source, framing)[0], framing.footer_start, framing.footer_length


APPENDED = _appended()

# ------------------------------------------------------------------------------------- the snapshots that describe them


def described(
    data: bytes,
    columns: Sequence[SnapshotColumn] = COLUMNS,
    *,
    filtered: bool = False,
    external: bool = False,
    **more: Any,
) -> SnapshotValue:
    """The right value of ``_pm`` for one of these files: the literals, at the places in the footer."""
    metadata, offset, length = _footer(data)
    groups: list[SnapshotRowGroup] = []
    for number, declared in enumerate(metadata.row_groups):
        rows = slice(number * ROWS_OF_A_GROUP, (number + 1) * ROWS_OF_A_GROUP)
        taken = [values[rows] for values in VALUES]
        group = row_group(columns, list(zip(*taken, strict=True)))
        chunks = list(group.chunks)
        for ordinal, chunk in enumerate(declared.columns):
            facts = chunk.meta_data
            if facts is None:
                raise ValueError("the tiny writer always says where a chunk is")
            chunks[ordinal] = replace(
                chunks[ordinal], offset=facts.data_page_offset, length=facts.total_compressed_size
            )
            if filtered and facts.bloom_filter_offset and facts.bloom_filter_length:
                bits = bitset(VENUE, taken[ordinal])
                start = facts.bloom_filter_offset + facts.bloom_filter_length - len(bits)
                bloom = ExternalBloom(start, len(bits)) if external else bits
                chunks[ordinal] = replace(chunks[ordinal], bloom=bloom)
        groups.append(replace(group, chunks=tuple(chunks)))
    if filtered:
        more |= {"bloom_columns": (1,), "bloom_external": external}
    return SnapshotValue(tuple(columns), tuple(groups), offset, length, **more)


SORTED: dict[str, Any] = {"designated_timestamp": 0, "sorting": BY_TS}
INFERRED = (
    replace(COLUMNS[0], type=ColumnType.LONG),
    replace(COLUMNS[1], is_ascii=False),
    *COLUMNS[2:],
)

PAIRED = described(PLAIN, filtered=True, **SORTED)
PAIRED_EXTERNAL = described(PLAIN, filtered=True, external=True, **SORTED)
FIRST = described(BEFORE, **SORTED)
SECOND = described(
    APPENDED,
    **SORTED,
    unused_bytes=FIRST.parquet_footer_length + TAIL_SIZE,
    previous_sizes=(len(BEFORE),),
)


def _with_chunks(value: SnapshotValue, number: int, ordinal: int, **changes: Any) -> SnapshotValue:
    groups = list(value.row_groups)
    chunks = list(groups[number].chunks)
    chunks[ordinal] = replace(chunks[ordinal], **changes)
    groups[number] = replace(groups[number], chunks=tuple(chunks))
    return replace(value, row_groups=tuple(groups))


INEXACT = _with_chunks(
    described(WITH_INEXACT, filtered=True, **SORTED), 0, 2, min_exact=False, distinct_count=4
)
UNSORTED = described(WITHOUT_TIMESTAMP, UNDESIGNATED)


def _foreign() -> SnapshotValue:
    """A snapshot with inexact bounds: software other than QuestDB may shorten bounds of bytes, and need not mark them."""
    value = described(WITHOUT_KEY, INFERRED)
    for number, ordinal in ((0, 1), (0, 3), (1, 1), (1, 3)):
        value = _with_chunks(value, number, ordinal, min_exact=False, max_exact=False)
    return value


FOREIGN = _foreign()


def txn_file() -> bytes:
    """``_txn`` of a table with one partition, with the transaction that pins the newest snapshot, and the previous one."""
    storage, record = MemoryStorage(), TxnRecord.read(bytes(TxnRecord.size))
    for number, value in enumerate((FIRST, SECOND), 1):
        rows = sum(group.num_rows for group in value.row_groups)
        partition = Partition(MIDNIGHT, PARQUET_BIT | rows, 1, size_of(value))
        commit(storage, Txn(record.changed(txn=number, transient_row_count=rows), b"", (partition,)))
    return bytes(storage.data)


GOOD = (
    PmGood("pm/with-data", "Beside its Parquet file, with bloom filters and the key of QuestDB", PmFile((PAIRED,)), PLAIN,
           prune=(
               Prune(["=", "venue", "XLON"], [0, 1]),
               Prune(["=", "venue", "XMIL"], []),
               Prune(["<", "price", {"float": "3.0"}], [0]),
               Prune(["is not null", "note"], [0]),
           ),
           plan=(Plan(["price", "ts"]), Plan(["note"], [1]))),
    PmGood("pm/with-data-and-external-bloom-filters", "Beside its Parquet file, whose bloom filters it refers to", PmFile((PAIRED_EXTERNAL,)), PLAIN),
    PmGood("pm/with-data-sorting-written-out", "Beside its Parquet file, with a sorting column in place of the flag", PmFile((PAIRED,), written_out=True), PLAIN, encode=None),
    PmGood("pm/with-data-of-others", "Beside a Parquet file that QuestDB did not write: types are inferred, nothing is sorted", PmFile((FOREIGN,)), WITHOUT_KEY),
    PmGood("pm/with-data-inexact", "Beside a Parquet file that marks a bound as inexact, and counts distinct values", PmFile((INEXACT,)), WITH_INEXACT),
    PmGood("pm/with-data-and-ids", "Beside the Parquet file of a table from which a column was dropped: its columns are numbered with a gap", PmFile((described(WITH_GAP, WITH_IDS, **SORTED),)), WITH_GAP, rules=("PM-148",), since="0.7.0"),
    PmGood("pm/with-data-no-rows", "Beside a Parquet file without rows", PmFile((described(WITHOUT_ROWS, INFERRED),)), WITHOUT_ROWS),
    PmGood("pm/with-data-undesignated", "Beside the Parquet file of a table without designated timestamp", PmFile((UNSORTED,)), WITHOUT_TIMESTAMP),
    PmGood("pm/with-data-updated", "Beside a Parquet file to which a row group was appended, with the snapshot from before", PmFile((FIRST, SECOND)), APPENDED,
           prune=(Prune([">", "ts", NOON + 10], [1]),), plan=(Plan(["ts"]),)),
    PmGood("pm/with-txn", "Beside its Parquet file and a copy of the table's _txn, which pins the newest snapshot", PmFile((FIRST, SECOND)), APPENDED, txn=txn_file(), since="0.9.0"),
)  # fmt: skip

# ----------------------------------------------------------------------------------------- pairs that disagree

STALE = "Readers fetch bytes of another file and fail to decode them, or show its rows under wrong columns."
MISREAD = "Readers decode the column in a wrong way, or fail to."
LOST = "Row groups are left out that hold rows of the answer: the rows are missing, and nothing says so."
UNPRUNED = "Readers read row groups that they could leave out."
ELSEWHERE = "Readers fetch bytes of something else and fail to decode them."
DIFFERENT = "What is read through this file and what is read from the Parquet file alone differ."


def _page(number: int, values: Sequence[Any]) -> Mutation:
    """A mutation that puts other values of the same size into the only page of a column of the first row group."""
    column = tiny().columns[number]
    other = TinyParquet([replace(column, values=values)]).build()
    path = "row_groups[0].columns[{}].pages[0].body"
    return set_to(IN_DATA + path.format(number), get(take_apart(other), path.format(0)))


ALL_BITS = StatFlag.MIN_STAT_PRESENT | StatFlag.MIN_STAT_INLINED | StatFlag.MIN_STAT_VALUE_EXACT
FULL = 0b1011_1111
KEY = f"{IN_DATA}footer.key_value_metadata[0].value"
SIZE_BEFORE = len(PmFile((FIRST,)).build())

BAD = (
    pm_bad("stale", "The Parquet file was rewritten, with another footer", STALE, "with-data", set_to(f"{IN_DATA}footer.created_by", "another writer"), "100", scan="refusal-allowed"),
    pm_bad("data-truncated", "The Parquet file lacks its last eight bytes", STALE, "with-data", Mutation("truncate", IN_DATA, len(PLAIN) - 8, raw=True), "100"),
    pm_bad("update-not-committed", "A row group was appended to both files, and the last step is missing: the new snapshot is not committed", "none: the bytes behind the snapshot are not committed yet", "with-data-updated", set_to("header.parquet_meta_file_size", SIZE_BEFORE), "101", scan="refusal-allowed"),
    pm_bad("footer-elsewhere", "Offset and length of the Parquet footer are exchanged", "Readers of the Parquet footer find no footer.", "with-data", Mutation("swap", "snapshots[0].footer.parquet_footer_offset", "snapshots[0].footer.parquet_footer_length"), "102"),
    pm_bad("row-group-missing", "The Parquet file has a row group more", LOST, "with-data-of-others", Mutation("remove", "snapshots[0].row_group_entries[1]"), "053", "103", also=("PM-053",)),
    pm_bad("column-missing", "The Parquet file has a column more", "Readers find no such column, or show nulls in its place.", "with-data-no-rows", Mutation("remove", "column_descriptors[3]"), "053", "104"),
    pm_bad("column-named-otherwise", "A column has another name than in the Parquet file", DIFFERENT, "with-data", set_to("names[1]", b"place"), "105"),
    pm_bad("physical-type-of-another", "A column has another physical type than in the Parquet file", MISREAD, "with-data", set_to(column_field(2, "physical_type"), PhysicalType.INT64), "106", "146", also=("PM-146",)),
    pm_bad("width-of-another", "A column has a fixed length that it does not have in the Parquet file", MISREAD, "with-data", set_to(column_field(3, "fixed_byte_len"), 3), "029", "106", since="0.7.0", also=("PM-106",)),
    pm_bad("repetition-levels-of-another", "A column has another repetition level than in the Parquet file", MISREAD, "with-data", set_to(column_field(3, "max_rep_level"), 1), "107", since="0.7.0"),
    pm_bad("levels-of-another", "A column has another definition level than in the Parquet file", MISREAD, "with-data", set_to(column_field(3, "max_def_level"), 2), "107"),
    pm_bad("repetition-of-another", "A column has another repetition than in the Parquet file", "none: readers go by the levels", "with-data", set_to(column_field(3, "flags"), 0), "031", "108"),
    pm_bad("row-count-of-another", "A row group has a row more than in the Parquet file", "Readers show a row that is not there, or garbage.", "with-data", add_to("blocks[0].num_rows", 1), "054", "109", also=("PM-054",)),
    pm_bad("codec-of-another", "A chunk has another codec than in the Parquet file", MISREAD, "with-data", set_to(chunk_field(1, "codec"), 1), "110"),
    pm_bad("encodings-of-another", "A chunk has an encoding more than in the Parquet file", MISREAD, "with-data", set_to(chunk_field(1, "encodings"), 3), "111"),
    pm_bad("value-count-of-another", "A chunk has a value more than in the Parquet file", MISREAD, "with-data", add_to(chunk_field(1, "num_values"), 1), "054", "112", also=("PM-054",)),
    pm_bad("byte-range-of-another", "A chunk is a byte shorter than in the Parquet file", ELSEWHERE, "with-data", add_to(chunk_field(1, "total_compressed"), -1), "113"),
    pm_bad("chunk-start-of-another", "A chunk begins a byte later than in the Parquet file", ELSEWHERE, "with-data", add_to(chunk_field(1, "byte_range_start"), 1), "063", "113", since="0.7.0", also=("PM-113",)),
    pm_bad("all-null", "A chunk is said to hold nothing but nulls", "Readers do not read the chunk and show nulls in place of its values.", "with-data", set_to(chunk_field(2, "null_count"), 4), "114"),
    pm_bad("null-count-of-another", "A chunk has a null less than in the Parquet file", LOST, "with-data", set_to(chunk_field(3, "null_count"), 0), "114"),
    pm_bad("distinct-count-of-another", "A chunk has a distinct value less than in the Parquet file", "A planner that relies on it chooses a bad plan.", "with-data-inexact", set_to(chunk_field(2, "distinct_count"), 3), "115"),
    pm_bad("minimum-of-another", "A minimum is greater than in the Parquet file", LOST, "with-data", set_to("blocks[1].column_chunks[2].min_stat", int.from_bytes(bytes.fromhex("0000000000001e40"), "little")), "116"),
    pm_bad("minimum-missing", "A minimum is absent and present in the Parquet file", UNPRUNED, "with-data", set_to(chunk_field(2, "stat_flags"), FULL & ~ALL_BITS), "064", "065", "117"),
    pm_bad("sorted-by-what-nobody-says", "A sorting column that no row group of the Parquet file declares", "Readers that search by halves miss rows.", "with-data-of-others", Mutation("insert", "sorting_columns[0]", {"index": 2}), "118"),
    pm_bad("bloom-filter-not-mentioned", "A bloom filter of the Parquet file is not mentioned", UNPRUNED, "with-data-and-external-bloom-filters", set_to("snapshots[0].bloom_entries[0]", {"offset": 0, "length": 0}), "119"),
    pm_bad("bloom-filter-of-another", "A bloom filter is full, where that in the Parquet file is not", UNPRUNED, "with-data", set_to("blocks[0].bloom_filters[0].bitset", b"\xff" * 32), "120"),
    pm_bad("bloom-filter-elsewhere", "A bloom filter is said to be a byte behind its place in the Parquet file", LOST, "with-data-and-external-bloom-filters", add_to("snapshots[0].bloom_entries[0].offset", 1), "120"),
    pm_bad("key-of-another-version", "The key of the Parquet footer is of version 2", "Readers refuse the Parquet file, or take the columns for others.", "with-data-undesignated", set_to(KEY, questdb_json(UNDESIGNATED).replace('"version":1', '"version":2')), "121"),
    pm_bad("column-top-in-the-key", "The key of the Parquet footer gives a column a top of 9 rows", "A reader that puts as many nulls before the column as it says has them twice.", "with-data-undesignated", set_to(KEY, questdb_json(UNDESIGNATED).replace('"column_top":0', '"column_top":9', 1)), "149"),
    pm_bad("key-no-json", "The key of the Parquet footer is not JSON", "Readers refuse the Parquet file, or take the columns for others.", "with-data-undesignated", set_to(KEY, questdb_json(UNDESIGNATED)[:-1] + ";"), "121"),
    pm_bad("type-of-another", "A column has another type than the key says", MISREAD, "with-data", set_to(column_field(3, "type"), ColumnType.VARCHAR), "122"),
    pm_bad("type-not-stored-so", "A column of numbers has the type of text", MISREAD, "with-data-of-others", set_to(column_field(2, "type"), ColumnType.VARCHAR), "146", since="0.7.0"),
    pm_bad("type-of-nobody", "Text has the type of symbols, and the Parquet file has no key that says so", MISREAD, "with-data-of-others", set_to(column_field(1, "type"), ColumnType.SYMBOL), "147", since="0.7.0"),
    pm_bad("id-of-another", "A column has the number of a column that was dropped", "QuestDB finds no such column, and shows nulls in its place.", "with-data-and-ids", set_to(column_field(2, "id"), 1), "148", since="0.7.0"),
    pm_bad("ascii-of-another", "Text that the key calls ASCII is not marked as such", "none: readers that could be faster are not", "with-data", set_to(column_field(1, "flags"), 0b100), "123"),
    pm_bad("symbol-of-another", "Text that the key calls ASCII is marked as something else", "none: readers that could be faster are not", "with-data", set_to(column_field(1, "flags"), 0b100 | ColumnFlag.LOCAL_KEY_IS_GLOBAL), "032", "123"),
    pm_bad("unused-bytes-of-another", "Fewer bytes are said to be dead than the key says", "The partition is compacted too late.", "with-data-updated", add_to("snapshots[0].footer.unused_bytes", -1), "124"),
    pm_bad("no-designated-timestamp", "The key marks a designated timestamp, and there is none", "Readers do not know that the rows are sorted.", "with-data-sorting-written-out", set_to("header.designated_timestamp", -1), "125"),
    pm_bad("exact-against-the-parquet-file", "A minimum is said to occur, and the Parquet file says that it does not", "Readers answer with a minimum that is not a value.", "with-data-inexact", set_to(chunk_field(2, "stat_flags"), FULL | StatFlag.DISTINCT_COUNT_PRESENT), "126"),
    pm_bad("value-below-minimum", "A value is less than the minimum", LOST, "with-data", _page(2, [0.5, -9.5, 2.5, 2.0]), "140", tier="values", prune=(Prune(["<", "price", {"float": "0.0"}], [], [0, 1]),)),
    pm_bad("value-above-maximum", "A value is greater than the maximum", LOST, "with-data", _page(2, [0.5, 9.5, 2.5, 2.0]), "141", tier="values"),
    pm_bad("text-above-maximum", "A text is greater than the maximum", LOST, "with-data", _page(3, [b"a", None, b"dddddd", b"c"]), "141", tier="values"),
    pm_bad("one-null-less", "A chunk has no null, and is said to have one", "Readers that look for nulls read a row group for nothing.", "with-data", _page(3, [b"a", b"bbb", b"bbb", b"c"]), "142", tier="values"),
    pm_bad("bloom-filter-lacks-a-value", "A bloom filter lacks a value of its chunk", LOST, "with-data", _page(1, ["XETR", "XMIL", "XNYS", "XETR"]), "143", tier="values"),
    pm_bad("times-out-of-order", "The designated timestamp falls within a row group", "Readers that search for a time by halves miss rows.", "with-data", _page(0, [NOON, NOON + 7, NOON + 5, NOON + 10]), "144", tier="values"),
    pm_bad("minimum-that-does-not-occur", "A minimum that is said to occur does not", "Readers answer with a minimum that is not a value.", "with-data", _page(2, [1.25, 1.5, 2.5, 2.0]), "145", tier="values"),
    pm_bad("txn-of-no-record", "The version in _txn is two transactions ahead of the record that it names", "Readers of the table start again and again, and give up.", "with-txn", add_to("txn.head.version", 2), "150", since="0.9.0"),
    pm_bad("txn-pins-nothing", "The table's _txn pins a Parquet file that is a byte longer than that of any snapshot", "Readers walk back through all snapshots and find none.", "with-txn", add_to("txn.partitions[0].parquet_file_size", 1), "151", since="0.9.0"),
    pm_bad("txn-ahead-of-the-data", "The Parquet file is that from before the snapshot that the table's _txn pins", "Readers look for the footer behind the end of the file.", "with-txn", Mutation("truncate", IN_DATA, size_of(FIRST), raw=True), "101", "152", since="0.9.0", scan="refusal-allowed"),
)  # fmt: skip
