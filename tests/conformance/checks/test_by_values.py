"""Rules that are decided elsewhere name what decides them."""

from __future__ import annotations

import inspect

import pytest

from pqassay.checks import Check, registry
from pqassay.checks.subjects import VALUES

DECIDED = [check for check in registry().values() if check.decided_by is not None]


@pytest.mark.parametrize("check", DECIDED, ids=lambda check: check.rule)
def test_what_decides_a_rule_exists(check: Check) -> None:
    assert callable(check.decision)


def test_a_rule_about_values_is_stated_in_the_room_of_its_family() -> None:
    stated_elsewhere = [
        check.rule
        for check in registry().values()
        if check.subject is VALUES and not inspect.unwrap(check.test).__module__.startswith("pqassay.checks.")
    ]

    assert [] == stated_elsewhere
