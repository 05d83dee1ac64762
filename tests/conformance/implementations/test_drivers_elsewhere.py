"""The drivers whose library is in an environment of its own: chDB's, and hardwood's with its own release of Java."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from served_drivers import Json, Serving, serving, wrong_about_the_slice
from pqassay_suite.drivers.implementations import implementation

pytestmark = pytest.mark.slow


def driver(name: str) -> Iterator[Serving]:
    found = implementation(name)
    if found.missing or not found.is_built:
        pytest.skip(f"{name} is not built (pqassay suite drivers --build {name})")
    with serving(found.argv) as served:
        yield served
        assert 0 == served.close()


@pytest.fixture(scope="module")
def chdb() -> Iterator[Serving]:
    yield from driver("chdb")


@pytest.fixture(scope="module")
def hardwood() -> Iterator[Serving]:
    yield from driver("hardwood")


def test_chdb(chdb):
    assert {} == wrong_about_the_slice(chdb, sparing=True)

def test_hardwood(hardwood):
    assert {} == wrong_about_the_slice(hardwood, sparing=True)
