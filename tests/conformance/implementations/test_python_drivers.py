"""The drivers in Python that come with pqassay: how they are started, what they answer, and what ends them.

Which golden files a library gets wrong is for `pqassay suite run` to find; the cases here are some that all of them get right.
"""

from __future__ import annotations

import doctest
import importlib
import json
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from damage import EXAMPLES
from golden_cases import golden_cases
from places import ROOT
from pqassay_suite.cases.case import select
from served_drivers import (
    IMPLEMENTATIONS,
    Json,
    Serving,
    ask_by_files,
    difference,
    serving,
    table_of,
    wrong_about_the_slice,
)

pytestmark = pytest.mark.slow

SKELETON = IMPLEMENTATIONS / "skeletons" / "python"

LIBRARIES = ("pyarrow", "duckdb", "polars", "datafusion", "fastparquet")
"""Drivers whose library runs in their process. Starting Java for that of Spark takes longer than all of them."""


@pytest.fixture(scope="module", params=LIBRARIES)
def served(request: pytest.FixtureRequest) -> Iterator[Serving]:
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    with serving(IMPLEMENTATIONS / request.param / "driver.py") as driver:
        yield driver
        assert 0 == driver.close()


def test_a_driver_reads_and_scans_a_slice_of_golden_files(served: Serving) -> None:
    """Some of the queries, with indexes and without in turn; all by `make damages`."""
    assert {} == wrong_about_the_slice(served, slice(None, None, 2 * EXAMPLES - 1))


WRITTEN: Json = {
    "columns": [
        {"name": "flag", "type": "boolean", "nullable": True},
        {"name": "mark", "type": "int32", "nullable": True},
        {"name": "year", "type": "int64", "nullable": False},
        {"name": "mass", "type": "double", "nullable": False},
        {"name": "metal", "type": "string", "nullable": True},
        {"name": "seen", "type": "timestamp_micros", "nullable": True},
    ],
    "rows": [
        [True, 1, {"int": "1152921504606846976"}, {"float": "nan"}, "tin", {"timestamp": "-1000"}],
        [None, None, -5, {"float": "-0.0"}, None, None],
        [False, -(2**31), 0, {"float": "0.1"}, "", {"timestamp": "1700000000000000000"}],
    ],
}


def test_what_a_driver_writes_it_reads(served: Serving, tmp_path: Path) -> None:
    output = str(tmp_path / "written.parquet")
    request: Json = {"family": "PQF", "column": "metal", "rows": WRITTEN, "output": output}
    assert [{"answer": "accept"}] == served.ask(op="encode", **request, wishes={"codec": "gzip"})
    columns = [column["name"] for column in WRITTEN["columns"]]
    (read,) = served.ask(op="read", file=output, columns=columns)
    assert WRITTEN["rows"] == read["rows"]
    assert ["written.parquet"] == [path.name for path in tmp_path.iterdir()]

    unknown = {"answer": "unsupported", "reason": "wish invisible_ink"}
    assert [unknown] == served.ask(op="encode", **request, wishes={"invisible_ink": True})


def test_what_is_no_parquet_file_is_refused_with_the_class_of_the_error(
    served: Serving, tmp_path: Path
) -> None:
    (tmp_path / "data.parquet").write_bytes(b"not a Parquet file")
    (answer,) = served.ask(op="read", file=str(tmp_path / "data.parquet"), columns=["a"])
    assert "reject" == answer["answer"]
    assert answer["raised"]
    assert answer["message"]


def test_the_template_answers_by_files_and_reads(tmp_path: Path) -> None:
    status, (hello,) = ask_by_files(SKELETON / "driver.py", tmp_path, op="hello")
    assert (0, "your library") == (status, hello["name"])
    for case in select(golden_cases(), ("pqf/decimals",)):
        table = table_of(case)
        request: Json = {"file": str(case.folder / case.case.input.file), "columns": table.names()}
        status, answers = ask_by_files(SKELETON / "driver.py", tmp_path, op="read", **request)
        assert (0, [""]) == (status, [difference(table.values(), answer) for answer in answers])


def test_what_is_not_declared_is_not_supported(tmp_path: Path) -> None:
    request: Json = {"op": "decode", "family": "IDX1", "file": "/nowhere", "column": "nation"}
    assert (3, []) == ask_by_files(SKELETON / "driver.py", tmp_path, **request)
    with serving(SKELETON / "driver.py") as driver:
        assert [{"answer": "unsupported", "reason": "idx1.decode"}] == driver.ask(**request)
        assert 0 == driver.close()


RAISING = f"""
import sys
sys.path.insert(0, {str(SKELETON)!r})
from pqassay_driver import Driver, Unsupported, main

class Panic(BaseException):
    pass

class Raising(Driver):
    name, version, capabilities = "raising", "1", ("parquet", "read")

    def read(self, path, columns):
        print("a library prints")
        raise eval(path)

main(Raising())
"""


def test_what_is_thrown_on_purpose_is_an_answer_and_a_panic_is_the_end(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(textwrap.dedent(RAISING))
    with serving(script) as driver:
        answers = [
            driver.ask(op="read", file=raised, columns=[])
            for raised in ("KeyError('a')", "OSError('two\\nlines')", "Unsupported('codec LZ4')")
        ]
        assert 0 == driver.close()
    assert [
        [{"answer": "reject", "message": "'a'", "raised": "KeyError"}],
        [{"answer": "reject", "message": "two lines", "raised": "OSError"}],
        [{"answer": "unsupported", "reason": "codec LZ4"}],
    ] == answers
    for raised in ("Panic()", "MemoryError()"):
        status, lines = ask_by_files(script, tmp_path, op="read", file=raised, columns=[])
        assert (1, []) == (status, lines)


def test_predicates_are_as_true_as_the_corpus_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SKELETON))
    truth = importlib.import_module("pqassay_driver").truth
    corpus = json.loads((ROOT / "conformance/pqassay/corpus/values.json").read_text(encoding="utf-8"))
    words = {"true": True, "false": False, "unknown": None}
    wrong = [
        told
        for told in corpus["predicates"]
        if (told.get("nan", "unordered"), told.get("zeros", "equal")) == ("unordered", "equal")
        and words[told["truth"]] is not truth(told["predicate"], {"x": told["value"]})
    ]
    assert [] == wrong


@pytest.mark.parametrize("module", ["pqassay_driver", "arrow_tables", "sql_text"])
def test_examples_in_what_drivers_share_are_true(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SKELETON))
    failed, attempted = doctest.testmod(importlib.import_module(module))
    assert (0, True) == (failed, attempted > 0)


def test_drivers_share_one_module_and_copy_nothing() -> None:
    names = {path.parent.name for path in IMPLEMENTATIONS.glob("*/driver.py")}
    assert {*LIBRARIES, "spark", "published-idx1", "chdb"} <= names
    for name in names:
        text = (IMPLEMENTATIONS / name / "driver.py").read_text()
        assert "from pqassay_driver import" in text
        assert "import pqassay\n" not in text
