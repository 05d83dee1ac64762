from __future__ import annotations

import gc
import importlib.util
import json
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

import processes
from pqassay_spark.cli.session import stop_session
from pqassay_spark.jobs.java import JavaMissingError, parse_version, require_java
from pqassay_spark.jobs.session import LONGEST_TEMPORARY_FOLDER, open_session, own_sockets
from pqassay_spark.jobs.spark_jobs import is_of_spark, java_is_gone, meaning_of, run
from pqassay_spark.jobs.start import (
    PYTHON,
    SparkStartError,
    require_arrow,
    require_master,
    require_spark_home,
    require_workers,
    start_trouble,
    worker_trouble,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fake_java(folder: Path, script: str) -> Path:
    """A program ``java`` in ``folder/bin`` that runs the shell script."""
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("printed", "release"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "17.0.2" 2022-01-18', 17),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_the_feature_release_is_read_from_what_java_prints(printed: str, release: int | None) -> None:
    assert parse_version(printed) == release


def test_a_java_that_is_new_enough_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, "echo 'openjdk version \"17.0.1\" 2021-10-19' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert require_java() == 17


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2",
            "{java} is Java 11, too old for Spark. Install a Java runtime of version 17",
        ),
        (
            "echo 'Unable to locate a Java Runtime.' >&2; exit 1",
            "{java} is not a Java runtime: Unable to locate a Java Runtime. Install",
        ),
        (
            "printf 'kein g\\374ltiges Java' >&2; exit 1",
            "{java} is not a Java runtime: kein g\N{REPLACEMENT CHARACTER}ltiges Java.",
        ),
        (None, "JAVA_HOME is {home}, which has no bin/java. Install"),
    ],
    ids=["too old", "a stub", "another encoding", "none"],
)
def test_a_java_that_spark_cannot_use_is_told_with_its_words(
    script: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is not None:
        fake_java(tmp_path, script)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissingError) as caught:
        require_java()
    assert str(caught.value).startswith(said.format(home=tmp_path, java=tmp_path / "bin" / "java"))


def test_no_java_on_the_path_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaMissingError) as caught:
        open_session(master="local[2]")
    assert str(caught.value) == (
        "Spark needs Java, and there is none on this machine. Install a Java runtime of version 17 or newer "
        "(Debian and Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) and put "
        "`java` on PATH or set JAVA_HOME."
    )


def fake_spark(folder: Path, version: str) -> Path:
    """A folder that looks like an installed Spark."""
    for name in ("bin/spark-submit", f"jars/spark-core_2.13-{version}.jar"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).touch()
    return folder


def test_another_spark_in_spark_home_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(fake_spark(tmp_path, "3.5.1")))
    with pytest.raises(SparkStartError) as caught:
        require_spark_home("4.3.0")
    assert str(caught.value) == (
        f"SPARK_HOME is {tmp_path}, which is Spark 3.5.1, but pyspark is 4.3.0. Unset SPARK_HOME, or install "
        "pyspark==3.5.1."
    )


@pytest.mark.parametrize(
    "master", ["local", "local[2]", "local[*]", "spark://host:7077", "yarn", "k8s://https://host"]
)
def test_a_master_that_spark_knows_is_accepted(master: str) -> None:
    require_master(master)


@pytest.mark.parametrize("master", ["", "foo", "localhost:7077", "spark:host", "yarn-client", "local[2"])
def test_a_master_that_spark_does_not_know_is_refused(master: str) -> None:
    with pytest.raises(SparkStartError, match="is not a master of Spark"):
        require_master(master)


def test_a_master_that_does_not_answer_is_named() -> None:
    said = "Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext was created at: ..."
    assert start_trouble(said, "spark://host:1") == (
        "The master spark://host:1 does not answer, or ended the application at once."
    )


def test_a_spark_home_without_spark_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(SparkStartError, match=r"has no bin/spark-submit\. Unset it"):
        require_spark_home("4.3.0")


@pytest.mark.parametrize("version", ["4.3.0", None])
def test_the_same_spark_in_spark_home_is_accepted(
    version: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(fake_spark(tmp_path, version)) if version else "")
    require_spark_home("4.3.0")


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
def test_a_java_that_ends_at_once_is_one_line(tmp_path: Path) -> None:
    fake_java(tmp_path, '[ "$1" = -version ] && echo \'version "17.0.1"\' >&2')
    script = (
        "import sys, typer; from pqassay_spark.cli.session import command_session\n"
        "try:\n    with command_session(None): pass\n"
        "except typer.Exit as error: sys.exit(error.exit_code)"
    )
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    run = processes.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.splitlines()[-1].startswith("error: Java ended before Spark had started;")
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            (
                "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
                "ModuleNotFoundError: No module named 'pyarrow'\n"
            ),
            (
                "The executors lack the Python library pyarrow. Install it there, or let PYSPARK_PYTHON name a Python that "
                "has it."
            ),
        ),
        (
            (
                "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has "
                "different version: 3.9 than that in driver: 3.99, PySpark cannot run with different minor versions."
            ),
            f"The executors run Python 3.9, this program {PYTHON}. Let PYSPARK_PYTHON name a Python {PYTHON} there.",
        ),
        (
            'java.io.IOException: Cannot run program "python3.11": error=2, No such file or directory',
            f"The executors have no program python3.11. Let PYSPARK_PYTHON name the Python {PYTHON} that they have.",
        ),
        (
            (
                "An error occurred while calling o1.collect.\n: org.apache.spark.SparkException: Job aborted.\n"
                "\tat org.apache.Some.run(Some.java:1)\nCaused by: java.lang.Exception: disk full\n\t... 3 more"
            ),
            "The executors cannot run Python: disk full",
        ),
    ],
)
def test_what_spark_says_of_its_workers_becomes_one_line(said: str, told: str) -> None:
    assert worker_trouble(said) == told


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
def test_a_pyarrow_that_spark_refuses_is_named_before_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyarrow.__version__", "1.0.0")
    with pytest.raises(SparkStartError, match=r"(?i)pyarrow .*1\.0\.0.* Install it with: pip install"):
        require_arrow()


