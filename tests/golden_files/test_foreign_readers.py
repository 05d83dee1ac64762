"""Six engines that know nothing of this project read the rows of every valid golden file as its manifest says."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from engines import ENGINES, WHOLE, PyArrow, Query, Rows, Where, cell, engine, expected

GOLDEN_FILES = Path(__file__).parents[2] / "golden_files"

PREDICATES = 3
"""Predicates that are tried on all files of one schema."""

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""Engine and case to what the engine says or does instead; each with its reason and the engine's version."""


@dataclass(frozen=True)
class Case:
    """A valid Parquet file, what is in it, and what its manifest asks of it."""

    id: str
    path: Path
    columns: dict[str, list[Any]] | None
    predicate: Where | None

    def expected(self, query: Query) -> Rows:
        """The rows that a query finds: by the literals of the manifest; without any, by what pyarrow reads."""
        if self.columns is not None:
            return expected(self.columns, query)
        return PyArrow().read(self.path, query)


def literal(value: Any) -> Any:
    """A value of a manifest, whose type is tagged where JSON has no such type."""
    if not isinstance(value, dict):
        return value
    ((tag, text),) = value.items()
    readers: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "bytes": bytes.fromhex}
    return readers[tag](text)


def columns(rows: dict[str, Any]) -> dict[str, list[Any]]:
    """The rows of a manifest column by column."""
    names = [column["name"] for column in rows["columns"]]
    return {name: [literal(row[position]) for row in rows["rows"]] for position, name in enumerate(names)}


def valid_cases() -> Iterator[Case]:
    """The valid cases that are Parquet files."""
    for manifest in sorted(GOLDEN_FILES.rglob("case.json")):
        record = json.loads(manifest.read_text())
        path = manifest.parent / record["input"]["file"]
        if record["kind"] != "valid" or path.suffix != ".parquet":
            continue
        rows, predicate = (record["expect"].get(member) for member in ("rows", "predicate"))
        yield Case(
            record["id"],
            path,
            None if rows is None else columns(rows),
            None
            if predicate is None
            else Where(predicate[1], predicate[0], tuple(map(literal, predicate[2:]))),
        )


CASES = list(valid_cases())


def groups() -> list[list[Case]]:
    """The cases by schema."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        found[str(pq.read_schema(case.path).remove_metadata())].append(case)
    return list(found.values())


def queries(group: list[Case]) -> list[Query]:
    """Everything; what the manifests ask for; the nulls and one value of a column that some file has."""
    asked = {case.predicate: None for case in group if case.predicate is not None}
    for case in group:
        for name, values in (case.columns or {}).items():
            asked |= {Where(name, "=", (value,)): None for value in values if isinstance(value, str)}
    text = next((where.column for where in asked), None)
    nulls = [] if text is None else [Where(text, "is null")]
    return [WHOLE, *(Query(where) for where in [*list(asked)[:PREDICATES], *nulls])]


def test_literals_are_read_by_their_tags() -> None:
    tagged = [
        None,
        "a",
        1,
        {"int": "9007199254740993"},
        {"float": "-0.0"},
        {"float": "nan"},
        {"bytes": "00ff"},
    ]

    assert [None, "a", 1, 9_007_199_254_740_993, cell(-0.0), cell(float("nan")), b"\0\xff"] == [
        cell(literal(value)) for value in tagged
    ]


def test_only_files_of_foreign_software_lack_literal_rows() -> None:
    assert [] == [case.id for case in CASES if case.columns is None and not case.id.startswith("interop")]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.spark] if name.startswith("spark") else [])
        for name in [*ENGINES, "spark, row by row"]
    ],
)
def test_a_foreign_reader_finds_the_rows_of_every_valid_golden_file(
    name: str, request: pytest.FixtureRequest
) -> None:
    reader = engine(name, lambda: request.getfixturevalue("spark"))
    wrong: dict[str, str] = {}
    asked: Counter[str] = Counter()
    for group in groups():
        by_path = {case.path: case for case in group}
        for query in queries(group):
            for path, answer in reader.read_all(list(by_path), query).items():
                case = by_path[path]
                asked[case.id] += 1
                if answer != case.expected(query):
                    wrong.setdefault(case.id, f"{query}: {answer!r}")
    declared = {case: said for (engine_name, case), said in EXCEPTIONS.items() if engine_name == name}

    assert {case.id for case in CASES} == set(asked)
    assert {} == {case: said for case, said in wrong.items() if declared.get(case, "\0") not in said}
    assert set(declared) == set(wrong), "an exception that no longer holds is removed"
