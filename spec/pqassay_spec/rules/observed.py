"""The observed behavior of engines on files that break a rule.

`Rule.could` is the worst harm that breaking a rule can do to some reader; this module has what readers do today.  ``tools/observe.py``
asks engines for rows of golden files that break the rule, and of the valid files that they were made from. It writes the answers to
``observed.json``.  If no engine can be asked, the table gives the reason.

    >>> observed("STA-041").effect
    'rows lost'
    >>> observed("PM-001").effect
    'not asked'

The table is loaded at the first use, so a check without findings does not need it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

Seen = Literal["rows lost", "wrong rows", "read fails", "nothing"]
"""The worst answer of an engine, the gravest first; ``nothing``: the right rows for every query."""

ObservedEffect = Literal["rows lost", "wrong rows", "read fails", "nothing", "not asked"]
"""The worst answer of all engines, or ``not asked``."""

SEEN: tuple[Seen, ...] = get_args(Seen)
HARM: tuple[Seen, ...] = SEEN[:-1]
"""Answers that harm a user, the gravest first."""

TABLE = "observed.json"
"""The file of the table, beside this module."""

SHAPES = "shapes.json"
"""The file beside it with the shapes of golden files, which group similar breakages."""

UNMEASURED = "no measurement of this rule is at hand"
"""The reason if the table has no entry, for example for a rule of another version."""


@dataclass(frozen=True)
class EngineAnswers:
    """Answers of one engine to all queries about a rule.

    Attributes:
        engine: Its name.
        version: The version that was asked.
        seen: Its worst answer.
        count: Queries with that answer.
        of: Queries that it was asked, and that it answers correctly if the rule is kept.
        case: The golden file of the first of those answers; empty if nothing was seen.
        each: If only some of several golden files harmed it: its worst answer for each file in `Observation.cases`, ``None`` for a
            file without queries. Empty if unknown.
    """

    engine: str
    version: str
    seen: Seen
    count: int
    of: int
    case: str = ""
    each: tuple[Seen | None, ...] = ()

    @property
    def is_harmed(self) -> bool:
        """Whether one of its answers was wrong or missing."""
        return self.seen in HARM

    @property
    def product(self) -> str:
        """The name of the engine without its setting.

        >>> EngineAnswers("DataFusion, filter pushdown", "55.0.0", "nothing", 9, 9).product
        'DataFusion'
        """
        return self.engine.partition(", ")[0]

    @property
    def line(self) -> str:
        """The answers in one line, without the name of the engine.

        >>> EngineAnswers("DuckDB", "2.0.0", "rows lost", 3, 9, "sta/max-too-small").line
        'rows lost in 3 of 9 queries, first of sta/max-too-small'
        """
        if not self.is_harmed:
            return f"nothing in {_counted(self.of, 'query', 'queries')}"
        return f"{self.seen} in {self.count} of {_counted(self.of, 'query', 'queries')}, first of {self.case}"


@dataclass(frozen=True)
class Observation:
    """A measurement of one rule.

    Attributes:
        date: The day of the measurement, as ``YYYY-MM-DD``.
        cases: The measured golden files, which break the rule.
        engines: The engines that could be asked.
        reason: Why no engine could be asked, or why their answers do not show the rule's harm; otherwise empty.
    """

    date: str
    cases: tuple[str, ...] = ()
    engines: tuple[EngineAnswers, ...] = ()
    reason: str = ""

    @property
    def effect(self) -> ObservedEffect:
        """The gravest answer."""
        harm: list[ObservedEffect] = [
            seen for seen in HARM if any(engine.seen == seen for engine in self.engines)
        ]
        return harm[0] if harm else "not asked" if self.reason else "nothing"

    def of_cases(self, selected: Collection[str]) -> Observation | None:
        """The observation of only some of its golden files; ``None`` if that is unknown."""
        if not selected:
            return None
        if set(self.cases) <= set(selected) or not self.engines:
            return self
        engines: list[EngineAnswers] = []
        for answers in self.engines:
            known = dict(zip(self.cases, answers.each, strict=False)) or {answers.case: answers.seen}
            # The file of its worst answer is known; its answers to other files are known only from `each`.
            if answers.is_harmed and not answers.each and answers.case not in selected:
                return None
            seen = {known.get(case, "nothing") for case in selected} - {None}
            if seen:
                worst: Seen = min((each for each in seen if each), key=SEEN.index)
                case = (
                    next((case for case in selected if known.get(case) == worst), "") if worst in HARM else ""
                )
                engines.append(replace(answers, seen=worst, case=case, each=()))
        return replace(self, cases=tuple(selected), engines=tuple(engines)) if engines else None

    @property
    def summary(self) -> Observed:
        """The observation in the form that findings contain."""
        effect = self.effect
        if effect == "not asked":
            return Observed(effect, date=self.date, reason=self.reason)
        return Observed(
            effect,
            engines=_named([engine for engine in self.engines if engine.seen == effect])
            if effect in HARM
            else [],
            asked=len({engine.product for engine in self.engines}),
            date=self.date,
        )


@dataclass(frozen=True)
class Observed:
    """A summary of an observation, the same for all findings of a rule.

    Attributes:
        effect: The gravest effect that was seen; ``nothing`` if all engines answered correctly; or ``not asked``.
        engines: The engines in which it was seen, with their versions.
        asked: How many engines were asked.
        date: The day of the measurement, as ``YYYY-MM-DD``; ``None`` without a measurement.
        reason: Why no engine was asked.
    """

    effect: ObservedEffect
    engines: list[str] = field(default_factory=list[str])
    asked: int = 0
    date: str | None = None
    reason: str | None = None

    @property
    def sentence(self) -> str:
        """The summary in words.

        >>> Observed("rows lost", ["DuckDB 2.0.0", "Spark 4.3.0"], 6, "2026-11-23").sentence
        'rows lost in DuckDB 2.0.0 and Spark 4.3.0 (2 of 6 engines, 2026-11-23)'
        >>> Observed("nothing", [], 6, "2026-11-23").sentence
        'nothing: 6 engines were asked, and all answered rightly (2026-11-23)'
        >>> Observed("not asked", reason="only QuestDB reads a _pm file").sentence
        'not asked: only QuestDB reads a _pm file'
        """
        if self.effect == "not asked":
            return f"not asked: {self.reason}"
        asked = _counted(self.asked, "engine", "engines")
        if self.effect == "nothing":
            told = "was asked, and answered" if self.asked == 1 else "were asked, and all answered"
            return f"nothing: {asked} {told} rightly ({self.date})"
        return f"{self.effect} in {_listed(self.engines)} ({len(self.engines)} of {asked}, {self.date})"

    def gist(self, could: str) -> str:
        """The short note to show after the possible harm, without versions; empty if no engine was asked.

        >>> Observed("rows lost", ["DuckDB 2.0.0", "Spark 4.3.0"], 6, "2026-11-23").gist("rows lost")
        'seen in 2 of 6 engines: DuckDB and Spark'
        >>> Observed("nothing", [], 6, "2026-11-23").gist("rows lost")
        'not seen in 6 engines'
        """
        if self.effect == "not asked":
            return ""
        asked = _counted(self.asked, "engine", "engines")
        if self.effect == "nothing":
            return f"not seen in {asked}"
        seen = "seen" if self.effect == could else f"{self.effect} seen"
        names = [re.sub(r" \d\S*", "", engine) for engine in self.engines]
        return f"{seen} in {len(names)} of {asked}: {_listed(names)}"

    @property
    def is_harm(self) -> bool:
        """Whether harm to users was seen."""
        return self.effect in HARM


def _named(engines: Sequence[EngineAnswers]) -> list[str]:
    """Names with versions. An engine that was asked with two settings is named once, with the setting if the other setting is harmless."""
    names: dict[str, str] = {}
    for one in engines:
        setting = one.engine.partition(", ")[2]
        name = f"{one.product} {one.version}"
        names.setdefault(one.product, f"{name} with {setting}" if setting else name)
    return list(names.values())


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count} {singular if count == 1 else plural}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@cache
def observations() -> Mapping[str, Observation]:
    """Every observation by the id of its rule."""
    content: dict[str, Any] = json.loads((files("pqassay_spec.rules") / TABLE).read_text("utf-8"))
    return {rule: _observation(entry) for rule, entry in content.items()}


def _observation(entry: dict[str, Any]) -> Observation:
    return Observation(
        date=entry["date"],
        cases=tuple(entry.get("cases", ())),
        engines=tuple(
            EngineAnswers(**{**answers, "each": tuple(answers.get("each", ()))})
            for answers in entry.get("engines", ())
        ),
        reason=entry.get("reason", ""),
    )


@cache
def shapes() -> Mapping[str, Mapping[str, str]]:
    """The shape of a rule's breakage in each measured golden file, by rule and file."""
    content: dict[str, dict[str, str]] = json.loads((files("pqassay_spec.rules") / SHAPES).read_text("utf-8"))
    return content


