"""What a Delta table says falsely of a file is shown by engines that lose rows of the table by it."""

from __future__ import annotations

import io
import json
import re
import shutil
import stat
import tempfile
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

import pqassay
import processes
from places import GOLDEN_FILES, GUIDES, ROOT
from pqassay.proof import trial
from pqassay.proof.engines import Engine, Unwritable
from pqassay.proof.queries import Query
from pqassay.report.model import Proof
from pqassay.report.renderers.proof_text import plain_lines
from pqassay.report.renderers.text import render
from pqassay.stores.table_files import TableAt, table_around
from pqassay_spec.rules.catalogue import Tier
from pqassay_tables.proof import moved_table
from pqassay_tables.proof.moved_table import copied, copy_moved
from pqassay_tables.proof.table_formats import is_in_place
from pqassay_tables.proof.table_plan import rows_of
from pqassay_tables.proof.table_sql import PACKAGES, spark_engine

pytestmark = pytest.mark.slow

LOWERED = GOLDEN_FILES / "dlt/maximum-lowered/table"
LOWERED_ICEBERG = GOLDEN_FILES / "ice/maximum-lowered/table"
NEEDS_PYICEBERG = pytest.mark.skipif(
    find_spec("pyiceberg") is None, reason="pyiceberg is not installed, by which engines read Iceberg tables"
)
NEEDS_DELTALAKE = pytest.mark.skipif(
    find_spec("deltalake") is None, reason="deltalake is not installed, by which engines read Delta tables"
)


Proofs = dict[str, list[Proof]]
"""By the case of a golden table."""


def proved(family: str, *cases: str, engines: list[str]) -> Proofs:
    """The proofs about golden tables, which are asked together: to start an engine takes longer than its queries."""
    tables = {case: str(GOLDEN_FILES / family / case / "table") for case in cases}
    report = trial.proved(pqassay.check(list(tables.values()), tier="values"), engines=engines)
    return {
        case: [
            one.proof
            for file in report.files
            if file.path.startswith(f"{table}")
            for one in file.findings
            if one.proof
        ]
        for case, table in tables.items()
    }


@pytest.fixture(scope="module")
def of_delta() -> Proofs:
    if find_spec("deltalake") is None:
        pytest.skip("deltalake is not installed, by which engines read Delta tables")
    cases = ("maximum-lowered", "plain", "maximum-of-the-rest-lowered", "rows-none")
    return proved("dlt", *cases, engines=["deltalake", "polars"])


@pytest.fixture(scope="module")
def of_iceberg() -> Proofs:
    if find_spec("pyiceberg") is None:
        pytest.skip("pyiceberg is not installed, by which engines read Iceberg tables")
    cases = ("maximum-lowered", "plain", "another-city", "column-of-another-id", "summary-too-low")
    return proved("ice", *cases, "deletes-not-sorted", "vector-of-another-file", engines=["pyiceberg"])


def seen(proof: Proof) -> dict[str, tuple[str, int, int]]:
    return {one.engine: (one.verdict, one.rows or 0, one.lost) for one in proof.engines}


def test_a_maximum_that_is_lowered_loses_the_rows_above_it(of_delta: Proofs) -> None:
    (proof,) = of_delta["maximum-lowered"]

    assert ("misled", "SELECT id FROM t WHERE id >= 6", 10) == (proof.outcome, proof.query, proof.true_rows)
    assert {"deltalake": ("rows lost", 8, 2), "Polars": ("rows lost", 8, 2)} == seen(proof)
    assert all("dlt/maximum-lowered/table" in (one.reproduce or "") for one in proof.engines)
    assert [] == of_delta["plain"]


def test_true_rows_are_those_that_no_vector_removes(of_delta: Proofs) -> None:
    (proof,) = of_delta["maximum-of-the-rest-lowered"]
    assert (8, ("rows lost", 7, 1)) == (proof.true_rows, seen(proof)["deltalake"])


