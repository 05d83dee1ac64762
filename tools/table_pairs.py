"""Minimal pairs of tables: the behavior of engines on golden tables that break one rule, compared with the healthy originals.

The queries are those of a proof. An answer counts only if the engine answers the same query correctly on the healthy table, and on a table
of the same rows without claims. Wrong answers and refusals on these are the engine's own mistakes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from minimal_pairs import NOT_FOUND, Question, answers_of, effect_of

from pqassay.judge.checker import check
from pqassay.proof.engine_processes import ENDINGS, EngineProcesses, ending
from pqassay.proof.engines import Engine
from pqassay.proof.queries import NoQuery, Query, number_of
from pqassay.proof.trial import Places, verdict_on
from pqassay.proof.worker import ProofAnswer
from pqassay.report.model import EngineVerdict, Finding
from pqassay.stores.table_files import TableAt
from pqassay_spec.rules.observed import HARM, EngineAnswers, Observation, Seen
from pqassay_spec.table.layout import TableKind
from pqassay_tables.proof.table_plan import NOT_TOLD, UNREADABLE, plan_table, rows_of

FAMILIES: Mapping[str, TableKind] = {"dlt": "delta", "ice": "iceberg"}
"""The folders of golden tables, with the format of their tables."""

MANIFEST, TABLE = "table.json", "table"
"""The description of a golden table, and the folder of its files."""

NO_CONTROL = "no engine here reads the healthy table rightly"
"""The reason why there are questions but no answers."""

MOST_SLOW = 2
"""The number of questions about one table for an engine that starts slowly, since it also answers slowly."""

SIZE = 1 << 20
"""The size in bytes that determines the time limit for a golden table."""

Json = dict[str, Any]


@dataclass(frozen=True)
class TablePair:
    """A golden table that breaks a rule, and its healthy original.

    Attributes:
        case: The name of the golden table.
        title: Its error.
        kind: Its format.
        broken, healthy: The folders.
        rules: The broken rules.
    """

    case: str
    title: str
    kind: TableKind
    broken: Path
    healthy: Path
    rules: tuple[str, ...]


def table_pairs(folder: Path, family: str) -> list[TablePair]:
    """Every pair of a family of golden tables, by the name of its case."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted((folder / family).glob(f"*/{MANIFEST}"))]
    return [
        TablePair(
            one["id"],
            one["title"],
            FAMILIES[family],
            folder / one["id"] / TABLE,
            folder / one["parent"] / TABLE,
            tuple(one["rules"]),
        )
        for one in found
        if one["kind"] == "invalid" and "parent" in one
    ]


OF_TYPES = ("DLT-066", "DLT-071", "ICE-094", "ICE-104")
OTHER_TYPES = "the types of the table are not those of its files, and no healthy table has the same"
"""The reason why false types have no questions: values of a healthy table have another type, which needs other queries."""

# ------------------------------------------------------------------------------------------------- the queries


def table_questions(
    pair: TablePair, found: Sequence[tuple[str, Finding]], folder: Path
) -> tuple[list[Question], str]:
    """The questions about a pair, and the reason if there are none.

    Args:
        pair: The pair.
        found: Findings about one rule, each with the file that it is about.
        folder: The folder for the true rows, and for tables of the same rows without claims.
    """
    asked: dict[Query, tuple[Path, Path]] = {}
    reason, is_open = NOT_FOUND, False
    broken, healthy = (TableAt(pair.kind, str(one), str(one)) for one in (pair.broken, pair.healthy))
    for number, (path, finding) in enumerate(found):
        inside = folder / str(number)
        inside.mkdir()
        try:
            plan = plan_table(broken, path, [finding], inside)
            if isinstance(plan.of_findings[0], str):
                reason = plan.of_findings[0]
                is_open |= reason.startswith(NOT_TOLD)
            for one in plan.queries:
                asked.setdefault(one.query, (one.truth, one.healthy))
        except (*UNREADABLE, pa.ArrowException) as error:
            reason, is_open = f"{NOT_TOLD}: {error}", True
    if not asked and not is_open:
        return [], reason
    twin = folder / "twin"
    twin.mkdir()
    questions: list[Question] = []
    with ExitStack() as stack:
        rows = rows_of(healthy, stack)
        try:
            # If no row of the broken table can be read, it has the files of the healthy one, and so its rows.
            queries: Iterable[Query] = asked or rows.general()
            for number, query in enumerate(queries):
                try:
                    of_twin = rows.planned(query, twin, number)
                except NoQuery:
                    continue
                truth, plain = asked.get(query, (of_twin.truth, of_twin.healthy))
                controls = ((plain, truth), (pair.healthy, of_twin.truth))
                questions.append(Question(query, truth, controls, is_certain=True))
        except (*UNREADABLE, pa.ArrowException) as error:
            reason = f"{NOT_TOLD}: {error}"
    return questions, reason


