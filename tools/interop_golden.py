"""Let foreign software write its golden cases again, ``golden_files/interop/<software>-<version>``; say what is remarked of them.

    python tools/interop_golden.py write [FOLDER] [SOFTWARE ...]
    python tools/interop_golden.py remarks [--accept]

The rows are the literals below. ``write`` takes the versions that are installed: another one gets another folder, for golden
files are kept, not replaced. arrow-rs is written through the package ``arro3-io``, which nothing else here needs; what is
not installed is named and left out. A manifest that is there keeps the rules that it expects.

``remarks`` judges every case of foreign software, those of ``tools/spark_golden.py`` as well, and says where the report or
the museum and the manifest differ. With ``--accept`` the manifest takes the report's word, unless a FAIL or WARN is new: that is a
mistake of a rule or a find, and is not written down unseen.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import importlib.metadata
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import pqassay
from pqassay_golden.museum import defects as museum
from pqassay_spec.base.strict_json import EXACT_INTEGERS
from pqassay_spec.golden.case import OWN, to_json
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.rules.catalogue import rules
from pqassay_suite.cases.manifest import REMARKS

ROOT = Path(__file__).resolve().parent.parent
GOLDEN_FILES = ROOT / "golden_files"
DATA, MANIFEST = "data.parquet", "case.json"

# ------------------------------------------------------------------------------------------------------- the rows


@dataclass(frozen=True)
class Table:
    """Literal rows. ``columns`` are names, types as the protocol spells them, and those of Arrow."""

    columns: Sequence[tuple[str, str, pa.DataType]]
    rows: Sequence[Sequence[Any]]
    predicate: Sequence[Any]

    def arrow(self) -> pa.Table:
        """As a table of Arrow."""
        return pa.table(
            {
                name: pa.array([row[place] for row in self.rows], kind)
                for place, (name, _, kind) in enumerate(self.columns)
            }
        )


NAN = float("nan")
MORNING = dt.datetime(2026, 3, 29, 0, 59, 59, 999_999)  # noqa: DTZ001 - a local date and time

FLAT = Table(
    (
        ("id", "int64", pa.int64()),
        ("city", "string", pa.string()),
        ("area", "double", pa.float64()),
        ("price", "decimal(9,2)", pa.decimal128(9, 2)),
        ("seen", "timestamp_micros", pa.timestamp("us")),
        ("open", "boolean", pa.bool_()),
    ),
    (
        (1, "Lima", 0.5, Decimal("-1.50"), MORNING, True),
        (2, "東京", NAN, Decimal("128.00"), dt.datetime(1969, 12, 31), None),  # noqa: DTZ001 - local
        (3, None, -0.0, None, None, False),
        (4, "Łódź", 1e300, Decimal("0.01"), MORNING, True),
        (5, "", -2.5, Decimal("-9999999.99"), MORNING, None),
        (6, "a city with a name that is so long that writers which cut bounds after 64 bytes cut it: Zürich", None, Decimal("0.00"), None, None),
        (7, None, None, None, None, None),
        (8, None, None, None, None, None),
        (9, "Zürich", float("-inf"), Decimal("1.27"), dt.datetime(9999, 12, 31), True),  # noqa: DTZ001 - local
        (-(1 << 63), "😀", 3.25, Decimal("9999999.99"), MORNING, False),
    ),
    ("=", "city", "東京"),
)  # fmt: skip

NESTED = Table(
    (
        ("id", "int64", pa.int64()),
        (
            "place",
            "struct<city: string, height: int32>",
            pa.struct([("city", pa.string()), ("height", pa.int32())]),
        ),
        ("words", "list<string>", pa.list_(pa.string())),
    ),
    (
        (1, {"city": "Lima", "height": 154}, ["a", None, None, "é"]),
        (2, {"city": None, "height": None}, []),
        (3, None, None),
        (4, {"city": "東京", "height": -3}, [None]),
        (5, {"city": "", "height": 0}, ["x", "y", "z", "x", "x"]),
        (6, {"city": "Łódź", "height": None}, [""]),
    ),
    ("=", "id", 4),
)

LISTS = Table(
    (NESTED.columns[0], NESTED.columns[2]),
    ((1, ["a", None, "é"]), (2, []), (3, None), (4, ["x"]), (5, ["y"]), (6, [None])),
    NESTED.predicate,
)
"""Three rows with three elements that are not there, and two that are."""


def literal(value: Any) -> Any:
    """A value as it is in a manifest."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) <= EXACT_INTEGERS else {"int": str(value)}
        case float():
            return {"float": repr(value)}
        case Decimal():
            return {"decimal": f"{value:f}"}
        case dt.datetime():
            microseconds = (value - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)  # noqa: DTZ001 - local
            return {"timestamp": str(microseconds * 1000)}
        case list():
            return {"list": [literal(item) for item in value]}
        case dict():
            return {"struct": {name: literal(member) for name, member in value.items()}}
        case _:
            raise TypeError(f"no literal for {value!r}")


