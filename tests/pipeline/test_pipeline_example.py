"""The parts of ``make pipeline`` that need no Spark: the kill, the damage, and what is said where there is no Java."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
import processes
from places import ROOT
from pqassay_reference.rewrite.embed import embed_file

REWRITER = """
import os, signal, subprocess, sys
if sys.argv[1] == "parent":
    sys.exit(subprocess.run([sys.executable, sys.argv[0], "child", *sys.argv[2:]]).returncode)
with open("PLACE", "w") as file:
    file.write(str(os.getpid()))
for number, path in enumerate(sys.argv[2:]):
    if number == MOST:
        signal.pause()
    with open(path, "a") as file:
        file.write("index")
"""
"""Appends to some files, in a process below its own, and then waits for a signal."""

MOST = 20


@pytest.fixture(scope="module")
def pipeline() -> Any:
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module("examples.pipeline")
    finally:
        sys.path.remove(str(ROOT))


@pytest.fixture
def rewriter(tmp_path: Path) -> tuple[str, list[Path]]:
    """A command that rewrites files, and the files."""
    script = tmp_path / "rewriter.py"
    script.write_text(REWRITER.replace("PLACE", str(tmp_path / "pid")).replace("MOST", str(MOST)))
    files = [tmp_path / f"{number}" for number in range(40)]
    for file in files:
        file.write_text("data")
    return f"{Path(sys.executable).name} {script} parent {' '.join(map(str, files))}", files


def test_a_kill_midway_also_ends_what_the_command_has_started(
    pipeline: Any, rewriter: tuple[str, list[Path]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, files = rewriter
    pipeline.kill_midway(command, files, 5)
    child = int((tmp_path / "pid").read_text())
    try:
        processes.until(lambda: not processes.alive(child), "the child ends, which waits for nothing else")
    finally:
        processes.end_left_running({child})
    assert 5 <= sum(file.stat().st_size > len("data") for file in files) <= MOST
    assert "kill -9 of 2 processes" in capsys.readouterr().out


def test_a_command_that_ends_before_it_could_be_killed_ends_the_pipeline(
    pipeline: Any, rewriter: tuple[str, list[Path]]
) -> None:
    command, files = rewriter
    with pytest.raises(SystemExit, match="exit status 0 before it could be killed"):
        pipeline.kill_midway(f"{command.partition(' parent ')[0]} child {files[0]}", files, 5)


def test_a_flipped_bit_leaves_size_and_time_and_is_one_finding(pipeline: Any, tmp_path: Path) -> None:
    path = tmp_path / "sales.parquet"
    pq.write_table(pa.table({"nation": ["Perú", "Kenya", None, "日本"]}), path)
    embed_file(path, "nation")
    before = path.stat()
    pipeline.flip_a_bit(path)
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    report = pqassay.check(path, tier="values")
    assert [(finding.rule, finding.verdict) for finding in report.files[0].findings] == [("IDX1-006", "FAIL")]


def test_rows_are_compared_whatever_the_order_and_the_types(pipeline: Any) -> None:
    one = pa.table({"id": pa.array([2, 1], pa.int64()), "nation": ["Perú", None]})
    other = pa.table({"nation": pa.array([None, "Perú"], pa.large_string()), "id": pa.array([1, 2])})
    assert pipeline.rows_of(one) == pipeline.rows_of(other) == [(1, None), (2, "Perú")]


def test_without_java_the_pipeline_says_what_to_install() -> None:
    environment = {**os.environ, "JAVA_HOME": "/nowhere"}
    done = processes.run(
        [sys.executable, "-m", "examples.pipeline"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(
        "pipeline: JAVA_HOME is /nowhere, which has no bin/java. Install a Java runtime"
    )
    assert len(done.stderr.splitlines()) == 1