@cache
def observed_like(rule: str, shape: str) -> Observed | None:
    """The summary for golden files that break a rule in the same shape; ``None`` if there are none.

    If the rule was not measured at all, the reason for that is returned for every shape.
    """
    found = observations().get(rule)
    if found is None or not found.cases:
        return observed(rule)
    of_shape = shapes().get(rule, {})
    seen = found.of_cases([case for case in found.cases if of_shape.get(case) == shape])
    return None if seen is None else seen.summary


@cache
def observed(rule: str) -> Observed:
    """The summary of the observation of a rule."""
    found = observations().get(rule)
    return Observed("not asked", reason=UNMEASURED) if found is None else found.summary


def table_text(entries: Mapping[str, Observation]) -> str:
    """The content of the table's file: a line for each engine, so diffs of new measurements are readable."""
    return "{\n" + ",\n".join(_entry(rule, entries[rule]) for rule in sorted(entries)) + "\n}\n"


def _entry(rule: str, observation: Observation) -> str:
    members = [f'  "date": {json.dumps(observation.date)}']
    if observation.cases:
        members.append(f'  "cases": {json.dumps(observation.cases)}')
    if observation.engines:
        rows = ",\n".join(f"   {json.dumps(_answers(answers))}" for answers in observation.engines)
        members.append(f'  "engines": [\n{rows}\n  ]')
    if observation.reason:
        members.append(f'  "reason": {json.dumps(observation.reason)}')
    return f' "{rule}": {{\n' + ",\n".join(members) + "\n }"


def _answers(answers: EngineAnswers) -> dict[str, Any]:
    members = {
        "engine": answers.engine,
        "version": answers.version,
        "seen": answers.seen,
        "count": answers.count,
        "of": answers.of,
    }
    return {
        **members,
        **({"case": answers.case} if answers.case else {}),
        **({"each": answers.each} if answers.each else {}),
    }
