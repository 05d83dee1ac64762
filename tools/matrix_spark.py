"""Check, index and query with several releases of Spark, with and without Spark Connect: ``make matrix-spark``.

    python tools/matrix_spark.py          try all releases
    python tools/matrix_spark.py 3.5      try one

Each release gets a virtual environment in ``.venv/spark-VERSION``, and a local server of Spark Connect. A check must find the same as
``pqassay check`` in a folder of golden files. The answers are stored in ``docs/data/spark_versions.json``, for ``docs/guide/spark-where.md``.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pqassay_spec.base.sources import write_whole

ROOT = Path(__file__).resolve().parent.parent
ANSWERS = ROOT / "docs" / "data" / "spark_versions.json"

RELEASES = ("3.5.7", "4.0", "4.1", "4.2", "4.3")
"""Releases of Spark; the newest patch of each, unless a patch is given."""

CONNECT_PACKAGE = "org.apache.spark:spark-connect_2.12:{version}"
"""The package with the server of Spark Connect for Spark before 4.0."""

OF_CONNECT = (
    "pandas<3",
    "numpy>=2",
    "setuptools<81",
    "grpcio",
    "grpcio-status",
    "googleapis-common-protos",
    "zstandard",
)
"""The requirements of the extra ``pyspark[connect]`` without version bounds, since those of Spark 3.5 conflict with pyarrow."""

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"

START_SECONDS = 240.0
"""The time limit for the start of a server in seconds; it may download its package first."""

FAREWELL_SECONDS = 60
"""The time limit for the end of a server in seconds."""

COMMAND_SECONDS = 1200.0
"""The time limit for all commands of a session in seconds."""

NO_SERVER = "not asked: no server"
NOT_ASKED = "not asked yet"
"""The answer of a release that was not asked on this machine, or not about a newer trial."""

FAMILIES = ("sta", "idx1", "blm")
"""Folders of golden files that are checked."""


class Trial(NamedTuple):
    """A command to try, and the folder that `pqassay check` must pass afterwards, unless it is a check itself."""

    name: str
    arguments: tuple[str, ...]
    written: str = "{good}"


TRIALS = (
    Trial("check", ("check", "{lake}", "--format", "json")),
    Trial("check at tier values", ("check", "{lake}", "--tier", "values", "--format", "json")),
    Trial("check with --ship", ("check", "{lake}", "--ship", "--format", "json")),
    Trial("index", ("index", "{good}", "--column", "metal")),
    Trial("index with --ship", ("index", "{good}", "--type", "distinct-set", "--columns", "metal", "--ship")),
    Trial("pm", ("pm", "{good}")),
    Trial("produce", ("produce", "{new}", "--rows", "100", "--files", "2"), "{new}"),
)


Done = tuple[int, str, str]
"""The exit code, stdout and stderr of a command."""


def environment(release: str) -> Path:
    """A virtual environment with a release of Spark and this package, created if missing."""
    folder = ROOT / ".venv" / f"spark-{release}"
    if not (folder / ".made").is_file():
        print(f"Installing Spark {release} into {folder} (about 700 MB, once) ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        # The constraints of this repository pin one Spark; here it is another.
        free = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        # Editable, so that an existing environment has the current package.
        wanted = ["-e", str(ROOT), f"pyspark=={release}.*", *OF_CONNECT]
        subprocess.run(
            [folder / "bin" / "python", "-m", "pip", "install", "-q", *wanted], check=True, env=free
        )
        (folder / ".made").touch()
    return folder


def output_of(command: Sequence[str | Path], *codes: int) -> str:
    """The output of a command.

    Raises:
        RuntimeError: The command failed, or did not end in time.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS)
    if done.returncode not in codes:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout.strip()


@contextlib.contextmanager
def server(folder: Path, version: str, scratch: Path) -> Generator[str]:
    """A context with a server of Spark Connect on this machine; it yields the address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    home = next(folder.glob("lib/python*/site-packages/pyspark"))
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.artifact.isolation.enabled": "true",
    }
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--class", SERVER]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    if version.startswith("3."):
        package = CONNECT_PACKAGE.format(version=version)
        command += ["--packages", package, "spark-internal"]
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": str(folder / "bin" / "python"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    log = scratch / "server.log"
    with (
        log.open("w") as out,
        subprocess.Popen(command, env=environment, stdout=out, stderr=out, cwd=scratch) as process,
    ):
        try:
            _wait_for(process, port, log)
            yield f"sc://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(FAREWELL_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.3)
    raise RuntimeError(f"the server of Spark Connect does not start: {log.read_text()[-600:]}")


def findings(report: str) -> list[Any]:
    """The report on each file, without the number of reads."""
    return [
        (file["path"], file["outcome"], [(one["rule"], one["count"], one["at"]) for one in file["findings"]])
        for file in json.loads(report)["files"]
    ]


PROGRAM = """
import json, sys
from typer.testing import CliRunner
from pqassay.cli.main import app, spark
from pqassay_spark.jobs.session import open_session