def rows_of(table: Table) -> dict[str, Any]:
    """The rows as a manifest holds them."""
    columns = [{"name": name, "type": kind, "nullable": True} for name, kind, _ in table.columns]
    return {"columns": columns, "rows": [[literal(value) for value in row] for row in table.rows]}


# ----------------------------------------------------------------------------------------------------- the writers


def write_pyarrow(path: Path, data: pa.Table, options: Mapping[str, Any]) -> str:
    """Write, and say how."""
    pq.write_table(data, path, **options)
    return f"pyarrow.parquet.write_table(table, 'data.parquet'{_told(options)})"


def write_through_python_file(path: Path, data: pa.Table, options: Mapping[str, Any]) -> str:
    """Write an IDX1 index between the row groups and the footer, through the Python file that pyarrow writes to; say how.

    Through such a file pyarrow counts the bytes that it wrote itself, and takes every later place from there.
    """
    values = {value for value in data.column("city").to_pylist() if value is not None}
    with path.open("wb") as file, pq.ParquetWriter(file, data.schema, **options) as writer:
        writer.write_table(data)
        start = file.tell()
        file.write(idx1.build_blob(values))
        writer.add_key_value_metadata({idx1.KEY: str(start)})
    return "\n".join(
        (
            "with open('data.parquet', 'wb') as file:",
            f"    with pyarrow.parquet.ParquetWriter(file, table.schema{_told(options)}) as writer:",
            "        writer.write_table(table)",
            "        start = file.tell()",
            "        file.write(blob)  # the writer does not know",
            f"        writer.add_key_value_metadata({{{idx1.KEY!r}: str(start)}})",
        )
    )


def write_duckdb(path: Path, data: pa.Table, options: Mapping[str, Any]) -> str:
    """Write, and say how."""
    import duckdb  # noqa: PLC0415 - each writer is imported where it is used

    told = "".join(f", {name} {value}" for name, value in options.items())
    with duckdb.connect() as connection:
        connection.register("data", data)
        connection.execute(f"COPY data TO '{path}' (FORMAT parquet{told})")
    return f"COPY data TO 'data.parquet' (FORMAT parquet{told})"


def write_polars(path: Path, data: pa.Table, options: Mapping[str, Any]) -> str:
    """Write, and say how."""
    import polars as pl  # noqa: PLC0415 - see above

    frame = pl.from_arrow(data)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path, **options)
    return f"polars.from_arrow(table).write_parquet('data.parquet'{_told(options)})"


def write_datafusion(path: Path, data: pa.Table, options: Mapping[str, Any]) -> str:
    """Write, and say how."""
    import datafusion  # noqa: PLC0415 - see above

    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.from_arrow(data).write_parquet_with_options(path, datafusion.ParquetWriterOptions(**options))
    told = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return (
        f"context.from_arrow(table).write_parquet_with_options('data.parquet', ParquetWriterOptions({told}))"
    )


def write_fastparquet(path: Path, data: pa.Table, options: Mapping[str, Any]) -> str:
    """Write, and say how."""
    import fastparquet  # type: ignore[import-untyped] # noqa: PLC0415 - see above; it has no types
    import pandas as pd  # type: ignore[import-untyped] # noqa: PLC0415 - as above

    types = {pa.bool_(): pd.BooleanDtype(), pa.int64(): pd.Int64Dtype()}
    fastparquet.write(str(path), data.to_pandas(types_mapper=types.get), **options)
    return f"fastparquet.write('data.parquet', table.to_pandas(types_mapper=...){_told(options)})"


