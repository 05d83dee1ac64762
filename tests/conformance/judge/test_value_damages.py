"""Damage at tier ``values``: there is a report, nothing is raised, and no mistake of pqassay's own comes to light.

`make recall` does the same a hundred thousand times.
"""

from __future__ import annotations

from typing import Any

import pytest
import recall
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pqassay
from damage import EXAMPLES, TOGETHER
from pqassay.values.claims.count_claims import NullsOfChunk

pytestmark = pytest.mark.slow

DAMAGES = 900 // (3 * EXAMPLES)


@settings(max_examples=DAMAGES // TOGETHER, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 1 << 40))
def test_whatever_is_damaged_is_judged_by_its_values(first: int) -> None:
    found = [recall.mistake(seed) for seed in range(first, first + TOGETHER)]

    assert [] == [one for one in found if one is not None]


def test_damages_are_of_all_kinds() -> None:
    outcomes = {pqassay.check(recall.damaged(seed), tier="values").files[0].outcome for seed in range(30)}

    assert {"conformant", "untrue", "nonconformant", "errored"} >= outcomes >= {"untrue", "nonconformant"}


def test_a_mistake_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("an unexpected failure")

    monkeypatch.setattr(NullsOfChunk, "compare", broken)
    told = [one for seed in range(20) if (one := recall.mistake(seed)) is not None]

    assert told
    assert all("an unexpected failure" in one for one in told)
