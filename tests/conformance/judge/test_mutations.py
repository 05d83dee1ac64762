"""Damaged bytes raise nothing but `FormatError`, and do not make anything hang or swell.

Here it is footers and IDX1 indexes that are damaged; the other structures have `test_structure_mutations`.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import tracemalloc
import zlib

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pqassay
from idx1_files import Idx1File, companion, parquet
from pqassay.dump import JsonLines, Tree, dump
from pqassay_reference.golden.generator import golden_cases
from pqassay_reference.rewrite.extract import extract
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1.blob import read_published
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.mutations import Inapplicable, mutate
from pqassay_spec.mutation.possible import mutations_of
from pqassay_spec.parquet import file as parquet_file
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.thrift import FieldRepetitionType, FileMetaData, SchemaElement, Type

GOOD = Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, companion())]).build()
BLOB = GOOD.index(idx1.MAGIC)
FOOTER = read_framing(BytesSource(GOOD)).footer_start

HOSTILE_NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 63, (1 << 64) - 1]

# Where damage tells: the first bytes, the blob, the footer and the tail.
places = st.one_of(
    st.integers(0, 12),
    st.integers(BLOB - 2, BLOB + 20),
    st.integers(FOOTER, len(GOOD) - 1),
    st.integers(0, len(GOOD) - 1),
)


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """The good file with a few bytes set, removed, inserted, repeated or cut off."""
    data = bytearray(GOOD)
    for _ in range(draw(st.integers(1, 3))):
        place = min(draw(places), max(len(data) - 1, 0))
        kind = draw(st.sampled_from(["set", "number", "remove", "insert", "repeat", "cut"]))
        if kind == "set":
            data[place : place + 1] = draw(st.binary(min_size=1, max_size=4))
        elif kind == "number":
            width = draw(st.sampled_from([1, 4, 8]))
            number = draw(st.sampled_from(HOSTILE_NUMBERS)) % (1 << (8 * width))
            data[place : place + width] = number.to_bytes(width, "little")
        elif kind == "remove":
            del data[place : place + draw(st.integers(1, 16))]
        elif kind == "insert":
            data[place:place] = draw(st.binary(min_size=1, max_size=16))
        elif kind == "repeat":
            data[place:place] = data[place : place + draw(st.integers(1, 64))]
        else:
            del data[place:]
    return bytes(data)


def read_in_every_way(data: bytes) -> None:
    """Feed bytes to everything that reads bytes: whatever else than a `FormatError` comes out fails the test.

    What reads the whole file field by field is slow, and gets every sixteenth file.
    """
    source = BytesSource(data)
    report = pqassay.check(data, tier="index")
    assert report.files[0].outcome in ("conformant", "nonconformant", "errored")
    report.to_json(indent=None)
    for read in (extract, lambda s: read_published(s, str(BLOB))):
        with contextlib.suppress(FormatError):
            read(source)
    if zlib.crc32(data) % 16 == 0:
        for writer in (Tree, JsonLines):
            dump(source, writer(lambda line: line.encode()))
        with contextlib.suppress(FormatError):
            take_apart(data)


@settings(max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutations())
def test_nothing_but_format_errors_comes_out_of_damaged_files(data: bytes) -> None:
    read_in_every_way(data)


FILES = {
    case.id: case.files["data.parquet"]
    for case in golden_cases()
    if case.id in ("idx1/between-row-groups", "idx1/companion", "idx1/draft-g1")
}
POSSIBLE = {
    name: [mutation for mutation in mutations_of(data) if "row_groups" not in mutation.path]
    for name, data in FILES.items()
}
"""Of all but row groups: those have `test_structure_mutations`."""


def resident() -> int:
    """The greatest resident size of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@pytest.mark.parametrize("name", FILES)
def test_nothing_but_format_errors_comes_out_of_any_mutation_that_the_grammar_suggests(name: str) -> None:
    before = resident()
    for mutation in POSSIBLE[name]:
        with contextlib.suppress(Inapplicable):
            read_in_every_way(mutate(FILES[name], mutation))

    assert resident() - before < 64 * len(FILES[name]) + (64 << 20)


