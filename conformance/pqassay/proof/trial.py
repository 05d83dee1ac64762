"""Rows at stake: the effect of a report's findings on readers of the files, shown by queries.

For each finding that costs rows, queries are made of the values that its false claim hides, and tried on the engines that are installed
here. The true rows come from the pages. An engine's answer counts only if it answers the same query on a healthy copy correctly. Otherwise,
its mistake is not caused by the file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, cast

from pqassay.judge import workers
from pqassay.proof.engine_processes import (
    ENDINGS,
    NOT_ASKED,
    Asked,
    EngineProcesses,
    ending,
)
from pqassay.proof.engines import COPY, PLAIN_PATH, Engine, Unwritable, command, python_line, require_engines
from pqassay.proof.table_proof import proof_of
from pqassay.proof.worker import Planned, ProofAnswer, QueryPlan
from pqassay.report.model import EngineAnswer, EngineVerdict, FileReport, Finding, Proof, Report
from pqassay.report.order import gravity_of
from pqassay.stores.formats import formats
from pqassay.stores.table_files import TableAt, table_around
from pqassay.stores.targets import is_uri
from pqassay_spec.base.installing import install
from pqassay_spec.base.terminal import shell_line
from pqassay_spec.rules.catalogue import DEFAULT_FILE, Effect, family_of
from pqassay_spec.table.layout import TableKind

AT_STAKE: tuple[Effect, ...] = ("rows lost", "wrong rows", "read fails")
"""Effects that a query can show."""

MOST_PROOFS = 20
"""The number of findings of a run that are proved; each takes a few seconds."""


WORKERS = 2
"""The number of processes that share the memory: an engine and a decoder."""


Judged = tuple[EngineAnswer, tuple[Any, ...] | None]
"""An answer, and its first false row, if any."""


def proved(
    report: Report,
    *,
    engines: Sequence[str] = (),
    spark_packages: str = "",
    timeout: float | None = None,
    memory: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Add proofs of their effect on readers to the findings of a report.

    Args:
        report: The report; its paths must still be valid.
        engines: Names of engines, `pqassay.proof.engines.NAMES`; all by default.
        spark_packages: Packages with which Spark reads tables, as in its ``--packages``; without them, it is
            only asked about files.
        timeout: Seconds per query; the default is that of `pqassay.judge.workers.WorkerLimits`.
        memory: Bytes that a process may allocate, on Linux; by default its share of the machine.
        progress: Called with the number of proved findings and the total.

    Returns:
        The report, with a `Proof` in each finding whose rule could do one of `AT_STAKE`.

    Raises:
        UsageError: An engine is unknown, or the memory is too little.
    """
    chosen = require_engines(engines)
    of_tables: dict[TableKind, Sequence[Engine]] = {
        one.kind: [
            engine
            for engine in proof_of(one.kind).engines(spark_packages)
            if not engines or engine.name in engines
        ]
        for one in formats().values()
    }
    workers.require_memory(memory)
    by_file = _chosen(report)
    done, total = 0, sum(map(len, by_file.values()))
    progress = progress or (lambda _done, _total: None)
    progress(done, total)
    files: list[FileReport] = []
    with EngineProcesses(chosen, workers.WorkerLimits(WORKERS, timeout, memory)) as running:
        for number, file in enumerate(report.files):
            mine = by_file.get(number, [])
            proofs = _reasons(file, mine)
            if open_ := [place for place in mine if place not in proofs]:
                told = [place for place in open_ if is_about_tables(file.findings[place].rule)]
                alone = [place for place in open_ if place not in told]
                found = _proofs(file, [file.findings[place] for place in alone], running, chosen)
                found += _told(file, [file.findings[place] for place in told], running, of_tables)
                for place, proof in zip([*alone, *told], found, strict=True):
                    proofs[place] = proof
                    done += 1
                    progress(done, total)
            findings = [
                replace(finding, proof=proofs.get(place)) for place, finding in enumerate(file.findings)
            ]
            files.append(replace(file, findings=findings))
    return replace(report, files=files)


def _chosen(report: Report) -> dict[int, list[int]]:
    """The findings to prove, by the position of their file: the most severe of the whole report."""
    weighed = [
        (gravity_of(finding), number, place)
        for number, file in enumerate(report.files)
        for place, finding in enumerate(file.findings)
        if finding.could in AT_STAKE and not finding.known
    ]
    chosen: dict[int, list[int]] = {}
    for _, number, place in sorted(weighed)[:MOST_PROOFS]:
        chosen.setdefault(number, []).append(place)
    return {number: sorted(places) for number, places in chosen.items()}


