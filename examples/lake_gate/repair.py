"""Run the statements of the plan by Spark, and prove that they helped: the rows are equal, and the check is content.

It needs a release of Spark for which Delta has a package (`pip install pyspark==4.1.4`); the package comes from Maven Central.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from nightly import pqassay  # type: ignore[import-not-found]  # beside this file
from pyspark.sql import SparkSession

PLAN = Path("repair-plan")
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"


def session() -> SparkSession:
    """A session of Spark that writes Delta tables."""
    settings = {
        "spark.jars.packages": DELTA,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main() -> int:
    """Mend what the plan names."""
    plan = json.loads((PLAN / "quarantine.json").read_text())
    spark = session()
    tables = [table["name"] for table in plan["tables"]]
    before = [sorted(map(str, spark.sql(f"SELECT * FROM {name}").collect())) for name in tables]
    for step in plan["steps"]:
        for statement in step.get("statements", []):
            print(statement, flush=True)
            spark.sql(statement).show(truncate=False)
    after = [sorted(map(str, spark.sql(f"SELECT * FROM {name}").collect())) for name in tables]
    spark.stop()
    print("rows:", "equal" if before == after else "NOT EQUAL", flush=True)
    helped = pqassay("check", "--only-files", str(PLAN / "quarantine.json"))
    return helped if before == after else 1


if __name__ == "__main__":
    sys.exit(main())