def write_arrow_rs(path: Path, data: pa.Table, options: Mapping[str, Any]) -> str:
    """Write, and say how."""
    import arro3.io  # type: ignore[import-untyped] # noqa: PLC0415 - only this tool needs it; it has no types

    arro3.io.write_parquet(data, path, **options)
    return f"arro3.io.write_parquet(table, 'data.parquet'{_told(options)})"


def _told(options: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in options.items())


@dataclass(frozen=True)
class Case:
    """A file to be written: its name, its title, its rows, what the writer is told.

    ``lint`` says whether linters are asked about it; if they were about every case, one that accepts everything would do
    well. ``misread_by`` are the engines that get it wrong: fastparquet knows neither decimals, structs nor null numbers.
    ``broken`` are rules that the writer breaks with these rows, ``effect`` what that costs, ``scanned`` whether a scan must
    still find the rows or refuse the file; otherwise what it finds is shown, and not scored.
    """

    name: str
    title: str
    table: Table = FLAT
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lint: bool = False
    misread_by: Sequence[str] = ("fastparquet",)
    broken: Sequence[str] = ()
    effect: str = "none"
    scanned: bool = False


@dataclass(frozen=True)
class Writer:
    """Foreign software: its name, its distribution, how it writes, and its cases.

    ``inside`` is what files call the writer that the distribution wraps.
    """

    name: str
    distribution: str
    write: Callable[[Path, pa.Table, Mapping[str, Any]], str]
    cases: Sequence[Case]
    inside: str = ""


PANDAS = Table(
    (*FLAT.columns[:3], FLAT.columns[4], FLAT.columns[5]),
    (
        (1, "Lima", 0.5, MORNING, True),
        (2, "東京", None, dt.datetime(1969, 12, 31), None),  # noqa: DTZ001 - local
        (3, None, -0.0, None, False),
        (4, "Łódź", 1e300, MORNING, True),
        (5, "", -2.5, MORNING, None),
        (9, "Zürich", float("-inf"), dt.datetime(2262, 4, 11), True),  # noqa: DTZ001 - local
        (-(1 << 63), "😀", 3.25, MORNING, False),
    ),
    FLAT.predicate,
)
"""Columns that pandas can hold: no decimals, and no NaN that is not null."""

NANOSECONDS = Table(
    (*PANDAS.columns[:3], ("seen", "timestamp_nanos", pa.timestamp("ns")), PANDAS.columns[4]),
    PANDAS.rows,
    PANDAS.predicate,
)
"""The same in nanoseconds, which INT96 is made of."""

PAGES = {"data_page_row_count_limit": 2, "write_batch_size": 2}

