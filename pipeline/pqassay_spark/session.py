"""Local Spark sessions that behave the same on every machine."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pqassay_spark.java import require_java

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pyspark.sql import SparkSession

LOG_CONFIGURATION = Path(__file__).with_name("log4j2.properties")
"""Logging of the Java process: errors only."""

LOCAL_SETTINGS = {
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOG_CONFIGURATION.as_uri()}",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of a local session, unless the caller gives others."""


def local_session(
    *, name: str = "pqassay", cores: int = 2, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark inside this process, or return the session that already runs in it.

    The workers run the same Python as the caller: left alone, Spark takes the ``python3`` of PATH, which does
    not see the libraries of a virtual environment.

    Args:
        name: What Spark calls the application.
        cores: Tasks that run at the same time.
        settings: Spark settings that are added to `LOCAL_SETTINGS` or replace them.

    Raises:
        JavaMissingError: There is no Java runtime that Spark could run on.
    """
    require_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Driver and workers are one machine: no name lookup of the host, nothing that listens to the network.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession  # noqa: PLC0415 - importing this module must not cost what pyspark costs

    builder = SparkSession.builder.master(f"local[{cores}]").appName(name)
    for key, value in {**LOCAL_SETTINGS, **(settings or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@contextmanager
def spark_session(
    *, name: str = "pqassay", cores: int = 2, settings: Mapping[str, str] | None = None
) -> Generator[SparkSession]:
    """`local_session` as a context manager that stops Spark at the end."""
    session = local_session(name=name, cores=cores, settings=settings)
    try:
        yield session
    finally:
        session.stop()
