"""What shows that values are damaged is removed only by somebody who vouches for them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.strip import Selection, strip_file

ABOUT_VALUES = {
    "idx1": True,
    "bloom_filters": True,
    "column_index": True,
    "offset_index": True,
    "statistics": True,
    "sorting_columns": True,
    "encoding_stats": False,
    "row_group_hints": False,
    "column_orders": True,
}
"""What can be selected, and whether it says something about values."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file that has all of it."""
    path = tmp_path_factory.mktemp("source") / "data.parquet"
    table = pa.table({"id": [1, 2, 3, 4], "name": ["a", "b", "c", "d"]})
    pq.write_table(
        table,
        path,
        use_dictionary=False,
        compression="none",
        write_page_index=True,
        sorting_columns=[pq.SortingColumn(0)],
        bloom_filter_options={"name": {"ndv": 4, "fpp": 0.01}},
    )
    embed_file(path, "name")
    return path.read_bytes()


@given(st.sets(st.sampled_from(sorted(ABOUT_VALUES)), min_size=1))
def test_what_says_something_about_values_goes_only_with_a_word_for_them(
    source: bytes, tmp_path_factory: pytest.TempPathFactory, chosen: set[str]
) -> None:
    path = tmp_path_factory.mktemp("copy") / "data.parquet"
    path.write_bytes(source)
    selection = Selection(**dict.fromkeys(chosen, True))  # type: ignore[arg-type]  # flags
    planned = strip_file(path, selection, dry_run=True)
    if any(ABOUT_VALUES[name] for name in chosen):
        with pytest.raises(
            Refused, match="compare the values with their source, then add --values-are-right"
        ):
            strip_file(path, selection)
        assert source == path.read_bytes()
    else:
        assert planned == strip_file(path, selection)
        path.write_bytes(source)

    assert planned == strip_file(path, selection, values_are_right=True)


@pytest.mark.parametrize("options", [["--statistics"], ["--all"]])
def test_the_command_removes_no_evidence_unasked(options: list[str], source: bytes, tmp_path: Path) -> None:
    path, other = tmp_path / "data.parquet", tmp_path / "other.parquet"
    path.write_bytes(source)
    run = CliRunner().invoke
    refused = [run(app, ["strip", str(path), *options, *more]) for more in ([], ["-o", str(other)])]
    planned = run(app, ["strip", str(path), *options, "--dry-run"])

    assert [1, 1, 0] == [done.exit_code for done in (*refused, planned)]
    assert {f"error: {path}: the removed metadata may be the only evidence of damaged values; "} == {
        done.stderr.partition("compare")[0] for done in refused
    }
    assert (source, False) == (path.read_bytes(), other.exists())
    assert 0 == run(app, ["strip", str(path), *options, "--values-are-right"]).exit_code
    # Where nothing is left to remove, there is no question.
    assert 0 == run(app, ["strip", str(path), *options]).exit_code


def test_damaged_values_under_true_statistics_stay_visible(source: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    four = (4).to_bytes(8, "little")
    assert source.index(four) < source.index(b"PAR1", 4)
    path.write_bytes(source.replace(four, (1004).to_bytes(8, "little"), 1))  # in the page: a damaged value
    (file,) = pqassay.check(path, tier="values").files
    found = {finding.rule: finding for finding in file.findings}
    remedies = {finding.remedy for finding in found.values() if finding.remedy}

    assert {"STA-041", "PIX-051"} <= found.keys()
    assert all(finding.compares_values for finding in found.values())
    assert not any("--values-are-right" in remedy for remedy in remedies)
    for remedy in remedies:
        assert 1 == CliRunner().invoke(app, remedy.split()[1:]).exit_code
    assert found.keys() == {one.rule for one in pqassay.check(path, tier="values").files[0].findings}


def test_a_report_in_which_the_values_are_likelier_right_is_enough(tmp_path: Path) -> None:
    run = CliRunner().invoke
    path, report = tmp_path / "data.parquet", tmp_path / "report.json"

    def stripped(case: str) -> tuple[int, str]:
        path.write_bytes((GOLDEN_FILES / case / "data.parquet").read_bytes())
        report.write_text(pqassay.check(path, tier="values").to_json())
        done = run(app, ["strip", str(path), "--statistics", "--report", str(report)])
        return done.exit_code, done.stderr

    assert (0, "") == stripped("sta/max-too-small")
    # The file is another one now.
    path.write_bytes((GOLDEN_FILES / "sta/min-too-great/data.parquet").read_bytes())
    again = run(app, ["strip", str(path), "--statistics", "--report", str(path)])
    assert (1, True) == (again.exit_code, "is not a JSON report of pqassay check" in again.stderr)
    for case, reason in (
        ("sta/streams-split-twice", "does not show that the metadata is false and the values are true"),
        ("sta/counted", "does not show that the metadata is false and the values are true"),
    ):
        code, message = stripped(case)
        assert (1, True) == (code, reason in message)
    (tmp_path / "other.parquet").write_bytes((GOLDEN_FILES / "sta/counted/data.parquet").read_bytes())
    elsewhere = run(app, ["strip", str(tmp_path / "other.parquet"), "--statistics", "--report", str(report)])
    assert (1, True) == (elsewhere.exit_code, "is not about this file as it is now" in elsewhere.stderr)
