"""Spark sessions: on this machine they behave the same everywhere, on a cluster they are what the cluster says."""

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

    Args:
        name: What Spark calls the application.
        cores: Tasks that run at the same time.
        settings: Spark settings that are added to `LOCAL_SETTINGS` or replace them.

    Raises:
        JavaMissingError: There is no Java runtime that Spark could run on.
    """
    return open_session(name=name, master=f"local[{cores}]", settings=settings)


def open_session(
    *, name: str = "pqassay", master: str | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark, on this machine or as the driver of a cluster, or return the session that already runs.

    On this machine the workers run the same Python as the caller: left alone, Spark takes the ``python3`` of PATH,
    which does not see the libraries of a virtual environment.  On a cluster, ``PYSPARK_PYTHON`` says what they run.

    Args:
        name: What Spark calls the application.
        master: URL of the cluster's master, or ``local[N]``.  By default what ``spark-submit`` was told, if that has
            started this process, and otherwise all cores of this machine.
        settings: Spark settings; on this machine they are added to `LOCAL_SETTINGS` or replace them.

    Raises:
        JavaMissingError: There is no Java runtime that Spark could run on.
    """
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if master is None and not is_submitted:
        master = "local[*]"
    is_local = master is not None and master.startswith("local")
    if not is_submitted:
        require_java()
    if is_local:
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        # Driver and workers are one machine: no name lookup of the host, nothing that listens to the network.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession  # noqa: PLC0415 - importing this module must not cost what pyspark costs

    builder = SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
    for key, value in {**(LOCAL_SETTINGS if is_local else {}), **(settings or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def is_running() -> bool:
    """Whether a session runs in this process already. Does not load Spark to find out."""
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession  # noqa: PLC0415 - see `open_session`

    return SparkSession.getActiveSession() is not None


@contextmanager
def spark_session(
    *,
    name: str = "pqassay",
    cores: int = 2,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Generator[SparkSession]:
    """`open_session` as a context manager that stops Spark at the end; on ``cores`` of this machine by default."""
    session = open_session(name=name, master=master or f"local[{cores}]", settings=settings)
    try:
        yield session
    finally:
        session.stop()
