"""Let Spark repair tables with the statements of `pqassay repair`, and with other statements that people expect to work.

python tools/try_repairs.py            try, and print
python tools/try_repairs.py --write    store what docs/guide/repair.md shows

It runs in a separate environment, with a version of Spark that has jars of both formats, and with this package:

python -m venv spark && spark/bin/pip install pyspark==4.1.4 . && spark/bin/python tools/try_repairs.py

The jars come from Maven Central. Spark writes a table in which one file has a false bound: in the log of a Delta table, or in the footer
and manifest of an Iceberg table, which got the file by `add_files`. Each statement is measured: whether the file is still live, how many
others were rewritten, whether the rows are equal, and whether `pqassay check` passes. Then the plans of all golden tables with statements
are run.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from spark_tables import PACKAGES, session

import pqassay
from pqassay_lake.repair.model import Step
from pqassay_lake.repair.planning import plan_of
from pqassay_lake.repair.reports import of_report, read_report
from pqassay_lake.repair.writing import write_plan

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "docs/data/repairs.json"
GOLDEN_FILES = ROOT / "golden_files"

GOLDEN_PLACE = "/warehouse/metals"
"""The location in the metadata of golden Iceberg tables.

They are moved to a place with a name of the same length, so that no size changes.
"""

FILES, ROWS = 3, 10
"""The number of files of a table, one per INSERT, and of rows of each.

