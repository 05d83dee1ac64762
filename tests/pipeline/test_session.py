from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pqassay_spark.java import JavaMissingError, parse_version, require_java
from pqassay_spark.session import local_session

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_java_that_is_too_old_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = fake_java(tmp_path, "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissingError) as caught:
        require_java()
    assert str(caught.value).startswith(
        f"{java} is Java 11, too old for Spark. Install a Java runtime of version 17"
    )


def test_a_stub_that_only_says_where_to_get_java_is_no_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = fake_java(tmp_path, "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissingError) as caught:
        require_java()
    assert str(caught.value).startswith(
        f"{java} is no Java runtime: Unable to locate a Java Runtime. Install"
    )


def test_a_java_home_without_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissingError) as caught:
        require_java()
    assert str(caught.value).startswith(f"JAVA_HOME is {tmp_path}, which has no bin/java. Install")


def test_no_java_on_the_path_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaMissingError) as caught:
        local_session()
    assert str(caught.value) == (
        "Spark needs Java, and there is none on this machine. Install a Java runtime of version 17 or newer "
        "(Debian and Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17) and put "
        "`java` on PATH or set JAVA_HOME."
    )


def test_importing_the_pipeline_and_its_command_imports_no_pyspark() -> None:
    script = (
        "import json, sys; import pqassay_spark.cli, pqassay_spark.sales, pqassay_spark.session;"
        "print(json.dumps(sorted(m for m in sys.modules if m.split('.')[0] in {'pyspark', 'py4j', 'pyarrow'})))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
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
    assert local_session().sparkContext is spark.sparkContext
