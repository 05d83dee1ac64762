"""What the commands print and write: on full disks, into closed pipes, over files, and with hostile names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import processes
from idx1_files import Idx1File, parquet
from places import ROOT
from pqassay.cli.main import app
from pqassay_reference.errors import Undecodable
from pqassay_reference.rewrite.embed import embed_file

pytestmark = pytest.mark.slow

GOOD = Idx1File().build()


ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("spec", "reference_impl", "conformance")),
}


def test_a_column_name_that_is_not_utf8_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    data = parquet(pa.table({"zqzqz": [1], "nation": ["x"]}), store_schema=False)
    path.write_bytes(data.replace(b"zqzqz", b"zq\xffqz"))

    with pytest.raises(Undecodable):
        embed_file(path, "nation")


def test_hostile_names_stay_on_their_line_and_out_of_the_shell(tmp_path: Path) -> None:
    name = "FILE_ID; rm -rf x\n::error::\x1b[31m"
    path = tmp_path / "f.parquet"
    file = Idx1File(data=parquet(pa.table({name: ["a", "b"]})), payload=b"a").build()
    path.write_bytes(file)
    shown = CliRunner().invoke(app, ["check", str(path)]).stdout

    assert "\x1b" not in shown
    assert "\n::error" not in shown
    assert rf"pqassay embed {path} --column $'FILE_ID; rm -rf x\n::error::\033[31m'" in shown


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(GOOD)
    with Path("/dev/full").open("w") as full:
        done = processes.run(
            [sys.executable, "-m", "pqassay", "check", str(path)],
            stdout=full,
            stderr=processes.PIPE,
            text=True,
            env=ENVIRONMENT,
        )

    assert (2, "error: the output cannot be written: No space left on device\n") == (
        done.returncode,
        done.stderr,
    )


def test_a_closed_stdout_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(GOOD)
    command = f"{sys.executable} -m pqassay check --format json {path} >&-"
    done = processes.run(["sh", "-c", command], capture_output=True, text=True, env=ENVIRONMENT)

    assert (0, "") == (done.returncode, done.stderr)


def test_output_goes_into_a_pipe_and_never_over_an_input(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(GOOD)
    refused = CliRunner().invoke(app, ["check", str(path), "--output", str(path)])
    command = f"{sys.executable} -m pqassay check {path} --output /dev/stdout | cat"
    piped = processes.run(["sh", "-c", command], capture_output=True, text=True, env=ENVIRONMENT)

    assert 2 == refused.exit_code
    assert GOOD == path.read_bytes()
    assert f"{path}: conformant" in piped.stdout
    assert "\x1b" not in piped.stdout


@pytest.mark.parametrize("magic", [b"PAR1", b"PARE"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--output", "b.parquet", "a.parquet"],
        ["baseline", "--output", "b.parquet", "a.parquet"],
        ["suite", "run", "--output", "b.parquet", "--", "true"],
        ["suite", "run", "--write-expectations", "b.parquet", "--", "true"],
    ],
    ids=" ".join,
)
def test_no_output_replaces_a_parquet_file(
    arguments: list[str], magic: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.parquet").write_bytes(GOOD)
    Path("b.parquet").write_bytes(magic + GOOD[4:])
    done = CliRunner().invoke(app, arguments)

    assert 2 == done.exit_code
    assert (
        f"error: {arguments[arguments.index('b.parquet') - 1]} b.parquet: this is a Parquet file; remove it or choose another file\n"
        == done.stderr
    )
    assert magic + GOOD[4:] == Path("b.parquet").read_bytes()
