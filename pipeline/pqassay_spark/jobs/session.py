"""Spark sessions: on this machine they behave the same everywhere, on a cluster they are what the cluster says."""

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
"""Settings of a local session, unless the caller gives others; those of `own_sockets` come with them."""

LONGEST_TEMPORARY_FOLDER = 40
"""Bytes of a path in which sockets can be: theirs have 103 at most, of which Spark and we add 60."""


def open_session(
    *, name: str = "pqassay", master: str | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark, on this machine or as the driver of a cluster, or return the session that already runs.

    On this machine, the workers run the same Python as the caller. By default, Spark uses ``python3`` from
    PATH, which does not see the libraries of a virtual environment.  On a cluster, ``PYSPARK_PYTHON`` says
    what they run.

    Args:
        name: The name of the application in Spark.
        master: URL of the cluster's master, ``local[N]``, or the address of a server of Spark Connect (``sc://host:15002``), which
            needs no Java here and has settings of its own.  By default the master of ``spark-submit`` if that
            started this process, or the Spark Connect server in ``SPARK_REMOTE``, and otherwise all cores of
            this machine.
        settings: Spark settings; on this machine they are added to `LOCAL_SETTINGS` or replace them.

    Raises:
        JavaMissingError: There is no Java runtime that Spark could run on.
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
    wanted = master
    if wanted is None:
        wanted = pyspark.SparkConf().get("spark.master", "local[*]") if is_submitted else "local[*]"
    require_master(str(wanted))
    is_local = str(wanted).startswith("local")
    if is_local:
        require_arrow()
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        # Driver and workers are one machine: no name lookup of the host, nothing that listens to the network.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    was_running = is_running()
    builder = SparkSession.builder.appName(name)
    if master is not None or not is_submitted:
        builder = builder.master(str(wanted))
        sockets = own_sockets() if is_local and not was_running else {}  # they hold from Java's start
        ours = {**LOCAL_SETTINGS, **sockets} if is_local else STARTING
        settings = {**ours, **(settings or {})}
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    try:
        if not is_submitted:
            _start_java({"spark.master": str(wanted), "spark.app.name": name, **(settings or {})})
        session = builder.getOrCreate()
    except spark_errors() as error:
        raise SparkStartError(start_trouble(str(error), str(wanted))) from None
    if not is_local and not was_running:
        try:
            require_workers(session)
        except SparkStartError:
            session.stop()
            raise
    return session


@functools.cache
def own_sockets() -> dict[str, str]:
    """Settings by which Java and the Python workers of this machine talk through sockets in a folder of our own.

    Spark uses TCP unless told otherwise, and two sides that write little pieces in turns wait for each other there: about 40
    milliseconds for each task.  A process that can open such a socket needs no other secret, so the folder is closed to others; it
    goes away with this process.  Spark before 4.1 does not know the settings and leaves them alone.

    Returns:
        The settings; none if the system has no such sockets, or only temporary folders whose paths are too long for them.
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
    """Start Java and a Spark context as the builder of a session would; see `launched` for what is different."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - see `open_session`

    if getattr(SparkContext, "_gateway", None) is None:  # one Java per process, for as long as the process
        conf = SparkConf().setAll(list(settings.items()))
        SparkContext(conf=conf, gateway=launched(conf))


def is_running() -> bool:
    """True if a session runs in this process already. Does not load Spark to find out."""
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
    """`open_session` as a context manager that stops Spark at the end; on ``cores`` of this machine by default."""
    session = open_session(name=name, master=master or f"local[{cores}]", settings=settings)
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def session_settings(spark: SparkSession, settings: Mapping[str, str]) -> Generator[None]:
    """Give a session other settings for a while; afterwards it has those from before."""
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
