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

from engines import ENGINES, WHOLE, Limit, Query, Rows, Tagged, Where, cell, engine, expected, parameters

GOLDEN_FILES = Path(__file__).parents[2] / "golden_files"

UNSAFE = (("fastparquet", "pqf/extensions"),)
"""Not read at all: fastparquet 2026.9.0 takes the bytes of an extension for a struct, and may end the process with it."""

EXCEPTIONS = {
    ("fastparquet", "idx1/column-with-dots"): Limit(
        "2026.9.0", "a filter takes the dots of a name for those of a path", "'a'"
    ),
    ("fastparquet", "pqf/all-types"): Limit(
        "2026.9.0", "a null double is a NaN", "(None, 1971, Tagged(kind='float', text='nan')"
    ),
    **{
        ("fastparquet", f"pqf/{name}"): Limit("2026.9.0", reason, says)
        for name, reason, says in (
            ("decimals", "decimals become doubles", "Tagged(kind='float'"),
            ("decimal-bytes", "decimals become doubles", "Tagged(kind='float'"),
            ("fixed", "byte strings lose the zeros at their end", r"('b', b'\xff')"),
            ("uuid", "byte strings lose the zeros at their end", "('b', b'')"),
            ("half", "floats of two bytes stay bytes", r"b'\x00"),
            ("times", "dates become timestamps", "Tagged(kind='timestamp', text='-86400000000000')"),
            ("times-of-day", "times of day become durations", "Timedelta"),
            ("nested", "no lists of structs or of lists", ", None, None"),
            ("repeated", "no repeated fields without a list", "boolean index did not match"),
            ("pages-v2", "no lists in pages of version 2", "boolean index did not match"),
            ("three-pages-of-lists-v2", "no lists in pages of version 2", "boolean index did not match"),
            ("pages-apart", "no lists in pages of version 2", "could not broadcast"),
        )
    },
    ("duckdb", "pqf/uuid"): Limit("2.0.0", "its Arrow gives UUIDs as text", "'00000000-0000-0000-0000-"),
    ("spark", "pqf/decimal-bytes"): Limit(
        "4.3.0", "the reader of batches fails on them", "java.lang.NullPointerException"
    ),
    **{
        (name, f"pqf/{case}"): Limit("4.3.0", reason, says)
        for name in ("spark", "spark, row by row")
        for case, reason, says in (
            ("half", "no such type", "Illegal Parquet type: FIXED_LEN_BYTE_ARRAY (FLOAT16)"),
            ("nanoseconds", "no such type", "Illegal Parquet type: INT64 (TIMESTAMP(NANOS,true))"),
            ("times-of-day", "no such type", "Illegal Parquet type: INT32 (TIME(MILLIS,true))"),
            ("uuid", "no such type", "Illegal Parquet type: FIXED_LEN_BYTE_ARRAY (UUID)"),
            ("unsigned-64", "they become decimals", "Tagged(kind='decimal', text='0')"),
        )
    },
    ("fastparquet", "sta/orders-of-types"): Limit(
        "2026.9.0", "decimals become floats, and days moments", "Tagged(kind='float'"
    ),
    **{
        (name, f"sta/{case}"): Limit(
            "4.3.0", "a geometry is an object that names its reference system", "('srid', 4326)"
        )
        for name in ("spark", "spark, row by row")
        for case in ("box-across-the-antimeridian", "audited-box")
    },
    **{
        ("polars", f"sta/{case}"): Limit(
            "2.1.0", "it knows no geometries, and no types that it does not know", "union has no variant set"
        )
        for case in ("box-across-the-antimeridian", "audited-box")
    },
    **{
        ("fastparquet", case): Limit("2026.9.0", "decimals become floats", "Tagged(kind='float'")
        for case in ("sta/audited", "pix/audited", "blm/audited", "blm/types")
    },
    **{
        ("fastparquet", f"blm/{name}"): Limit(
            "2026.9.0", "a null double is a NaN", "(None, None, Tagged(kind='float', text='nan')"
        )
        for name in ("one-block", "at-the-end", "between-row-groups")
    },
    ("fastparquet", "sta/audited-page-headers"): Limit(
        "2026.9.0", "no pages of version 2 with nulls", "could not be broadcast together"
    ),
    **{
        (name, "blm/no-filters"): Limit(
            version,
            "moments of INT96 lose their nanoseconds",
            "(Tagged(kind='boolean', text='False'), Tagged(kind='timestamp', text='0'))",
        )
        for name, version in (("duckdb", "2.0.0"), ("spark", "4.3.0"), ("spark, row by row", "4.3.0"))
    },
    ("fastparquet", "pqf/types"): Limit(
        "2026.9.0",
        "a decimal is a float, and bytes end before their zeros",
        "Tagged(kind='float'",
    ),
    ("fastparquet", "interop/spark-4.3.0/codec-lz4"): Limit(
        "2026.9.0", "it takes the frame of Hadoop for a block", "Decompression failed"
    ),
    ("fastparquet", "interop/spark-4.3.0/pages-v2"): Limit(
        "2026.9.0", "no delta encoding where there are nulls", "null delta-int not implemented"
    ),
    **{
        ("fastparquet", f"interop/spark-4.3.0/{name}"): Limit(
            "2026.9.0", "no delta encoding of text", "NotImplementedError()"
        )
        for name in ("pages-v2-delta", "everything", "index-beside-everything")
    },
    **{
        ("fastparquet", f"interop/{name}"): Limit("2026.9.0", "decimals become floats", "Tagged(kind='float'")
        for name in (
            "arrow-rs-59.0.0/flat",
            "datafusion-55.0.0/flat",
            "datafusion-55.0.0/pages",
            "duckdb-2.0.0/flat",
            "duckdb-2.0.0/zstd",
            "polars-2.1.0/flat",
            "polars-2.1.0/pages",
            "pyarrow-26.0.1/flat",
            "pyarrow-26.0.1/pages",
        )
    },
    **{
        ("fastparquet", f"interop/{name}/nested"): Limit(
            "2026.9.0", "members of a struct become columns", "'東京', -3)"
        )
        for name in (
            "arrow-rs-59.0.0",
            "datafusion-55.0.0",
            "duckdb-2.0.0",
            "polars-2.1.0",
            "pyarrow-26.0.1",
        )
    },
    **{
        ("fastparquet", f"interop/fastparquet-2026.9.0/{name}"): Limit(
            "2026.9.0", "a null double is a NaN", "'東京', Tagged(kind='float', text='nan')"
        )
        for name in ("flat", "int96")
    },
    ("fastparquet", "interop/arrow-rs-59.0.0/pages"): Limit(
        "2026.9.0", "no pages of version 2 with delta encodings", "could not be broadcast together"
    ),
    ("fastparquet", "interop/datafusion-55.0.0/bounds-cut"): Limit(
        "2026.9.0", "no pages of version 2 with delta encodings", "could not be broadcast together"
    ),
    ("fastparquet", "interop/pyarrow-26.0.1/pages-v2"): Limit(
        "2026.9.0", "no pages of version 2 with nulls", "an integer is required"
    ),
    ("polars", "interop/fastparquet-2026.9.0/int96"): Limit(
        "2.1.0", "it refuses bytes behind the values of a page", "does not align with expected element size"
    ),
}
"""Engine and case to what goes wrong, at least for some queries."""


