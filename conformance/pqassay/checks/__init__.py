"""Checks: one function for each rule, in a package for each family, and the engine that runs them.

Contents: the families' packages, and the subjects of rules (`subjects`; subjects of a single family are in its package). Rules about values
are declared in `value_rules`, and `surveys` has the results of examining pages. The engine visits each subject once and tests every rule on
it (`asking`). If one damage breaks several rules, `conflicts` selects the rule to report. `remedies` has the commands that repair findings.

Excluded: numpy, pyarrow and xxhash; code that needs them is in `pqassay.values`.  Families never import each
other.

How a check is written: it declares its rule and its subject, and reads like the rule's sentence.

>>> @rule("PQF-011", of=FOOTER)                                    # doctest: +SKIP
... def version_is_known(file):
...     if file.metadata.version not in FOOTER_VERSIONS:
...         yield Violation("the version of the footer is ...", in_footer(file, "version"), "1 or 2", ...)

It yields a `Violation` for each place that breaks the rule: the message, the field, the expected and the
actual value.  A `Spot` is a field of a structure that Thrift does not encode, and makes the violations at it.
A check that only reads, since reading raises what is wrong, returns nothing.

A condition that several rules share belongs to their subject. A condition of a single rule belongs to ``only``. Otherwise, a check raises
`NotApplicable` if its subject lacks the parts that the rule is about, `NotChecked` if it cannot decide, and `Broken` if another broken rule
is the reason. A `FormatError` without a rule, or with this one, is a violation; one with another rule is like `Broken`.

Examples: rules about column chunks and their page indexes are tested on one example of all chunks with the same encoding. The numbers of
the example are unknown (`by_example`). Their comparisons of the numbers are recorded and evaluated for all chunks at once. So a check is
the only statement of its rule, and fast for many chunks.

Shapes and screens (`asking`): of all things with the same shape, only one is tested. A screen looks at many things at once and selects
those that may break a rule.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pqassay.checks.subjects import Subject
from pqassay.plugins import rooms
from pqassay.under_test.violation import Violation
from pqassay.values.decoding.faults import FaultKind
from pqassay_spec.rules.catalogue import families, rules

Thing = TypeVar("Thing")
Test = Callable[[Thing], Iterable[Violation] | None]
"""A check's function. It may return ``None`` if reading the subject already raises every violation."""

_registered: dict[str, Check] = {}


@dataclass(frozen=True)
class Check:
    """The test of a rule.

    Attributes:
        rule: Its id.
        subject: What it is about.
        test: The function that tests one thing.
        only: Selects the things to test; skipping a thing costs less than raising `NotApplicable`. It may raise the same errors as a test.
    """

    rule: str
    subject: Subject[Any]
    test: Test[Any]
    only: Callable[[Any], bool] | None = None


def rule(
    rule_id: str,
    *,
    of: Subject[Thing],
    only: Callable[[Thing], bool] | None = None,
    faults: tuple[FaultKind, ...] = (),
) -> Callable[[Test[Thing]], Test[Thing]]:
    """Register a function as the check of a rule; see `Check` for the arguments.

    ``faults`` are the kinds of faults of pages that the rule is about. If such a fault hides values, this rule is the reason why they are
    not checked.
    """
    if rule_id not in rules():
        raise KeyError(f"{rule_id} is in no rules file")

    def register(test: Test[Thing]) -> Test[Thing]:
        if rule_id in _registered:
            raise ValueError(f"{rule_id} has two checks")
        for kind in faults:
            if kind.rule is not None:
                raise ValueError(f"{kind} is reported by two rules, {kind.rule} and {rule_id}")
            kind.rule = rule_id
        _registered[rule_id] = Check(rule_id, of, test, only)
        return test

    return register


@cache
def registry() -> dict[str, Check]:
    """Every check by rule id, in the order of the catalogue.

    The checks of a family are in the modules of the package with its name, in the judge or in a plug-in. Rules without a check are reported
    as not checked.
    """
    for family in families():
        for room in rooms(f"checks.{family.module}"):
            for module in pkgutil.iter_modules(room.__path__):
                importlib.import_module(f"{room.__name__}.{module.name}")
    return {rule_id: _registered[rule_id] for rule_id in rules() if rule_id in _registered}
