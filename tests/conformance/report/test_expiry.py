from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator

import pytest

from pqassay.judge.baseline import Baseline
from pqassay.report import expiry
from pqassay_suite.cases.expectations import Expectations


@pytest.fixture(params=["FIRST-14", "LAST+12"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The first and the last zone of a day: at any moment, one of them has another day than UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


@pytest.mark.usefixtures("zone")
def test_what_is_known_expires_by_the_day_of_utc_in_every_zone() -> None:
    before = dt.datetime.now(dt.UTC).date()
    days = expiry.today(), Baseline("known.json").today, Expectations().today
    after = dt.datetime.now(dt.UTC).date()

    assert {before, after} >= set(days)