# ------------------------------------------------------------------------------------------------- the answers


@dataclass(frozen=True)
class Told:
    """The judged answer of an engine to a question.

    Attributes:
        verdict: The verdict in one or two words.
        answer: Its answer.
    """

    verdict: EngineVerdict
    answer: ProofAnswer

    @property
    def seen(self) -> Seen | None:
        """The effect on the user; ``None`` if the answer shows none."""
        return None if self.verdict == "not comparable" else effect_of(self.answer)


@dataclass
class TableMeasurement:
    """Asks engines about pairs of tables.

    Attributes:
        running: Their processes.
        engines: The engines by format.
    """

    running: EngineProcesses
    engines: Mapping[TableKind, Sequence[Engine]]
    reasons: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def ask(self, pair: TablePair, rule: str) -> Json | None:
        """The record of engines on a table, because of a rule; ``None``, with a reason in `reasons`, if nothing could be asked."""
        if rule in OF_TYPES:
            self.reasons[pair.case, rule] = OTHER_TYPES
            return None
        found: list[tuple[str, Finding]] = []
        for only in ([rule], []):  # some rules are about errors that other rules also find
            report = check(str(pair.broken), tier="values", rule=only)
            found = found or [
                (file.path, one) for file in report.files for one in file.findings if one.rule == rule
            ]
        with TemporaryDirectory(prefix="pqassay-") as name, Places() as places:
            folder = Path(name)
            try:
                questions, reason = self.running.decode(table_questions, pair, found, folder, size=SIZE)
            except (*ENDINGS, OSError) as error:
                questions, reason = [], f"the true rows are unknown: {ending(error)}"
            if not questions or not found:
                self.reasons[pair.case, rule] = reason
                return None
            told: dict[tuple[int, str], Told] = {}
            engines = sorted(self.engines[pair.kind], key=lambda one: one.starts_slowly)
            for engine in engines:
                numbers = _ranked(range(len(questions)), told)[: MOST_SLOW if engine.starts_slowly else None]
                for number, one in self._told(engine, pair, questions, numbers, places).items():
                    told[number, engine.process] = one
            return _record(pair, rule, questions, told, self.engines[pair.kind])

    def _told(
        self,
        engine: Engine,
        pair: TablePair,
        questions: Sequence[Question],
        numbers: Sequence[int],
        places: Places,
    ) -> dict[int, Told]:
        def answers(
            asked: Mapping[int, tuple[Path, Query, Path]], control: int | None = None
        ) -> dict[int, ProofAnswer]:
            key = f"{pair.case} {control}"
            return answers_of(
                engine, self.running, key, asked, SIZE, lambda path: places.path_for(engine, path, pair.kind)
            )

        of_broken = answers(
            {one: (pair.broken, questions[one].query, questions[one].truth) for one in numbers}
        )
        found = {number: Told(verdict_on(one), one) for number, one in of_broken.items()}
        suspects = [number for number, one in found.items() if one.verdict not in ("right", "not comparable")]
        for control in range(2):
            again = {
                number: (path, questions[number].query, truth)
                for number in suspects
                if found[number].verdict != "not comparable"
                for path, truth in [questions[number].controls[control]]
            }
            for number, one in answers(again, control).items():
                if effect_of(one) != "nothing":
                    kept = replace(one, error=one.error or f"{one.lost} rows lost, {one.wrong} wrong")
                    found[number] = Told("not comparable", kept)
        return found


