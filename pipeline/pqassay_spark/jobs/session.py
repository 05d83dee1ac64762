"""Spark sessions: with the same settings on every local machine, and with the cluster's settings on a cluster."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import socket
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pqassay_spark.jobs.connected import address_of, connected
from pqassay_spark.jobs.java import require_java
from pqassay_spark.jobs.java_process import launched
from pqassay_spark.jobs.start import (
    SparkStartError,
    require_arrow,
    require_master,
    require_spark_home,
    require_workers,
    spark_errors,
    start_trouble,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pyspark.sql import SparkSession

LOG_CONFIGURATION = Path(__file__).with_name("log4j2.properties")
"""Logging of the Java process: errors only."""

STARTING = {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOG_CONFIGURATION.as_uri()}"}
"""Settings of every session that this process starts, unless the caller gives others."""

LOCAL_SETTINGS = {
    **STARTING,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings of a local session, unless the caller gives others; the settings of `own_sockets` are added."""

LONGEST_TEMPORARY_FOLDER = 40
"""Most bytes in the path of a folder for sockets: a socket's path has at most 103 bytes, of which Spark and we add 60."""


def open_session(
    *, name: str = "pqassay", master: str | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark, on this machine or as the driver of a cluster, or return the running session.

    On this machine, the workers run the same Python as the caller. By default, Spark uses ``python3`` from
    PATH, which does not see the libraries of a virtual environment.  On a cluster, ``PYSPARK_PYTHON`` selects
    their Python.

    Args:
        name: The name of the application in Spark.
        master: URL of the cluster's master, ``local[N]``, or the address of a server of Spark Connect (``sc://host:15002``), which
            needs no Java here and has settings of its own.  By default the master of ``spark-submit`` if that
            started this process, or the Spark Connect server in ``SPARK_REMOTE``, and otherwise all cores of
            this machine.
        settings: Spark settings; on this machine they are added to `LOCAL_SETTINGS` or replace them.

    Raises:
        JavaMissingError: There is no suitable Java runtime for Spark.
        SparkStartError: Spark does not start for another reason, or its workers could not work.
    """
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if (address := address_of(master)) is not None:
        return connected(address, name)
    if not is_submitted:
        require_java()
    import pyspark  # noqa: PLC0415 - importing this module must not cost what pyspark costs
    from pyspark.sql import SparkSession  # noqa: PLC0415 - see `open_session`

    require_spark_home(pyspark.__version__)
    chosen_master = master
    if chosen_master is None:
        chosen_master = pyspark.SparkConf().get("spark.master", "local[*]") if is_submitted else "local[*]"
    require_master(str(chosen_master))
    is_local = str(chosen_master).startswith("local")
    if is_local:
        require_arrow()
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        # Driver and workers are on one machine: no host name lookup, and no sockets on the network.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    was_running = is_running()
    builder = SparkSession.builder.appName(name)
    if master is not None or not is_submitted:
        builder = builder.master(str(chosen_master))
        sockets = own_sockets() if is_local and not was_running else {}  # they hold from Java's start
        ours = {**LOCAL_SETTINGS, **sockets} if is_local else STARTING
        settings = {**ours, **(settings or {})}
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    try:
        if not is_submitted:
            _start_java({"spark.master": str(chosen_master), "spark.app.name": name, **(settings or {})})
        session = builder.getOrCreate()
    except spark_errors() as error:
        raise SparkStartError(start_trouble(str(error), str(chosen_master))) from None
    if not is_local and not was_running:
        try:
            require_workers(session)
        except SparkStartError:
            session.stop()
            raise
    return session


@functools.cache
def own_sockets() -> dict[str, str]:
    """Settings that make Java and the Python workers of this machine communicate through Unix sockets in our own folder.

    By default Spark uses TCP, where two sides that write small pieces in turns wait for each other: about 40
    milliseconds for each task.  Any process that can open such a socket is trusted, so the folder is private; it
    is removed when this process ends.  Spark before 4.1 ignores the settings.

    Returns:
        The settings; empty if the system has no such sockets, or if all temporary folders have too long paths.
    """
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(tempfile.gettempdir())) > LONGEST_TEMPORARY_FOLDER:
        return {}
    folder = tempfile.mkdtemp(prefix="pqassay-")  # it has mode 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": folder,
    }


def _start_java(settings: Mapping[str, str]) -> None:
    """Start Java and a Spark context like the builder of a session; `launched` describes the difference."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - see `open_session`

    if getattr(SparkContext, "_gateway", None) is None:  # one Java per process, for as long as the process
        conf = SparkConf().setAll(list(settings.items()))
        SparkContext(conf=conf, gateway=launched(conf))


def is_running() -> bool:
    """Whether a session is running in this process; does not import Spark."""
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession  # noqa: PLC0415 - see above

    if "pyspark.sql.connect.session" in sys.modules:
        from pyspark.sql.connect.session import SparkSession as ConnectedSession  # noqa: PLC0415 - see above

        if ConnectedSession.getActiveSession() is not None:
            return True
    return SparkSession.getActiveSession() is not None


@contextmanager
def spark_session(
    *,
    name: str = "pqassay",
    cores: int = 2,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Generator[SparkSession]:
    """`open_session` as a context manager that stops Spark at the end; by default on ``cores`` cores of this machine."""
    session = open_session(name=name, master=master or f"local[{cores}]", settings=settings)
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def session_settings(spark: SparkSession, settings: Mapping[str, str]) -> Generator[None]:
    """Change settings of a session within a context; afterwards the old ones are restored."""
    before: dict[str, str | None] = {key: spark.conf.get(key, None) for key in settings}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, earlier in before.items():
            if earlier is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, earlier)