@dataclass(frozen=True)
class Case:
    """A valid Parquet file, its rows column by column, and the predicate of its manifest."""

    id: str
    path: Path
    columns: dict[str, list[Any]]
    literal: bool
    predicate: Where | None

    def expected(self, query: Query) -> Rows:
        """The rows that a query finds."""
        return expected(self.columns, query)


def literal(value: Any) -> Any:
    """A value of a manifest, whose type is tagged where JSON has no such type."""
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    readers: dict[str, Callable[[Any], Any]] = {
        "int": int,
        "float": float,
        "bytes": bytes.fromhex,
        "list": lambda items: [literal(item) for item in items],
        "map": lambda pairs: [tuple(map(literal, pair)) for pair in pairs],
        "struct": lambda members: {name: literal(member) for name, member in members.items()},
    }
    return readers[tag](content) if tag in readers else Tagged(tag, content)


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
            pq.read_table(path).to_pydict() if rows is None else columns(rows),
            rows is not None,
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
    """Everything; what the manifests ask for, or else a value of the first column; the nulls of the same column."""
    asked = [case.predicate for case in group if case.predicate is not None]
    if not asked:
        column, values = next(iter(group[0].columns.items()))
        asked.append(Where(column, "=", tuple(values[-1:])))
    asked.append(Where(asked[0].column, "is null"))
    return [WHOLE, *(Query(where) for where in dict.fromkeys(asked))]


