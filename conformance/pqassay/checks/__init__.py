"""The checks: the code that tests each rule, in modules found by the name of the rule's family.

A check is a function over a `FileUnderTest` that yields a `Violation` for every place where its rule is broken.
It raises `NotApplicable` where the file lacks the rule's subject and `NotChecked` where it cannot tell.  A
`FormatError` that it lets through is a violation of the rule that the error names.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from pqassay.file_under_test import FileUnderTest
from pqassay_spec.catalogue import families, rules


@dataclass(frozen=True)
class Violation:
    """One place where a rule is broken; see `pqassay.report.Position` for the fields.

    ``message`` says in one sentence what is wrong, with names and values; ``remedy`` is a command that mends it.
    ``offset`` may be left out for a field below ``footer``: it is looked up for those places that are shown.
    ``more`` counts further places, so that a check need not yield thousands of them.
    """

    message: str
    field: str
    offset: int | None = None
    length: int = 0
    expected: str = ""
    actual: str = ""
    column: str | None = None
    row_group: int | None = None
    remedy: str = ""
    more: int = 0


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

    The checks of a family stand in the module of its name; those of tier ``values`` may stand in a second one,
    ``<name>_values``.  Rules without a check are reported as not checked.
    """
    for family in families():
        for name in (family.module, f"{family.module}_values"):
            if importlib.util.find_spec(f"{__name__}.{name}") is not None:
                importlib.import_module(f"{__name__}.{name}")
    return {rule_id: _registered[rule_id] for rule_id in rules() if rule_id in _registered}
