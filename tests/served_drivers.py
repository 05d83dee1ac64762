"""Drivers that are asked by tests: as a process that goes on, or request by request; and what of their answers is wrong."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, Literal

import processes
from golden_cases import golden_cases
from places import ROOT
from pqassay.literals.predicate import Semantics, keeps
from pqassay.literals.rows import rows_difference
from pqassay_spec.golden.literals import Rows, Value
from pqassay_suite.cases.case import GoldenCase, select
from pqassay_suite.drivers import protocol
from pqassay_suite.judging.row_answers import rows_of

IMPLEMENTATIONS = ROOT / "conformance" / "implementations"

SLICE = (
    "idx1/plain",
    "pqf/numbers",
    "pqf/two-row-groups",
    "pix/three-pages",
    "blm/two-blocks",
    "sta/bounds-cut",
)

Json = dict[str, Any]


class Serving:
    """A driver that goes on; see `serving`."""

    def __init__(self, process: processes.Process[str]) -> None:
        self._process = process

    def ask(self, *, count: int = 1, **request: Any) -> list[Json]:
        """So many lines of answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"protocol": 2, **request}) + "\n")
        self._process.stdin.flush()
        return [json.loads(processes.line_of(self._process)) for _ in range(count)]

    def close(self) -> int:
        """The exit status after the last request; what the driver has started ends with it."""
        below = processes.children(self._process.pid)
        processes.ended(self._process)
        try:
            processes.until(
                lambda: not any(map(processes.alive, below)), "what a driver started ends with it"
            )
        finally:
            processes.end_left_running(set(below))
        return self._process.returncode


@contextlib.contextmanager
def serving(script: Path | Sequence[str], *options: str) -> Generator[Serving]:
    """Start a driver that goes on, a script in Python or a command, and end it with the block."""
    start = [sys.executable, str(script)] if isinstance(script, Path) else list(script)
    command = [*start, *options, "--serve"]
    with processes.started(command, stdin=processes.PIPE, stdout=processes.PIPE, text=True) as process:
        yield Serving(process)


def ask_by_files(script: Path, folder: Path, **request: Any) -> tuple[int, list[Json]]:
    (folder / "request").write_text(json.dumps({"protocol": 2, **request}))
    command = [sys.executable, str(script), str(folder / "request"), str(folder / "answer")]
    status = processes.run(command, capture_output=True).returncode
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


def wrong_about_the_slice(driver: Serving, asked_of_each: slice = slice(None)) -> dict[str, str]:
    """What a driver gets wrong of the cases of `SLICE`, read and scanned; one that takes long for each query is asked some of them."""
    (hello,) = driver.ask(op="hello")
    assert {"answer": "accept", "serve": True}.items() <= hello.items()
    semantics = Semantics(hello["nan"], hello["zeros"])
    cases = select(golden_cases(), SLICE)
    assert len(SLICE) == len(cases)
    wrong: dict[str, str] = {}
    for case in cases:
        table, file = table_of(case), str(case.folder / case.case.input.file)
        (read,) = driver.ask(op="read", file=file, columns=table.names())
        wrong[f"{case.case.id} read"] = difference(table.values(), read)
        records = [dict(zip(table.names(), row, strict=True)) for row in table.values()]
        asked = queries(table)[asked_of_each]
        family = case.case.family
        found = driver.ask(
            count=len(asked), op="scan", family=family, file=file, column=case.case.column, queries=asked
        )
        for query, answer in zip(asked, found, strict=True):
            assert query["seq"] == answer["seq"]
            kept = [record for record in records if keeps(query["predicate"], record, semantics)]
            right = [[record[name] for name in query["columns"]] for record in kept]
            wrong[f"{case.case.id} {query}"] = difference(right, answer, "scan")
    return {asked: told for asked, told in wrong.items() if told}
