"""Damaged bytes raise nothing but `FormatError`, and do not make anything hang or swell.

Here it is footers and IDX1 indexes that are damaged; the other structures have `test_structure_mutations`, and ``_pm``
`test_pm_mutations`.
"""

from __future__ import annotations

import contextlib
import tracemalloc
import zlib
from collections.abc import Sequence
from random import Random

import pyarrow as pa
import pytest

import pqassay
from damage import Damaged, bounded_memory, require_report, scattered
from idx1_files import Idx1File, companion, parquet
from places import GOLDEN_FILES
from pqassay.dump import JsonLines, Tree, dump
from pqassay_reference.rewrite.extract import extract
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1.blob import read_published
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet import file as parquet_file
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.thrift import FieldRepetitionType, FileMetaData, SchemaElement, Type

pytestmark = pytest.mark.slow

GOOD = Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, companion())]).build()
BLOB = GOOD.index(idx1.MAGIC)
FOOTER = read_framing(BytesSource(GOOD)).footer_start

FILES = {
    name: (GOLDEN_FILES / name / "data.parquet").read_bytes()
    for name in ("idx1/between-row-groups", "idx1/companion", "idx1/draft-g1")
}


PLACES = ((0, 12), (BLOB - 2, BLOB + 20), (FOOTER, len(GOOD) - 1), (0, len(GOOD) - 1))
"""Where damage tells: the first bytes, the blob, the footer and the tail, and anywhere."""


class TestDamagedIndexes(Damaged):
    files = FILES
    drawn, stacked, least = 5_000, 1_000, 9_000

    def read_good(self, data: bytes) -> None:
        assert [] == [
            finding.rule
            for finding in pqassay.check(data, tier="index").files[0].findings
            if finding.verdict != "INFO"
        ]

    def read(self, data: bytes) -> None:
        """What reads the whole file field by field is slow, and gets every sixteenth file."""
        source = BytesSource(data)
        report = pqassay.check(data, tier="index")
        require_report(report.files[0])
        report.to_json(indent=None)
        for read in (extract, lambda s: read_published(s, str(BLOB))):
            with contextlib.suppress(FormatError):
                read(source)
        if zlib.crc32(data) % 16 == 0:
            for writer in (Tree, JsonLines):
                dump(source, writer(lambda line: line.encode()))
            with contextlib.suppress(FormatError):
                take_apart(data)

    @classmethod
    def possible(cls, name: str) -> Sequence[Mutation]:
        """All but those of row groups: these have `test_structure_mutations`."""
        return [mutation for mutation in super().possible(name) if "row_groups" not in mutation.path]

    def damaged(self, chance: Random) -> bytes:
        return scattered(GOOD, chance, chance.randint(1, 3), lambda: chance.randint(*chance.choice(PLACES)))


@pytest.mark.parametrize("length", [1 << 31, 1 << 63, (1 << 64) - 1])
def test_a_hostile_length_asks_for_no_memory(length: int) -> None:
    data = Idx1File(length=length).build()
    with bounded_memory(len(data)):
        report = pqassay.check(data, tier="index")
        with pytest.raises(FormatError):
            extract(BytesSource(data))

    assert ["IDX1-008"] == [finding.rule for finding in report.files[0].findings]


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
            deep(2000),
            {("errored", "the schema is more than 1000 levels deep, which pqassay does not follow")},
        ),
        (deep(1000), {("untrue", "IDX1-018")}),
        (crowded(2000, 100_000), {("untrue", "IDX1-018"), ("untrue", "PQF-018")}),
    ],
    ids=["too deep", "deep", "crowded"],
)
def test_a_hostile_schema_asks_for_little_memory(data: bytes, said: set[tuple[str, str]]) -> None:
    with bounded_memory(len(data)):
        file = pqassay.check(data, tier="values", idx1_column="zz").files[0]

    assert said == {(file.outcome, text) for text in [file.error] if text} | {
        (file.outcome, finding.rule) for finding in file.findings
    }
    assert all(len(finding.message) < 500 for finding in file.findings)


def test_an_index_is_compared_with_many_columns_in_the_memory_of_one() -> None:
    columns = pa.table({f"c{number}": ["a", "b"] for number in range(20)})
    values = "\n".join(f"v{number}" for number in range(5_000)).encode()
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