def _reasons(file: FileReport, chosen: Sequence[int]) -> dict[int, Proof]:
    """Proofs without queries, for findings that cost rows but cannot be queried for reasons known from the report."""
    proofs: dict[int, Proof] = {}
    for place, finding in enumerate(file.findings):
        if finding.could not in AT_STAKE or finding.known:
            continue
        if is_uri(file.path):
            reason = "queries are tried on local files only; check a copy of this one"
        elif file.kind not in (DEFAULT_FILE, *formats()):
            reason = f"no engine reads files of kind {file.kind}"
        elif not os.path.exists(file.path):  # noqa: PTH110 - the text that the user wrote
            reason = "there is no such file to query"
        elif place not in chosen:
            reason = (
                f"not tried: only the {MOST_PROOFS} most severe findings of a run are; check this file alone"
            )
        else:
            continue
        proofs[place] = Proof("not provable", reason=reason)
    return proofs


# ------------------------------------------------------------------------------------------------- one file


def is_about_tables(rule: str) -> bool:
    """Whether a rule is about tables, or their claims about files."""
    return family_of(rule).is_about_tables


def _proofs(
    file: FileReport,
    findings: Sequence[Finding],
    running: EngineProcesses,
    engines: Sequence[Engine],
    table: TableAt | None = None,
) -> list[Proof]:
    """A proof for each finding about a local file, or about the claims of the table around it."""
    if not findings:
        return []
    with tempfile.TemporaryDirectory(prefix="pqassay-") as name, Places() as places:
        folder = Path(name)
        try:
            if table:
                planned: QueryPlan = running.decode(
                    proof_of(table.kind).plan, table, file.path, findings, folder, size=file.size
                )
            else:
                planned = running.plan(file.path, findings, folder, file.size)
        except (*ENDINGS, OSError) as error:
            reason = f"the true rows are unknown: {ending(error)}"
            return [Proof("not provable", reason=reason) for _ in findings]
        about = ("", "") if table is None else (table.path, table.kind)
        trial = _Trial(file, planned.queries, folder, running, engines, places, *about)
        return [
            Proof("not provable", reason=found) if isinstance(found, str) else trial.proof(found)
            for found in planned.of_findings
        ]


def _told(
    file: FileReport,
    findings: Sequence[Finding],
    running: EngineProcesses,
    engines: Mapping[TableKind, Sequence[Engine]],
) -> list[Proof]:
    """A proof for each finding about a table's claims about a local file."""
    table = None
    if findings:
        is_table = file.kind in formats()
        table = TableAt(cast("TableKind", file.kind), file.path, file.path) if is_table else table_around(file.path)  # fmt: skip
    mine: Sequence[Engine] = () if table is None else engines[table.kind]
    if mine:
        return _proofs(file, findings, running, mine, table)
    reason = "the file is not inside its table" if table is None else "no engine can read such tables"
    return [Proof("not provable", reason=reason) for _ in findings]


@dataclass
class Places:
    """The places where engines find tables: the original places, or copies that exist while this is open."""

    _stack: ExitStack = field(default_factory=ExitStack)
    _copies: dict[str, str] = field(default_factory=dict[str, str])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def path_for(self, engine: Engine, table: str, kind: str) -> str:
        """The folder of a table that an engine can open. Raises `Unwritable`."""
        if not engine.needs_its_paths or (copy := proof_of(kind).copy(table)) is None:
            return table
        if table not in self._copies:
            self._copies[table] = self._stack.enter_context(copy.made())
        return self._copies[table]


