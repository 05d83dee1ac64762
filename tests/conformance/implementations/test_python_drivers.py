"""The drivers in Python that come with pqassay: how they are started, what they answer, and what ends them.

Which golden files a library gets wrong is for `pqassay run` to find; the cases here are some that all of them get right.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pytest

from golden_cases import golden_cases
from places import ROOT
from pqassay.literals.predicate import Semantics, keeps
from pqassay.literals.rows import rows_difference
from pqassay.suite import protocol
from pqassay.suite.cases import GoldenCase, select
from pqassay.suite.row_answers import rows_of
from pqassay_spec.golden.literals import Rows, Value

IMPLEMENTATIONS = ROOT / "conformance" / "implementations"
SKELETON = IMPLEMENTATIONS / "skeletons" / "python"

LIBRARIES = ("pyarrow", "duckdb", "polars", "datafusion", "fastparquet")
"""Drivers whose library runs in their process. Starting Java for that of Spark takes longer than all of them."""

CASES = (
    "idx1/plain",
    "pqf/numbers",
    "pqf/two-row-groups",
    "pix/three-pages",
    "blm/two-blocks",
    "sta/bounds-cut",
)

Json = dict[str, Any]


class Serving:
    """A driver that goes on."""

    def __init__(self, script: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(script), "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *, count: int = 1, **request: Any) -> list[Json]:
        """So many lines of answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"protocol": 2, **request}) + "\n")
        self._process.stdin.flush()
        return [json.loads(self._process.stdout.readline()) for _ in range(count)]

    def close(self) -> int:
        """The exit status after the last request."""
        self._process.communicate()
        return self._process.returncode


@pytest.fixture(scope="module", params=LIBRARIES)
def serving(request: pytest.FixtureRequest) -> Iterator[Serving]:
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    driver = Serving(IMPLEMENTATIONS / request.param / "driver.py")
    yield driver
    assert 0 == driver.close()


def ask_by_files(script: Path, folder: Path, **request: Any) -> tuple[int, list[Json]]:
    (folder / "request").write_text(json.dumps({"protocol": 2, **request}))
    command = [sys.executable, str(script), str(folder / "request"), str(folder / "answer")]
    status = subprocess.run(command, check=False, capture_output=True).returncode
    written = folder / "answer"
    return status, [json.loads(line) for line in written.read_text().splitlines()] if written.exists() else []


def table_of(case: GoldenCase) -> Rows:
    assert case.rows is not None
    return case.rows


def difference(
    right: Sequence[Sequence[Value]], answer: Json, operation: Literal["read", "scan"] = "read"
) -> str:
    """What an answer gets wrong; empty if nothing."""
    read = protocol.read_answer(json.dumps(answer).encode(), operation, strict=True)
    if not isinstance(read, protocol.Accept | protocol.IgnoredIndex):
        return json.dumps(answer)
    return rows_difference(right, rows_of(read) or [])


def queries(table: Rows) -> list[Json]:
    """A few questions about each column, with other columns as their answers, with indexes and without."""
    names = table.names()
    trees: list[list[Any]] = []
    for place, name in enumerate(names):
        found = list(dict.fromkeys(json.dumps(as_json(row[place])) for row in table.rows))
        some = [value for value in map(json.loads, found) if value is not None][:2]
        trees += [["=", name, value] for value in some]
        trees += [["not", ["<", name, value]] for value in some]
        trees += [["and", ["in", name, [*some, None]], ["is not null", names[0]]], ["is null", name]]
        trees += [["or", ["not in", name, some], ["is null", names[-1]]]]
    return [
        {"seq": 2 * number + place, "predicate": tree, "columns": names[::-1], "index": index}
        for number, tree in enumerate(trees)
        for place, index in enumerate(("on", "off"))
    ]


def as_json(written: Any) -> Any:
    return written if written is None or isinstance(written, bool | int | str) else vars(written)