_WEIGHTS: Mapping[EngineVerdict, int] = {"rows lost": 100, "wrong rows": 100, "crashed": 1, "refused": 1}


def _ranked(numbers: Iterable[int], told: Mapping[tuple[int, str], Told]) -> list[int]:
    """The numbers of the questions, the one that most engines answer wrongly first."""

    def damage(number: int) -> int:
        return sum(_WEIGHTS.get(one.verdict, 0) for (asked, _), one in told.items() if asked == number)

    return sorted(numbers, key=damage, reverse=True)


def _record(
    pair: TablePair,
    rule: str,
    questions: Sequence[Question],
    told: Mapping[tuple[int, str], Told],
    engines: Sequence[Engine],
) -> Json:
    """The stored record: the question that most engines answer wrongly, and the number of questions that harm each engine."""
    slow = [engine.process for engine in engines if engine.starts_slowly]
    everyone = [
        number for number in range(len(questions)) if all((number, name) in told for name in slow)
    ] or range(len(questions))
    best = _ranked(everyone, told)[0]
    with pa.OSFile(str(questions[best].truth), "rb") as file:
        true_rows = number_of(pa.ipc.open_file(file).read_all())
    answers: list[Json] = []
    for engine in engines:
        mine = [one for (_, name), one in told.items() if name == engine.process]
        if (best, engine.process) not in told:
            continue
        one = told[best, engine.process]
        answer: Json = {"engine": engine.title, "version": engine.version, "verdict": one.verdict}
        if not one.answer.error:
            answer["rows"] = one.answer.rows
        answer |= {name: value for name in ("lost", "wrong") if (value := getattr(one.answer, name)) and not one.answer.error}  # fmt: skip
        if one.answer.error and one.verdict != "right":
            answer["error"] = one.answer.error[:MOST_SAID]
        seen = [found for found in (one.seen for one in mine) if found is not None]
        answer["asked"] = len(seen)
        answer["seen"] = {effect: seen.count(effect) for effect in HARM if effect in seen}
        answers.append(answer)
    return {
        "rule": rule,
        "golden": pair.case,
        "title": pair.title,
        "query": questions[best].query.sql_from("t"),
        "true_rows": true_rows,
        "command": command(pair.case),
        "engines": answers,
    }


MOST_SAID = 160
"""The number of characters of an error that are kept."""


def command(case: str) -> str:
    """The command that asks the engines about a golden table, from the root folder of the repository."""
    return f"pqassay prove golden_files/{case}/{TABLE}"


# ------------------------------------------------------------------------------------------------- observations


def observation(rule: str, records: Sequence[Json], date: str, reason: str = "") -> Observation:
    """The observation for a rule from records about golden tables.

    Args:
        rule: The rule.
        records: Records of `TableMeasurement.ask` about any rules.
        date: The day.
        reason: Why nothing could be asked, if there are no records.
    """
    mine = [one for one in records if one["rule"] == rule]
    cases = tuple(one["golden"] for one in mine)
    tallies: dict[str, list[tuple[str, Json]]] = {}
    for one in mine:
        for answer in one["engines"]:
            tallies.setdefault(answer["engine"], []).append((one["golden"], answer))
    rows = [_answers_of(name, given) for name, given in tallies.items()]
    found = tuple(row for row in rows if row is not None)
    return Observation(date, cases, found, "" if found else reason or NO_CONTROL)


def _answers_of(name: str, given: Sequence[tuple[str, Json]]) -> EngineAnswers | None:
    asked = sum(answer["asked"] for _, answer in given)
    if not asked:
        return None
    version = given[0][1]["version"]
    for effect in HARM:
        cases = [case for case, answer in given if effect in answer["seen"]]
        if cases:
            count = sum(answer["seen"].get(effect, 0) for _, answer in given)
            return EngineAnswers(name, version, effect, count, asked, cases[0])
    return EngineAnswers(name, version, "nothing", asked, asked)
