"""A rule is stated once, under its id, in the room of its family."""

from __future__ import annotations

import inspect

from pqassay.checks import registry
from pqassay_spec.rules.catalogue import family_of


def test_every_rule_is_stated_in_the_room_of_its_family() -> None:
    elsewhere = {
        rule_id: module
        for rule_id, check in registry().items()
        if (module := inspect.unwrap(check.test).__module__).split(".")[1:3]
        != ["checks", family_of(rule_id).module]
    }

    assert {} == elsewhere
