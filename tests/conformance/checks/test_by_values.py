"""Rules that are decided elsewhere name what decides them."""

from __future__ import annotations

import pytest

from pqassay.checks import Check, registry
from pqassay.checks.subjects import VALUES

DECIDED = [check for check in registry().values() if check.decided_by is not None]


@pytest.mark.parametrize("check", DECIDED, ids=lambda check: check.rule)
def test_what_decides_a_rule_exists(check: Check) -> None:
    assert callable(check.decision)


def test_every_rule_about_all_values_names_what_decides_it() -> None:
    assert [] == [
        check.rule for check in registry().values() if check.subject is VALUES and not check.decided_by
    ]
