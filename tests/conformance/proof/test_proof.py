"""What a finding does to readers: queries, engines, and the rows that they lose."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import pqassay
import processes
from engines import DriverEngine, Rows, rows
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.judge import workers
from pqassay.proof import engines as proof_engines
from pqassay.proof import trial
from pqassay.proof.candidates import _range
from pqassay.proof.engines import ENGINES, Engine, require_engines
from pqassay.proof.queries import ColumnQuery, Query, QueryColumn, QueryKind, true_rows
from pqassay.proof.true_values import TrueValues
from pqassay.proof.worker import _answer, _said, _table, compared, plan
from pqassay.report.json_form import members
from pqassay.report.model import EngineAnswer, Finding, Proof, Report, json_schema
from pqassay.report.renderers.proof_text import plain_lines, proof_rows
from pqassay.report.renderers.text import render
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.mutations import FORMS, Mutation, mutate

pytestmark = pytest.mark.slow

ROWS, ROW_GROUP, PAGE = 800, 200, 50


def table() -> pa.Table:
    numbers = np.arange(ROWS)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "name": pa.array([f"it's {number:03}" for number in numbers]),
            "score": pa.array([None if number % 100 == 7 else number / 2 for number in numbers]),
            "price": pa.array(
                [decimal.Decimal(int(number)) / 100 - 2 for number in numbers], pa.decimal128(9, 2)
            ),
            "day": pa.array([dt.date(2020, 1, 1) + dt.timedelta(int(number)) for number in numbers]),
            "moment": pa.array(
                [dt.datetime(2020, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=int(n)) for n in numbers]
            ),
            "raw": pa.array([struct.pack(">H", number) for number in numbers], pa.binary()),
            "even": pa.array(numbers % 2 == 0),
            "items": pa.array([[int(number)] for number in numbers]),
        }
    )


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "good.parquet"
    pq.write_table(
        table(),
        path,
        row_group_size=ROW_GROUP,
        write_page_index=True,
        max_rows_per_page=PAGE,
        write_batch_size=PAGE,
        compression="none",
        bloom_filter_options={"id": {"ndv": ROW_GROUP}},
    )
    return path.read_bytes()


def long(value: int) -> bytes:
    return struct.pack("<q", value)


STATISTICS = "footer.row_groups[1].columns[0].meta_data.statistics"

DAMAGES: dict[str, Callable[[Any], Mutation]] = {
    "max too small": lambda _: Mutation("set", f"{STATISTICS}.max_value", long(210)),
    "bounds swapped": lambda _: Mutation("swap", f"{STATISTICS}.min_value", f"{STATISTICS}.max_value"),
    "no nulls": lambda _: Mutation(
        "set", "footer.row_groups[1].columns[2].meta_data.statistics.null_count", 0
    ),
    "bloom filter zeroed": lambda tree: Mutation(
        "set",
        "row_groups[1].columns[0].bloom_filter.bitset",
        bytes(len(tree.row_groups[1].columns[0].bloom_filter.bitset)),
    ),
    "page bound too small": lambda _: Mutation(
        "set", "row_groups[1].columns[0].column_index.max_values[2]", long(301)
    ),
    "page elsewhere": lambda tree: Mutation(
        "set",
        "row_groups[1].columns[0].offset_index.page_locations[2].offset",
        tree.row_groups[1].columns[0].offset_index.page_locations[3].offset,
    ),
    "page index displaced": lambda _: Mutation("displace", "row_groups[1].columns[0].bloom_filter"),
}


@pytest.fixture(scope="module")
def lake(good: bytes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    tree = FORMS["parquet"].take_apart(good)
    for name, damage in DAMAGES.items():
        (folder / f"{name.replace(' ', '_')}.parquet").write_bytes(mutate(good, damage(tree)))
    return folder


WANTED = {
    "max too small": ("STA-041", "SELECT id FROM file WHERE id >= 211", 589, "misled"),
    "bounds swapped": ("STA-040", None, None, "misled"),
    "no nulls": ("STA-043", "SELECT score FROM file WHERE score IS NULL", 8, "misled"),
    "bloom filter zeroed": ("BLM-020", "SELECT id FROM file WHERE id = 200", 1, "misled"),
    "page bound too small": ("PIX-051", None, None, "misled"),
    "page elsewhere": ("PIX-040", "SELECT id FROM file", 800, "misled"),
    "page index displaced": ("PIX-010", None, None, "refused"),
}


@pytest.fixture(scope="module")
def proofs(lake: Path) -> dict[str, Proof]:
    """What DataFusion and DuckDB make of one finding of each file, all in one run."""
    report = pqassay.check(lake, tier="values", only=[rule for rule, *_ in WANTED.values()])
    found = trial.proved(report, engines=["duckdb", "datafusion", "polars"])
    by_name = {Path(file.path).stem.replace("_", " "): file for file in found.files}
    return {
        name: next(one.proof for one in by_name[name].findings if one.rule == rule and one.proof)
        for name, (rule, *_) in WANTED.items()
    }


@pytest.mark.parametrize("name", WANTED)
def test_a_finding_is_proved_by_a_query_that_an_engine_gets_wrong(
    name: str, proofs: dict[str, Proof]
) -> None:
    _, query, rows, outcome = WANTED[name]
    found = proofs[name]
    assert outcome == found.outcome
    assert 0 < found.tried <= 12
    if query is not None:
        assert (query, rows) == (found.query, found.true_rows)
    for one in found.engines:
        assert one.verdict in ("right", "rows lost", "wrong rows", "refused")
        assert one.verdict != "right" or one.rows == found.true_rows


def test_the_answers_are_those_that_the_engines_give(proofs: dict[str, Proof]) -> None:
    answers = {
        name: {one.engine: (one.verdict, one.rows, one.lost, one.wrong) for one in found.engines}
        for name, found in proofs.items()
    }
    assert ("rows lost", 400, 189, 0) == answers["max too small"]["DuckDB"]
    assert ("rows lost", 400, 189, 0) == answers["max too small"]["Polars"]
    assert ("rows lost", 0, 1, 0) == answers["bloom filter zeroed"]["DataFusion"]
    assert ("right", 1, 0, 0) == answers["bloom filter zeroed"]["Polars"]
    assert ("wrong rows", 800, 50, 50) == answers["page elsewhere"]["DataFusion"]
    assert ("right", 800, 0, 0) == answers["page elsewhere"]["DuckDB"]
    assert "refused" == answers["page index displaced"]["DataFusion"][0]


def test_the_line_that_reproduces_an_answer_prints_the_same_count(proofs: dict[str, Proof]) -> None:
    (one,) = (one for one in proofs["max too small"].engines if one.engine == "DuckDB")
    assert one.reproduce is not None
    ended = processes.run(one.reproduce, shell=True, capture_output=True, text=True, check=True)
    assert f"{one.rows}\n" == ended.stdout


def test_a_report_with_proofs_fits_its_schema_and_a_file_without_findings_asks_nobody(
    good: bytes, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import jsonschema

    path = str(lake / "bloom_filter_zeroed.parquet")
    arguments = ["check", "--config", "none", "--prove", "--engine", "duckdb", "--rule", "BLM-020", path]
    answered = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert 1 == answered.exit_code, answered.output
    report = json.loads(answered.stdout)
    jsonschema.validate(report, json_schema())
    assert "misled" == report["files"][0]["findings"][0]["proof"]["outcome"]
    assert ["=", "id", 200] == report["files"][0]["findings"][0]["proof"]["predicate"]
    (tmp_path / "sound.parquet").write_bytes(good)
    sound = pqassay.check(tmp_path / "sound.parquet", tier="values")
    monkeypatch.setattr(workers, "new_pool", lambda *_: pytest.fail("there is nothing to query"))
    assert sound == trial.proved(sound)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "duckdb"], "--engine is an option of `pqassay prove`"),
        (["--spark-packages", "io.delta:a:1"], "--spark-packages is an option of `pqassay prove`"),
        (["--prove", "--engine", "duck"], "there is no engine 'duck'; engines are duckdb,"),
    ],
)
def test_engines_are_named_with_prove_and_by_their_names(arguments: list[str], message: str) -> None:
    answered = CliRunner().invoke(app, ["check", "--config", "none", *arguments, "some.parquet"])
    assert (2, True) == (answered.exit_code, message in answered.stderr)


# ------------------------------------------------------------------------------------------- the parts of a proof


def finding(column: str, field: str, rule: str = "STA-041") -> Finding:
    position = pqassay.report.model.Position(field, 0, 1, "", "", row_group=1)
    return Finding(rule, "MUST", "FAIL", "rows lost", "a.parquet", 1, [position], "", column)


def test_the_values_are_those_that_were_written(good: bytes) -> None:
    values = TrueValues(FileUnderTest(BytesSource(good), Options("values")))
    names = [name for name in table().column_names if name != "items"]
    found = values.table([values.column(name) for name in names])
    for name in names:
        assert table().column(name).to_pylist() == found.column(name).to_pylist(), name


def test_rows_that_the_footer_does_not_count_are_true_all_the_same(good: bytes) -> None:
    shorter = mutate(good, Mutation("set", "footer.row_groups[1].num_rows", ROW_GROUP - 1))
    values = TrueValues(FileUnderTest(BytesSource(shorter), Options("values")))
    assert table().column("id").to_pylist() == values.table([values.column("id")]).column(0).to_pylist()


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (finding("items.list.element", f"{STATISTICS}.max_value"), "is nested"),
        (finding("id", "idx1.payload", "IDX1-016"), "no engine here reads an IDX1 index"),
        (finding("absent", f"{STATISTICS}.max_value"), "no columns with values are called absent"),
    ],
)
def test_what_no_query_can_show_is_said(one: Finding, reason: str, good: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(good)
    (found,) = plan(str(path), [one], tmp_path).of_findings
    assert isinstance(found, str)
    assert reason in found
    assert "the true rows are unknown" not in found  # they can; it is the query that there is not


COLUMNS = {
    name: QueryColumn(name, kind, type_)
    for name, kind, type_ in (
        ("id", QueryKind.INTEGER, pa.int64()),
        ("name", QueryKind.TEXT, pa.large_string()),
        ("score", QueryKind.DOUBLE, pa.float64()),
        ("price", QueryKind.DECIMAL, pa.decimal128(9, 2)),
        ("day", QueryKind.DATE, pa.date32()),
        ("moment", QueryKind.TIMESTAMP, pa.timestamp("us", "UTC")),
        ("raw", QueryKind.BYTES, pa.large_binary()),
        ("even", QueryKind.BOOLEAN, pa.bool_()),
    )
}

QUERIES = [
    Query((COLUMNS["id"],)),
    *(
        Query(
            tuple({name: COLUMNS[name] for name in ("id", name)}.values()),
            (ColumnQuery("=", COLUMNS[name], table().column(name)[350].as_py()),),
        )
        for name in COLUMNS
    ),
    *(
        Query(
            (COLUMNS[name],),
            (
                ColumnQuery(">=", COLUMNS[name], table().column(name)[250].as_py()),
                ColumnQuery("<=", COLUMNS[name], table().column(name)[420].as_py()),
            ),
        )
        for name in COLUMNS
        if name != "even"
    ),
    Query((COLUMNS["id"], COLUMNS["score"]), (ColumnQuery("is null", COLUMNS["score"]),)),
    Query((COLUMNS["score"],), (ColumnQuery("is not null", COLUMNS["score"]),)),
]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # fastparquet leaves files open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "engine", [engine for engine in ENGINES if engine.name != "spark"], ids=lambda one: one.name
)
def test_the_programs_of_an_engine_give_the_true_rows_of_a_good_file(
    engine: Engine, good: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "good.parquet"
    path.write_bytes(good)
    tried = 0
    for query in QUERIES:
        try:
            program = engine.program(str(path), query)
        except proof_engines.Unwritable:
            continue
        names: dict[str, Any] = {}
        exec(program, names)
        found = compared(true_rows(query, table()), _table(names["result"]))
        assert (0, 0) == (found.lost, found.wrong), program
        assert 0 < found.rows, program
        tried += 1
    assert tried >= len(QUERIES) - 6


DRIVERS = {
    "pyarrow": "pyarrow",
    "duckdb": "duckdb",
    "polars": "polars",
    "datafusion-pushdown": "datafusion",  # what the driver has switched on
}
"""Engines whose programs ask as their drivers do, and the drivers."""


MOST_OF_A_FILE = 4


@pytest.fixture(scope="module")
def provable(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Query, int]]:
    """Files whose claims are false, with the queries that could show it, and how many rows are true."""
    found: list[tuple[Path, Query, int]] = []
    for path in sorted(lake.glob("*.parquet")):
        findings = pqassay.check(path, tier="values").files[0].findings
        queries = plan(str(path), findings, tmp_path_factory.mktemp("planned")).queries
        found += [
            (path, planned.query, planned.rows) for planned in queries[:MOST_OF_A_FILE] if planned.query.where
        ]
    return found


def rows_or_error(work: Callable[[], Rows]) -> Rows | str:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - the engines share no class of errors
        return str(error)


@pytest.mark.parametrize("name", DRIVERS)
def test_the_line_that_is_shown_finds_what_the_driver_finds(
    name: str, provable: list[tuple[Path, Query, int]]
) -> None:
    """About files whose claims are false: there, two ways to ask that are not alike would find different rows."""
    (engine,), driver = require_engines([name]), DriverEngine(DRIVERS[name])

    def shown(path: Path, query: Query) -> Rows:
        names: dict[str, Any] = {}
        exec(engine.program(str(path), query), names)
        return rows({name: column.to_pylist() for name, column in arrow_columns(names["result"])})

    misled = 0
    for path, query, true in provable:
        assert query.tree is not None
        names = [column.name for column in query.columns]
        asked = rows_or_error(lambda: shown(path, query))  # noqa: B023 - called at once
        answered = rows_or_error(lambda: driver.scanned(path, query.tree or [], names))  # noqa: B023 - as above
        assert asked == answered, query.sql
        misled += not isinstance(answered, str) and answered.total() != true

    assert 0 < misled < len(provable)


def arrow_columns(result: Any) -> list[tuple[str, Any]]:
    made = _table(result)
    return list(zip(made.column_names, made.columns, strict=True))


@pytest.mark.spark
def test_spark_is_asked_in_one_session(lake: Path) -> None:
    report = pqassay.check(lake / "no_nulls.parquet", tier="values", only=["STA-043"])
    found = trial.proved(report, engines=["spark"]).files[0].findings[0].proof
    assert found is not None
    assert ("misled", "SELECT score FROM file WHERE score IS NULL") == (found.outcome, found.query)
    assert ("rows lost", 6) == (found.engines[0].verdict, found.engines[0].rows)


@pytest.mark.parametrize("variable", ["PATH", "JAVA_HOME"])
def test_an_engine_without_its_java_is_not_installed(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (spark,) = require_engines(["spark"])
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))

    assert (
        "Java 17 or newer, with `java` on PATH, or JAVA_HOME"
        == replace(spark, distribution="pyarrow").how_to_install
    )


def test_an_engine_that_errs_on_a_healthy_copy_as_well_proves_nothing(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sloppy(path: str, _: Query) -> str:
        return f"import pyarrow.parquet as pq; result = pq.read_table({path!r}, columns=['id']).slice(1)"

    def crashing(_: str, __: Query) -> str:
        return "import os; os._exit(3)"

    def absent(_: str, __: Query) -> str:
        raise AssertionError

    engines = (
        Engine("sloppy", "Sloppy", "pyarrow", sloppy),
        Engine("crashing", "Crashing", "pyarrow", crashing),
        Engine("absent", "Absent", "no-such-distribution", absent),
    )
    monkeypatch.setattr(trial, "require_engines", lambda _: engines)
    monkeypatch.setattr(trial, "MOST_PROOFS", 1)
    report = pqassay.check(lake / "page_elsewhere.parquet", tier="values", only=["PIX-040"])
    found = trial.proved(report).files[0].findings[0].proof
    assert found is not None
    assert ("not misled", ["not comparable", "not comparable", "not installed"]) == (
        found.outcome,
        [one.verdict for one in found.engines],
    )
    assert "python -m pip install no-such-distribution" == found.engines[2].error


def test_files_in_a_store_are_not_queried() -> None:
    one = finding("id", f"{STATISTICS}.max_value")
    file = pqassay.report.model.FileReport("s3://lake/a.parquet", "parquet", 1, "nonconformant", "c1", [one])
    empty = pqassay.check(b"", tier="footer")
    report: Report = replace(empty, files=[file])
    found = trial.proved(report, engines=["duckdb"]).files[0].findings[0].proof
    assert (
        Proof("not provable", reason="queries are tried on local files only; check a copy of this one")
        == found
    )


@given(
    st.lists(
        st.tuples(st.sampled_from([None, 0.0, -0.0, 1.5, float("nan")]), st.sampled_from([None, "", "a"]))
    ),
    st.data(),
)
def test_rows_are_compared_whatever_their_order(rows: list[tuple[Any, Any]], data: st.DataObject) -> None:
    fields: dict[str, pa.DataType] = {"x": pa.float64(), "y": pa.large_string()}
    schema = pa.schema(fields)

    def made(of: list[tuple[Any, Any]]) -> pa.Table:
        return pa.table({"x": [x for x, _ in of], "y": [y for _, y in of]}, schema)

    shuffled = data.draw(st.permutations(rows))
    same = compared(made(rows), made(shuffled))
    assert (len(rows), 0, 0) == (same.rows, same.lost, same.wrong)
    more = compared(made(rows), made([*shuffled, (2.5, "b")]))
    assert (0, 1, (2.5, "b")) == (more.lost, more.wrong, more.wrong_row)
    if rows:
        assert (1, 0) == (compared(made(rows), made(shuffled[1:])).lost, 0)


def test_the_text_of_a_proof_names_query_counts_and_engines() -> None:
    answers = [
        EngineAnswer("DuckDB", "wrong rows", "2.0.0", 20, 13, 13, reproduce="python -c 'duck'"),
        EngineAnswer("Polars", "right", "2.1.0", 20, reproduce="python -c 'bear'"),
        EngineAnswer("Swan", "rows lost", "1.0", 19, 1, reproduce="python -c 'swan'"),
        EngineAnswer("Spark", "not installed", error="python -m pip install pyspark"),
    ]
    shown = Proof("misled", 12, "SELECT id FROM file", ["id"], None, 20, answers)
    lines, gist = (
        [
            "".join(part if isinstance(part, str) else part[0] for part in row)
            for row in proof_rows(shown, is_whole=is_whole)
        ]
        for is_whole in (True, False)
    )

    assert [
        "    proof     SELECT id FROM file",
        "              20 rows according to the values in the pages; 12 queries tried",
        "              DuckDB 2.0.0  20 rows, 13 of them wrong",
        "              Polars 2.1.0  20 rows, right",
        "              Swan 1.0      19 rows, 1 lost",
        "              Spark         not installed: python -m pip install pyspark",
        "    try it    python -c 'duck'",
        "    try it    python -c 'swan'",
    ] == lines
    assert [*lines[:5], "              1 more not installed", lines[6]] == gist


def test_a_proof_that_stands_under_another_finding_of_the_file_takes_one_line() -> None:
    answers = [EngineAnswer("DuckDB", "rows lost", "2.0.0", 0, 1, 0, reproduce="python -c 'duck'")]
    first = Proof("misled", 12, "SELECT id FROM file WHERE id = 1", ["id"], ["=", "id", 1], 1, answers)
    other = replace(first, query="SELECT id FROM file WHERE id = 2", predicate=["=", "id", 2])
    proofs = {"BLM-007": first, "BLM-020": replace(first, tried=10), "PIX-051": other}
    findings = [
        replace(finding("id", f"{STATISTICS}.max_value", rule), proof=one) for rule, one in proofs.items()
    ]
    file = pqassay.report.model.FileReport("a.parquet", "parquet", 1, "nonconformant", "c1", findings)
    stream = io.StringIO()
    render(replace(pqassay.check(b"", tier="footer"), files=[file]), stream, verbose=True)
    assert [
        "    proof     SELECT id FROM file WHERE id = 1",
        "    proof     as under BLM-007: SELECT id FROM file WHERE id = 1",
        "    proof     SELECT id FROM file WHERE id = 2",
    ] == [line for line in stream.getvalue().splitlines() if line.startswith("    proof")]


def test_of_an_error_of_java_the_innermost_cause_is_said() -> None:
    class Thrown:
        def __init__(self, name: str, message: str | None, cause: Thrown | None = None) -> None:
            self.name, self.message, self.cause = name, message, cause

        def getCause(self) -> Thrown | None:  # noqa: N802 - as Java calls it
            return self.cause

        def getClass(self) -> Thrown:  # noqa: N802 - as above
            return self

        def getSimpleName(self) -> str:  # noqa: N802 - as above
            return self.name

        def getMessage(self) -> str | None:  # noqa: N802 - as above
            return self.message

    error = RuntimeError("An error occurred while calling o339.getResult.")
    assert "RuntimeError: An error occurred while calling o339.getResult." == _said(error)
    inner = Thrown("ParquetDecodingException", "ran out of pages\nat line 1")
    error.java_exception = Thrown("SparkException", "Job aborted on host a", inner)  # type: ignore[attr-defined]
    assert "ParquetDecodingException: ran out of pages" == _said(error)
    error.java_exception = Thrown("NullPointerException", None)  # type: ignore[attr-defined]
    assert "NullPointerException" == _said(error)


def test_a_range_from_a_value_to_itself_is_asked_as_equality() -> None:
    one, two = pa.scalar(1), pa.scalar(2)
    assert [("=", 1)] == [(part.operator, part.value) for part in _range(COLUMNS["id"], one, one)]
    assert [(">=", 1), ("<=", 2)] == [(part.operator, part.value) for part in _range(COLUMNS["id"], one, two)]


def test_members_that_say_nothing_are_left_out_of_a_proof() -> None:
    assert {"outcome": "not provable", "reason": "why"} == members(Proof("not provable", reason="why"))
    assert {"engine": "DuckDB", "verdict": "right", "rows": 1} == members(
        EngineAnswer("DuckDB", "right", rows=1)
    )


def test_a_value_that_no_query_can_name_is_said(tmp_path: Path) -> None:
    path = GOLDEN_FILES / "pqf" / "decimal-of-5-digits" / "data.parquet"
    (file,) = pqassay.check(path, tier="values").files
    found = plan(str(path), [each for each in file.findings if each.rule == "PQF-097"], tmp_path).of_findings

    assert [True] == [isinstance(each, str) and "the true rows are unknown" in each for each in found]


def test_an_answer_that_cannot_be_compared_is_no_error_of_the_engine(tmp_path: Path) -> None:
    truth = pa.table({"a": pa.array([1], pa.uint64())})
    path = tmp_path / "truth.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, truth.schema) as writer:
        writer.write_table(truth)
    found = _answer("import pyarrow as pa; result = pa.table({'a': [-1]})", path)

    assert found.is_incomparable
    assert not found.has_panicked


def test_a_proof_without_engines_says_what_to_install(monkeypatch: pytest.MonkeyPatch, lake: Path) -> None:
    absent = [replace(engine, distribution="no-such-distribution") for engine in ENGINES]
    monkeypatch.setattr(trial, "require_engines", lambda _: absent)
    report = pqassay.check(lake / "page_elsewhere.parquet", tier="values", rule=["PIX-040"])
    found = trial.proved(report).files[0].findings[0].proof
    assert found is not None
    reason = "no engine is installed here; pip install '.[engines]' in a checkout of pqassay brings some"
    assert ("not provable", reason) == (found.outcome, found.reason)
    assert [f"none: {reason}"] == plain_lines(found)


@pytest.mark.parametrize(("engine", "is_noted"), [("pyarrow dataset", True), ("DuckDB", False)])
def test_a_proof_by_pyarrow_alone_says_what_is_missing(engine: str, is_noted: bool) -> None:
    absent = EngineAnswer("Polars", "not installed", error="python -m pip install polars")
    shown = Proof(
        "not misled", 1, "SELECT id FROM file", ["id"], None, 20, [EngineAnswer(engine, "right", "1"), absent]
    )
    note = "no engine is installed here but pyarrow; pip install '.[engines]' in a checkout of pqassay brings others"
    assert is_noted == (note in plain_lines(shown))
