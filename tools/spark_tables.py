"""Let Spark write the golden tables of its folder again, in Iceberg and Delta: ``golden_files/interop/spark-<version>``.

    python tools/spark_tables.py [NAME ...]

It runs in an environment of its own, with a version of Spark for which there are jars of both formats:

    python -m venv spark && spark/bin/pip install pyspark==4.1.4 && spark/bin/python tools/spark_tables.py

The jars come from Maven Central (`PACKAGES`).  A table is what the SQL statements in `RECIPES` make, which are in its manifest as well; another run gives
other names of files.  Another version gets another folder: golden files are kept, not replaced.  `tests/compatibility/test_table_calibration.py` judges the tables.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

ICEBERG = "1.12.0"
DELTA = "4.4.0"
PACKAGES = (
    f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG}",
    f"io.delta:delta-spark_4.1_2.13:{DELTA}",
)

ROOT = Path(__file__).resolve().parent.parent
WAREHOUSE = Path("/tmp/warehouse")
"""Paths in Iceberg's metadata are absolute, and this folder can be anywhere."""

CHECKSUMS = "*.crc"
"""What Hadoop keeps beside each file; Delta's own version checksum files do not begin with a dot."""

COLUMNS = """id BIGINT, small DECIMAL(4,2), wide DECIMAL(18,3), widest DECIMAL(38,10), n BIGINT, single FLOAT, double DOUBLE, text STRING, blob BINARY,
  day DATE, moment TIMESTAMP, local TIMESTAMP_NTZ, place STRUCT<x: DOUBLE, deep: STRUCT<s: STRING, n: DECIMAL(28,10)>>, words ARRAY<STRING>, counts MAP<STRING, BIGINT>"""

HOSTILE = """INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES
  (1L, 99.99BD, 998549721027727.625BD, 9999999999999999999999999999.9999999999BD, 9007199254740993L, float('NaN'), -0D, 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz', X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF',
   DATE'0001-01-01', TIMESTAMP'1891-03-14 23:00:00.000001', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999', named_struct('x', double('NaN'), 'deep', named_struct('s', 'éééééééééééééééééééééééééééééééééééééééé', 'n', 123456789012345678.0123456789BD)), array('a', NULL), map('k', 9007199254740993L)),
  (2L, -99.99BD, -999999999999999.999BD, -9999999999999999999999999999.9999999999BD, -9223372036854775808L, float('-inf'), 0D, 'xxxxxxxxxxxxxxx\\U0010FFFF\\U0010FFFF', X'',
   DATE'9999-12-31', TIMESTAMP'9999-12-31 23:59:59.999999', TIMESTAMP_NTZ'0001-01-01 00:00:00', NULL, array(), map()),
  (3L, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, named_struct('x', NULL, 'deep', NULL), NULL, NULL)"""

ZEROS = """INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES
  (4L, 0.00BD, 0.001BD, 0.0000000001BD, 0L, float(-0.0), double('NaN'), '', X'00', DATE'1582-10-15', TIMESTAMP'1969-12-31 23:59:59.999', TIMESTAMP_NTZ'9999-12-31 23:59:59.000001', NULL, NULL, NULL),
  (5L, 0.01BD, -0.001BD, -0.0000000001BD, 9223372036854775807L, float('inf'), double('NaN'), 'wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww\\U0001F600\\U0001F600', X'80', DATE'1969-12-31',
   TIMESTAMP'1900-01-01 00:00:00.123456', TIMESTAMP_NTZ'1970-01-01 00:00:00', named_struct('x', -0D, 'deep', NULL), array(''), map('a', NULL))"""

NULLS = "INSERT INTO {table} (id) SELECT /*+ COALESCE(1) */ * FROM VALUES (6L), (7L)"


VERSION = 20
"""Digits of a version in names of Delta's log."""


class Recipe(NamedTuple):
    """How a table is made.

    Attributes:
        title: What there is to see.
        family: The family of rules about it.
        steps: Statements in which ``{table}`` stands for the table.
        rules: The rules that the table breaks.
    """

    title: str
    family: str
    steps: tuple[str, ...]
    rules: tuple[str, ...] = ()


