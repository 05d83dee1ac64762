"""The checks: the code that tests each rule, in modules found by the name of the rule's family.

A check is a function over a `FileUnderTest` that yields a `Violation` for every place where its rule is broken.
It raises `NotApplicable` where the file lacks the rule's subject and `NotChecked` where it cannot tell.  A
`FormatError` that it lets through is a violation of the rule that the error names.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from pqassay.file_under_test import FileUnderTest, NotApplicable, NotChecked
from pqassay_spec.catalogue import families, rules
from pqassay_spec.errors import FormatError


@dataclass(frozen=True)
class Violation:
    """One place where a rule is broken; see `pqassay.report.Position` for the fields.

    ``message`` says in one sentence what is wrong, with names and values; ``remedy`` is a command that mends it,
    where the family's own (`remedies_of`) is not the best one.
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


RemedyFunction = Callable[[FileUnderTest, str], str]
"""``(file, rule id) -> command``, empty where there is none."""

_remedies: dict[str, RemedyFunction] = {}


def remedies_of(prefix: str) -> Callable[[RemedyFunction], RemedyFunction]:
    """Register a function that knows the command against a broken rule of the family ``prefix``."""

    def register(function: RemedyFunction) -> RemedyFunction:
        _remedies[prefix] = function
        return function

    return register


def remedy(file: FileUnderTest, rule_id: str) -> str | None:
    """The command that mends a file in which a rule is broken, if its family knows one."""
    known = _remedies.get(rule_id.rpartition("-")[0])
    try:
        return (known(file, rule_id) or None) if known is not None else None
    except (FormatError, NotApplicable, NotChecked):
        return None  # what a command would have to know cannot be read


@cache
def registry() -> dict[str, CheckFunction]:
    """Every check by rule id, in the order of the catalogue.

    The checks of a family stand in the module of its name and in those whose names go on from it with an underscore, such
    as ``<name>_values`` (tier ``values``) and ``<name>_remedy`` (the commands that mend what they find).  Rules without a
    check are reported as not checked.
    """
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    for family in families():
        for name in names:
            if name == family.module or name.startswith(f"{family.module}_"):
                importlib.import_module(f"{__name__}.{name}")
    return {rule_id: _registered[rule_id] for rule_id in rules() if rule_id in _registered}