@NEEDS_DELTALAKE
@pytest.mark.skipif(
    find_spec("daft") is not None or find_spec("chdb") is not None,
    reason="the guide shows who is not installed, and more is here",
)
def test_the_guide_shows_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    (shown,) = re.findall(r"```text\n(    proof .*?\n)```\n", (GUIDES / "tables.md").read_text(), re.DOTALL)
    monkeypatch.chdir(ROOT)
    stream = io.StringIO()
    render(trial.proved(pqassay.check("golden_files/dlt/maximum-lowered/table", tier="values")), stream)
    assert shown in stream.getvalue()


def test_the_table_of_a_file_is_found_around_it(tmp_path: Path) -> None:
    table = Path(shutil.copytree(LOWERED, tmp_path / "t"))
    (table / "day=1").mkdir()
    iceberg = Path(shutil.copytree(LOWERED_ICEBERG, tmp_path / "i"))
    found = [
        table_around(str(path))
        for path in (
            table / "day=1" / "part-0.parquet",
            iceberg / "data" / "part-0.parquet",
            tmp_path / "a.parquet",
        )
    ]

    assert [("delta", str(table)), ("iceberg", str(iceberg)), None] == [
        None if one is None else (one.kind, one.path) for one in found
    ]


def test_an_upper_bound_that_is_lowered_loses_the_rows_above_it(of_iceberg: Proofs) -> None:
    (proof,) = of_iceberg["maximum-lowered"]

    assert ("misled", "SELECT id FROM t WHERE id >= 6") == (proof.outcome, proof.query)
    assert {"pyiceberg": ("rows lost", (proof.true_rows or 0) - 2, 2)} == seen(proof)
    assert [] == of_iceberg["plain"]


def test_the_line_that_asks_an_iceberg_table_again_runs_as_it_stands(of_iceberg: Proofs) -> None:
    (proof,) = of_iceberg["maximum-lowered"]
    (answer,) = proof.engines
    done = processes.run(["bash", "-c", answer.reproduce or ""], capture_output=True, text=True, check=True)

    assert str(answer.rows) == done.stdout.strip()


def test_rows_that_are_counted_by_the_log_are_too_few(of_delta: Proofs) -> None:
    (proof,) = of_delta["rows-none"]

    assert ("SELECT count(*) FROM t", 16, True) == (proof.query, proof.true_rows, proof.is_count)
    assert {"deltalake": ("rows lost", 8, 8)}.items() <= seen(proof).items()
    assert any("8 rows, 8 too few" in line for line in plain_lines(proof))


def test_a_wrong_partition_value_loses_the_rows_that_the_file_holds(of_iceberg: Proofs) -> None:
    (proof,) = of_iceberg["another-city"]

    assert ("misled", "SELECT city FROM t WHERE city = 'Oslo'", 2) == (
        proof.outcome,
        proof.query,
        proof.true_rows,
    )
    assert {"pyiceberg": ("rows lost", 0, 2)} == seen(proof)


def test_a_file_of_other_ids_and_a_wrong_summary_are_shown_on_the_same_rows_elsewhere(
    of_iceberg: Proofs,
) -> None:
    (of_ids,) = of_iceberg["column-of-another-id"]
    (of_summary,) = of_iceberg["summary-too-low"]

    assert ["wrong rows", "rows lost"] == [one.engines[0].verdict for one in (of_ids, of_summary)]


@NEEDS_PYICEBERG
def test_true_rows_are_those_that_no_delete_of_an_iceberg_table_removes(tmp_path: Path) -> None:
    found: dict[str, int] = {}
    for name in ("deletes", "vectors"):
        table = TableAt("iceberg", "t", str(GOLDEN_FILES / f"ice/{name}/table"))
        (tmp_path / name).mkdir()
        with ExitStack() as stack:
            found[name] = rows_of(table, stack).planned(Query(()), tmp_path / name, 0).rows
    assert {"deletes": 13, "vectors": 6} == found


def test_a_moved_table_says_the_same_of_the_same_files(tmp_path: Path) -> None:
    """As long as the folder it names, or longer: then manifests are rewritten."""
    found = pqassay.check(LOWERED_ICEBERG, tier="values")
    with copied(str(LOWERED_ICEBERG)) as alike:
        copy_moved(str(LOWERED_ICEBERG), str(tmp_path / "elsewhere"))
        for folder in (alike, str(tmp_path / "elsewhere")):
            moved = pqassay.check(folder, tier="values")

            assert is_in_place(folder)
            assert [one.message for file in found.files for one in file.findings] == [
                one.message for file in moved.files for one in file.findings
            ]
    assert not Path(alike).exists()


