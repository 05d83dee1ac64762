"""The trace: every byte of a structure claimed once, under a path at which the value can be found."""

from __future__ import annotations

import re
from typing import Any

import pytest
from construct import Array, Bytes, Const, Construct, Int8ub, Int16ul, Struct, this

from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.thrift import Record, grammar
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.thrift_path import FieldFinder
from pqassay_spec.grammar.trace import Leaf, locate, trace, trace_into
from pqassay_spec.parquet.thrift import ColumnIndex, FileMetaData, SchemaElement
from thrift_strategies import footer_of, small_file, written_by_pyarrow

BASE = 5000


def footers() -> dict[str, bytes]:
    """A small footer, and one with most members of a column chunk and sorted row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "when": pa.array([0, 1, None], pa.timestamp("us", "UTC")),
            "nested": pa.array([[{"a": True}], [], None]),
            "text": ["é", "", "x" * 200],
        }
    )
    rich = written_by_pyarrow(
        table, row_group_size=1, write_page_index=True, sorting_columns=[pq.SortingColumn(2, descending=True)]
    )
    return {"small": footer_of(small_file()), "rich": footer_of(rich)}


FOOTERS = footers()
EVERY_FOOTER = pytest.mark.parametrize("footer", FOOTERS.values(), ids=FOOTERS)


def at(root: Any, path: str) -> Any:
    """The value that attribute access and indexing find at a dotted path below a root."""
    value = root
    for name, index in re.findall(r"\.?([A-Za-z_]\w*)|\[(\d+)\]", path):
        value = getattr(value, name) if name else value[int(index)]
    return value


def assert_gap_free(leaves: list[Leaf], start: int, end: int) -> None:
    position = start
    for leaf in leaves:
        assert leaf.offset == position, leaf
        assert leaf.length >= 0
        position += leaf.length
    assert position == end


# ------------------------------------------------------------------------------------------- Thrift structs


@EVERY_FOOTER
def test_the_leaves_of_a_footer_follow_each_other_without_gap_or_overlap(footer: bytes) -> None:
    record, leaves = trace(grammar(FileMetaData), footer, root="footer", base=BASE)
    assert record == decode(FileMetaData, footer)[0]
    assert_gap_free(leaves, BASE, BASE + len(footer))


@EVERY_FOOTER
def test_the_value_of_a_leaf_is_what_its_path_finds_on_the_decoded_record(footer: bytes) -> None:
    record = decode(FileMetaData, footer)[0]
    _, leaves = trace(grammar(FileMetaData), footer, root="footer", base=BASE)
    values = [leaf for leaf in leaves if not leaf.structural]
    assert len(values) > 60
    for leaf in values:
        assert at(record, leaf.path.removeprefix("footer")) == leaf.value, leaf
    assert len({leaf.path for leaf in leaves}) == len(leaves)


@EVERY_FOOTER
def test_every_scalar_of_the_record_has_a_leaf(footer: bytes) -> None:
    def scalars(value: Any, path: str) -> list[str]:
        if isinstance(value, Record):
            members = [(field.name, getattr(value, field.name)) for field in value.fields]
            return [
                p for name, member in members if member is not None for p in scalars(member, f"{path}.{name}")
            ]
        if isinstance(value, list):
            return [p for index, element in enumerate(value) for p in scalars(element, f"{path}[{index}]")]
        return [path]

    record, leaves = trace(grammar(FileMetaData), footer, root="footer")
    assert sorted(scalars(record, "footer")) == sorted(leaf.path for leaf in leaves if not leaf.structural)


@EVERY_FOOTER
def test_every_leaf_of_a_footer_is_documented(footer: bytes) -> None:
    _, leaves = trace(grammar(FileMetaData), footer, root="footer")
    assert [leaf for leaf in leaves if not leaf.doc.endswith(".")] == []


@EVERY_FOOTER
def test_finding_a_field_by_its_path_leads_to_the_bytes_of_its_leaf(footer: bytes) -> None:
    _, leaves = trace(grammar(FileMetaData), footer, root="footer")
    for leaf in leaves:
        if not leaf.structural:
            found = FieldFinder(FileMetaData, footer).find(leaf.path.removeprefix("footer."))
            assert found is not None
            assert found[0] <= leaf.offset
            assert leaf.offset + leaf.length == found[1]


SCHEMA = bytes.fromhex("15 0c 25 02 18 03 61 c3 a9 05 c8 01 04 00")


def test_the_leaves_of_a_struct_typed_by_hand() -> None:
    record, leaves = trace(grammar(SchemaElement), SCHEMA, root="s", base=100)
    assert (record.type, record.repetition_type, record.name) == (6, 1, "aé")
    seen = [(leaf.path, leaf.offset, leaf.length, leaf.value, leaf.label) for leaf in leaves]
    assert seen == [
        ("s.type:header", 100, 1, (1, 5), ""),
        ("s.type", 101, 1, 6, "BYTE_ARRAY"),
        ("s.repetition_type:header", 102, 1, (3, 5), ""),
        ("s.repetition_type", 103, 1, 1, "OPTIONAL"),
        ("s.name:header", 104, 1, (4, 8), ""),
        ("s.name:length", 105, 1, 3, ""),
        ("s.name", 106, 3, "aé", ""),
        ("s.unknown_100:header", 109, 3, (100, 5), ""),
        ("s.unknown_100", 112, 1, b"\x04", ""),
        ("s:stop", 113, 1, 0, ""),
    ]
    docs = {leaf.path: leaf.doc for leaf in leaves}
    assert docs["s.type"] == "Physical type; leaves only."
    assert docs["s.type:header"] == "Field 1, wire type I32."
    assert docs["s.name:length"] == "Byte length of the value, a varint."
    assert docs["s.unknown_100"] == "A field that the declaration does not know."
    assert docs["s:stop"] == "Ends the struct."


def test_the_elements_of_lists_stand_under_their_indexes() -> None:
    data = bytes.fromhex("19 21 01 02 19 28 00 01 61 19 28 00 00 15 00 00")
    _, leaves = trace(grammar(ColumnIndex), data, root="index")
    assert [(leaf.path, leaf.value) for leaf in leaves if not leaf.structural] == [
        ("index.null_pages[0]", True),
        ("index.null_pages[1]", False),
        ("index.min_values[0]", b""),
        ("index.min_values[1]", b"a"),
        ("index.max_values[0]", b""),
        ("index.max_values[1]", b""),
        ("index.boundary_order", 0),
    ]


def test_enum_values_carry_their_names_in_lists_too() -> None:
    footer = FOOTERS["small"]
    _, leaves = trace(grammar(FileMetaData), footer, root="footer")
    labels = {leaf.path: leaf.label for leaf in leaves}
    assert labels["footer.row_groups[0].columns[0].meta_data.type"] == "INT64"
    encodings = [label for path, label in labels.items() if re.search(r"encodings\[\d\]$", path)]
    assert set(encodings) == {"PLAIN", "RLE", "RLE_DICTIONARY"}


def test_a_field_name_with_a_dot_inside_an_index_is_not_structural() -> None:
    assert not Leaf("a.b[0]", 0, 1, 0).structural
    assert Leaf("a.b[0]:length", 0, 1, 0).structural
    assert Leaf("a:stop", 0, 1, 0).structural


# -------------------------------------------------------------------------------------- construct declarations

PAIR = Struct("x" / Int8ub * "First.", "y" / Int16ul * "Second.")
DECLARED = Struct(
    "magic" / Const(b"AB") * "Begins it.",
    "count" / Int8ub * "How many.",
    "pairs" / Array(this.count, PAIR) * "The pairs.",
    "grid" / Array(2, Array(2, Int8ub)) * "Four numbers.",
    "end" / Bytes(this.count) * "Ends it.",
)  # fmt: skip
DATA = b"AB\x02" + b"\x01\x02\x00\x03\x04\x00" + b"\x05\x06\x07\x08" + b"zz"


def test_a_construct_declaration_is_traced_with_indexes_and_docs() -> None:
    value, leaves = trace(DECLARED, DATA, root="d", base=100)
    assert_gap_free(leaves, 100, 100 + len(DATA))
    assert [(leaf.path, leaf.offset - 100, leaf.length, leaf.value, leaf.doc) for leaf in leaves] == [
        ("d.magic", 0, 2, b"AB", "Begins it."),
        ("d.count", 2, 1, 2, "How many."),
        ("d.pairs[0].x", 3, 1, 1, "First."),
        ("d.pairs[0].y", 4, 2, 2, "Second."),
        ("d.pairs[1].x", 6, 1, 3, "First."),
        ("d.pairs[1].y", 7, 2, 4, "Second."),
        ("d.grid[0][0]", 9, 1, 5, "Four numbers."),
        ("d.grid[0][1]", 10, 1, 6, "Four numbers."),
        ("d.grid[1][0]", 11, 1, 7, "Four numbers."),
        ("d.grid[1][1]", 12, 1, 8, "Four numbers."),
        ("d.end", 13, 2, b"zz", "Ends it."),
    ]
    for leaf in leaves:
        assert at(value, leaf.path.removeprefix("d")) == leaf.value


def test_tracing_leaves_the_declaration_as_it_was() -> None:
    before = DECLARED.parse(DATA)
    trace(DECLARED, DATA)
    assert DECLARED.parse(DATA) == before
    assert trace(DECLARED, DATA)[0] == before


def test_without_a_root_paths_begin_at_the_fields() -> None:
    _, leaves = trace(PAIR, b"\x01\x02\x00")
    assert [leaf.path for leaf in leaves] == ["x", "y"]


@pytest.mark.parametrize(
    ("declaration", "data", "path", "offset", "reason"),
    [
        (DECLARED, b"", "d.magic", 0, "stream read less than specified amount, expected 2, found 0"),
        (DECLARED, b"XY", "d.magic", 0, "parsing expected b'AB' but parsed b'XY'"),
        (
            DECLARED,
            DATA[:5],
            "d.pairs[0].y",
            4,
            "stream read less than specified amount, expected 2, found 1",
        ),
        (
            DECLARED,
            DATA[:7],
            "d.pairs[1].y",
            7,
            "stream read less than specified amount, expected 2, found 0",
        ),
        (
            DECLARED,
            DATA[:12],
            "d.grid[1][1]",
            12,
            "stream read less than specified amount, expected 1, found 0",
        ),
        (DECLARED, DATA[:-1], "d.end", 13, "stream read less than specified amount, expected 2, found 1"),
    ],
)
def test_a_construct_parse_that_fails_names_path_and_offset(
    declaration: Construct[Any, Any], data: bytes, path: str, offset: int, reason: str
) -> None:
    with pytest.raises(Malformed) as caught:
        trace(declaration, data, root="d", base=100, rule="IDX1-006")
    found = caught.value
    assert (found.field, found.offset, found.reason, found.rule) == (path, 100 + offset, reason, "IDX1-006")


@EVERY_FOOTER
def test_a_thrift_parse_that_fails_names_the_leaf_that_the_cut_runs_through(footer: bytes) -> None:
    _, leaves = trace(grammar(FileMetaData), footer, root="footer")
    for leaf in leaves[:: max(1, len(leaves) // 100)]:
        if leaf.length < 2 or leaf.structural:
            continue
        with pytest.raises(Malformed) as caught:
            trace(grammar(FileMetaData), footer[: leaf.offset + leaf.length - 1], root="footer")
        assert (caught.value.field, caught.value.offset) == (leaf.path, leaf.offset)


def test_locating_a_fault_where_there_is_none_finds_nothing() -> None:
    assert locate(grammar(SchemaElement), SCHEMA, root="s", base=0, rule=None) is None


def test_locating_a_fault_keeps_no_leaves_and_says_the_same_as_the_trace() -> None:
    with pytest.raises(Malformed) as traced:
        trace(grammar(SchemaElement), SCHEMA[:8], root="s", base=100, rule="PQF-004")
    located = locate(grammar(SchemaElement), SCHEMA[:8], root="s", base=100, rule="PQF-004")
    assert str(located) == str(traced.value)
    assert str(located) == "offset 106, s.name: a value of 3 bytes with 2 bytes left [PQF-004]"


def test_a_trace_within_a_trace_and_one_after_a_fault_are_not_disturbed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pqassay_spec.grammar.trace.FLUSHED", 20)  # the sink is called in the middle
    footer = FOOTERS["rich"]
    _, expected = trace(grammar(FileMetaData), footer, root="footer")
    with pytest.raises(Malformed):
        trace(grammar(FileMetaData), footer[:50], root="broken", base=100)
    inner: list[list[Leaf]] = []
    outer: list[Leaf] = []

    def sink(leaves: list[Leaf]) -> None:
        outer.extend(leaves)
        inner.append(trace(grammar(FileMetaData), footer, root="footer")[1])

    assert trace_into(sink, grammar(FileMetaData), footer, root="footer") is None
    assert len(inner) > 3
    assert all(one == expected for one in inner)
    assert outer == expected