Ids are consecutive, and the last row of each file also occurs in others.
"""

TRUE, FALSE = ROWS - 1, 5
"""The greatest id of the first file, and the false bound."""


class Tried(NamedTuple):
    """The effect of a statement.

    Attributes:
        table: The kind of table.
        statement: The statement, as shown.
        outcome: What happened to the file.
        others: The number of other rewritten files.
        rows: Whether the rows are equal.
        verdict: The result of `pqassay check` afterwards.
    """

    table: str
    statement: str
    outcome: str
    others: str = ""
    rows: str = ""
    verdict: str = ""


GOLDEN_CATALOG = {
    "spark.sql.catalog.lake.cache-enabled": "false",
    "spark.sql.catalog.golden": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.golden.type": "hadoop",
    "spark.sql.catalog.golden.cache-enabled": "false",
    "spark.sql.catalog.golden.warehouse": "file:///tmp",
}
"""Additional settings of a session: the catalog ``golden`` has the golden tables."""


class Kind(NamedTuple):
    """A kind of table.

    Attributes:
        about: Its name.
        format: ``delta`` or ``iceberg``.
        properties: Properties of the table, as SQL.
        is_partitioned: Whether it is partitioned.
        ordered: Statements that set its sort order while it is empty.
        deleted: Statements that delete rows, one of them in the affected file.
        row_id: The SQL name of the stable row id; empty if there is none.
    """

    about: str
    format: str
    properties: str = ""
    is_partitioned: bool = False
    ordered: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    row_id: str = ""


class Table:
    """A table written by Spark, with a false upper bound of the ids in its first file."""

    def __init__(self, spark: Any, folder: Path, of: Kind) -> None:
        kind, partitioned = of.format, of.is_partitioned
        self.spark, self.folder, self.kind, self.row_id = spark, folder, kind, of.row_id
        self.name = f"delta.`{folder}`" if kind == "delta" else f"lake.{folder.name}"
        told = f"TBLPROPERTIES ({of.properties})" if of.properties else ""
        by = "PARTITIONED BY (p)" if partitioned else ""
        spark.sql(f"CREATE TABLE {self.name} (id BIGINT, name STRING, p INT) USING {kind} {by} {told}")
        for statement in of.ordered:
            spark.sql(statement.format(t=self.name))
        for number in range(FILES):
            first = number * ROWS
            if number == 0 and kind == "iceberg":
                self.concerned = self._added(partitioned=partitioned)
                continue
            spark.sql(
                f"INSERT INTO {self.name} SELECT /*+ COALESCE(1) */ id, concat('n', id % {ROWS}), CAST({number % 2} AS INT) "
                f"FROM range({first}, {first + ROWS})"
            )
        for statement in of.deleted:
            spark.sql(statement.format(t=self.name))
        if kind == "delta":
            self.concerned = self._lied()
        self.before, self.rows = self.live(), self.all_rows()

    def _lied(self) -> str:
        """Put the false bound into the log; return the name of the file."""
        for stray in self.folder.rglob(".*.crc"):
            stray.unlink()
        path = ""
        for commit in sorted((self.folder / "_delta_log").glob("*.json")):
            lines = [json.loads(line) for line in commit.read_text().splitlines()]
            for add in (line["add"] for line in lines if "add" in line):
                path = path or add["path"]  # the file of the first commit that has one
                if add["path"] == path:
                    stats = json.loads(add["stats"])
                    greatest = stats["maxValues"]  # under other names with column mapping
                    greatest[next(name for name, value in greatest.items() if value == TRUE)] = FALSE
                    add["stats"] = json.dumps(stats)
            commit.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # noqa: SLF001 - nothing public forgets a log
        return path.rpartition("/")[2]

    def _added(self, *, partitioned: bool) -> str:
        """Add a file of another writer with the false bound in its footer, which is copied to the manifest; return its name."""
        import pyarrow as pa  # noqa: PLC0415 - as above
        import pyarrow.parquet as pq  # noqa: PLC0415 - as above

        folder = self.folder / "data/added"
        path = folder / ("p=0/foreign.parquet" if partitioned else "foreign.parquet")
        path.parent.mkdir(parents=True)
        ids = range(ROWS)
        columns: dict[str, Any] = {"id": pa.array(ids, pa.int64()), "name": [f"n{one}" for one in ids]}
        if not partitioned:
            columns["p"] = pa.array([0] * ROWS, pa.int32())
        pq.write_table(pa.table(columns), path, use_dictionary=False, store_schema=False)
        data = path.read_bytes()
        start = len(data) - int.from_bytes(data[-8:-4], "little") - 8
        footer = data[start:].replace(TRUE.to_bytes(8, "little"), FALSE.to_bytes(8, "little"))
        path.write_bytes(data[:start] + footer)
        table = self.name.partition(".")[2]
        self.spark.sql(
            f"CALL lake.system.add_files(table => '{table}', source_table => '`parquet`.`{folder}`')"
        ).collect()
        return path.name

    def live(self) -> set[str]:
        """The live files."""
        if self.kind == "delta":
            return set(self.spark.read.format("delta").load(str(self.folder)).inputFiles())
        return {
            row[0]
            for row in self.spark.sql(f"SELECT file_path FROM {self.name}.files WHERE content = 0").collect()
        }

    def all_rows(self) -> list[Any]:
        """All rows, sorted, with their stable row ids if the table has them."""
        columns = f"*, {self.row_id}" if self.row_id else "*"
        return sorted(tuple(row) for row in self.spark.sql(f"SELECT {columns} FROM {self.name}").collect())

    def report(self) -> Any:
        """The report of a check about the current table."""
        return pqassay.check(str(self.folder), tier="values")

    def tried(self, about: str, shown: str, statements: list[str]) -> Tried:
        """Run statements, and measure their effect on the table."""
        try:
            for statement in statements:
                self.spark.sql(statement).collect()
        except Exception as error:  # noqa: BLE001 - that a statement is refused is a result
            return Tried(about, shown, f"refused: {_why(error)}")
        after = self.live()
        gone = {path.rpartition("/")[2] for path in self.before - after}
        is_gone = self.concerned in gone
        return Tried(
            about,
            shown,
            "rewritten" if is_gone else "**as before**",
            f"{len(gone) - is_gone} of {FILES - 1}",
            "equal" if self.all_rows() == self.rows else "**not equal**",
            "conformant" if self.report().exit_code == 0 else "FAIL",
        )

    def repaired(self, about: str) -> Tried:
        """Run the statements of a plan, and prove with its list that it worked."""
        with tempfile.TemporaryDirectory() as home:
            report = Path(home, "report.json")
            report.write_text(self.report().to_json())
            names = {} if self.kind == "delta" else {str(self.folder): self.name}
            plan = plan_of(read_report(str(report)), names=names)
            write_plan(plan, Path(home, "plan"))
            statements = [one for step in plan.steps for one in step.statements]
            done = self.tried(
                about, "*the plan's:* " + "; ".join(_code(one, self) for one in statements), statements
            )
            proof = pqassay.check([], only_files=Path(home, "plan/quarantine.csv"))
            assert proof.exit_code == 0, [file.findings for file in proof.files]
        return done


def _why(error: Exception) -> str:
    text = str(error).strip().splitlines()[0]
    return text.partition("]")[0].strip("[ ") if text.startswith("[") else " ".join(text.split())[:90]


def _code(statement: str, table: Table) -> str:
    short = statement.replace(str(table.folder), "/t").replace(f"lake.{table.folder.name}", "lake.t")
    short = (
        short.replace(table.concerned, "F").replace(table.folder.parent.as_uri(), "…").replace("file:/", "")
    )
    short = short.replace(f"'{table.folder.name}'", "'t'")
    return f"`` {short} ``"  # the text has backticks


VECTORS = "'delta.enableDeletionVectors' = 'true'"
MERGING = "'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read'"
DELETED = ("DELETE FROM {t} WHERE id = 3", "DELETE FROM {t} WHERE id = 13")

PLAIN_DELTA, PLAIN_ICEBERG = Kind("Delta", "delta"), Kind("Iceberg", "iceberg")
DELTA_PARTS = Kind("Delta by partitions", "delta", is_partitioned=True)

MENDED = (
    PLAIN_DELTA,
    Kind("Delta with deletion vectors", "delta", VECTORS),
    Kind("Delta, rows deleted by vectors", "delta", VECTORS, deleted=DELETED),
    Kind(
        "Delta with row ids, rows deleted by vectors",
        "delta",
        f"{VECTORS}, 'delta.enableRowTracking' = 'true'",
        deleted=DELETED,
        row_id="_metadata.row_id",
    ),
    Kind("Delta with a change data feed", "delta", "'delta.enableChangeDataFeed' = 'true'"),
    Kind("Delta, columns mapped by name", "delta", "'delta.columnMapping.mode' = 'name'"),
    DELTA_PARTS,
    PLAIN_ICEBERG,
    Kind("Iceberg version 3, merging on read", "iceberg", f"{MERGING}, 'format-version' = '3'"),
    Kind("Iceberg with position deletes", "iceberg", f"{MERGING}, 'format-version' = '2'", deleted=DELETED),
    Kind(
        "Iceberg version 3 with row ids, rows deleted by vectors",
        "iceberg",
        f"{MERGING}, 'format-version' = '3'",
        deleted=DELETED,
        row_id="_row_id",
    ),
    Kind("Iceberg, sorted", "iceberg", ordered=("ALTER TABLE {t} WRITE ORDERED BY id DESC",)),
    Kind("Iceberg by partitions", "iceberg", is_partitioned=True),
)
"""Tables to be repaired by their plan."""

TRIED: tuple[tuple[Kind, str], ...] = (
    (PLAIN_DELTA, "SET spark.databricks.delta.optimize.minFileSize = 100; OPTIMIZE {t}"),
    (DELTA_PARTS, "OPTIMIZE {t} WHERE p = 0 ZORDER BY (id)"),
    (PLAIN_DELTA, "REORG TABLE {t} APPLY (PURGE)"),
    (PLAIN_DELTA, "ANALYZE TABLE {t} COMPUTE DELTA STATISTICS"),
    (PLAIN_DELTA, "UPDATE {t} SET id = id WHERE _metadata.file_name = '{f}'"),
    (PLAIN_DELTA, "DELETE FROM {t} WHERE _metadata.file_name = '{f}'"),
    (
        PLAIN_DELTA,
        "INSERT INTO {t} REPLACE WHERE id > 5 AND id < 10 SELECT * FROM {t} WHERE id > 5 AND id < 10",
    ),
    (PLAIN_ICEBERG, "CALL lake.system.rewrite_data_files(table => '{n}')"),
    (PLAIN_ICEBERG, "CALL lake.system.rewrite_data_files(table => '{n}', where => '_file = \"{f}\"')"),
    (
        PLAIN_ICEBERG,
        "CALL lake.system.rewrite_data_files(table => '{n}', where => 'id > 5 AND id < 10', options => map('rewrite-all', 'true'))",
    ),
    (PLAIN_ICEBERG, "CALL lake.system.rewrite_manifests(table => '{n}')"),
    (
        Kind("Iceberg merging on read", "iceberg", "'write.update.mode' = 'merge-on-read'"),
        "UPDATE {t} SET id = id WHERE endswith(_file, '{f}')",
    ),
)
"""Statements that people expect to repair a table, each run on a new table."""


def attempts(spark: Any, home: Path) -> Iterator[Tried]:
    """Yield the effect of every statement, each on a new table."""
    for number, kind in enumerate(MENDED):
        yield Table(spark, home / f"m{number}", kind).repaired(kind.about)
        spark.sql("RESET")
    for number, (kind, statement) in enumerate(TRIED):
        table = Table(spark, home / f"t{number}", kind)
        real = (
            statement.replace("{t}", table.name)
            .replace("{n}", table.folder.name)
            .replace("{f}", table.concerned)
        )
        yield table.tried(kind.about, _code(real, table), real.split("; "))
        spark.sql("RESET")


class Planned(NamedTuple):
    """The effect of a golden table's plan: the table, the repair, the broken rules, and the outcome."""

    case: str
    repair: str
    rules: list[str]
    outcome: str


