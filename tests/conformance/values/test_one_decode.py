"""Each column chunk is decoded once, whatever the claims about it, and only where something is asked."""

from __future__ import annotations

import io
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from idx1_files import Idx1File
from pm_pairs import generated
from pqassay.proof.true_values import TrueValues
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay.values.decoding import chunk_values, hindrances, physical
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, SortingColumn, TinyParquet
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.parquet.encoding.delta import encode

NATIONS = ["Chad", "Chad", "Fiji", "Iran", "Iran", "Mali"]
SHIPS = ["c", "e", "a", "b", "d", "f"]
YEARS = [1, 2, 1, 1, 2, 2]
SORTED = TinyParquet(
    (Column("nation", "string", NATIONS), Column("ship", "string", SHIPS), Column("year", "int64", YEARS)),
    row_group_rows=3,
    page_rows=2,
    page_index=True,
    bloom_filters=("nation", "year"),
    sorting_columns=[
        SortingColumn(column_idx=0, descending=False, nulls_first=False),
        SortingColumn(column_idx=2, descending=False, nulls_first=False),
    ],
)
PAYLOAD = b"Chad\nFiji\nIran\nMali"


class Decodes:
    """Row group and ordinal of each column chunk that was decoded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._seen: list[tuple[int, int]] = []

        def decode(file: Any, row_group: int, ordinal: int, leaf: Any) -> Any:
            self._seen.append((row_group, ordinal))
            return physical.decode_chunk(file, row_group, ordinal, leaf)

        monkeypatch.setattr(chunk_values, "decode_chunk", decode)

    def of(self, data: bytes, only: Sequence[str] = (), **options: Any) -> list[tuple[int, int]]:
        """Those of one check of a file that breaks nothing."""
        self._seen.clear()
        (file,) = pqassay.check(data, tier="values", only=only, **options).files
        assert (None, []) == (file.error, file.findings)
        return sorted(self._seen)


@pytest.fixture
def decodes(monkeypatch: pytest.MonkeyPatch) -> Decodes:
    return Decodes(monkeypatch)


def chunks(*ordinals: int) -> list[tuple[int, int]]:
    """The chunks of some columns, in both row groups."""
    return [(row_group, ordinal) for row_group in range(2) for ordinal in ordinals]


def test_a_file_that_is_indexed_and_sorted_is_decoded_once(decodes: Decodes) -> None:
    """The index names no column: both columns of strings are compared with it."""
    data = Idx1File(data=SORTED.build(), payload=PAYLOAD).build()

    assert chunks(0, 1, 2) == decodes.of(data)


def test_dictionaries_are_decoded_once(decodes: Decodes) -> None:
    dictionaries = replace(SORTED, layout=Layout(dictionary=Encoding.RLE_DICTIONARY)).build()

    assert chunks(0, 1, 2) == decodes.of(Idx1File(data=dictionaries, payload=PAYLOAD).build())


@pytest.mark.parametrize(
    ("rules", "ordinals"),
    [
        (["PQF-075"], [0, 2]),
        (["IDX1-016"], [0, 1]),
        (["IDX1-016", "PQF-075"], [0, 1, 2]),
        (["BLM-02?"], [0, 2]),
        (["STA-040"], [0, 1, 2]),
        (["STA-044"], []),
        (["IDX1-001", "PIX-0[1-3]?"], []),
    ],
)
def test_what_no_rule_asks_for_is_not_decoded(
    rules: list[str], ordinals: list[int], decodes: Decodes
) -> None:
    data = Idx1File(data=SORTED.build(), payload=PAYLOAD).build()

    assert chunks(*ordinals) == decodes.of(data, only=rules)


def test_a_column_that_is_named_is_compared_alone(decodes: Decodes) -> None:
    data = Idx1File(data=SORTED.build(), payload=PAYLOAD).build()

    assert chunks(0) == decodes.of(data, only=["IDX1-016"], idx1_column="nation")


def test_the_data_beside_pm_is_decoded_once(decodes: Decodes) -> None:
    pair = generated(SORTED.build())

    assert chunks(0, 1, 2) == decodes.of(pair.raw, kind="pm", beside={"data.parquet": pair.data})
    assert [] == decodes.of(pair.raw, ["PM-100"], kind="pm", beside={"data.parquet": pair.data})


def test_nothing_else_decodes_values() -> None:
    """But the programs of engines, which `--prove` asks, the deletes that its true rows leave out, and what is not data: checkpoints and tables of findings."""
    package = Path(physical.__file__).parents[2]
    names = ("read_row_group", "iter_batches", "read_table", "to_batches")
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(f".{name}(" in path.read_text() for name in names)
    }
    assert {
        "values/decoding/physical.py",
        "proof/engines.py",
        "proof/iceberg_plan.py",
        "tables/delta/checkpoint_reader.py",
        "history/findings_table.py",
        "history/stores.py",
        "repair/reports.py",
    } >= found


# --------------------------------------------------------------------------------------- differences that are too wide


WIDE = {
    "a least one of 65 bits": [(1 << 63) - 1, -(1 << 63), 0, 7],
    "a miniblock of 65 bits": [0, -(1 << 63), (1 << 63) - 1],
}
BY_FIRST = [SortingColumn(column_idx=0, descending=False, nulls_first=False)]


def wide(values: list[int]) -> bytes:
    """A sorted column of INT64 whose differences were taken in more than 64 bits. Some readers decode them, and pyarrow refuses."""
    column = Column("number", "int64", values, optional=False)
    data = TinyParquet(
        (column,),
        layout=Layout(encoding=Encoding.DELTA_BINARY_PACKED),
        sorting_columns=BY_FIRST,
        page_index=True,
    ).build()
    return mutate(data, Mutation("set", "row_groups[0].columns[0].pages[0].body", encode(values, bits=128)))


@pytest.mark.parametrize("values", WIDE.values(), ids=WIDE)
def test_differences_of_more_than_64_bits_are_a_finding_and_leave_the_file_judged(values: list[int]) -> None:
    report = pqassay.check(wide(values), tier="values")
    (file,) = report.files
    reasons = report.coverages[file.coverage].reasons

    assert (None, ["PQF-079"]) == (file.error, [finding.rule for finding in file.findings])
    for rule in ("STA-040", "STA-041", "PIX-050", "PIX-051", "PQF-075"):
        assert "PQF-079 is broken" == reasons[rule]
    under_test = FileUnderTest(BytesSource(wide(values)), Options("values"))
    with pytest.raises(NotChecked, match="row group 0 of column number cannot be decoded"):
        TrueValues(under_test).stored(0, "number")


@pytest.mark.parametrize("values", WIDE.values(), ids=WIDE)
def test_pm_beside_differences_of_more_than_64_bits_is_judged(values: list[int]) -> None:
    file, coverage = generated(wide(values)).report("values", ["PM-14*"])

    assert ("conformant", None) == (file.outcome, file.error)
    assert "PQF-079 is broken" == coverage.not_checked["PM-140"].reason


# -------------------------------------------------------------------------------------------- audits that break off


@pytest.mark.parametrize("kind", ["parquet", "pm"])
def test_an_audit_that_broke_off_leaves_nothing_behind(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule that asked first is not checked; the others are, and nothing is counted twice."""
    broken_off: list[int] = []

    def decode(file: Any, row_group: int, ordinal: int, leaf: Any) -> Any:
        if row_group and not broken_off:
            broken_off.append(ordinal)
            raise MemoryError
        return physical.decode_chunk(file, row_group, ordinal, leaf)

    monkeypatch.setattr(chunk_values, "decode_chunk", decode)
    pair = generated(SORTED.build())
    indexed = Idx1File(data=pair.data, payload=PAYLOAD).build()
    options: Any = {"only": ["IDX1-0??", "PM-14*"], "tier": "values"}
    report = (
        pqassay.check(pair.raw, kind="pm", beside={"data.parquet": pair.data}, **options)
        if kind == "pm"
        else pqassay.check(indexed, **options)
    )
    (file,) = report.files
    reasons = report.coverages[file.coverage].reasons

    assert ([], "there is not enough memory for it") == (file.findings, file.error)
    assert 1 == sum(reason == file.error for reason in reasons.values())