@st.composite
def stacked_mutations(draw: st.DrawFn) -> bytes:
    """A file after one mutation of the grammar, and behind it another one, or damaged bytes."""
    name = draw(st.sampled_from(sorted(FILES)))
    data = FILES[name]
    for _ in range(2):
        with contextlib.suppress(Inapplicable, FormatError):
            data = mutate(data, POSSIBLE[name][draw(st.integers(0, len(POSSIBLE[name]) - 1))])
    place = draw(st.integers(0, max(len(data) - 1, 0)))
    changed = bytearray(data)
    changed[place : place + 1] = draw(st.binary(max_size=2))
    return bytes(changed) if draw(st.booleans()) else data


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(stacked_mutations())
def test_nothing_but_format_errors_comes_out_of_several_mutations(data: bytes) -> None:
    read_in_every_way(data)


@pytest.mark.parametrize("length", [1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_a_hostile_length_asks_for_no_memory(length: int) -> None:
    data = Idx1File(length=length).build()
    tracemalloc.start()
    report = pqassay.check(data, tier="index")
    with pytest.raises(FormatError):
        extract(BytesSource(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert ["IDX1-008"] == [finding.rule for finding in report.files[0].findings]
    assert peak < 64 * len(data) + (64 << 20)


def file_of(schema: list[SchemaElement]) -> bytes:
    """A file without rows, and with an index, whose schema is given."""
    footer = bytes(
        grammar(FileMetaData).build(FileMetaData(version=1, schema=schema, num_rows=0, row_groups=[]))
    )
    plain = parquet_file.MAGIC + footer + len(footer).to_bytes(4, "little") + parquet_file.MAGIC
    return Idx1File(data=plain, payload=b"x").build()


OPTIONAL = FieldRepetitionType.OPTIONAL
LEAF = SchemaElement(name="a", type=Type.BYTE_ARRAY, repetition_type=OPTIONAL)


def deep(levels: int) -> bytes:
    """A chain of groups, and a string column at its end."""
    groups = [SchemaElement(name="", num_children=1, repetition_type=OPTIONAL)] * levels
    return file_of([*groups, LEAF])


def crowded(columns: int, name_length: int) -> bytes:
    """String columns in a group with a long name."""
    group = SchemaElement(name="x" * name_length, num_children=columns, repetition_type=OPTIONAL)
    return file_of([SchemaElement(name="r", num_children=1), group, *[LEAF] * columns])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            deep(5000),
            {("errored", "the schema is more than 1000 levels deep, which pqassay does not follow")},
        ),
        (deep(1000), {("nonconformant", "IDX1-018")}),
        (crowded(5000, 100_000), {("nonconformant", "IDX1-018"), ("nonconformant", "PQF-018")}),
    ],
    ids=["too deep", "deep", "crowded"],
)
def test_a_hostile_schema_asks_for_little_memory(data: bytes, said: set[tuple[str, str]]) -> None:
    tracemalloc.start()
    file = pqassay.check(data, tier="values", idx1_column="zz").files[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 64 * len(data) + (64 << 20)
    assert said == {(file.outcome, text) for text in [file.error] if text} | {
        (file.outcome, finding.rule) for finding in file.findings
    }
    assert all(len(finding.message) < 500 for finding in file.findings)


def test_an_index_is_compared_with_many_columns_in_the_memory_of_one() -> None:
    columns = pa.table({f"c{number}": ["a", "b"] for number in range(60)})
    values = "\n".join(f"v{number}" for number in range(50_000)).encode()
    data = Idx1File(data=parquet(columns), payload=values).build()
    pqassay.check(data, tier="values", idx1_column="c0")  # imports
    peaks: list[int] = []
    for column in ("c0", None):
        tracemalloc.start()
        report = pqassay.check(data, tier="values", idx1_column=column)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert ["IDX1-016"] == [finding.rule for finding in report.files[0].findings]
    one, all_of_them = peaks

    assert all_of_them < 2 * one
