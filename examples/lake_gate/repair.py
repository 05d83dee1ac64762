"""Run the statements of the plan by Spark, and prove that they helped: the rows are equal, and the check is content.

It needs a release of Spark for which Delta has a package (`pip install pyspark==4.1.4`); the package comes from Maven Central.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import pqassay

PLAN = Path("report", "plan")
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"


def session() -> SparkSession:
    """A session of Spark that writes Delta tables."""
    settings = {
        "spark.jars.packages": DELTA,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
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
            print(statement)
            spark.sql(statement).show(truncate=False)
    after = [sorted(map(str, spark.sql(f"SELECT * FROM {name}").collect())) for name in tables]
    spark.stop()
    print("rows:", "equal" if before == after else "NOT EQUAL")
    report = pqassay.check([], only_files=PLAN / "quarantine.json", preview=True)
    for file in report.files:
        print(f"{file.path}: {file.outcome}")
    return report.exit_code if before == after else 1


if __name__ == "__main__":
    sys.exit(main())