def golden_plans(spark: Any) -> Iterator[Planned]:
    """Run the plan of each golden table that has statements; yield the effects."""
    for number, case in enumerate(
        sorted([*(GOLDEN_FILES / "dlt").iterdir(), *(GOLDEN_FILES / "ice").iterdir()])
    ):
        place = Path(f"/tmp/pqa{number:09}")
        assert len(str(place)) == len(GOLDEN_PLACE)
        shutil.copytree(case / "table", place)
        try:
            for path in (path for path in place.rglob("*") if path.is_file()):
                path.write_bytes(path.read_bytes().replace(GOLDEN_PLACE.encode(), str(place).encode()))
            yield from _golden_plan(spark, case, place)
        finally:
            shutil.rmtree(place)
            spark.sql("RESET")


def _golden_plan(spark: Any, case: Path, place: Path) -> Iterator[Planned]:
    is_iceberg = case.parent.name == "ice"
    name = f"golden.{place.name}" if is_iceberg else f"delta.`{place}`"
    found = of_report(pqassay.check(str(place), tier="values"), case.name)
    try:
        plan = plan_of(found, names={str(place): name} if is_iceberg else {})
    except pqassay.UsageError:
        return  # no errors, or an unreadable table
    for step in plan.steps:
        if step.statements:
            yield Planned(
                f"{case.parent.name}/{case.name}", step.repair, step.rules, _ran(spark, name, place, step)
            )


