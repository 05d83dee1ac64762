"""The built site, which several modules of tests look at: it is built once, whichever process needs it first."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

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
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not log.exists():
            result = build(folder)
            log.write_text(f"{result.returncode}\n{result.stdout}")
    status, _, said = log.read_text().partition("\n")
    assert status == "0", said
    assert "WARNING" not in said, said
    return folder
