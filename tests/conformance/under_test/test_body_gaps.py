"""What is in the gaps of a body is recognised by its bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from each import each
from pqassay.under_test.body_gaps import MOST_WORK, Filler, Gaps, Run, holes, named_offsets, surroundings
from pqassay_golden.tiny.parquet import Column, Layout, TinyParquet
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import Record, grammar
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_footer, read_framing, referenced_ranges
from pqassay_spec.parquet.schema.leaf_columns import leaves
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnMetaData, FileMetaData, KeyValue

FILE = TinyParquet((Column("a", "string", ["x", "y", None]),), page_index=True, bloom_filters=("a",)).build()
FRAMING = read_framing(BytesSource(FILE))
FOOTER, _ = read_footer(BytesSource(FILE), FRAMING)
CHUNK = FOOTER.row_groups[0].columns[0]
FACTS = CHUNK.meta_data or ColumnMetaData()


def part(kind: str) -> bytes:
    """The bytes of what the footer refers to."""
    found = next(given for given in referenced_ranges(FOOTER) if given.kind == kind)
    return FILE[found.start : found.end]


def encoded(record: Record) -> bytes:
    return bytes(grammar(type(record)).build(record))


PARTS: dict[Filler, list[bytes]] = {
    Filler.COPY: [encoded(FACTS), encoded(CHUNK), encoded(FACTS) * 5],
    Filler.PADDING: [b"\0", bytes(200_000)],
    Filler.INDEX: [idx1.build_blob(["a"]), idx1.build_blob(["a"])[:-1]],
    Filler.LEFT: [part("column index"), part("offset index"), part("bloom filter")],
    Filler.PAGES: [part("column chunk")],
    Filler.UNKNOWN: [b"something", part("column chunk")[:-1], encoded(FACTS)[:-1], b"\x15"],
}


def runs(content: bytes, metadata: FileMetaData = FOOTER, opened: set[int] | None = None) -> list[Run]:
    source = BytesSource(content)
    return list(Gaps(source, surroundings(metadata, leaves(FOOTER), opened or set())).runs(0, len(content)))


@each(
    ("filler", "content"), [(filler, content) for filler, contents in PARTS.items() for content in contents]
)
def test_what_stands_alone_is_recognised(filler: Filler, content: bytes) -> None:
    assert [Run(0, len(content), filler)] == runs(content)


def test_what_stands_one_behind_the_other_is_told_apart() -> None:
    content = b"".join(PARTS[filler][0] for filler in PARTS)

    assert list(PARTS) == [run.filler for run in runs(content)]
    assert [0, *(run.end for run in runs(content))][:-1] == [run.start for run in runs(content)]


def test_a_copy_of_the_metadata_of_another_file_is_unknown() -> None:
    other = FileMetaData(version=1, schema=FOOTER.schema, num_rows=0, row_groups=[])
    content = encoded(FACTS)
    found = list(Gaps(BytesSource(content), surroundings(other, [], set())).runs(0, len(content)))

    assert [Filler.UNKNOWN] == [run.filler for run in found]


def test_a_key_names_a_blob_up_to_the_next_one() -> None:
    pairs = [KeyValue(key="one", value="4"), KeyValue(key="two", value="10"), KeyValue(key="far", value="99")]
    metadata = FileMetaData(
        version=1, schema=FOOTER.schema, num_rows=0, row_groups=[], key_value_metadata=pairs
    )

    assert [
        Run(0, 4, Filler.UNKNOWN),
        Run(4, 10, Filler.NAMED, "one"),
        Run(10, 13, Filler.NAMED, "two"),
    ] == runs(b"?" * 13, metadata)


def test_a_structure_without_a_length_takes_the_rest() -> None:
    assert [Run(0, 9, Filler.OPEN)] == runs(b"something", opened={0})


def test_a_chunk_whose_metadata_is_hidden_may_be_anywhere() -> None:
    metadata = read_footer(BytesSource(FILE), FRAMING)[0]
    metadata.row_groups[0].columns.append(ColumnChunk(file_offset=0))

    assert [Run(0, 9, Filler.HIDDEN)] == runs(b"something", metadata)
    assert [Filler.HIDDEN] == [run.filler for run in runs(part("column chunk"), metadata)]


@each(
    ("value", "expected"),
    [
        ("17", [17]),
        ("0017", [17]),
        ('{"offset": 17}', [17]),
        *((text, []) for text in ("", "-1", "1.5", "x", "9" * 5000, '{"offset": true}', '{"offset": "17"}', '{"offset"', "[17]")),
        ('{"offset": [' + "[" * 9000, []),
    ],
)  # fmt: skip
def test_offsets_are_read_from_values(value: str, expected: list[int]) -> None:
    assert expected == [offset for offset, _ in named_offsets([KeyValue(key="k", value=value)])]


def test_holes_are_what_ranges_leave_over() -> None:
    assert [(4, 6), (9, 12)] == list(holes([(6, 8), (8, 9)], 4, 12))
    assert [] == list(holes([(4, 12)], 4, 12))
    assert [(4, 12)] == list(holes([], 4, 12))


@given(st.binary(max_size=300))
def test_any_bytes_are_covered_by_runs_without_holes(content: bytes) -> None:
    found = runs(content)

    assert [0, *(run.end for run in found)] == [*(run.start for run in found), len(content)]


def test_of_very_much_not_all_is_looked_at() -> None:
    content = encoded(FACTS) * (MOST_WORK // len(encoded(FACTS)) // 20)
    found = runs(content)

    assert [Filler.COPY, Filler.UNSEEN] == [run.filler for run in found]


def test_the_writers_copies_are_copies() -> None:
    for behind in ("ColumnMetaData", "ColumnChunk"):
        data = TinyParquet((Column("a", "int32", [1]),), layout=Layout(behind=behind)).build()
        source = BytesSource(data)
        framing = read_framing(source)
        footer, _ = read_footer(source, framing)
        ranges = [(given.start, given.end) for given in referenced_ranges(footer)]
        gaps = Gaps(source, surroundings(footer, leaves(footer), set()))
        found = [
            run for start, end in holes(ranges, 4, framing.footer_start) for run in gaps.runs(start, end)
        ]

        assert [Filler.COPY] == [run.filler for run in found]
