"""Lists of structs that are encoded alike: the same records and the same errors as those of the generated decoder."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import FEWER, tries
from each import each
from pqassay.strategies import records
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift import I16, I32, I64, Record, Scalar, grammar
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.thrift_runs import SEEN_FIRST, AlikeList, AlikeStructs
from pqassay_spec.grammar.thrift_shapes import Slot, column, shape_of
from pqassay_spec.grammar.thrift_wire import varint, zigzag
from pqassay_spec.parquet.release_marks import marks_of
from pqassay_spec.parquet.thrift import ColumnChunk, ColumnIndex, FileMetaData, OffsetIndex, Type
from thrift_strategies import edited, footer_of, small_file

SMALL_FOOTER = footer_of(small_file())


def experienced() -> AlikeStructs[ColumnChunk]:
    """A reader that knows the shapes of the chunks of `SMALL_FOOTER`."""
    reader = AlikeStructs(
        ColumnChunk, lambda chunk: chunk.meta_data is not None and chunk.meta_data.type != Type.BYTE_ARRAY
    )
    for _ in range(4 * SEEN_FIRST):
        decode(FileMetaData, SMALL_FOOTER, readers=[reader])
    return reader


READER = experienced()


def outcome(data: bytes, *readers: AlikeStructs[ColumnChunk]) -> object:
    """The footer that bytes hold and the bytes that it takes, or what is wrong with them."""
    try:
        return decode(FileMetaData, data, root="footer", base=100, rule="PQF-004", readers=readers)
    except FormatError as error:
        return str(error), error.rule, error.field, error.offset, error.length


def slots(data: bytes) -> list[tuple[bytes, ...]]:
    metadata, _ = decode(FileMetaData, data, readers=[READER])
    return [found for group in metadata.row_groups for found in group.columns.slots]  # type: ignore[attr-defined]


def test_the_chunks_of_a_footer_that_was_seen_before_have_shapes() -> None:
    assert [len(found) > 10 for found in slots(SMALL_FOOTER)] == [True] * 4


@pytest.mark.slow
def test_both_agree_on_every_footer_with_one_byte_changed() -> None:
    different = []
    for place in range(len(SMALL_FOOTER)):
        flipped = [SMALL_FOOTER[place] ^ 1 << bit for bit in range(8)]
        for value in [*flipped, 0, 0x7F, 0x80, 0xFF][place % FEWER :: FEWER]:
            data = SMALL_FOOTER[:place] + bytes((value,)) + SMALL_FOOTER[place + 1 :]
            if outcome(data) != outcome(data, READER):
                different.append((place, value))
    assert different == []


@pytest.mark.slow
@tries(600)
@given(edited(SMALL_FOOTER))
def test_both_agree_on_footers_with_random_edits(data: bytes) -> None:
    assert outcome(data) == outcome(data, READER)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ColumnChunk, ColumnIndex, OffsetIndex])
def test_what_a_shape_matches_is_what_the_decoder_reads(kind: type[Record]) -> None:
    met: list[bytes] = []

    @tries(150)
    @given(records(kind), st.data())
    def check(record: Record, drawn: st.DataObject) -> None:
        built = grammar(kind).build(record)
        shape = shape_of(kind, built, of_one_length=drawn.draw(st.booleans()))
        if shape is None:
            return
        for data in (built, drawn.draw(edited(built))):
            match = shape.match(data)
            if match is None:
                continue
            met.append(data)
            decoded, taken = decode(kind, data)
            assert taken == match.end()
            for slot, raw in zip(shape.slots, match.groups(), strict=True):
                value: Any = decoded
                for step in slot.path:
                    value = value[step] if isinstance(step, int) else getattr(value, step)
                assert column(slot, [raw])[0] == value

    check()
    assert len(met) > 20 // FEWER


@given(st.lists(st.integers(-(2**55), 2**55 - 1), min_size=1, max_size=40))
def test_varints_of_many_structs_are_read_at_once(values: list[int]) -> None:
    assert list(column(Slot((), I64), [varint(zigzag(value)) for value in values])) == values


@pytest.mark.parametrize("kind", [I16, I32, I64])
@pytest.mark.parametrize("values", [[0] * 20, [3, 63, 64], [-1] * 10, [5, -6, 7], [128] * 10, [-200] * 9])
def test_small_varints_are_read_at_once(kind: Scalar, values: list[int]) -> None:
    assert list(column(Slot((), kind), [varint(zigzag(value)) for value in values])) == values


def columns() -> AlikeList[ColumnChunk]:
    """The chunks of a row group, none of which is decoded."""
    found = decode(FileMetaData, SMALL_FOOTER, readers=[READER])[0].row_groups[0].columns
    assert isinstance(found, AlikeList)
    return found


def test_a_list_of_alike_structs_is_like_the_list_of_them() -> None:
    plain = decode(FileMetaData, SMALL_FOOTER)[0].row_groups[0].columns
    assert (columns() == plain, plain == columns(), columns() == columns()) == (True, True, True)
    assert (columns() != plain, plain != columns(), columns() != columns()) == (False, False, False)
    assert (columns() != plain[:1], columns().count(plain[0]), columns().index(plain[1])) == (True, 1, 1)
    assert sorted(columns(), key=lambda chunk: chunk.file_offset) == plain
    assert copy.deepcopy(columns()) == plain
    assert pickle.loads(pickle.dumps([*columns()])) == plain


USES: dict[str, Callable[[Any], object]] = {
    "a field": lambda chunk: chunk.file_offset,
    "no field": lambda chunk: getattr(chunk, "nothing", "nothing"),
    "unknown fields": lambda chunk: chunk.unknown,
    "shown": repr,
    "compared": lambda chunk: chunk == 1,
    "copied": copy.copy,
    "changed": lambda chunk: setattr(chunk, "file_path", "elsewhere"),
    "deeply copied": copy.deepcopy,
    "pickled": pickle.dumps,
    "encoded": lambda chunk: grammar(ColumnChunk).build(chunk),
}


@each("name", USES)
def test_an_element_is_decoded_when_it_is_used(name: str) -> None:
    chunk = columns()[0]
    plain = decode(FileMetaData, SMALL_FOOTER)[0].row_groups[0].columns[0]
    assert type(chunk) is not ColumnChunk

    assert USES[name](chunk) == USES[name](plain)
    assert type(chunk) is ColumnChunk
    assert chunk == plain


def test_an_element_is_decoded_once_by_many_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in range(200):
            chunk = columns()[0]
            facts = [*pool.map(lambda _, chunk=chunk: (chunk.unknown, chunk.meta_data), range(8))]
            assert all(unknown == () and facts[0][1] is meta_data for unknown, meta_data in facts)


def test_a_footer_of_alike_structs_bears_the_marks_of_the_plain_one() -> None:
    alike, plain = (
        decode(FileMetaData, SMALL_FOOTER, readers=[READER])[0],
        decode(FileMetaData, SMALL_FOOTER)[0],
    )

    assert list(marks_of(alike)) == list(marks_of(plain))