def _ran(spark: Any, name: str, place: Path, step: Step) -> str:
    def rows() -> list[str]:
        return sorted(map(str, spark.sql(f"SELECT * FROM {name}").collect()))

    try:
        before = rows()
    except Exception:  # noqa: BLE001 - what Spark cannot read is a result
        return "unreadable"
    try:
        for statement in step.statements:
            spark.sql(statement).collect()
    except Exception:  # noqa: BLE001 - that a statement is refused is a result
        return "refused"
    if rows() != before:
        return "**rows differ**"
    left = {one.rule for file in pqassay.check(str(place), tier="values").files for one in file.findings}
    return "**not repaired**" if left & set(step.rules) else "repaired"


def main(arguments: list[str], show: Callable[[str], None] = print) -> None:
    """Try all statements, and print or store the effects."""
    results: list[Tried] = []
    planned: list[Planned] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(os.path.realpath(folder))
        spark = session(home, **GOLDEN_CATALOG)
        spark.sparkContext.setLogLevel("OFF")
        for one in attempts(spark, home):
            show(" | ".join(one))
            results.append(one)
        for done in golden_plans(spark):
            show(f"{done.case} | {done.repair} | {' '.join(done.rules)} | {done.outcome}")
            planned.append(done)
        version = spark.version
        spark.stop()
    versions = f"Measured with Spark {version}, " + ", ".join(
        f"{name} {package.rpartition(':')[2]}"
        for name, package in zip(("Iceberg", "Delta"), PACKAGES, strict=True)
    )
    if "--write" in arguments:
        plans: dict[str, dict[str, list[str]]] = {}
        for done in planned:
            rules = plans.setdefault(done.repair, {}).setdefault(done.outcome, [])
            rules[:] = sorted({*rules, *done.rules})
        figures = {"versions": versions, "tried": results, "plans": plans}
        STORED.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
