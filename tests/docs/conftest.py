"""The built site, which several modules of tests look at: it is built once, whichever process needs it first. And the browser that looks."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

import processes
from browser import Browser, served
from built_site import build

BUILT = "PQASSAY_BUILT_SITE"
"""Environment variable with the folder of a site that is built already, for who works on the tests."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if BUILT in os.environ:
        return Path(os.environ[BUILT])
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, log = shared / "site", shared / "site.log"
    with Path(shared, "site.lock").open("w") as lock:
        processes.until(lambda: _locked(lock), "the process that builds the site is done")
        if not log.exists():
            log.write_text(_built(folder))
    status, _, words = log.read_text().partition("\n")
    assert "0" == status, words
    assert "WARNING" not in words, words
    return folder


def _locked(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _built(folder: Path) -> str:
    """The exit status of a build, and what it wrote; one that hangs is not tried again by the next process."""
    try:
        result = build(folder)
    except processes.HungError as error:
        return f"hung\n{error}"
    return f"{result.returncode}\n{result.stdout}"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site of a module is served: the built one, if the module has none of its own."""
    with served(site) as found:
        yield found


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all tests of a process: each page that it opens knows nothing of the others."""
    with Browser(tmp_path_factory.mktemp("browser")) as started:
        yield started
