"""Spark sessions of the commands of ``pqassay spark``: how they start, and how the command ends if they cannot."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from pqassay_spec.base.installing import install
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address of Spark: local[2], spark://host:7077, yarn, k8s://..., sc://host:15002 (Spark Connect). "
        "Default: that of spark-submit or SPARK_REMOTE, else all cores of this machine.",
    ),
]
"""The option ``--master``."""

Ship = Annotated[
    bool,
    typer.Option("--ship", help="Send pqassay to the executors, which need only pyarrow."),
]
"""The option ``--ship``."""


@contextmanager
def command_session(master: str | None, *, ship: bool = False) -> Generator[SparkSession]:
    """The Spark session of a command; without Java or Spark, the command ends and says what to install.

    A running session, for example of a notebook or a job, is used and is not stopped afterwards.

    Args:
        master: Address of Spark; see `open_session`.
        ship: Whether to send the package to the executors.
    """
    from pqassay_spark.jobs.connected import is_connected
    from pqassay_spark.jobs.java import JavaMissingError
    from pqassay_spark.jobs.session import is_running, open_session
    from pqassay_spark.jobs.start import SparkStartError

    was_running = is_running()
    try:
        with _same_handler():
            session = open_session(master=master)
    except (JavaMissingError, SparkStartError) as error:
        stop(str(error))
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        stop(f"Spark is not installed. Install it with: {install('spark')}")
    if not is_connected(session):
        server: Any = getattr(session.sparkContext, "_accumulatorServer", None)
        if server is not None:  # it would print a traceback when Java ends, which is reported elsewhere
            server.handle_error = _say_nothing
    try:
        if ship:
            from pqassay_spark.jobs.shipping import ship_package

            ship_package(session)
        yield session
    finally:
        if not was_running:
            stop_session(session)


@contextmanager
def _same_handler() -> Generator[None]:
    """Keep the handler of Ctrl-C: Spark replaces it when it starts, and its exceptions differ from those of our commands."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        with suppress(ValueError):  # only the main thread may
            signal.signal(signal.SIGINT, before)


def quiet(session: SparkSession) -> None:
    """Disable Spark's long log messages, because commands report errors in one line. The log of a server is left alone."""
    from pqassay_spark.jobs.connected import is_connected

    if not is_connected(session):
        session.sparkContext.setLogLevel("FATAL")


def _say_nothing(*_: object) -> None:
    pass


def stop_session(session: SparkSession) -> None:
    """Stop Spark. If its Java process has already ended, ignore that, so it does not hide the reason why the command ends."""
    from pqassay_spark.jobs.start import spark_errors

    with suppress(OSError, *spark_errors()):
        session.stop()


def stop(message: str, code: int = 2) -> NoReturn:
    """Print the message on stderr and exit."""
    typer.echo(f"error: {printable(message)}", err=True)
    raise typer.Exit(code)