if __name__ == "__main__":
    open_session(master=sys.argv[1])
    for place, arguments in json.loads(sys.argv[2]):
        on_spark = ["--master", sys.argv[1]] if place == "spark" else []
        done = CliRunner().invoke(spark if place == "spark" else app, [*arguments, *on_spark])
        print(json.dumps([done.exit_code, done.stdout, done.stderr]), flush=True)
"""
"""A program that runs commands in one session, since starting Spark takes longer than all of them."""


def tried(folder: Path, master: str, scratch: Path) -> dict[str, str]:
    """The result of each trial: ``works``, or the error in one line."""
    program = scratch / "program.py"
    program.write_text(PROGRAM)
    commands: list[tuple[str, list[str]]] = []
    for number, trial in enumerate(TRIALS):
        place = scratch / f"{number}-{master.partition(':')[0]}"
        shutil.copytree(ROOT / "golden_files" / "sta" / "counted", place / "good")
        folders = {"lake": scratch / "lake", "good": place / "good", "new": place / "new"}
        arguments = [argument.format(**folders) for argument in trial.arguments]
        plain = [argument for argument in arguments if argument != "--ship"]
        commands.append(("spark", arguments))
        is_check = trial.name.startswith("check")
        commands.append(
            ("alone", plain if is_check else ["check", trial.written.format(**folders), "--format", "json"])
        )
    try:
        lines = output_of([folder / "bin" / "python", program, master, json.dumps(commands)], 0).splitlines()
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return dict.fromkeys((trial.name for trial in TRIALS), " ".join(str(error).split())[:300])
    done = [json.loads(line) for line in lines if line.startswith("[")]
    return {
        trial.name: _verdict(trial, *done[2 * number : 2 * number + 2]) for number, trial in enumerate(TRIALS)
    }


def _verdict(trial: Trial, on_spark: Done, alone: Done) -> str:
    for code, _, errors in (on_spark, alone):
        if code not in (0, 1):
            return f"exit code {code}: {' '.join(errors.split())[-300:]}"
    if trial.name.startswith("check"):
        return "works" if findings(alone[1]) == findings(on_spark[1]) else "finds something else"
    summary = json.loads(alone[1])["summary"]
    is_good = on_spark[0] == 0 and summary["files"] and summary["files"] == summary["conformant"]
    return "works" if is_good else f"writes files with findings: {summary}"


def answers(release: str) -> dict[str, Any]:
    """The abilities of a release by command: in a normal session, and over Spark Connect."""
    folder = environment(release)
    version = output_of([folder / "bin" / "python", "-c", "import pyspark; print(pyspark.__version__)"], 0)
    with tempfile.TemporaryDirectory(prefix="pqassay-") as name:
        scratch = Path(name)
        for family in FAMILIES:
            shutil.copytree(ROOT / "golden_files" / family, scratch / "lake" / family)
        plain = tried(folder, "local[2]", scratch)
        print(f"Spark {version}: {plain}", flush=True)
        try:
            with server(folder, version, scratch) as address:
                connect = tried(folder, address, scratch)
        except RuntimeError as error:
            print(error, flush=True)
            connect = dict.fromkeys((trial.name for trial in TRIALS), NO_SERVER)
        print(f"Spark {version} over Spark Connect: {connect}", flush=True)
    return {"version": version, "own": plain, "connect": connect}


def with_all_trials(answer: dict[str, Any]) -> dict[str, Any]:
    """An earlier answer of a release, with newer trials marked as not asked."""
    asked = {
        place: {trial.name: answer[place].get(trial.name, NOT_ASKED) for trial in TRIALS}
        for place in ("own", "connect")
    }
    return {**answer, **asked}


def main() -> int:
    """Ask the releases and store the answers; fail if something does not work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("releases", nargs="*", default=RELEASES, metavar="VERSION", help="3.5, 4.1, ...")
    asked = parser.parse_args().releases
    known = json.loads(ANSWERS.read_text()) if ANSWERS.is_file() else {"releases": []}
    kept = {release["version"].rpartition(".")[0]: with_all_trials(release) for release in known["releases"]}
    results: dict[str, Any] = {"releases": []}
    for release in asked:  # answers are stored even if a later release fails
        answer = answers(release)
        kept[answer["version"].rpartition(".")[0]] = answer
        results = {
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "releases": [kept[name] for name in sorted(kept)],
        }
        write_whole(ANSWERS, (json.dumps(results, indent=2) + "\n").encode())
    good = ("works", NO_SERVER, NOT_ASKED)
    wrong = [
        f"Spark {release['version']}, {place}, {name}: {answer}"
        for release in results["releases"]
        for place in ("own", "connect")
        for name, answer in release[place].items()
        if answer not in good
    ]
    print(
        "\n".join(wrong)
        or f"all of Spark {', '.join(release['version'] for release in results['releases'])} works"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
