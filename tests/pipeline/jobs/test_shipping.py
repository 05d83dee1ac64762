"""Sending the package to executors whose Python has pyarrow and nothing of ours."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

import processes
from idx1_files import Idx1File
from pqassay_spark.jobs.shipping import NEEDED, NEEDED_FOR_VALUES, PACKAGES, write_archive
from pqassay_spark.jobs.spark_jobs import lacking

SCRIPT = """
import json, os, sys
from typer.testing import CliRunner
from pqassay.cli.main import spark as app
from pqassay_spark.jobs.session import open_session
from pqassay_spark.jobs.shipping import missing_modules

quick = {"spark.executor.extraJavaOptions": os.environ.get("SPARK_SUBMIT_OPTS", "")}  # as tests start every Java
spark = open_session(master=sys.argv[3], settings=quick)
spark.sparkContext.setLogLevel("OFF")
spark.sparkContext.pythonExec = sys.argv[1]
said = [missing_modules(spark, ["pyarrow", "construct", "pqassay", "json"])]
for options in ([], ["--ship"], ["--ship"]):
    found = CliRunner().invoke(app, ["check", sys.argv[2], "--tier", "values", "--format", "json", *options])
    said.append([found.exit_code, found.stdout, found.stderr])
print(json.dumps(said))
"""


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """A Python that finds pyarrow, numpy and xxhash, and no other library."""
    links = tmp_path / "libraries"
    links.mkdir()
    for name in ("pyarrow", "numpy", "numpy.libs", "xxhash"):
        spec = importlib.util.find_spec("numpy" if name == "numpy.libs" else name)
        assert spec is not None
        assert spec.origin is not None
        place = Path(spec.origin).parents[1] / name
        if place.exists():  # wheels for macOS keep their libraries elsewhere
            (links / name).symlink_to(place)
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nexport PYTHONPATH="$PYTHONPATH:{links}"\nexec {os.path.realpath(sys.executable)} -S "$@"\n'
    )
    python.chmod(0o755)
    return python


def test_the_archive_holds_what_judging_imports_and_the_rules_and_no_golden_files(
    tmp_path: Path, bare_python: Path
) -> None:
    archive = write_archive(tmp_path / "a.zip")
    names = zipfile.ZipFile(archive).namelist()
    (tmp_path / "bad.parquet").write_bytes(Idx1File(payload=b"Peru\nSingapura").build())
    script = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); import pqassay; print(pqassay.__file__[-4:]); "
        f"print([f.rule for f in pqassay.check({str(tmp_path / 'bad.parquet')!r}, jobs=1).files[0].findings])"
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run = processes.run([bare_python, "-c", script], capture_output=True, text=True, env=environment)

    assert set(PACKAGES) == {name.partition("/")[0] for name in names}
    assert "pqassay_spec/rules/idx1.toml" in names
    assert [] == [name for name in names if "golden_files/" in name or "__pycache__" in name]
    assert (".pyc\n['IDX1-016']\n", "") == (run.stdout, run.stderr)
    assert archive.stat().st_size < 7_000_000


def test_what_is_missing_is_said_with_what_to_do() -> None:
    assert "the executors have no pqassay: --ship sends it" == lacking(["pqassay"])
    assert (
        "the executors' Python has no pyarrow: install it there, or say with PYSPARK_PYTHON which Python has it"
        == lacking(["pyarrow"])
    )
    assert lacking(["construct", "xxhash"]).startswith(
        "the executors have no construct: --ship sends it; the"
    )
    assert {"pqassay", "construct", "pyarrow"} <= set(NEEDED)
    assert {"numpy", "xxhash"} == set(NEEDED_FOR_VALUES)


@pytest.mark.spark
def test_executors_in_processes_of_their_own_judge_once_the_package_is_shipped(
    tmp_path: Path, bare_python: Path
) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    for name, content in (
        ("bad", Idx1File(payload=b"Peru\nSingapura").build()),
        ("good", Idx1File().build()),
    ):
        (lake / f"{name}.parquet").write_bytes(content)
    (tmp_path / "script.py").write_text(SCRIPT)
    run = processes.run(
        [sys.executable, tmp_path / "script.py", bare_python, lake, "local-cluster[1,2,1024]"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.stdout, run.stderr
    missing, without, shipped, again = json.loads(run.stdout.splitlines()[-1])

    assert ["construct", "pqassay"] == missing
    assert 4 == without[0]
    assert without[2] == (
        "error: the executors have no pqassay_spec, pqassay, pqassay_lake, pqassay_tables, pqassay_spark, construct, pebble: --ship sends it\n"
    )
    assert 1 == shipped[0], shipped[2]
    assert ["nonconformant", "conformant"] == [file["outcome"] for file in json.loads(shipped[1])["files"]]
    assert shipped == again
