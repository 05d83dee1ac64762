"""Rules of IDX1 beyond the golden cases: hostile texts, how the indexed column is found, and the commands that repair an index."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from counting_source import CountingSource
from damage import EXAMPLES
from golden_cases import golden_cases
from idx1_files import Idx1File, companion, edited, parquet, table
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.judge.file_check import Selection, check_source
from pqassay.under_test.file import Options
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.rules.catalogue import Tier, file_rules, rules
from pqassay_suite.cases.case import GoldenCase

GOOD = Idx1File().build()
FOOTER = read_framing(BytesSource(GOOD)).footer_start
PLAIN = parquet(table())


def with_companion(text: str) -> bytes:
    """The good file with a companion record."""
    return Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, text)]).build()


def reported(data: bytes | Path, **options: Any) -> set[str]:
    """The rules that a check reports."""
    return {finding.rule for finding in pqassay.check(data, **options).files[0].findings}


def test_more_digits_than_python_converts_are_no_offset() -> None:
    assert {"IDX1-003"} == reported(Idx1File(keys=[(idx1.KEY, "9" * 5000)]).build())


def test_a_companion_record_nested_deeper_than_python_reads_is_none() -> None:
    assert {"IDX1-020"} == reported(with_companion("[" * 100_000))


@pytest.mark.parametrize(
    ("column", "rules"), [("nation", set[str]()), ("nope", {"IDX1-018"}), ("year", {"IDX1-018"})]
)
def test_a_column_that_the_user_names_is_the_indexed_one(column: str, rules: set[str]) -> None:
    assert rules == reported(GOOD, idx1_column=column)


def test_the_nearest_column_is_named() -> None:
    data = pa.table({"a": ["x", "y", "z"], "b": ["p", "q", "r"], "n": [1, 2, 3]})
    file = Idx1File(data=parquet(data), payload=b"p\nq\nw").build()

    (finding,) = pqassay.check(file).files[0].findings

    assert finding.column == "b"
    assert finding.message == (
        "1 value of column b not in the index: 'r'; 1 value of the index in no row: 'w'; "
        "no string column fits, b is nearest"
    )


@pytest.mark.parametrize("names", [["pieces", "lines"], ["lines", "pieces"]])
def test_pieces_of_values_stand_behind_a_column_that_equals_the_index(names: list[str]) -> None:
    columns = {"lines": ["x\ny", "x"], "pieces": ["x", "y"], "other": ["x", "x"]}
    equal = Idx1File(data=parquet(pa.table({name: columns[name] for name in names})), payload=b"x\ny")
    names = ["other" if name == "pieces" else name for name in names]
    wide = Idx1File(data=parquet(pa.table({name: columns[name] for name in names})), payload=b"x\ny")

    assert [] == pqassay.check(equal.build()).files[0].findings
    assert [("IDX1-015", "lines")] == [
        (finding.rule, finding.column) for finding in pqassay.check(wide.build()).files[0].findings
    ]


def test_an_empty_index_beside_values_passes_only_for_a_column_that_is_named() -> None:
    nothing = pa.array([None, None], pa.string())
    file = Idx1File(data=parquet(pa.table({"comment": nothing, "nation": ["a", "b"]})), payload=b"").build()
    report = pqassay.check(file)
    (coverage,) = report.coverages.values()

    assert "conformant" == report.files[0].outcome
    assert (
        "an empty index only fits column comment, which has no values, not "
        "nation, which has; name the column that is meant"
    ) == coverage.not_checked["IDX1-016"].reason
    assert {"comment": [], "nation": ["IDX1-016"]} == {
        name: [finding.rule for finding in pqassay.check(file, idx1_column=name).files[0].findings]
        for name in ("comment", "nation")
    }


def test_an_empty_index_where_no_column_has_values_passes() -> None:
    nothing = pa.array([None, None], pa.string())
    file = Idx1File(data=parquet(pa.table({"a": nothing, "b": nothing, "n": [1, 2]})), payload=b"").build()
    (coverage,) = pqassay.check(file).coverages.values()

    assert "IDX1-016" in coverage.checked


@pytest.mark.parametrize(("tier", "expected"), [("index", ["PQF-016"]), ("values", ["IDX1-022"])])
def test_the_rows_that_were_read_count_as_well_as_those_that_the_footer_says(
    tier: Tier, expected: list[str]
) -> None:
    data = edited(with_companion(companion(row_count=99)), lambda metadata: setattr(metadata, "num_rows", 99))
    findings = pqassay.check(data, tier=tier).files[0].findings

    assert expected == [finding.rule for finding in findings]
    assert all(
        finding.message == "the index was made for 99 rows, but column nation has 6"
        for finding in findings
        if finding.rule == "IDX1-022"
    )


def test_rows_are_not_counted_in_a_column_of_lists() -> None:
    data = parquet(pa.table({"l": [["a", "b"], ["c"]], "nation": ["a", "b"]}))
    file = Idx1File(data=data, payload=b"a\nb\nc")
    recorded = file.recorded("nation", rows=2, values=3)

    assert [] == pqassay.check(recorded, idx1_column="l.list.element").files[0].findings


def test_nested_and_dictionary_columns_are_compared() -> None:
    data = pa.table(
        {
            "s": pa.array([{"q": "x"}, None, {"q": "y"}]),
            "d": pa.array(["p", "q", "p"]).dictionary_encode(),
            "l": pa.array([["u", "v"], [], None]),
        }
    )
    for column, content in (("s.q", b"x\ny"), ("d", b"p\nq"), ("l.list.element", b"u\nv")):
        file = Idx1File(data=parquet(data), payload=content).build()

        assert [] == pqassay.check(file, idx1_column=column).files[0].findings


def test_a_signed_footer_may_be_followed_by_its_signature() -> None:
    from pqassay_spec.parquet.thrift import AesGcmV1, EncryptionAlgorithm

    def sign(metadata: FileMetaData) -> None:
        metadata.encryption_algorithm = EncryptionAlgorithm(AES_GCM_V1=AesGcmV1())

    signed = edited(PLAIN, sign)
    length = int.from_bytes(signed[-8:-4], "little") + 28
    signed = signed[:-8] + bytes(28) + length.to_bytes(4, "little") + b"PAR1"

    assert [] == pqassay.check(signed, tier="index").files[0].findings


def test_the_footer_tier_reads_no_blob() -> None:
    source = CountingSource(GOOD)
    check_source(source, Options("footer"), Selection(), "must")

    assert all(offset == 0 or offset >= FOOTER for offset, _ in source.ranges)


# ------------------------------------------------------------------------------------------------ repairs

BROKEN_INDEXES = [
    golden
    for number, golden in enumerate(golden_cases())
    if number % EXAMPLES == 0
    and golden.case.family == "IDX1"
    and golden.case.kind == "invalid"
    and golden.case.mutation is not None
    and not all(rules()[rule].verdict == "INFO" for rule in golden.case.rules)
]

LEFT_OVER = {"PQF-037"}
"""What a check reports after a blob has lost its key: the bytes of a damaged one are not known."""


def copied(golden: GoldenCase, folder: Path) -> Path:
    """A copy of a golden file under a name that a shell would take apart."""
    path = folder / "a file's name.parquet"
    path.write_bytes(golden.content())
    return path


@pytest.mark.slow
def test_the_commands_leave_a_file_without_findings_and_the_same_rows_and_every_grave_rule_has_one(
    tmp_path: Path,
) -> None:
    repaired: set[str] = set()
    for golden in BROKEN_INDEXES:
        path = copied(golden, tmp_path)
        findings = [one for one in pqassay.check(path, tier="values").files[0].findings if one.remedy]
        repaired |= {finding.rule for finding in findings if finding.rule.startswith("IDX1")}

        assert findings, golden.case.id
        rows = pq.read_table(path)
        for program, *arguments in map(shlex.split, sorted({finding.remedy or "" for finding in findings})):
            result = CliRunner().invoke(app, arguments + ["--values-are-right"] * ("strip" in arguments))
            assert ("pqassay", 0) == (program, result.exit_code), (golden.case.id, result.output)
        assert (golden.case.id, set()) == (golden.case.id, reported(path) - LEFT_OVER)
        assert rows == pq.read_table(path), golden.case.id

    grave = {
        rule.id for rule in file_rules().values() if rule.id.startswith("IDX1") and rule.verdict != "INFO"
    }
    assert repaired <= grave
    assert EXAMPLES > 1 or repaired == grave


@pytest.mark.slow
def test_stripping_the_index_always_helps(tmp_path: Path) -> None:
    for golden in BROKEN_INDEXES:
        path = copied(golden, tmp_path)
        displaced = ["--page-index"] if "PIX-020" in golden.case.rules else []
        result = CliRunner().invoke(app, ["strip", str(path), "--idx1", "--values-are-right", *displaced])

        assert (golden.case.id, 0) == (golden.case.id, result.exit_code)
        assert (golden.case.id, set()) == (golden.case.id, reported(path) - LEFT_OVER - {"PQF-006"})


def test_a_displaced_page_index_goes_with_the_blob_that_displaced_it() -> None:
    path = GOLDEN_FILES / "idx1" / "page-index-displaced" / "data.parquet"
    (finding, *_) = pqassay.check(path).files[0].findings

    assert f"pqassay strip {path} --idx1 --page-index" == finding.remedy
