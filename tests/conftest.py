"""What all tests share: the programs that they start, and one Spark session for those that need Java."""

from __future__ import annotations

import faulthandler
import functools
import gc
import importlib.util
import os
import signal
import sys
import threading
import time
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import hypothesis
import pytest
import typer.main
import typer.testing
from pytest_timeout import Settings  # type: ignore[import-untyped]  # it is not typed

import damage
import java_start
import processes
from compiled import compile_all
from pqassay.judge import workers
from pqassay.under_test.file import Mistake
from pqassay_spark.jobs.java import JavaMissingError, require_java
from pqassay_spark.jobs.session import spark_session
from pqassay_tables.metadata.delta.checkpoint_reader import reading_process
from scheduling import SparkInOneProcess

if TYPE_CHECKING:
    from collections.abc import Generator

    from pyspark.sql import SparkSession


# Tests start hundreds of processes, and each would compile this repository again where the environment keeps Python from storing that.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A `python3` that a test starts by name is the one that runs the tests, with everything that is installed beside it.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])

# What tests start in processes of their own gets these, too.
os.environ.setdefault(java_start.VARIABLE, java_start.options())

# A shell that starts the tests in the background lets them ignore Ctrl-C, and whatever they start would ignore it, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says more about what else the machine does than about the code. Each run draws a part of them, as `damage.tries` does.
hypothesis.settings.register_profile("tests", deadline=None, max_examples=100 // damage.FEWER)
hypothesis.settings.load_profile("tests")

# Little of what tests make is garbage in cycles, and looking for it costs time: a process of tests has memory to spare.
gc.set_threshold(20_000, 10, 10)
gc.disable()  # until all tests are collected

# The commands of a program are made from its functions once, and not for each call of it.
typer.testing._get_command = functools.cache(typer.main.get_command)  # type: ignore[attr-defined]  # no public hook

# Worker processes start from one that has loaded their libraries, as those of the command do.
workers.preload()


@pytest.fixture(autouse=True, scope="session")
def mistakes_come_to_light() -> Generator[None]:
    """A mistake of the judge ends the test, where its reports would only say so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Mistake, "by", _raise)
        yield


def _raise(error: Exception) -> NoReturn:
    raise error


class Watch:
    """Ends a test at its limit, with one thread for all tests: to start one for each costs more than most of them do."""

    STEP = 0.2
    """Seconds between two looks at the clock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: float | None = None
        self._thread: threading.Thread | None = None

    def set(self, seconds: float) -> None:
        with self._lock:
            self._end = time.monotonic() + seconds
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="limit of tests", daemon=True)
            self._thread.start()

    def cancel(self) -> None:
        with self._lock:
            self._end = None

    def _look(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        while True:
            time.sleep(self.STEP)  # noqa: TID251 - the clock is what it watches
            with self._lock:
                if self._end is not None and time.monotonic() > self._end:
                    self._end = None
                    signal.pthread_kill(main, signal.SIGUSR1)


WATCH = Watch()


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(settings: Settings) -> bool:
    """Ends a test at its limit by a signal of our own: the alarm, which pytest-timeout takes, is that of the judge."""

    def end(*_: object) -> NoReturn:
        faulthandler.dump_traceback(2)  # the standard error of the process, which pytest keeps with the test
        pytest.fail(f"hung: not over after {settings.timeout:g} s")

    signal.signal(signal.SIGUSR1, end)
    WATCH.set(settings.timeout)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_cancel_timer() -> bool:
    WATCH.cancel()
    return True


SHARED: set[int] = set()
"""Processes of fixtures that live longer than a test: the session of Spark, browsers, engines, what starts workers."""


class SharedProcesses:
    """Notes what fixtures of wider scope start.

    Pytest asks no file such as this one about a fixture of a session that a test takes by ``getfixturevalue``, but a plugin.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """What a fixture of a module or session starts outlives the test that asked for it first."""
        if fixturedef.scope == "function":
            return (yield)
        before = processes.own_children()
        try:
            return (yield)
        finally:
            SHARED.update(processes.own_children() - before)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SharedProcesses())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    compile_all(config)


BEFORE = pytest.StashKey[set[int]]()
"""The processes that ran when a test began."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    item.stash[BEFORE] = processes.own_children()
    if item.get_closest_marker("spark") and (reason := why_no_spark()):
        pytest.fail(reason, pytrace=False)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """A test ends what it started; what is left fails it, and is ended."""
    try:
        return (yield)
    finally:
        before = item.stash[BEFORE]
        left = processes.own_children() - before - SHARED - _helpers()
        if left and (words := processes.end_left_running(left)):
            pytest.fail("left running:\n" + "\n".join(words), pytrace=False)


def _helpers() -> set[int | None]:
    """The two processes that Python's own `multiprocessing` keeps to the end, and the one that reads checkpoints."""
    own = {forkserver._forkserver._forkserver_pid, resource_tracker._resource_tracker._pid}  # type: ignore[attr-defined]  # no public names
    return own | {reading_process()}


@functools.cache
def why_no_spark() -> str | None:
    """What keeps Spark from running here; ``None`` if nothing does."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    try:
        require_java()
    except JavaMissingError as error:
        return error.reason
    return None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> SparkInOneProcess | None:
    """Where modules are shared among processes, one of them keeps Spark."""
    return SparkInOneProcess(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    needy = [item for item in items if item.get_closest_marker("spark")]
    reason = why_no_spark() if needy else None
    if reason is None or os.environ.get("CI") == "true":
        return  # where CI=true the missing Java shows as what it is there, a failure
    for item in needy:
        item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Thousands of tests, and what their modules hold, live to the end: the garbage collector need not look at them again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def spark() -> Generator[SparkSession]:
    """One local Spark session for the whole run: starting it takes longer than most jobs."""
    with spark_session(name="pqassay tests") as session:
        yield session
