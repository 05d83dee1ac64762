"""The driver of Spark: what it says without Java, its two readers, and the index that it puts behind Spark's rows."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from damage import EXAMPLES
from driver_modules import new_driver
from served_drivers import IMPLEMENTATIONS, Json, ask_by_files, serving, wrong_about_the_slice

DRIVER = IMPLEMENTATIONS / "spark" / "driver.py"

pytestmark = pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed")


def indexed(*values: str | None) -> Json:
    column = {"name": "metal", "type": "string", "nullable": True}
    return {"columns": [column], "rows": [[value] for value in values]}


def test_it_says_who_it_is_without_java(tmp_path: Path) -> None:
    status, (told,) = ask_by_files(DRIVER, tmp_path, op="hello")
    assert (0, "Apache Spark", "greatest") == (status, told["name"], told["nan"])


@pytest.mark.parametrize(("op", "family"), [("decode", "IDX1"), ("lint", "PQF"), ("encode", "PM")])
def test_what_spark_cannot_do_is_not_supported(op: str, family: str, tmp_path: Path) -> None:
    assert (3, []) == ask_by_files(DRIVER, tmp_path, op=op, family=family, file="/nowhere")


def test_an_error_of_memory_is_a_crash_whatever_carries_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Java still answers then, and ends a moment later: the next case would be blamed."""
    driver = new_driver("spark")
    monkeypatch.setattr(driver, "_lives", lambda: True)

    assert driver.is_crash(RuntimeError("java.lang.OutOfMemoryError: Java heap space"))
    assert not driver.is_crash(RuntimeError("java.io.IOException: no such file"))


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(("options", "first"), [((), 0), (("--rows",), 1)][: 2 if EXAMPLES == 1 else 1])
def test_both_readers_are_right_about_a_slice_of_golden_files(
    options: tuple[str, ...], first: int, tmp_path: Path
) -> None:
    """Each query takes a tenth of a second, and Java more: some by the reader of batches, and all by both with `make damages`."""
    some = slice(None) if EXAMPLES == 1 else slice(first, None, 4 * EXAMPLES - 1)
    with serving(DRIVER, *options) as driver:
        assert {} == wrong_about_the_slice(driver, some)

        request: dict[str, Any] = {"op": "encode", "family": "IDX1", "column": "metal"}
        refused = driver.ask(**request, rows=indexed("tin\r", "lead\r"), output=str(tmp_path / "refused"))
        assert ["reject", "ValueError"] == [refused[0]["answer"], refused[0]["raised"]]

        written = tmp_path / "written.parquet"
        assert [{"answer": "accept"}] == driver.ask(
            **request, rows=indexed("b\r", "", None, "a"), output=str(written)
        )
        assert b"IDX1" + (5).to_bytes(8, "little") + b"\na\nb\r" in written.read_bytes()
        read = driver.ask(op="read", file=str(written), columns=["metal"])
        assert [{"answer": "accept", "rows": [["b\r"], [""], [None], ["a"]]}] == read

        broken = tmp_path / "data.parquet"
        broken.write_bytes(b"not a Parquet file")
        (answer,) = driver.ask(op="read", file=str(broken), columns=["metal"])
        assert ("reject", "java.lang.RuntimeException") == (answer["answer"], answer["raised"])
        assert 0 == driver.close()
