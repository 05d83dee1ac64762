"""Check, index and query with several releases of Spark, with a session of their own and over Spark Connect: ``make matrix-spark``.

    python tools/matrix_spark.py [VERSION ...]

Each release gets a virtual environment in ``.venv/spark-VERSION``, and a server of Spark Connect on this machine.  What a
check finds in a folder of golden files must be what ``pqassay check`` finds there.  The answers go to
``docs/data/spark_versions.json``; ``make generate`` then makes the table in ``docs/guide/spark-where.md``.
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
"""Releases of Spark: the newest patch of each, unless it is named."""

CONNECT_PACKAGE = "org.apache.spark:spark-connect_2.12:{version}"
"""What Spark before 4.0 has no server of Spark Connect without."""

OF_CONNECT = (
    "pandas<3",
    "numpy>=2",
    "setuptools<81",
    "grpcio",
    "grpcio-status",
    "googleapis-common-protos",
    "zstandard",
)
"""What the extra ``pyspark[connect]`` installs, without its bounds: those of Spark 3.5 keep numpy at a release that pyarrow does not take."""

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"

START_SECONDS = 240.0
"""Time in which a server has to start; it may download its package first."""

FAREWELL_SECONDS = 60
"""Time for a server to end once it is asked to."""

COMMAND_SECONDS = 600.0

FAMILIES = ("sta", "idx1", "blm")
"""Folders of golden files that are checked."""


class Trial(NamedTuple):
    """A command that is tried, and whether a session of Spark Connect can do it."""

    name: str
    arguments: tuple[str, ...]
    needs_rdds: bool = False


TRIALS = (
    Trial("check", ("check", "{lake}", "--format", "json")),
    Trial("check at tier values", ("check", "{lake}", "--tier", "values", "--format", "json")),
    Trial("check with --ship", ("check", "{lake}", "--ship", "--format", "json")),
    Trial("index", ("index", "{good}", "--column", "metal"), needs_rdds=True),
)


def environment(release: str) -> Path:
    """A virtual environment with a release of Spark and this package; made unless it is there."""
    folder = ROOT / ".venv" / f"spark-{release}"
    if not (folder / ".made").is_file():
        print(f"Installing Spark {release} into {folder} (about 700 MB, once) ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        # The constraints of this repository name one Spark: here it is another one.
        free = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        wanted = [str(ROOT), f"pyspark=={release}.*", *OF_CONNECT]
        subprocess.run(
            [folder / "bin" / "python", "-m", "pip", "install", "-q", *wanted], check=True, env=free
        )
        (folder / ".made").touch()
    return folder


def version_of(folder: Path) -> str:
    """The Spark of an environment."""
    program = "import pyspark; print(pyspark.__version__)"
    return said([folder / "bin" / "python", "-c", program], 0)


def said(command: Sequence[str | Path], *codes: int) -> str:
    """What a command prints.

    Raises:
        RuntimeError: It ended with another code, or not at all.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS)
    if done.returncode not in codes:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout.strip()


@contextlib.contextmanager
def server(folder: Path, version: str, scratch: Path) -> Generator[str]:
    """A server of Spark Connect on this machine; its address."""
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
    """What a report says of its files, but for how often a file was read."""
    return [
        (file["path"], file["outcome"], [(one["rule"], one["count"], one["at"]) for one in file["findings"]])
        for file in json.loads(report)["files"]
    ]


def tried(program: Path, trial: Trial, master: str, scratch: Path) -> str:
    """How a trial went: ``works``, or what is wrong in one line."""
    lake, good = scratch / "lake", scratch / "good"
    shutil.rmtree(good, ignore_errors=True)
    shutil.copytree(ROOT / "golden_files" / "sta" / "counted", good)
    arguments = [one.format(lake=lake, good=good) for one in trial.arguments]
    command = [str(program / "bin" / "pqassay"), "spark", *arguments, "--master", master]
    if trial.needs_rdds and master.startswith("sc://"):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS)
        refused = done.returncode == 2 and "needs RDDs" in done.stderr and done.stderr.count("\n") == 1
        return "says that it needs RDDs" if refused else f"exit code {done.returncode}: {done.stderr[-300:]}"
    try:
        told = said(command, 0, 1)
        if trial.name.startswith("check"):
            plain = [argument for argument in arguments if argument != "--ship"]
            alone = said([str(program / "bin" / "pqassay"), *plain], 0, 1)
            return "works" if findings(alone) == findings(told) else "finds something else"
        found = json.loads(said([program / "bin" / "pqassay", "check", good, "--format", "json"], 0, 1))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return " ".join(str(error).split())[:300]
    summary = found["summary"]
    return "works" if summary["files"] == summary["conformant"] else "writes a file with findings"


def answers(release: str) -> dict[str, Any]:
    """What a release can do, by command: with a session of its own, and over Spark Connect."""
    folder = environment(release)
    version = version_of(folder)
    with tempfile.TemporaryDirectory(prefix="pqassay-") as name:
        scratch = Path(name)
        for family in FAMILIES:
            shutil.copytree(ROOT / "golden_files" / family, scratch / "lake" / family)
        own = {trial.name: tried(folder, trial, "local[2]", scratch) for trial in TRIALS}
        print(f"Spark {version}: {own}", flush=True)
        try:
            with server(folder, version, scratch) as address:
                connect = {trial.name: tried(folder, trial, address, scratch) for trial in TRIALS}
        except RuntimeError as error:
            print(error, flush=True)
            connect = dict.fromkeys((trial.name for trial in TRIALS), "not asked: no server")
        print(f"Spark {version} over Spark Connect: {connect}", flush=True)
    return {"version": version, "own": own, "connect": connect}


def main() -> int:
    """Ask and keep the answers; fail if something does not work."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("releases", nargs="*", default=RELEASES, metavar="VERSION", help="3.5, 4.1, ...")
    asked = parser.parse_args().releases
    known = json.loads(ANSWERS.read_text()) if ANSWERS.is_file() else {"releases": []}
    kept = {one["version"].rpartition(".")[0]: one for one in known["releases"]}
    told: dict[str, Any] = {"releases": []}
    for release in asked:  # what a release said is kept, whatever becomes of the next one
        answer = answers(release)
        kept[answer["version"].rpartition(".")[0]] = answer
        told = {
            "date": dt.datetime.now(dt.UTC).date().isoformat(),
            "releases": [kept[name] for name in sorted(kept)],
        }
        write_whole(ANSWERS, (json.dumps(told, indent=2) + "\n").encode())
    good = ("works", "says that it needs RDDs", "not asked: no server")
    wrong = [
        f"Spark {one['version']}, {place}, {name}: {answer}"
        for one in told["releases"]
        for place in ("own", "connect")
        for name, answer in one[place].items()
        if answer not in good
    ]
    print("\n".join(wrong) or f"all of Spark {', '.join(one['version'] for one in told['releases'])} works")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