@dataclass
class _Trial:
    """The queries of one file, or of the table around it, and the engines' answers; each query is asked once."""

    file: FileReport
    queries: Sequence[Planned]
    folder: Path
    running: EngineProcesses
    engines: Sequence[Engine]
    places: Places
    table: str = ""
    kind: str = ""
    _answers: dict[tuple[int, str], EngineAnswer] = field(default_factory=dict[tuple[int, str], EngineAnswer])

    def __post_init__(self) -> None:
        self._shown = self._path = self.table or self.file.path
        if not self.table and not PLAIN_PATH.fullmatch(self._path):
            self._shown = COPY
            self._path = str(self.folder / COPY)
            shutil.copyfile(self.file.path, self._path)

    def proof(self, numbers: Sequence[int]) -> Proof:
        """The proof from the query that most engines answer wrongly."""
        engines = self.engines
        for engine in engines:
            if not engine.starts_slowly:
                self._try(engine, range(len(self.queries)))
        ranked = self._ranked(numbers)
        for engine in engines:
            if engine.starts_slowly:
                self._try_until_misled(engine, ranked)
                ranked = self._ranked(numbers)
                self._try(engine, ranked[:1])
        best = ranked[0]
        answers = [self._answers[best, engine.name] for engine in engines]
        if all(one.verdict == "not installed" for one in answers):
            return Proof(
                "not provable",
                reason=f"no engine is installed here; {install('engines')} brings some",
                engines=answers,
            )
        query = self.queries[best].query
        most = max((_RANKS.get(one.verdict, 0) for one in answers), default=0)
        return Proof(
            outcome="misled" if most == 2 else "refused" if most == 1 else "not misled",
            tried=len(numbers),
            query=query.sql_from("t") if self.table else query.sql,
            columns=[column.name for column in query.columns],
            predicate=query.tree,
            true_rows=self.queries[best].rows,
            engines=answers,
        )

    def _ranked(self, numbers: Sequence[int]) -> list[int]:
        """The numbers of the queries, the most severe answers first."""

        def damage(number: int) -> tuple[int, int, int]:
            found = [answer for (asked, _), answer in self._answers.items() if asked == number]
            ranks = [_RANKS.get(answer.verdict, 0) for answer in found]
            return ranks.count(2), ranks.count(1), max((one.lost + one.wrong for one in found), default=0)

        return sorted(numbers, key=damage, reverse=True)

    def _try_until_misled(self, engine: Engine, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._try(engine, [number])
            if _RANKS.get(self._answers[number, engine.name].verdict) == 2:
                return

    def _try(self, engine: Engine, numbers: Iterable[int]) -> None:
        """Let an engine answer the queries that it was not asked before."""
        asked: dict[int, Asked] = {}
        for number in numbers:
            planned = self.queries[number]
            if (number, engine.name) in self._answers:
                continue
            if (install := engine.how_to_install) is not None:
                self._answers[number, engine.name] = EngineAnswer(
                    engine.title, "not installed", error=install
                )
                continue
            try:
                asked[number] = engine.program(self._path_for(engine), planned.query), planned.truth
            except Unwritable as error:
                self._answers[number, engine.name] = _without(engine, "not comparable", str(error))
        if asked:
            self.running.start(engine, self._on_healthy(engine, next(iter(asked))))
        tried = self._run(engine, asked, self.file.path)
        suspects = [
            number
            for number, (answer, _) in tried.items()
            if answer.verdict != "right" and answer.error != NOT_ASKED
        ]
        # Under another name, since an engine that failed to answer about a file is not asked about it again.
        copies = {number: self._on_healthy(engine, number) for number in suspects}
        healthy = self._run(engine, copies, f"a healthy copy of {self.file.path}")
        for number, (answer, wrong_row) in tried.items():
            if number in healthy and healthy[number][0].verdict != "right":
                copy = healthy[number][0]
                why = copy.error or f"{copy.lost} rows lost, {copy.wrong} wrong"
                reason = f"a correct copy of the values has the same problem: {why}"
                self._answers[number, engine.name] = _without(engine, "not comparable", reason)
                continue
            self._answers[number, engine.name] = replace(
                answer, reproduce=self._line(engine, number, wrong_row)
            )

    def _path_for(self, engine: Engine) -> str:
        """The path that an engine reads. Raises `Unwritable`."""
        return self.places.path_for(engine, self._path, self.kind)

    def _line(self, engine: Engine, number: int, wrong_row: tuple[Any, ...] | None) -> str:
        """The shell line that asks an engine again."""
        query = self.queries[number].query
        path = self._path_for(engine)
        if path != self._path and (copy := proof_of(self.kind).copy(self.table)) is not None:
            # The copy has the table's metadata file, so the program can be written before the copy exists.
            shown = engine.program(path, query).replace(path, copy.place)
            line = python_line(engine, shown, wrong_row, is_count=query.is_count)
            return f"{shell_line(copy.command)} && {line}"
        shown = engine.program(self._shown, query)
        if self.table:
            return python_line(engine, shown, wrong_row, is_count=query.is_count)
        return command(self.file.path, engine, shown, wrong_row)

    def _on_healthy(self, engine: Engine, number: int) -> Asked:
        planned = self.queries[number]
        return engine.program(str(planned.healthy), planned.query), planned.truth

    def _run(self, engine: Engine, asked: Mapping[int, Asked], name: str) -> dict[int, Judged]:
        """The judged answers of an engine to some queries of a file."""
        if not asked:
            return {}
        found = self.running.ask(engine, name, list(asked.values()), self.file.size)
        return {number: _judged(engine, answer) for number, answer in zip(asked, found, strict=True)}


def _without(engine: Engine, verdict: EngineVerdict, reason: str) -> EngineAnswer:
    return EngineAnswer(engine.title, verdict, engine.version, error=reason)


def verdict_on(answered: ProofAnswer) -> EngineVerdict:
    """The engine verdict that an answer implies."""
    if answered.is_incomparable or answered.error == NOT_ASKED:
        return "not comparable"
    if answered.error:
        return "crashed" if answered.has_panicked else "refused"
    return "wrong rows" if answered.wrong else "rows lost" if answered.lost else "right"


def _judged(engine: Engine, answered: ProofAnswer) -> Judged:
    verdict = verdict_on(answered)
    if answered.is_incomparable or answered.error:
        return _without(engine, verdict, answered.error), None
    found = EngineAnswer(engine.title, verdict, engine.version, answered.rows, answered.lost, answered.wrong)
    return found, answered.wrong_row


_RANKS: Mapping[str, int] = {"rows lost": 2, "wrong rows": 2, "crashed": 1, "refused": 1}
"""Ranks of verdicts: wrong rows, which go unnoticed, come before errors."""
