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
    manifests = [
        json.loads(path.read_text("utf-8")) for path in sorted((folder / family).glob(f"*/{MANIFEST}"))
    ]
    return [
        TablePair(
            manifest["id"],
            manifest["title"],
            FAMILIES[family],
            folder / manifest["id"] / TABLE,
            folder / manifest["parent"] / TABLE,
            tuple(manifest["rules"]),
        )
        for manifest in manifests
        if manifest["kind"] == "invalid" and "parent" in manifest
    ]


OF_TYPES = ("DLT-066", "DLT-071", "ICE-094", "ICE-104")
OTHER_TYPES = "the types of the table are not those of its files, and no healthy table has the same"
"""The reason why false types have no questions: values of a healthy table have another type, which needs other queries."""

# ------------------------------------------------------------------------------------------------- the queries


def table_questions(
    pair: TablePair, findings: Sequence[tuple[str, Finding]], folder: Path
) -> tuple[list[Question], str]:
    """The questions about a pair, and the reason if there are none.

    Args:
        pair: The pair.
        findings: Findings about one rule, each with the file that it is about.
        folder: The folder for the true rows, and for tables of the same rows without claims.
    """
    asked: dict[Query, tuple[Path, Path]] = {}
    reason, is_open = NOT_FOUND, False
    broken, healthy = (TableAt(pair.kind, str(path), str(path)) for path in (pair.broken, pair.healthy))
    for number, (path, finding) in enumerate(findings):
        inside = folder / str(number)
        inside.mkdir()
        try:
            plan = plan_table(broken, path, [finding], inside)
            if isinstance(plan.of_findings[0], str):
                reason = plan.of_findings[0]
                is_open |= reason.startswith(NOT_TOLD)
            for planned_query in plan.queries:
                asked.setdefault(planned_query.query, (planned_query.truth, planned_query.healthy))
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
class JudgedAnswer:
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
        findings: list[tuple[str, Finding]] = []
        for only in ([rule], []):  # some rules are about errors that other rules also find
            report = check(str(pair.broken), tier="values", rule=only)
            findings = findings or [
                (file.path, finding)
                for file in report.files
                for finding in file.findings
                if finding.rule == rule
            ]
        with TemporaryDirectory(prefix="pqassay-") as name, Places() as places:
            folder = Path(name)
            try:
                questions, reason = self.running.decode(table_questions, pair, findings, folder, size=SIZE)
            except (*ENDINGS, OSError) as error:
                questions, reason = [], f"the true rows are unknown: {ending(error)}"
            if not questions or not findings:
                self.reasons[pair.case, rule] = reason
                return None
            judged: dict[tuple[int, str], JudgedAnswer] = {}
            engines = sorted(self.engines[pair.kind], key=lambda engine: engine.starts_slowly)
            for engine in engines:
                numbers = _ranked(range(len(questions)), judged)[
                    : MOST_SLOW if engine.starts_slowly else None
                ]
                for number, answer in self._judged(engine, pair, questions, numbers, places).items():
                    judged[number, engine.process] = answer
            return _record(pair, rule, questions, judged, self.engines[pair.kind])

    def _judged(
        self,
        engine: Engine,
        pair: TablePair,
        questions: Sequence[Question],
        numbers: Sequence[int],
        places: Places,
    ) -> dict[int, JudgedAnswer]:
        def answers(
            asked: Mapping[int, tuple[Path, Query, Path]], control: int | None = None
        ) -> dict[int, ProofAnswer]:
            key = f"{pair.case} {control}"
            return answers_of(
                engine, self.running, key, asked, SIZE, lambda path: places.path_for(engine, path, pair.kind)
            )

        of_broken = answers(
            {number: (pair.broken, questions[number].query, questions[number].truth) for number in numbers}
        )
        judged = {number: JudgedAnswer(verdict_on(answer), answer) for number, answer in of_broken.items()}
        suspects = [
            number for number, answer in judged.items() if answer.verdict not in ("right", "not comparable")
        ]
        for control in range(2):
            again = {
                number: (path, questions[number].query, truth)
                for number in suspects
                if judged[number].verdict != "not comparable"
                for path, truth in [questions[number].controls[control]]
            }
            for number, answer in answers(again, control).items():
                if effect_of(answer) != "nothing":
                    error = answer.error or f"{answer.lost} rows lost, {answer.wrong} wrong"
                    kept = replace(answer, error=error)
                    judged[number] = JudgedAnswer("not comparable", kept)
        return judged


_WEIGHTS: Mapping[EngineVerdict, int] = {"rows lost": 100, "wrong rows": 100, "crashed": 1, "refused": 1}


def _ranked(numbers: Iterable[int], answers: Mapping[tuple[int, str], JudgedAnswer]) -> list[int]:
    """The numbers of the questions, the one that most engines answer wrongly first."""

    def damage(number: int) -> int:
        return sum(_WEIGHTS.get(one.verdict, 0) for (asked, _), one in answers.items() if asked == number)

    return sorted(numbers, key=damage, reverse=True)


def _record(
    pair: TablePair,
    rule: str,
    questions: Sequence[Question],
    judged: Mapping[tuple[int, str], JudgedAnswer],
    engines: Sequence[Engine],
) -> Json:
    """The stored record: the question that most engines answer wrongly, and the number of questions that harm each engine."""
    slow = [engine.process for engine in engines if engine.starts_slowly]
    everyone = [
        number for number in range(len(questions)) if all((number, name) in judged for name in slow)
    ] or range(len(questions))
    best = _ranked(everyone, judged)[0]
    with pa.OSFile(str(questions[best].truth), "rb") as file:
        true_rows = number_of(pa.ipc.open_file(file).read_all())
    answers: list[Json] = []
    for engine in engines:
        mine = [chosen for (_, name), chosen in judged.items() if name == engine.process]
        if (best, engine.process) not in judged:
            continue
        chosen = judged[best, engine.process]
        answer: Json = {"engine": engine.title, "version": engine.version, "verdict": chosen.verdict}
        if not chosen.answer.error:
            answer["rows"] = chosen.answer.rows
        answer |= {name: value for name in ("lost", "wrong") if (value := getattr(chosen.answer, name)) and not chosen.answer.error}  # fmt: skip
        if chosen.answer.error and chosen.verdict != "right":
            answer["error"] = chosen.answer.error[:MOST_SAID]
        seen = [found for found in (chosen.seen for chosen in mine) if found is not None]
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
    rows = [_answers_of(name, pairs) for name, pairs in tallies.items()]
    found = tuple(row for row in rows if row is not None)
    return Observation(date, cases, found, "" if found else reason or NO_CONTROL)


def _answers_of(name: str, pairs: Sequence[tuple[str, Json]]) -> EngineAnswers | None:
    asked = sum(answer["asked"] for _, answer in pairs)
    if not asked:
        return None
    version = pairs[0][1]["version"]
    for effect in HARM:
        cases = [case for case, answer in pairs if effect in answer["seen"]]
        if cases:
            count = sum(answer["seen"].get(effect, 0) for _, answer in pairs)
            return EngineAnswers(name, version, effect, count, asked, cases[0])
    return EngineAnswers(name, version, "nothing", asked, asked)