def test_literals_are_read_by_their_tags() -> None:
    tagged = [
        None,
        "a",
        1,
        {"int": "9007199254740993"},
        {"float": "-0.0"},
        {"float": "nan"},
        {"bytes": "00ff"},
        {"timestamp": "5"},
        {"list": [{"decimal": "1.50"}, None]},
        {"struct": {"a": {"date": "1"}}},
        {"map": [["k", {"float": "1.0"}]]},
    ]

    assert [
        *(None, "a", 1, 9_007_199_254_740_993, cell(-0.0), cell(float("nan")), b"\0\xff"),
        Tagged("timestamp", "5"),
        (Tagged("decimal", "1.50"), None),
        (("a", Tagged("date", "1")),),
        (("k", Tagged("float", "1.0")),),
    ] == [cell(literal(value)) for value in tagged]


def test_only_files_of_foreign_software_lack_literal_rows() -> None:
    assert [] == [case.id for case in CASES if not case.literal and not case.id.startswith("interop")]


@pytest.mark.parametrize("name", parameters([*ENGINES, "spark, row by row"]))
def test_a_foreign_reader_finds_the_rows_of_every_valid_golden_file(
    name: str, request: pytest.FixtureRequest
) -> None:
    reader = engine(name, lambda: request.getfixturevalue("spark"))
    excepted = {case for engine_name, case in (*EXCEPTIONS, *UNSAFE) if engine_name == name}
    wrong: dict[str, str] = {}
    asked: Counter[str] = Counter()
    for group in groups():
        by_path = {case.path: case for case in group if case.id not in excepted}
        for (path, query), answer in reader.read_all(list(by_path), queries(group)).items():
            case = by_path[path]
            asked[case.id] += 1
            if answer != case.expected(query):
                wrong.setdefault(case.id, f"{query}: {answer!r}")

    assert {case.id for case in CASES} == {*asked, *excepted}
    assert {} == wrong


@pytest.mark.parametrize(("name", "case_id"), parameters(EXCEPTIONS))
def test_an_exception_still_holds(name: str, case_id: str, request: pytest.FixtureRequest) -> None:
    (case,) = (case for case in CASES if case.id == case_id)
    reader = engine(name, lambda: request.getfixturevalue("spark"))
    answers = reader.read_all([case.path], queries([case]))
    wrong = [answer for (_, query), answer in answers.items() if answer != case.expected(query)]

    assert wrong
    assert [] == [answer for answer in wrong if not EXCEPTIONS[name, case_id].explains(answer)]


def test_a_manifest_names_the_engines_that_read_its_file() -> None:
    for case in CASES:
        provenance = json.loads((case.path.parent / "case.json").read_text())["provenance"]
        if provenance["by"] in ("generator", "hand"):
            readers = [
                name
                for name in ENGINES
                if (name, case.id) not in EXCEPTIONS and (name, case.id) not in UNSAFE
            ]
            assert readers == [oracle.lower() for oracle in provenance["oracles"]]


KEY_WITHOUT_VALUE = Limit(
    "4.3.0",
    "the reader of batches collects keys and values in a set that takes no null, so no key without a value",
    "java.lang.NullPointerException",
)


@pytest.mark.spark
def test_spark_fails_on_a_key_without_value_as_the_rule_about_it_says(spark: Any) -> None:
    path = GOLDEN_FILES / "pqf/key-without-value/data.parquet"
    (answer,) = engine("spark", lambda: spark).read_all([path], [WHOLE]).values()

    assert KEY_WITHOUT_VALUE.explains(answer)