def test_byte_arrays_in_a_list_that_pyarrow_would_refuse_are_not_decoded(
    decodes: Decodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = io.BytesIO()
    table = pa.table({"names": [["x" * 300, "y"]], "flat": ["x" * 300]})
    pq.write_table(table, sink, use_dictionary=False)
    monkeypatch.setattr(hindrances, "GREATEST_NESTED", 200)

    assert [(0, 1)] == decodes.of(sink.getvalue())
    (coverage,) = pqassay.check(sink.getvalue(), tier="values").coverages.values()
    (why,) = {why for why in coverage.not_checked.values() if "names" in why.reason}
    assert "tool" == why.obstacle
    assert why.reason.endswith("bytes of byte arrays; inside a list or group, pyarrow decodes at most 2 GiB")


def test_values_of_damaged_chunks_are_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """What their pages raise is remembered as long as the chunk, and with it the frames that it came through."""
    groups, held = 12, list[int]()
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1] * groups}), sink, row_group_size=1)
    tree = take_apart(sink.getvalue())
    for group in tree.footer.row_groups:
        group.columns[0] = tree.footer.row_groups[0].columns[0]
    data = put_together(tree, ["footer.row_groups"])
    values: weakref.WeakSet[chunk_values.ChunkValues] = weakref.WeakSet()
    made = chunk_values.ChunkValues.__init__

    def counted(self: chunk_values.ChunkValues, *arguments: Any) -> None:
        values.add(self)
        held.append(len(values))
        made(self, *arguments)

    monkeypatch.setattr(chunk_values.ChunkValues, "__init__", counted)
    pqassay.check(data, tier="values")

    assert groups == len(held)
    assert max(held) <= 2