def test_a_driver_reads_and_scans_a_slice_of_golden_files(serving: Serving) -> None:
    (hello,) = serving.ask(op="hello")
    assert {"answer": "accept", "serve": True}.items() <= hello.items()
    semantics = Semantics(hello["nan"], hello["zeros"])
    cases = select(golden_cases(), CASES)
    assert len(CASES) == len(cases)
    wrong: dict[str, str] = {}
    for case in cases:
        table, file = table_of(case), str(case.folder / case.case.input.file)
        (read,) = serving.ask(op="read", file=file, columns=table.names())
        wrong[f"{case.case.id} read"] = difference(table.values(), read)
        records = [dict(zip(table.names(), row, strict=True)) for row in table.values()]
        asked = queries(table)
        family = case.case.family
        found = serving.ask(
            count=len(asked), op="scan", family=family, file=file, column=case.case.column, queries=asked
        )
        for query, answer in zip(asked, found, strict=True):
            assert query["seq"] == answer["seq"]
            kept = [record for record in records if keeps(query["predicate"], record, semantics)]
            right = [[record[name] for name in query["columns"]] for record in kept]
            wrong[f"{case.case.id} {query}"] = difference(right, answer, "scan")
    assert {} == {asked: told for asked, told in wrong.items() if told}


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


def test_what_a_driver_writes_it_reads(serving: Serving, tmp_path: Path) -> None:
    output = str(tmp_path / "written.parquet")
    request: Json = {"family": "PQF", "column": "metal", "rows": WRITTEN, "output": output}
    assert [{"answer": "accept"}] == serving.ask(op="encode", **request, wishes={"codec": "gzip"})
    columns = [column["name"] for column in WRITTEN["columns"]]
    (read,) = serving.ask(op="read", file=output, columns=columns)
    assert WRITTEN["rows"] == read["rows"]
    assert ["written.parquet"] == [path.name for path in tmp_path.iterdir()]

    unknown = {"answer": "unsupported", "reason": "wish invisible_ink"}
    assert [unknown] == serving.ask(op="encode", **request, wishes={"invisible_ink": True})


def test_what_is_no_parquet_file_is_refused_with_the_class_of_the_error(
    serving: Serving, tmp_path: Path
) -> None:
    (tmp_path / "data.parquet").write_bytes(b"not a Parquet file")
    (answer,) = serving.ask(op="read", file=str(tmp_path / "data.parquet"), columns=["a"])
    assert "reject" == answer["answer"]
    assert answer["raised"]
    assert answer["message"]


def test_the_template_answers_by_files_and_reads(tmp_path: Path) -> None:
    status, (hello,) = ask_by_files(SKELETON / "driver.py", tmp_path, op="hello")
    assert (0, "your library") == (status, hello["name"])
    for case in select(golden_cases(), ("idx1/plain", "sta/three-pages-of-lists", "pqf/decimals")):
        table = table_of(case)
        request: Json = {"file": str(case.folder / case.case.input.file), "columns": table.names()}
        status, answers = ask_by_files(SKELETON / "driver.py", tmp_path, op="read", **request)
        assert (0, [""]) == (status, [difference(table.values(), answer) for answer in answers])


def test_what_is_not_declared_is_not_supported(tmp_path: Path) -> None:
    request: Json = {"op": "decode", "family": "IDX1", "file": "/nowhere", "column": "nation"}
    assert (3, []) == ask_by_files(SKELETON / "driver.py", tmp_path, **request)
    driver = Serving(SKELETON / "driver.py")
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
    driver = Serving(script)
    answers = [
        driver.ask(op="read", file=raised, columns=[])
        for raised in ("KeyError('a')", "OSError('two\\nlines')", "Unsupported('codec LZ4')")
    ]
    assert [
        [{"answer": "reject", "message": "'a'", "raised": "KeyError"}],
        [{"answer": "reject", "message": "two lines", "raised": "OSError"}],
        [{"answer": "unsupported", "reason": "codec LZ4"}],
    ] == answers
    for raised in ("Panic()", "MemoryError()", "RecursionError()"):
        status, lines = ask_by_files(script, tmp_path, op="read", file=raised, columns=[])
        assert (1, []) == (status, lines)
    driver.close()


def test_examples_in_what_drivers_share_are_true() -> None:
    modules = ["pqassay_driver.py", "arrow_tables.py"]
    done = subprocess.run(
        [sys.executable, "-m", "doctest", *modules], cwd=SKELETON, capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stdout)


def test_drivers_share_one_module_and_copy_nothing() -> None:
    names = {path.parent.name for path in IMPLEMENTATIONS.glob("*/driver.py")}
    assert {*LIBRARIES, "spark", "published-idx1"} <= names
    for name in names:
        text = (IMPLEMENTATIONS / name / "driver.py").read_text()
        assert "from pqassay_driver import" in text
        assert "import pqassay\n" not in text