WRITERS = (
    Writer("pyarrow", "pyarrow", write_pyarrow, (
        Case("flat", "Nulls, NaN, signed zeros, decimals and moments as pyarrow writes them by default"),
        Case("pages", "Two row groups of pages of two rows, with page index, bloom filters and checksums", options={"row_group_size": 6, "max_rows_per_page": 2, "write_page_index": True, "write_page_checksum": True, "bloom_filter_options": {"city": {"ndv": 10}, "id": {"ndv": 10}}}, lint=True),
        Case("pages-v2", "Pages of version 2, without dictionary", options={"data_page_version": "2.0", "use_dictionary": False, "max_rows_per_page": 2, "write_page_index": True, "compression": "zstd"}),
        Case("nested", "A struct and a list, with page index", NESTED, {"max_rows_per_page": 2, "write_page_index": True}),
    )),
    Writer("pyarrow", "pyarrow", write_through_python_file, (
        Case("displaced-page-index", "An index was written through the Python file under the writer, which did not count it: the page index is said to be earlier than it is", options={"write_page_index": True, "max_rows_per_page": 4}, broken=("IDX1-009", "PIX-010", "PIX-020", "PIX-040"), effect="Most engines read the file as if nothing were wrong, without its page index; those that read the page index first refuse it, or take the index for bounds.", scanned=True),
    )),
    Writer("duckdb", "duckdb", write_duckdb, (
        Case("flat", "Nulls, NaN, signed zeros, decimals and moments as DuckDB writes them by default"),
        Case("zstd", "Pages compressed with zstd", options={"COMPRESSION": "zstd"}, lint=True),
        Case("nested", "A struct and a list", NESTED),
    )),
    Writer("polars", "polars", write_polars, (
        Case("flat", "Nulls, NaN, signed zeros, decimals and moments as Polars writes them by default"),
        Case("pages", "Small pages, two row groups, all statistics", options={"statistics": "full", "data_page_size": 32, "row_group_size": 6}, lint=True),
        Case("nested", "A struct and a list", NESTED, {"statistics": "full"}),
    )),
    Writer("datafusion", "datafusion", write_datafusion, (
        Case("flat", "Nulls, NaN, signed zeros, decimals and moments as DataFusion writes them by default"),
        Case("pages", "Two row groups of pages of two rows, with page index and bloom filters", options={**PAGES, "max_row_group_size": 6, "bloom_filter_on_write": True, "bloom_filter_ndv": 10}, lint=True),
        Case("bounds-cut", "Bounds of statistics and page index cut to three bytes, pages of version 2", options={**PAGES, "writer_version": "2.0", "statistics_truncate_length": 3, "column_index_truncate_length": 3}),
        Case("nested", "A struct and a list, with page index", NESTED, PAGES),
    )),
    Writer("fastparquet", "fastparquet", write_fastparquet, (
        Case("flat", "Nulls, signed zeros and moments as fastparquet writes them by default", PANDAS, lint=True),
        Case("int96", "Moments as INT96, two row groups", NANOSECONDS, {"times": "int96", "row_group_offsets": 4}, misread_by=("Polars", "fastparquet")),
    )),
    Writer("arrow-rs", "arro3-io", write_arrow_rs, (
        Case("flat", "Nulls, NaN, signed zeros, decimals and moments as arrow-rs writes them by default"),
        Case("pages", "Pages of two rows, version 2, with page index and bloom filters", options={**PAGES, "writer_version": "parquet_2_0", "bloom_filter_enabled": True, "bloom_filter_ndv": 10}, lint=True),
        Case("nested", "A struct and a list, with page index", NESTED, PAGES),
        Case("list-page-called-null", "A page of lists in which as many elements are missing as there are rows: arrow-rs calls it a page of nothing but nulls", LISTS, PAGES, broken=("PIX-052",), effect="A query for an element of the lists skips the page: its rows are missing, and nothing says so."),
    ), "parquet-rs version"),
)  # fmt: skip

ORACLES = ("pyarrow", "DuckDB", "Polars", "DataFusion", "fastparquet", "Spark")
"""Engines of ``tests/golden_files/test_foreign_readers.py``, which knows what some of them get wrong."""


def write(folder: Path, wanted: Sequence[str]) -> None:
    """Write the cases of some software, or of all that is installed."""
    for writer in WRITERS:
        if wanted and writer.name not in wanted:
            continue
        try:
            version = importlib.metadata.version(writer.distribution)
        except importlib.metadata.PackageNotFoundError:
            print(f"{writer.name}: {writer.distribution} is not installed, nothing written", file=sys.stderr)
            continue
        by = f"{writer.distribution} {version}"
        for case in writer.cases:
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch) / DATA
                step = writer.write(path, case.table.arrow(), case.options)
                if writer.inside:
                    version = pq.read_metadata(path).created_by.removeprefix(writer.inside).strip()
                    by = f"{writer.name} {version}, through {writer.distribution}"
                name = f"interop/{writer.name}-{version}/{case.name}"
                store(folder, name, case, path.read_bytes(), by, step)


