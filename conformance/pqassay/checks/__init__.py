"""The checks: the code that tests each rule, in modules found by the name of the rule's family.

A check is a function over a `FileUnderTest` that yields a `Violation` for every place where its rule is broken.
It raises `NotApplicable` where the file lacks the rule's subject and `NotChecked` where it cannot tell.  A
`FormatError` that it lets through is a violation of the rule that the error names.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache

from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.rules.catalogue import families, rules

CheckFunction = Callable[[FileUnderTest], Iterator[Violation]]

_registered: dict[str, CheckFunction] = {}


def check(rule_id: str) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as the check of a rule."""
    if rule_id not in rules():
        raise KeyError(f"{rule_id} is in no rules file")

    def register(function: CheckFunction) -> CheckFunction:
        if rule_id in _registered:
            raise ValueError(f"{rule_id} has two checks")
        _registered[rule_id] = function
        return function

    return register


@cache
def registry() -> dict[str, CheckFunction]:
    """Every check by rule id, in the order of the catalogue.

    The checks of a family stand in the modules of the room that has its name.  Rules without a check are reported as not
    checked.
    """
    for family in families():
        room = importlib.import_module(f"{__name__}.{family.module}")
        for module in pkgutil.iter_modules(room.__path__):
            importlib.import_module(f"{room.__name__}.{module.name}")
    return {rule_id: _registered[rule_id] for rule_id in rules() if rule_id in _registered}
