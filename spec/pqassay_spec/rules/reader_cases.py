"""Golden cases that test the rules for readers.

No file can break such a rule, but the answer of a reader about a file can.  The table ``reader_cases.toml`` lists the golden
cases that test each rule, so a wrong answer, a crash or a refusal can be assigned to the rule that it breaks.

    >>> reader_rules_of("blm/unknown-hash")
    ('BLM-025', 'PQF-145', 'PQF-152', 'PQF-146')
    >>> reader_rules_of("pm/minimal")
    ('PQF-146',)

The answer decides which of these rules is broken: a crash breaks PQF-146 in any case.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from fnmatch import translate
from functools import cache
from importlib.resources import files

from pqassay_spec.rules.catalogue import rules

__all__ = ["cases_of", "patterns", "reader_rules_of"]


@cache
def patterns() -> Mapping[str, tuple[str, ...]]:
    """Patterns of the ids of cases, by the id of the rule that they test."""
    table = (files("pqassay_spec.rules") / "reader_cases.toml").read_text("utf-8")
    return {rule: tuple(found) for rule, found in tomllib.loads(table).items()}


@cache
def reader_rules_of(case_id: str) -> tuple[str, ...]:
    """The rules for readers that a golden case tests.

    Args:
        case_id: The id of the case, as `pix/null-pages`.

    Returns:
        Their ids: rules that few cases test come before rules that whole families test.
    """
    order = _order()
    fitting = {rule: found for rule in patterns() if (found := _most_specific(rule, case_id)) is not None}
    return tuple(sorted(fitting, key=lambda rule: (-fitting[rule], order[rule])))


@cache
def _order() -> Mapping[str, int]:
    """The position of each rule among all rules."""
    return {rule: number for number, rule in enumerate(rules())}


def cases_of(rule_id: str, case_ids: Iterable[str]) -> list[str]:
    """The golden cases among ``case_ids`` that test a rule for readers, in their order; empty for other rules."""
    return [case for case in case_ids if _most_specific(rule_id, case) is not None]


def _most_specific(rule_id: str, case_id: str) -> int | None:
    """Number of letters that the closest pattern of a rule shares with the id of a case; ``None`` if no pattern matches."""
    letters = [count for fits, count in _compiled().get(rule_id, ()) if fits(case_id)]
    return max(letters, default=None)


@cache
def _compiled() -> Mapping[str, tuple[tuple[Callable[[str], object], int], ...]]:
    """Matchers of ids, each with the number of letters of its pattern that are not stars, by rule."""
    return {
        rule: tuple((re.compile(translate(pattern)).match, len(pattern.replace("*", ""))) for pattern in each)
        for rule, each in patterns().items()
    }
