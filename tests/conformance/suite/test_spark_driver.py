"""The driver of Spark, a program like any other: what it scores, and that its server neither stays nor gets in the way."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from golden_cases import golden_cases
from places import ROOT
from pqassay.suite.cases import select
from pqassay.suite.process import Limits
from pqassay.suite.runner import Settings, run

pytestmark = pytest.mark.slow

FOLDER = ROOT / "conformance" / "implementations" / "spark"
DRIVER = FOLDER / "driver.py"

CASES = ("idx1/plain", "idx1/magic", "idx1/carriage-*", "pqf/all-types", "interop/spark-4.3.0/index*")


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, with a folder of its own for the socket."""
    spec = importlib.util.spec_from_file_location("spark_driver", DRIVER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", str(tmp_path / "private"))
    return module


@pytest.mark.spark
def test_spark_passes_what_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_DRIVER_IDLE_SECONDS", "10")  # its Java is to end soon after
    cases = select(golden_cases(), CASES)
    report = run(cases, Settings([sys.executable, str(DRIVER)], Limits(seconds=120)))
    outcomes = {(result.case, result.operation): result.outcome for result in report.results}
    asked = {key: outcome for key, outcome in outcomes.items() if outcome != "not applicable"}
    assert {} == {key: outcome for key, outcome in asked.items() if outcome != "passed"}
    assert {"scan", "encode"} == {operation for _, operation in asked}
    assert len(asked) > 10


def answer(tmp_path: Path, **request: Any) -> tuple[int, dict[str, Any] | None]:
    (tmp_path / "request.json").write_text(json.dumps({"protocol": 1, **request}))
    command = [sys.executable, str(DRIVER), str(tmp_path / "request.json"), str(tmp_path / "answer.json")]
    status = subprocess.run(command, check=False, timeout=60).returncode
    found = tmp_path / "answer.json"
    return status, json.loads(found.read_text()) if found.exists() else None


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
def test_it_says_who_it_is_without_java(tmp_path: Path) -> None:
    status, told = answer(tmp_path, op="hello")
    assert 0 == status
    assert told is not None
    assert ("Apache Spark", ["parquet", "pqf.scan", "idx1.scan", "idx1.encode"]) == (
        told["name"],
        told["capabilities"],
    )


@pytest.mark.parametrize(("op", "family"), [("decode", "IDX1"), ("lint", "PQF"), ("encode", "PM")])
def test_what_spark_cannot_do_is_not_supported(op: str, family: str, tmp_path: Path) -> None:
    assert (3, None) == answer(tmp_path, op=op, family=family, file="/nowhere")


def test_a_folder_that_others_may_enter_is_not_used(driver: ModuleType) -> None:
    Path(driver.FOLDER).mkdir(mode=0o755)
    with pytest.raises(SystemExit, match="is no folder of this user alone"):
        driver.private_folder()


def test_a_link_to_a_folder_is_not_used(driver: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    Path(driver.FOLDER).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SystemExit, match="is no folder of this user alone"):
        driver.private_folder()


def test_a_socket_that_nobody_listens_at_is_no_server(driver: ModuleType) -> None:
    driver.private_folder()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(driver.address())
    assert Path(driver.address()).exists()
    assert driver.connect() is None


def test_the_server_ends_when_nobody_asks(driver: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    class Idle:
        closed = False

        def close(self) -> None:
            Idle.closed = True

    monkeypatch.setattr(driver, "Spark", Idle)
    monkeypatch.setattr(driver, "IDLE_SECONDS", 0.05)
    driver.private_folder()
    driver.serve(driver.address())
    assert Idle.closed
    assert not Path(driver.address()).exists()


def test_a_server_that_does_not_start_is_told_with_its_last_words(
    driver: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver.sys, "executable", "/bin/false")
    with pytest.raises(SystemExit, match="Spark does not start"), driver.connected():
        pass


@pytest.mark.parametrize(
    ("values", "payload"),
    [
        ({"b", "a", None}, b"a\nb"),
        ({"", "a"}, b"\na"),
        ({"a\r", "b"}, b"b\na\r"),
        ({None}, b""),
    ],
)
def test_values_stand_where_no_reader_loses_one(
    driver: ModuleType, values: set[str | None], payload: bytes
) -> None:
    assert payload == driver.index_of(values)


@pytest.mark.parametrize("values", [{"a\nb"}, {""}, {"a\r", "b\r"}])
def test_values_that_would_be_lost_are_refused(driver: ModuleType, values: set[str | None]) -> None:
    with pytest.raises(driver.RefusedError):
        driver.index_of(values)
