"""Files from the future: they follow the grammar, and the judge names what is new in each."""

from __future__ import annotations

from pathlib import Path

import pytest

import pqassay
from pqassay_spec.golden.literals import Timestamp
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_suite.future import files, kinds
from pqassay_suite.future.files import FutureFile, future_files
from pqassay_suite.future.kinds import WITHOUT_FILE, declared

BY_ID = {file.id: file for file in future_files()}

NAMED = {
    "enum/BoundaryOrder": {"PIX-087"},
    "enum/CompressionCodec": {"PQF-171"},
    "enum/ConvertedType": {"PQF-167"},
    "enum/EdgeInterpolationAlgorithm": {"PQF-167"},
    "enum/Encoding": {"PQF-169", "PQF-171"},
    "enum/FieldRepetitionType": {"PQF-167"},
    "enum/PageType": {"PQF-169"},
    "enum/Type": {"PQF-167", "PQF-171"},
    "union/BloomFilterAlgorithm": {"BLM-003"},
    "union/BloomFilterCompression": {"BLM-003"},
    "union/BloomFilterHash": {"BLM-003"},
    "union/ColumnOrder": {"STA-003"},
    "union/LogicalType": {"PQF-167"},
    "union/TimeUnit": {"PQF-167"},
}
"""The rules that report an enum value or a union member of a later version."""


def test_every_enum_union_and_struct_of_the_grammar_has_a_file_or_a_reason() -> None:
    enums, unions, structs = declared()
    expected = {f"enum/{one.__name__}" for one in enums} | {f"union/{one.__name__}" for one in unions}
    expected |= {f"struct/{one.__name__}" for one in structs}

    derived = {name for name in BY_ID if not name.startswith("annotation/")}
    assert expected == derived | set(WITHOUT_FILE)
    assert set() == derived & set(WITHOUT_FILE)


def test_a_file_differs_from_its_twin_and_can_be_taken_apart() -> None:
    assert [] == [file.id for file in BY_ID.values() if file.data == file.twin]
    assert {file.id: len(take_apart(file.twin).leaves) for file in BY_ID.values()} == {
        file.id: len(take_apart(file.data).leaves) for file in BY_ID.values()
    }


def test_what_leaves_the_grammar_takes_its_file_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "declared", lambda: ([], [], []))
    monkeypatch.setattr(files, "declared", kinds.declared)

    assert ["annotation/misfit", "annotation/wide-timestamp"] == [
        file.id for file in future_files.__wrapped__()
    ]


def test_an_extra_page_stands_between_data_pages() -> None:
    pages = take_apart(BY_ID["enum/PageType"].data).row_groups[0].columns[1].pages
    types = [page.header.type for page in pages]

    assert [0, 0, 4, 0] == types


def test_wide_timestamps_are_right_as_bytes_and_as_moments() -> None:
    file = BY_ID["annotation/wide-timestamp"]
    (_, _, micros, nanos), (_, _, also_micros, also_nanos) = file.rows[1], file.also[1]

    assert ((-1_000_000).to_bytes(12, "little", signed=True), b"\xff" * 12) == (micros, nanos)
    assert (Timestamp("-1000000000"), Timestamp("-1")) == (also_micros, also_nanos)


@pytest.mark.parametrize("file", BY_ID.values(), ids=list(BY_ID))
def test_the_judge_names_what_is_unknown_and_judges_the_rest(file: FutureFile, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(file.data)
    (report,) = pqassay.check(str(path), tier="values").files
    warnings = {one.rule for one in report.findings if one.verdict == "WARN"}
    gaps = [gap.reason for gap in report.gaps if "unknown, possibly from a later version" in gap.reason]

    assert [] == [one.rule for one in report.findings if one.verdict == "FAIL"]
    assert NAMED.get(file.id, set()) == warnings
    assert (file.id in NAMED) == bool(gaps)
