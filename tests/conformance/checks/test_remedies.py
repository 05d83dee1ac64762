"""The commands that findings name. `test_idx1_rules.py` shows that each of them repairs its file."""

from __future__ import annotations

import io
import os
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
import processes
from idx1_files import Idx1File, companion, parquet, table
from pqassay.cli.main import app
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together


def with_companion(text: str) -> bytes:
    return Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, text)]).build()


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (Idx1File(payload=None, keys=[(idx1.KEY, "4")]).build(), "strip {} --idx1"),
        (Idx1File(data=parquet(table(["x\ny"])), payload=b"x\ny").build(), "strip {} --idx1"),
        (with_companion("{"), "strip {} --key pqassay.distinct_index"),
        (with_companion(companion(row_count=5)), "embed {} --column nation"),
        (with_companion(companion(row_count=5, column=("nope",))), "strip {} --idx1"),
        (Idx1File(data=parquet(table(["a"])), payload=b"a\nb").build(), "embed {} --column nation"),
    ],
)  # fmt: skip
def test_the_command_fits_what_is_broken(content: bytes, options: str, tmp_path: Path) -> None:
    path = tmp_path / "it's.parquet"
    path.write_bytes(content)
    findings = pqassay.check(path, tier="values").files[0].findings

    assert f"pqassay {options.format(shlex.quote(str(path)))}" in {finding.remedy for finding in findings}


def test_a_column_that_the_user_names_helps_to_make_the_index_anew(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(Idx1File(payload=b"a\r\nb").build())
    report = pqassay.check(path, idx1_column="nation", tier="index")

    assert f"pqassay embed {path} --column nation" == report.files[0].findings[0].remedy


def test_what_is_no_local_file_is_mended_by_no_command() -> None:
    report = pqassay.check(Idx1File(payload=b"a\r\nb").build(), tier="index")

    assert [None] == [finding.remedy for finding in report.files[0].findings]


def test_a_name_that_looks_like_an_option_is_no_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-x.parquet").write_bytes(Idx1File(payload=b"a\r\nb").build())

    assert (
        "pqassay strip ./-x.parquet --idx1"
        == pqassay.check("-x.parquet", tier="index").files[0].findings[0].remedy
    )


def pasted(line: str) -> list[str]:
    """The words that a program gets if a line is pasted into bash."""
    done = processes.run(
        ["bash", "-c", f"set -- {line}; printf '%s\\0' \"$@\""], capture_output=True, check=True
    )
    return [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]


def test_a_name_that_is_no_text_is_mended_by_what_the_report_shows(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"it's\n\xff \x1b[31m.parquet")
    key = b"\x01\xff'7".decode("utf-8", "surrogateescape")
    path.write_bytes(Idx1File(keys=[(key, "a"), ("kept", "b")], payload=None).build())
    (finding,) = pqassay.check(path, tier="footer").files[0].findings

    assert "PQF-007" == finding.rule
    assert finding.remedy is not None
    assert finding.remedy.isprintable()
    name, *arguments = pasted(finding.remedy)
    assert ("pqassay", "strip", str(path), "--key", key) == (name, *arguments)
    assert 0 == CliRunner().invoke(app, arguments).exit_code
    assert [] == pqassay.check(path, tier="footer").files[0].findings


def test_a_key_that_no_command_can_be_given_has_no_remedy(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(Idx1File(keys=[("a\0b", "1"), ("a\0b", "2")], payload=None).build())
    (finding,) = pqassay.check(path, tier="footer").files[0].findings

    assert ("PQF-006", None) == (finding.rule, finding.remedy)


def test_a_finding_for_information_has_neither_a_command_nor_bytes(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.LENGTH_KEY, "36")]).build())
    findings = pqassay.check(path).files[0].findings

    assert [("IDX1-032", "INFO", None, [])] == [(f.rule, f.verdict, f.remedy, f.hexdump) for f in findings]


GROUPS = 3


def with_false_bounds(false: set[tuple[int, int]], count: int = GROUPS) -> bytes:
    """A file of two columns whose greatest values are too small in some row groups, each with a column."""
    table = pa.table({"a": range(10 * count), "b c": range(10 * count)})
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=10, compression="none")

    tree = take_apart(sink.getvalue())
    for group, column in false:
        facts = tree.footer.row_groups[group].columns[column].meta_data
        assert facts is not None
        assert facts.statistics is not None
        facts.statistics.max = facts.statistics.max_value = facts.statistics.min_value
    return put_together(tree)


@pytest.mark.parametrize(
    ("false", "count", "options"),
    [
        ({(1, 0)}, 3, ["--column a --row-group=1"]),
        ({(0, 1), (2, 1)}, 3, ["--column 'b c' --row-group=0 --row-group=2"]),
        ({(0, 0), (1, 0), (2, 0)}, 3, ["--column a"]),
        ({(0, 0), (1, 1)}, 3, ["--column 'b c' --row-group=1", "--column a --row-group=0"]),
        ({(group, 0) for group in range(9)}, 10, ["--column a"]),
    ],
)
def test_a_command_names_the_column_and_the_row_groups(
    false: set[tuple[int, int]], count: int, options: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(with_false_bounds(false, count))
    commands = sorted({finding.remedy or "" for finding in pqassay.check(path).files[0].findings})

    assert [f"pqassay strip {path} --statistics {each}" for each in options] == commands
    for command in commands:
        done = CliRunner().invoke(app, [*shlex.split(command)[1:], "--values-are-right"])
        assert (0, "") == (done.exit_code, "" if done.exit_code == 0 else done.output)
    assert [] == pqassay.check(path).files[0].findings