@pytest.mark.spark
def test_workers_that_suit_are_accepted(spark: SparkSession) -> None:
    require_workers(spark)


def test_importing_the_pipeline_and_its_command_imports_no_pyspark() -> None:
    script = (
        "import json, sys; import pqassay_spark, pqassay.cli.main, pqassay_spark.produce.sales, pqassay_spark.jobs.session;"
        "print(json.dumps(sorted(m for m in sys.modules if m.split('.')[0] in {'pyspark', 'py4j', 'pyarrow'})))"
    )
    run = processes.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []


@pytest.mark.spark
def test_workers_run_the_python_of_the_driver(spark: SparkSession) -> None:
    workers = spark.sparkContext.parallelize([0, 1], 2).map(lambda _: sys.executable).distinct().collect()
    assert workers == [sys.executable]


@pytest.mark.spark
def test_a_session_reads_times_as_utc_and_serves_no_web_page(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.sparkContext.master == "local[2]"
    assert spark.sparkContext.uiWebUrl is None


@pytest.mark.spark
def test_a_second_session_is_the_first(spark: SparkSession) -> None:
    assert open_session(master="local[2]").sparkContext is spark.sparkContext


@pytest.mark.spark
def test_java_prints_no_stack_of_what_the_program_says_in_one_line(spark: SparkSession) -> None:
    java: Any = spark.sparkContext._jvm
    logs = java.org.apache.logging.log4j.LogManager
    quiet = ("executor.Executor", "scheduler.TaskSetManager", "util.Utils")
    levels = {name: str(logs.getLogger(f"org.apache.spark.{name}").getLevel()) for name in quiet}
    assert levels == dict.fromkeys(quiet, "OFF")
    assert str(logs.getLogger("org.apache.spark.SparkContext").getLevel()) == "ERROR"


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
def test_a_java_process_that_is_gone_is_told_from_what_java_says() -> None:
    from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped] # it has no types

    gone = [
        ConnectionRefusedError(111, "Connection refused"),
        Py4JNetworkError("Answer from Java side is empty"),
        Py4JError("An error occurred while calling o12.collect"),
    ]
    for error in gone:
        assert is_of_spark(error)
        assert str(meaning_of(error)).startswith("Spark's Java process ended; is there enough memory? ")
    said = Py4JError(
        "An error occurred while calling o12.f. Trace:\njava.lang.SomeException: no such method f"
    )
    assert not java_is_gone(said)
    assert "no such method f" in str(meaning_of(said))
    assert not is_of_spark(PermissionError(13, "Permission denied"))


def test_a_session_that_java_has_left_ends_quietly() -> None:
    class Left:
        def stop(self) -> None:
            raise ConnectionRefusedError(111, "Connection refused")

    stop_session(cast("Any", Left()))


@pytest.mark.spark
def test_workers_talk_to_java_through_sockets_that_nobody_else_reaches(spark: SparkSession) -> None:
    if not hasattr(socket, "AF_UNIX") or len(tempfile.gettempdir()) > LONGEST_TEMPORARY_FOLDER:
        pytest.skip("the system has no such sockets, or only long temporary paths")
    conf = spark.sparkContext.getConf()
    folder = Path(str(conf.get("spark.python.unix.domain.socket.dir")))
    assert conf.get("spark.python.unix.domain.socket.enabled") == "true"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert any(path.is_socket() for path in folder.iterdir())


def test_a_temporary_folder_whose_path_is_too_long_for_sockets_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert own_sockets.__wrapped__() == {}
    assert list(folder.iterdir()) == []


def frozen(_task: bytes, _: object) -> bytes:
    return str(gc.get_freeze_count()).encode()


@pytest.mark.spark
def test_what_a_worker_has_loaded_is_not_collected_again_after_each_task(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        frozen, "__module__", "__main__"
    )  # sent as code, since no executor imports this module
    run(spark, [b""] * 4, frozen, description="warm up")
    assert all(int(count) > 10_000 for count in run(spark, [b""] * 4, frozen, description="frozen"))


def test_garbage_of_before_is_gone_when_a_worker_keeps_what_is_loaded() -> None:
    script = (
        "import gc\n"
        "from pqassay_spark.jobs.worker_memory import keep_what_is_loaded\n"
        "gc.disable()\n"
        "cycle = []; cycle.append(cycle); del cycle\n"
        "keep_what_is_loaded()\n"
        "first = gc.get_freeze_count()\n"
        "more = [[] for _ in range(1000)]\n"
        "keep_what_is_loaded()\n"
        "print(gc.collect(), first > 1000, gc.get_freeze_count() <= first)"
    )
    done = processes.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "0 True True\n"