def iceberg(version: int, partitions: str = "", **properties: str) -> str:
    """The statement that makes an Iceberg table with all columns, and keeps little metadata."""
    told = {
        "format-version": str(version),
        "write.delete.mode": "merge-on-read",
        "write.update.mode": "merge-on-read",
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "1",
        "write.metadata.compression-codec": "gzip",
        **properties,
    }
    return f"CREATE TABLE {{table}} ({COLUMNS}) USING iceberg {partitions} TBLPROPERTIES ({_told(told)})"


def delta(partitions: str = "", **properties: str) -> str:
    """The statement that makes a Delta table with all columns."""
    told = {name.replace("__", "."): value for name, value in properties.items()}
    return f"CREATE TABLE {{table}} ({COLUMNS}) USING delta {partitions}" + (
        f" TBLPROPERTIES ({_told(told)})" if told else ""
    )


def _told(properties: dict[str, str]) -> str:
    return ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())


DELETES = ("DELETE FROM {table} WHERE id = 1", "UPDATE {table} SET text = 'changed' WHERE id = 4")
MOMENTS = (
    "INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES "
    "(1, TIMESTAMP'1969-01-01 00:00:00.999999'), (2, TIMESTAMP'1969-01-01 00:00:00.5'), (3, TIMESTAMP'1969-01-01 00:59:59.999999')"
)

RECIPES: dict[str, Recipe] = {
    "iceberg-position-deletes": Recipe(
        "Values at the edges of all types, position deletes, columns renamed, widened, dropped and added, and another partition spec",
        "ICE",
        (
            iceberg(2),
            HOSTILE,
            ZEROS,
            *DELETES,
            "ALTER TABLE {table} RENAME COLUMN text TO words_of",
            "ALTER TABLE {table} ALTER COLUMN single TYPE DOUBLE",
            "ALTER TABLE {table} ALTER COLUMN small TYPE DECIMAL(9,2)",
            "ALTER TABLE {table} DROP COLUMN blob",
            "ALTER TABLE {table} ADD COLUMN place.more INT",
            "ALTER TABLE {table} ADD PARTITION FIELD truncate(2, words_of)",
            "INSERT INTO {table} (id, words_of) VALUES (8L, 'Zürich'), (9L, NULL)",
            "CALL lake.system.rewrite_manifests('{name}')",
        ),
    ),
    "iceberg-vectors": Recipe(
        "Version 3: values at the edges of all types, deletion vectors, row lineage, partitions by bucket, a branch and a tag",
        "ICE",
        (
            iceberg(3, "PARTITIONED BY (bucket(2, id))"),
            HOSTILE,
            ZEROS,
            *DELETES,
            "ALTER TABLE {table} CREATE TAG first",
            "ALTER TABLE {table} CREATE BRANCH later",
            NULLS,
        ),
    ),
    "iceberg-first-version": Recipe(
        "Version 1: values at the edges of all types, bounds of one character",
        "ICE",
        (iceberg(1, **{"write.metadata.metrics.default": "truncate(1)"}), HOSTILE, ZEROS, NULLS),
    ),
    "iceberg-hours": Recipe(
        "Moments before 1970 in the last microsecond of the first second of an hour, in the partition of the hour before",
        "ICE",
        ("CREATE TABLE {table} (id INT, at TIMESTAMP) USING iceberg PARTITIONED BY (hours(at))", MOMENTS),
        ("ICE-043", "ICE-057"),
    ),
    "delta-plain": Recipe(
        "Values at the edges of all types, a file with nothing but nulls, a version checksum file",
        "DLT",
        (delta(), HOSTILE, ZEROS, NULLS),
        ("DLT-039",),
    ),
    "delta-vectors": Recipe(
        "Deletion vectors, column mapping, columns renamed, dropped, added and widened, row tracking, and a checkpoint of version 2 with statistics as struct",
        "DLT",
        (
            delta(
                delta__columnMapping__mode="name",
                delta__enableDeletionVectors="true",
                delta__enableRowTracking="true",
                delta__enableTypeWidening="true",
                delta__checkpointPolicy="v2",
                delta__checkpoint__writeStatsAsStruct="true",
                delta__checkpointInterval="9",
            ),
            HOSTILE,
            ZEROS,
            *DELETES,
            "ALTER TABLE {table} RENAME COLUMN text TO words_of",
            "ALTER TABLE {table} ALTER COLUMN single TYPE DOUBLE",
            "ALTER TABLE {table} ALTER COLUMN small TYPE DECIMAL(9,3)",
            "ALTER TABLE {table} DROP COLUMN blob",
            "INSERT INTO {table} (id, words_of, single) VALUES (8L, 'Zürich', 1e300D)",
        ),
        ("DLT-039",),
    ),
    "delta-partitions": Recipe(
        "Partitions by text, moment and decimal with values that need escapes, and a checkpoint with values as struct",
        "DLT",
        (
            "CREATE TABLE {table} (id INT, name STRING, at TIMESTAMP, change DECIMAL(18,3)) USING delta PARTITIONED BY (name, at, change) TBLPROPERTIES ('delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpointInterval' = '1')",
            "INSERT INTO {table} VALUES (1, 'a b/c%20d', TIMESTAMP'1891-03-14 23:00:00.000001', -99.990BD), (2, 'Zürich=ü', TIMESTAMP'9999-12-31 23:59:59.999999', 998549721027727.625BD), (3, NULL, NULL, NULL)",
        ),
    ),
}


