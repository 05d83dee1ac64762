"""How the tests start Java: often, each time for a short while, and therefore with little ado.

    python tests/java_start.py    write the archive of classes beside the Python environment, if it lacks

Half of what a short Spark session costs is the loading of some ten thousand classes, a quarter the compiling of what runs but once.
So Java is told to compile quickly, and to map its classes from an archive (class data sharing) where there is one.
An archive that does not fit the Java and the Spark that are started is ignored by Java.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import processes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSION = version("pyspark") if find_spec("pyspark") else "none"
ARCHIVE = Path(sys.prefix) / f"classes-of-spark-{VERSION}.jsa"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
QUIET = "-Xlog:disable -Xlog:all=error:stderr"
VARIABLE = "SPARK_SUBMIT_OPTS"
"""The environment variable whose options Spark gives to the Java that it starts."""


def options() -> str:
    """Options for Java."""
    return f'{QUICK} {QUIET} -XX:SharedArchiveFile="{ARCHIVE}"' if ARCHIVE.exists() else QUICK


def write_archive() -> None:
    """Start Spark, let it do what tests let it do, and keep the classes that this took."""
    from pqassay_spark.jobs.java import JavaMissingError, require_java
    from pqassay_spark.jobs.session import open_session

    try:
        require_java()
    except JavaMissingError as error:
        sys.exit(f"no archive of classes: {error.reason}")
    unfinished = ARCHIVE.with_suffix(f".{os.getpid()}")
    os.environ[VARIABLE] = f'{QUICK} {QUIET} -XX:ArchiveClassesAtExit="{unfinished}"'
    spark = open_session(name="classes for tests", master="local[2]")
    java: Any = spark.sparkContext._gateway
    with tempfile.TemporaryDirectory() as folder:
        exercise(spark, folder)
    spark.stop()
    process = java.proc
    java.shutdown()
    processes.ended(process)  # its input is closed, upon which it writes the archive
    unfinished.replace(ARCHIVE)


def exercise(spark: SparkSession, folder: str) -> None:
    """Write, read in both ways, query and call Python, as most tests do."""
    place = f"{folder}/table"
    frame = spark.range(20, numPartitions=2).selectExpr(
        "id", "cast(id as string) as name", "array(id) as list", "cast(id as decimal(9, 2)) as price"
    )
    frame.write.parquet(place)
    read = spark.read.parquet(place)
    for vectorized in ("true", "false"):
        spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorized)
        read.filter("id > 5 and name is not null").toArrow()
        read.groupBy("name").count().orderBy("name").collect()
    read.mapInArrow(lambda batches: batches, read.schema).toArrow()
    read.createOrReplaceTempView("table")
    spark.sql("select count(*) from table a join table b using (id)").collect()


if __name__ == "__main__":
    began = time.monotonic()
    if not ARCHIVE.exists():
        write_archive()
        sys.stdout.write(f"{ARCHIVE}: {time.monotonic() - began:.1f} s\n")
