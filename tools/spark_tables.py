"""Let Spark rewrite its golden Iceberg and Delta tables: ``golden_files/interop/spark-<version>``.

python tools/spark_tables.py [NAME ...]

It runs in a separate environment, with a version of Spark that has jars of both formats:

python -m venv spark && spark/bin/pip install pyspark==4.1.4 && spark/bin/python tools/spark_tables.py

The jars come from Maven Central (`PACKAGES`). The steps in a manifest make a table: SQL in which ``{table}`` stands for the table. A new
table begins with a manifest that has steps. Another run gives other file names. Another version gets another folder, since golden files are
never replaced. `tests/compatibility/test_table_calibration.py` judges the tables.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

ICEBERG = "1.12.0"
DELTA = "4.4.0"
PACKAGES = (
    f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG}",
    f"io.delta:delta-spark_4.1_2.13:{DELTA}",
)

ROOT = Path(__file__).resolve().parent.parent
WAREHOUSE = Path("/tmp/warehouse")
"""The folder of new tables; paths in Iceberg's metadata are absolute, and this folder works on any machine."""

CHECKSUMS = "*.crc"
"""A pattern for files that Hadoop adds beside each file; Delta's own version checksum files do not begin with a dot."""

VERSION = 20
"""The number of digits of a version in names of Delta's log."""


def newest() -> dict[str, dict[str, Any]]:
    """The manifests of the tables of the newest version, by table name."""
    folders = {path.parent.parent for path in ROOT.glob("golden_files/interop/spark-*/*/table.json")}
    home = max(
        folders, key=lambda path: [int(number) for number in path.name.removeprefix("spark-").split(".")]
    )
    return {
        path.parent.name: json.loads(path.read_text("utf-8")) for path in sorted(home.glob("*/table.json"))
    }


def session(warehouse: Path, **more: str) -> Any:
    """A session with both formats and some settings; Iceberg tables are in the catalog ``lake``."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - the versions are read without Spark

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


def write(spark: Any, home: Path, name: str, manifest: dict[str, Any]) -> None:
    """Make one table from its manifest, and write the manifest of this version."""
    plain, is_iceberg = name.replace("-", "_"), manifest["family"] == "ICE"
    folder = WAREHOUSE / plain
    shutil.rmtree(folder, ignore_errors=True)
    table = f"lake.{plain}" if is_iceberg else f"delta.`{folder}`"
    for step in manifest["provenance"]["steps"]:
        spark.sql(step.replace("{table}", table).replace("{name}", plain))
    place = home / name / "table"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns(f".{CHECKSUMS}"))
    if not is_iceberg:
        live = spark.read.format("delta").load(str(folder)).inputFiles()
        forget(place, {Path(unquote(file)).name for file in live})
    files = sorted(path for path in place.rglob("*") if path.is_file())
    manifest["id"] = f"interop/{home.name}/{name}"
    manifest["files"] = [
        {"file": path.relative_to(place).as_posix(), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in files
    ]
    jar = f"Iceberg {ICEBERG}" if is_iceberg else f"Delta {DELTA}"
    manifest["provenance"]["by"] = f"Apache Spark {spark.version} with {jar}"
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    (home / name / "table.json").write_text(f"{text}\n", "utf-8")
    size = sum(path.stat().st_size for path in files)
    print(f"{manifest['id']}: {len(files)} files, {size:,} bytes", flush=True)


def forget(place: Path, live: set[str]) -> None:
    """Remove files that Delta removes over time: dead data files, and log files before the newest checkpoint."""
    log = place / "_delta_log"
    newest = max((path.name[:VERSION] for path in log.glob("*.checkpoint.*")), default="")
    for path in [*log.glob("*.json"), *log.glob("*.crc")]:
        if path.name[:VERSION] < newest:
            path.unlink()
    for path in place.rglob("*.parquet"):
        if log not in path.parents and path.name not in live:
            path.unlink()


def main(*names: str) -> None:
    """Write all tables, or the named ones."""
    spark = session(WAREHOUSE)
    home = ROOT / f"golden_files/interop/spark-{spark.version}"
    manifests = newest()
    for name in names or manifests:
        write(spark, home, name, manifests[name])


if __name__ == "__main__":
    main(*sys.argv[1:])