def session(warehouse: Path, **more: str) -> Any:
    """A session with both formats, and some more settings; Iceberg's tables are in the catalog ``lake``."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - the manifest of recipes is read without Spark

    settings = {
        "spark.jars.packages": ",".join(PACKAGES),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": warehouse.as_uri(),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        **more,
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write(spark: Any, home: Path, name: str) -> None:
    """Make one table, and its manifest."""
    recipe = RECIPES[name]
    plain = name.replace("-", "_")
    folder = WAREHOUSE / plain
    shutil.rmtree(folder, ignore_errors=True)
    told = f"lake.{plain}" if recipe.family == "ICE" else f"delta.`{folder}`"
    for step in recipe.steps:
        spark.sql(step.replace("{table}", told).replace("{name}", plain))
    place = home / name / "table"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns(f".{CHECKSUMS}"))
    if recipe.family == "DLT":
        forget(
            place,
            {Path(unquote(file)).name for file in spark.read.format("delta").load(str(folder)).inputFiles()},
        )
    jar = f"Iceberg {ICEBERG}" if recipe.family == "ICE" else f"Delta {DELTA}"
    files = sorted(path for path in place.rglob("*") if path.is_file())
    manifest = {
        "id": f"interop/{home.name}/{name}",
        "family": recipe.family,
        "kind": "invalid" if recipe.rules else "valid",
        "since": "0.7.0",
        "title": recipe.title,
        "effect": "rows lost" if recipe.rules else "none",
        "rules": list(recipe.rules),
        "tier": "values",
        "files": [
            {
                "file": path.relative_to(place).as_posix(),
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
            for path in files
        ],
        "provenance": {"by": f"Apache Spark {spark.version} with {jar}", "steps": list(recipe.steps)},
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    (home / name / "table.json").write_text(f"{text}\n", "utf-8")
    size = sum(path.stat().st_size for path in files)
    print(f"{manifest['id']}: {len(files)} files, {size:,} bytes", flush=True)


def forget(place: Path, live: set[str]) -> None:
    """Leave out what Delta removes in time: data files that are not live, and of the log what is before the newest checkpoint."""
    log = place / "_delta_log"
    newest = max((path.name[:VERSION] for path in log.glob("*.checkpoint.*")), default="")
    for path in [*log.glob("*.json"), *log.glob("*.crc")]:
        if path.name[:VERSION] < newest:
            path.unlink()
    for path in place.rglob("*.parquet"):
        if log not in path.parents and path.name not in live:
            path.unlink()


def main(*names: str) -> None:
    """Write the tables, or those that are named."""
    spark = session(WAREHOUSE)
    home = ROOT / f"golden_files/interop/spark-{spark.version}"
    for name in names or RECIPES:
        write(spark, home, name)


if __name__ == "__main__":
    main(*sys.argv[1:])
