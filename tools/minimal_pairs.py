"""Minimal pairs: the behavior of engines on golden files that break one rule, compared with the healthy originals.

The queries are those of a proof. An answer counts only if the engine answers the same query correctly on the healthy file, and on a plain
copy of the broken file's values. Wrong answers and refusals on these are the engine's own mistakes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from shapes import shape

from pqassay.judge.checker import check
from pqassay.proof.candidates import candidates, every_column, unread
from pqassay.proof.engine_processes import ENDINGS, NOT_ASKED, Asked, EngineProcesses, ending
from pqassay.proof.engines import Engine, Unwritable
from pqassay.proof.queries import NoQuery, Query
from pqassay.proof.true_values import TrueValues
from pqassay.proof.worker import Planned, ProofAnswer, planned, write_truth
from pqassay.report.model import Finding
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.rules.catalogue import Rule
from pqassay_spec.rules.catalogue import rules as all_rules
from pqassay_spec.rules.observed import HARM, SEEN, EngineAnswers, Observation, Seen

MOST_PAIRS = 4
"""The number of pairs of one rule that are used, each with another shape."""

NOT_SHOWN = "rows do not show what is lost: engines read more than they need, and answer rightly"
"""The reason why answers show nothing if the harm is lost pruning."""

NO_CONTROL = "no engine here reads the healthy file rightly"
"""The reason why there are questions but no answers."""

NOT_FOUND = "no check finds it in the golden file"
"""The reason why there are no questions, if the rule is reported in another way."""

SCHEMA = "footer.schema"
"""The path of type declarations."""

MOST_SLOW = 6
"""The number of queries per pair and rule for an engine that starts slowly, since it also answers slowly."""


@dataclass(frozen=True)
class Pair:
    """A golden file that breaks rules, and its healthy original, if any.

    Attributes:
        case: The name of the case.
        broken, healthy: The files.
        rules: The rules that are broken.
        operator, path: The mutation of the healthy file.
    """

    case: str
    broken: Path
    healthy: Path | None
    rules: tuple[str, ...]
    operator: str = ""
    path: str = ""

    @property
    def changes_values(self) -> bool:
        """Whether the broken file may have other values than the healthy one; then its true rows come only from its own pages."""
        return ".body" in self.path or self.operator in ("truncate", "duplicate")

    @property
    def changes_type(self) -> bool:
        """Whether a column was given another type, which no rule covers: engines may refuse the file for that alone."""
        return self.path.startswith(SCHEMA) and not any(
            all_rules()[rule].field.startswith(SCHEMA) for rule in self.rules
        )


def pairs(folder: Path) -> list[Pair]:
    """Every pair in a folder of golden files, by the name of its case."""
    cases = [json.loads(path.read_text("utf-8")) for path in sorted(folder.rglob(MANIFEST))]
    files = {case["id"]: folder / case["id"] / case["input"]["file"] for case in cases}
    return [
        Pair(
            case["id"],
            files[case["id"]],
            files.get(case.get("parent")),
            tuple(case["expect"]["check"]["rules"]),
            *(case.get("mutation", {}).get(name, "") for name in ("op", "path")),
        )
        for case in cases
        if case["expect"]["check"]["rules"]
    ]


def chosen(
    rule: str, among: Iterable[Pair], shape_of: Callable[[str, str], str | None] = shape
) -> list[Pair]:
    """The most informative pairs about a rule, one of each shape: first pairs with fewest other rules, then pairs that name it first."""
    breaking = [pair for pair in among if rule in pair.rules]
    least = min((len(pair.rules) for pair in breaking), default=0)
    alike = [pair for pair in breaking if len(pair.rules) == least]
    alike.sort(key=lambda pair: (pair.healthy is None, pair.rules.index(rule), pair.case))
    of_shapes: dict[str | None, Pair] = {}
    for pair in alike:
        of_shapes.setdefault(shape_of(rule, pair.case), pair)
    return [*of_shapes.values()][:MOST_PAIRS]


# ------------------------------------------------------------------------------------------------- the queries


@dataclass(frozen=True)
class Question:
    """A query with the file of its true rows, and healthy files, each with its own true rows.

    The rows are certain if they come from the pages of the broken file, or if both files have the same pages.
    """

    query: Query
    truth: Path
    controls: tuple[tuple[Path, Path], ...]
    is_certain: bool


@dataclass(frozen=True)
class Questions:
    """Questions about a pair.

    Attributes:
        all: The questions, without duplicates.
        of_rules: For each rule, the positions of its questions.
        reasons: Why a rule has no questions, or only questions about other columns.
    """

    all: list[Question] = field(default_factory=list[Question])
    of_rules: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    reasons: dict[str, str] = field(default_factory=dict[str, str])

    def chosen(self, harmed: Mapping[int, int], most: int | None) -> dict[int, Question]:
        """At most ``most`` questions about each rule; questions that harmed other engines come first."""
        numbers = {
            number
            for mine in self.of_rules.values()
            for number in sorted(mine, key=lambda number: -harmed.get(number, 0))[:most]
        }
        return {number: self.all[number] for number in sorted(numbers)}


def questions(pair: Pair, findings: Sequence[Finding], folder: Path) -> Questions:
    """Find the queries for the findings of a broken file, and write the true rows into a folder.

    The true rows come from the pages of the broken file or, if it cannot be decoded, of the healthy file.
    """
    collected = Questions()
    places: dict[Query, int] = {}
    for rule in dict.fromkeys(finding.rule for finding in findings):
        mine = [finding for finding in findings if finding.rule == rule]
        asked, reason = _of_rule(pair, mine, folder / rule)
        for question in asked:
            if places.setdefault(question.query, len(collected.all)) == len(collected.all):
                collected.all.append(question)
        collected.of_rules[rule] = [places[question.query] for question in asked]
        if reason:
            collected.reasons[rule] = reason
    return collected


def _of_rule(pair: Pair, findings: Sequence[Finding], folder: Path) -> tuple[list[Question], str]:
    first = ""
    for place, path in enumerate(path for path in (pair.broken, pair.healthy) if path is not None):
        inside = folder / str(place)
        inside.mkdir(parents=True)
        try:
            with FileSource(str(path)) as source:
                values = TrueValues(FileUnderTest(source, Options("values")))
                queries, reason = _queries(findings, values)
                found = [planned(query, values, inside, number) for number, query in enumerate(queries)]
            is_certain = path == pair.broken or not pair.changes_values
            return _with_controls(pair, found, inside, is_certain=is_certain), reason
        except NoQuery as why:
            return [], str(why)
        except Exception as why:  # noqa: BLE001 - values beyond their type raise all kinds of errors
            first = first or f"the true rows are unknown: {why}"
    return [], first


def _queries(findings: Sequence[Finding], values: TrueValues) -> tuple[list[Query], str]:
    """Queries about the columns of the findings; if that is impossible, about other columns, with the reason.

    Raises:
        NoQuery: No query is possible.
    """
    queries: dict[Query, None] = {}
    reason = "no value can show the difference in a query"
    for finding in findings:
        try:
            queries |= dict.fromkeys(candidates(finding, values))
        except NoQuery as why:
            reason = str(why)
    return (list(queries), "") if queries else ([every_column(values)], reason)


def _with_controls(pair: Pair, plans: Sequence[Planned], folder: Path, *, is_certain: bool) -> list[Question]:
    truths: list[Path | None] = [None] * len(plans)
    if pair.healthy is not None:
        with FileSource(str(pair.healthy)) as source:
            values = TrueValues(FileUnderTest(source, Options("values")))
            truths = [
                _truth(plan.query, values, folder / f"healthy-{number}.arrow")
                for number, plan in enumerate(plans)
            ]
    return [
        Question(
            plan.query,
            plan.truth,
            ((plan.healthy, plan.truth), *([(pair.healthy, truth)] if pair.healthy and truth else [])),
            is_certain,
        )
        for plan, truth in zip(plans, truths, strict=True)
    ]


def _truth(query: Query, values: TrueValues, path: Path) -> Path | None:
    """The true rows of a healthy file; ``None`` if it lacks the columns, or the rows are unknown."""
    try:
        write_truth(query, values, path)
    except (NotChecked, FormatError):
        return None
    return path


# ------------------------------------------------------------------------------------------------- the answers


@dataclass
class Tally:
    """The answers of one engine about one rule: the cases of each effect, one for each query."""

    cases: dict[Seen, list[str]] = field(default_factory=dict[Seen, list[str]])

    def answers(self, engine: Engine, asked: Sequence[str]) -> EngineAnswers | None:
        """The summary of the answers about some cases; ``None`` if nothing could be asked."""
        of = sum(map(len, self.cases.values()))
        if not of:
            return None
        harms: list[Seen] = [seen for seen in HARM if seen in self.cases]
        worst: Seen = harms[0] if harms else "nothing"
        cases = self.cases[worst]
        case = cases[0] if worst in HARM else ""
        each = tuple(
            next((seen for seen in SEEN if name in self.cases.get(seen, ())), None)
            for name in (asked if case and len(asked) > 1 else ())
        )
        return EngineAnswers(engine.title, engine.version or "", worst, len(cases), of, case, each)


@dataclass
class Measurement:
    """The answers about some rules, while they are collected.

    Attributes:
        running: The engines.
        tallies: The answers, by rule and name of the engine.
        reasons: By rule, the reason why something could not be asked.
        asked: Rules with questions in at least one case.
    """

    running: EngineProcesses
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict[tuple[str, str], Tally])
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    asked: set[str] = field(default_factory=set[str])

    def ask(self, pair: Pair, rules: Sequence[str]) -> None:
        """Ask all engines about one pair, and count the answers for some of its broken rules."""
        # One rule at a time, since a finding that follows from another is dropped if both rules are checked.
        files = [check(str(pair.broken), tier="values", rule=[rule], jobs=1).files[0] for rule in rules]
        findings = [finding for file in files for finding in file.findings]
        size = files[0].size
        with TemporaryDirectory(prefix="pqassay-") as name:
            try:
                collected = self.running.decode(questions, pair, findings, Path(name), size=size)
            except (*ENDINGS, OSError) as error:
                self.reasons.update(dict.fromkeys(rules, f"the true rows are unknown: {ending(error)}"))
                return
            harmed: Counter[int] = Counter()
            for engine in sorted(self.running.engines, key=lambda one: one.starts_slowly):
                selected = collected.chosen(harmed, MOST_SLOW if engine.starts_slowly else None)
                seen = _seen(engine, pair, selected, self.running, size)
                harmed.update(number for number, effect in seen.items() if effect in HARM)
                for rule, numbers in collected.of_rules.items():
                    tally = self.tallies.setdefault((rule, engine.name), Tally())
                    for number in numbers:
                        if number in seen:
                            tally.cases.setdefault(seen[number], []).append(pair.case)
        self.reasons.update(collected.reasons)
        self.asked |= collected.of_rules.keys() - collected.reasons.keys()

    def observation(self, rule: Rule, chosen: Sequence[Pair], date: str) -> Observation:
        """The observation for a rule from its pairs."""
        if reason := unread(rule.id) or rule.excluded:
            return Observation(date, reason=reason)
        if not chosen:
            return Observation(date, reason="there is no file that breaks it")
        rows = [
            self.tallies.get((rule.id, engine.name), Tally()).answers(engine, [pair.case for pair in chosen])
            for engine in self.running.engines
        ]
        engines = tuple(row for row in rows if row is not None)
        cases = tuple(pair.case for pair in chosen)
        reason = "" if rule.id in self.asked else self.reasons.get(rule.id, NOT_FOUND)
        if not engines:
            return Observation(date, cases, reason=reason or NO_CONTROL)
        if any(one.is_harmed for one in engines):
            return Observation(date, cases, engines)
        return Observation(
            date, cases, engines, reason or (NOT_SHOWN if rule.could == "pruning lost" else "")
        )


def observe(
    rules: Iterable[Rule], folder: Path, running: EngineProcesses, date: str
) -> Iterator[tuple[str, Observation]]:
    """Measure the behavior of engines on golden files that break some rules; yield the observation of each rule.

    Args:
        rules: The rules.
        folder: The golden files.
        running: The engines, all of them installed.
        date: The day, as ``YYYY-MM-DD``.
    """
    rules = list(rules)
    among = pairs(folder)
    of_rules = {rule.id: [] if unread(rule.id) else chosen(rule.id, among) for rule in rules}
    measurement = Measurement(running)
    done: set[str] = set()
    for rule in rules:
        for pair in of_rules[rule.id]:
            if pair.case not in done:
                done.add(pair.case)
                measurement.ask(pair, [other for other, mine in of_rules.items() if pair in mine])
        yield rule.id, measurement.observation(rule, of_rules[rule.id], date)


def _seen(
    engine: Engine, pair: Pair, asked: Mapping[int, Question], running: EngineProcesses, size: int
) -> dict[int, Seen]:
    """The behavior of an engine on questions about a broken file, without questions that it fails on a healthy file."""
    programs = {number: (pair.broken, question.query, question.truth) for number, question in asked.items()}
    answers = answers_of(engine, running, str(pair.broken), programs, size)
    effects: dict[int, Seen] = {}
    for number, answer in answers.items():
        if answer.error == NOT_ASKED or answer.is_incomparable:
            continue
        if (seen := effect_of(answer)) == "nothing":
            effects[number] = seen
            continue
        question = asked[number]
        if pair.changes_type if seen == "read fails" else not question.is_certain:
            continue
        controls = {
            place: (path, question.query, truth) for place, (path, truth) in enumerate(question.controls)
        }
        healthy = answers_of(engine, running, str(question.controls[-1][0]), controls, size)
        if all(effect_of(answer) == "nothing" for answer in healthy.values()):
            effects[number] = seen
    return effects


def answers_of(
    engine: Engine,
    running: EngineProcesses,
    file: str,
    asked: Mapping[int, tuple[Path, Query, Path]],
    size: int,
    path_for: Callable[[str], str] = str,
) -> dict[int, ProofAnswer]:
    """The answers of an engine to queries with known true rows; queries that it cannot express are not comparable.

    Args:
        engine: The engine.
        running: Its processes.
        file: The file that the limits of time and memory apply to.
        asked: By number: a file or table, the query, and the file of the true rows.
        size: The size in bytes that determines the time limit.
        path_for: Returns the path of a file or table for the engine.
    """
    programs: dict[int, Asked] = {}
    answered: dict[int, ProofAnswer] = {}
    for number, (path, query, truth) in asked.items():
        try:
            programs[number] = engine.program(path_for(str(path)), query), truth
        except Unwritable as error:
            answered[number] = ProofAnswer(error=str(error), is_incomparable=True)
    if programs:
        answers = running.ask(engine, file, list(programs.values()), size)
        answered |= dict(zip(programs, answers, strict=True))
    return answered


def effect_of(answer: ProofAnswer) -> Seen:
    """The effect of an answer on a user."""
    if answer.error:
        return "read fails"
    return "wrong rows" if answer.wrong else "rows lost" if answer.lost else "nothing"