def store(folder: Path, name: str, case: Case, data: bytes, by: str, step: str) -> None:
    """Write one case."""
    home = folder / name
    expected = (
        json.loads((home / MANIFEST).read_text())["expect"]["check"]["rules"]
        if home.exists()
        else list(case.broken)
    )
    expect: dict[str, Any] = {"check": {"rules": expected, "tier": "values"}}
    if case.broken:
        expect["lint"] = "reject"
    elif case.lint:
        expect["lint"] = "accept"
    expect["read"] = {"rows": "own", "refusal": "allowed" if case.broken else "never"}
    expect["scan"] = "same-rows" if not case.broken else "refusal-allowed" if case.scanned else "exposure"
    expect |= {"predicate": list(case.table.predicate), "rows": rows_of(case.table)}
    readers = [engine for engine in ORACLES if engine not in case.misread_by]
    record = {
        "id": name,
        "family": case.broken[0].partition("-")[0] if case.broken else "PQF",
        "kind": "invalid" if case.broken else "valid",
        "since": "0.5.0",
        "title": case.title,
        "effect": case.effect,
        "requires": ["parquet"],
        "rules": list(case.broken),
        "input": {"file": DATA, "sha256": hashlib.sha256(data).hexdigest()},
        "expect": expect,
        "provenance": {"by": by, "oracles": [] if case.broken else readers, "steps": [step]},
    }
    home.mkdir(parents=True, exist_ok=True)
    (home / DATA).write_bytes(data)
    save(home / MANIFEST, record)
    print(f"{name}: {len(data)} bytes")


def save(path: Path, record: Mapping[str, Any]) -> None:
    """Write a manifest, with what the museum says about its case."""
    exhibit = exhibit_of(record["id"])
    members = {name: member for name, member in record.items() if name != "exhibit"}
    path.write_text(f"{json.dumps(members | exhibit, indent=2)}\n")


def exhibit_of(case_id: str) -> dict[str, Any]:
    """The member of a manifest that makes its case an exhibit; nothing for most."""
    found = museum.exhibits().get(case_id)
    return {} if found is None else {"exhibit": to_json(found)}


# ----------------------------------------------------------------------------------------------------- the remarks


def foreign_cases(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The manifests of cases that foreign software wrote unchanged."""
    for path in sorted(folder.rglob(MANIFEST)):
        record = json.loads(path.read_text())
        if record["provenance"]["by"] not in OWN and "parent" not in record:
            yield path, record


def remarks(folder: Path, *, accept: bool) -> int:
    """Say, and perhaps write down, what is reported. Returns the number of cases whose manifest does not say so."""
    left = 0
    for path, record in foreign_cases(folder):
        check = record["expect"]["check"]
        report = pqassay.check(
            path.parent / record["input"]["file"], tier=check["tier"], **check.get("options", {})
        )
        found = list(dict.fromkeys(finding.rule for finding in report.files[0].findings))
        shown = exhibit_of(record["id"]).get("exhibit")
        if found == check["rules"] and shown == record.get("exhibit"):
            continue
        if shown != record.get("exhibit"):
            print(f"{record['id']}: the museum says something else")
        print(
            f"{record['id']}: {', '.join(found) or 'nothing'}, and not {', '.join(check['rules']) or 'nothing'}"
        )
        worse = [rule for rule in found if rules()[rule].verdict not in REMARKS]
        new = [rule for rule in worse if rule not in check["rules"]]
        if new:
            print(f"  {', '.join(new)} would make it invalid: look at the file and at the rule")
        if accept and not new and bool(worse) == (record["kind"] == "invalid"):
            check["rules"] = found
            save(path, record)
        else:
            left += 1
    return left


def main() -> None:
    """Do as told."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the files and their manifests")
    writing.add_argument("folder", nargs="?", type=Path, default=GOLDEN_FILES)
    writing.add_argument("software", nargs="*", help=", ".join(writer.name for writer in WRITERS))
    judging = commands.add_parser("remarks", help="compare the manifests with what is reported")
    judging.add_argument(
        "--accept", action="store_true", help="write down what is reported, but for new FAIL and WARN"
    )
    told = parser.parse_args()
    if told.command == "write":
        write(told.folder, told.software)
    else:
        sys.exit(1 if remarks(GOLDEN_FILES, accept=told.accept) else 0)


if __name__ == "__main__":
    main()