def test_a_read_only_table_is_moved_as_files_that_can_be_written(tmp_path: Path) -> None:
    table = tmp_path / "table"
    shutil.copytree(LOWERED_ICEBERG, table)
    for path in table.rglob("*"):
        if path.is_file():
            path.chmod(0o444)
    with copied(str(table)) as folder:
        made = [path for path in Path(folder).rglob("*") if path.is_file()]

        assert made
        assert [] == [path for path in made if not path.stat().st_mode & stat.S_IWUSR]


def test_a_copy_is_elsewhere_where_paths_are_too_long_for_the_folder_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some systems have a long one; files that name others by their paths are not rewritten with longer ones."""
    (long := tmp_path / "a-folder-whose-name-is-long").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setattr(moved_table, "SHORT", "/tmp")
    table = GOLDEN_FILES / "ice/vectors/table"
    with copied(str(table)) as folder:
        assert ("/tmp", True) == (str(Path(folder).parent), is_in_place(folder))
        assert len("/warehouse/metals") == len(folder)
    monkeypatch.setattr(moved_table, "SHORT", str(long))
    with pytest.raises(Unwritable, match="names files by their paths"), copied(str(table)):
        pass


def test_what_a_delete_file_says_falsely_is_tried_on_the_whole_table(of_iceberg: Proofs) -> None:
    (of_order,) = of_iceberg["deletes-not-sorted"]
    (of_path,) = of_iceberg["vector-of-another-file"]

    assert ["not misled", ["right"]] == [of_order.outcome, [one.verdict for one in of_order.engines]]
    assert of_path.query is not None


def test_spark_runs_a_query_of_a_table_once_before_it_takes_the_rows() -> None:
    """A write would raise errors as well, but Delta reads no deletion vectors below one."""
    program = str(spark_engine("delta", PACKAGES["delta"]).program("t", Query(())))
    compile(program, "shown", "exec")

    assert "cache()" in program
    assert program.index("count()") < program.index("toArrow()")
    assert "write" not in program


def test_what_spark_lacks_for_tables_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "version", "4.3.0")
    monkeypatch.setattr(Engine, "how_to_install", None)
    without, given = (spark_engine("delta", one).how_to_install for one in ("", PACKAGES["delta"]))

    assert f"--spark-packages {PACKAGES['delta']} (none for Spark 4.3.0 is known)" in str(without)
    assert given is None
    assert "4.3.0 with Delta 4.4.0" == spark_engine("delta", PACKAGES["delta"]).version


@pytest.mark.parametrize(
    ("table", "tier", "reason"),
    [
        ("line-cut", "meta", "the true rows are unknown: "),
        ("vector-turned", "footer", "the true rows are unknown: DLT-031 is broken"),
        ("deleted-and-bounded", "values", "queries for the minimum or maximum are not tried"),
    ],
)  # fmt: skip
def test_where_no_query_can_show_it_the_reason_is_said(table: str, tier: Tier, reason: str) -> None:
    report = pqassay.check(GOLDEN_FILES / f"dlt/{table}/table", tier=tier)
    (proof,) = (
        one.proof for file in trial.proved(report, engines=["deltalake"]).files for one in file.findings
    )
    assert proof is not None
    assert ("not provable", True) == (proof.outcome, str(proof.reason).startswith(reason))


def test_an_older_version_is_not_what_engines_read(tmp_path: Path) -> None:
    table = Path(shutil.copytree(LOWERED, tmp_path / "t"))
    log = table / "_delta_log"
    (again,) = (line for line in (log / f"{0:020}.json").read_text().splitlines() if "part-0" in line)
    entry = json.loads(again)
    del entry["add"]["stats"]
    (log / f"{1:020}.json").write_text(json.dumps(entry) + "\n")
    report = pqassay.check(table, tier="values", version=0)
    (proof,) = (one.proof for file in trial.proved(report, engines=["polars"]).files for one in file.findings)

    assert [] == pqassay.check(table, tier="values").files[1].findings
    assert proof is not None
    assert "the finding is about an older version, and queries are tried on the newest" == proof.reason
