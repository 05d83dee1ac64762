"""Checks: one function for each rule, in a room for each family, and how they are asked.

What lives here: the families' rooms; the subjects that rules are about (`subjects`; what one family alone has is in its room); how
to declare a rule about values (`value_rules`), and what pages show of themselves (`surveys`); the engine that visits each subject
once and asks every rule about it (`asking`); which rule speaks where one damage breaks several
(`conflicts`); and the commands that repair what is broken (`remedies`).

What never comes in: numpy, pyarrow and xxhash; what needs them is in `pqassay.values`.  Families never import each other.

How a check is written: it declares its rule and its subject, and reads like the rule's sentence.

>>> @rule("PQF-011", of=FOOTER)                                    # doctest: +SKIP
... def version_is_known(file):
...     if file.metadata.version not in FOOTER_VERSIONS:
...         yield Violation("the version of the footer is ...", in_footer(file, "version"), "1 or 2", ...)

It yields a `Violation` for each place where the rule is broken: what is wrong, the field, what is expected there and what is there
instead.  A `Spot` is a field of a structure that Thrift does not encode, and makes the violations at it.  A check that only reads,
since reading raises what is wrong, returns nothing.

A condition that several rules share belongs to their subject, one of a single rule to ``only``.  Where neither can tell, a check
raises `NotApplicable` if its subject has nothing that the rule is about, `NotChecked` if it cannot tell, and `Broken` if that is
because another rule is broken.  A `FormatError` without a rule, or with this one, is a violation; one with another rule is like
`Broken`.

Examples: rules about column chunks and their page indexes are asked about one chunk of those that are encoded alike, in which no
number is known (`by_example`).  What they ask of the numbers is noted and looked at in all chunks at once.  So a check is the only
statement of its rule, and fast where chunks are many.

Shapes and screens: of things of one shape, rules are asked about one, and a screen finds those of very many things that may break
a rule (`asking`).
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
"""A check's function. It may return nothing where reading its subject raises all that can be wrong."""

_registered: dict[str, Check] = {}


@dataclass(frozen=True)
class Check:
    """The test of a rule.

    Attributes:
        rule: Its id.
        subject: What it is about.
        test: What tests one of these things.
        only: Which of them are tested; to pass over one costs less than to raise `NotApplicable`. It raises like a test.
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

    ``faults`` are the kinds of faults of pages that it is about: it is the reason why what they hide is not checked.
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

    The checks of a family are in the modules of the room that has its name, in the judge or in a plug-in.  Rules without a check are
    reported as not checked.
    """
    for family in families():
        for room in rooms(f"checks.{family.module}"):
            for module in pkgutil.iter_modules(room.__path__):
                importlib.import_module(f"{room.__name__}.{module.name}")
    return {rule_id: _registered[rule_id] for rule_id in rules() if rule_id in _registered}
