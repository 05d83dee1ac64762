"""A report as text for a terminal or a log.

A finding shows the problem, its effect and the remedy, with its first bytes; a file takes at most 25 lines. Further findings of a rule take
one line, and many files a table. A verbose report has every finding of the files that it names, with all details. Color appears on a
terminal only.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TextIO, TypeVar

from rich.console import Console

from pqassay.report.baseline_state import BaselineState
from pqassay.report.json_form import encodable
from pqassay.report.model import UNJUDGED, FileReport, Finding, Report
from pqassay.report.order import gravest_first, gravity_of, is_harmful, observed_effect
from pqassay.report.renderers.coverage_text import REASONS_SHOWN, coverage_lines, reasons
from pqassay.report.renderers.details import details, gist, gist_of_bytes, is_column_named
from pqassay.report.renderers.line import Part, counted, labelled, plain_console, write_line
from pqassay.report.renderers.proof_text import proof_rows, says_the_same
from pqassay.report.rules import judged_against_line, newer
from pqassay_spec.base.terminal import printable
from pqassay_spec.grammar.hexdump import is_line_of_marks
from pqassay_spec.rules.catalogue import DEFAULT_FILE, VERDICTS, rules

Key = TypeVar("Key", bound=Hashable)

Group = list[tuple[Finding, FileReport]]
"""Findings with something in common, each with its file."""

COLOURS = {
    "FAIL": "bold red",
    "WARN": "yellow",
    "POLICY": "cyan",
    "INFO": "blue",
    "conformant": "bold green",
    "conformant where checked": "bold yellow",
    "untrue": "bold red",
    "nonconformant": "bold red",
    "errored": "bold magenta",
    "gone": "dim",
}
NAMED_CONFORMANT = 10
"""The number of files up to which each conformant file has its own line."""

NAMED_FILES = 20
"""The number of files with findings that have their own block; the others are in the tables."""

FILE_LINES = 20
"""The number of lines of one file; the rest of 25 is for the lines after the files."""

LINES_PER_FILE = 8
"""The number of findings of one file with their own line; the others are counted."""

NOTES_SHOWN, REASONS_IN_ROOM = 3, 2
"""The number of notes of a file, and of reasons for untested rules, that are shown even if findings need the room."""

TABLE_ROWS = 20
"""The number of rows of a table; the others are counted."""

UNKNOWN_WRITER = "(the footer does not say)"

WRITER_LENGTH = 40
"""The width of a writer's name in a table with other columns."""

STALE_SHOWN = 10
"""The number of stale baseline entries that are listed."""


def render(
    report: Report,
    stream: TextIO | None = None,
    *,
    notes: Iterable[str] = (),
    files_named: int | None = None,
    verbose: bool = False,
) -> None:
    """Write the report.

    Args:
        report: The report.
        stream: The output stream; by default stdout.
        notes: Additional notes, a line each.
        files_named: The number of files with findings up to which each has its own block. With more files, there are only tables of findings by rule and writer. By default, the first `NAMED_FILES` files have a block.
        verbose: Whether every finding of these files is shown, with all details.
    """
    _Text(plain_console(stream or sys.stdout), report, tuple(notes), verbose=verbose).write(files_named)


class _Text:
    """The text of one report, written to a console."""

    def __init__(
        self, console: Console, report: Report, notes: Sequence[str] = (), *, verbose: bool = False
    ) -> None:
        self._console = console
        self._report = report
        self._notes = notes
        self._verbose = verbose
        self._in_full: dict[str, None] = {}
        self._is_short = False

    def write(self, files_named: int | None) -> None:
        """Write files, tables, counts."""
        if files_named is not None and sum(not _is_quiet(file) for file in self._report.files) > files_named:
            self._triage()
        else:
            self._files()
        self._summary()
        for note in self._notes:
            self._line(note)
        if self._report.not_failing:
            self._line((self._report.not_failing, "bold yellow"))

    def _files(self) -> None:
        named = 0
        for file in gravest_first(self._report.files):
            if _is_quiet(file):
                if len(self._report.files) <= NAMED_CONFORMANT:
                    self._file(file)
            elif named < NAMED_FILES:
                named += 1
                self._file(file)
        loud = sum(not _is_quiet(file) for file in self._report.files)
        if loud > named:
            self._line(f"… and {counted(loud - named, 'further file')} with findings or errors")
            self._is_short = True
        if self._is_short and len(self._report.files) > 1:
            self._tables()

    def _grouped(self, key: Callable[[Finding, FileReport], Key]) -> list[tuple[Key, Group]]:
        """The findings that are not known, grouped by a key: the most severe first, then the most frequent."""
        groups: dict[Key, Group] = {}
        for file in gravest_first(self._report.files):
            for finding in file.findings:
                if not finding.known:
                    groups.setdefault(key(finding, file), []).append((finding, file))

        def severity(item: tuple[Key, Group]) -> tuple[Any, ...]:
            group_key, group = item
            first = group[0][0]
            return gravity_of(first), -len(group), first.rule, group_key

        return sorted(groups.items(), key=severity)

    def _triage(self) -> None:
        """Write tables of findings by rule and writer, and of reasons for unjudged files: an overview of very many files."""
        rows = [
            (
                rule,
                group[0][0].verdict,
                group[0][0].could,
                observed_effect(group[0][0]),
                f"{len({file.path for _, file in group}):,}",
                f"{len(group):,}",
                _shortened_text(writer),
                group[0][1].path,
            )
            for (rule, writer), group in self._grouped(lambda finding, file: (finding.rule, _writer(file)))
        ]
        self._table(
            ("rule", "verdict", "could", "observed", "files", "findings", "created by", "for example"), rows
        )
        self._errors()
        self._console.print()
        self._line("pqassay check shows one of these files in full; --format json has every finding")

    def _errors(self) -> None:
        errors = Counter(file.error or "" for file in self._report.files if file.outcome in UNJUDGED)
        self._table(
            ("files", "not judged, since"), [(f"{count:,}", why) for why, count in errors.most_common()]
        )

    def _line(self, *parts: tuple[str, str] | str) -> None:
        write_line(self._console, *parts)

    def _file(self, file: FileReport) -> None:
        harmful = file.outcome == "conformant" and is_harmful(file.findings)
        colour = COLOURS["conformant where checked" if harmful else file.outcome]
        self._line((file.path, "bold"), ": ", (file.outcome, colour), _verdicts(file))
        if file.error:
            self._line(f"  not judged: {file.error}")
        notes = file.notes if self._verbose else file.notes[:NOTES_SHOWN]
        for note in notes:
            self._line(f"  note: {note}")
        if len(notes) < len(file.notes):
            self._line(f"  … and {counted(len(file.notes) - len(notes), 'further note')}")
        for gap in file.gaps:
            self._line(*([("  known", "dim"), ": "] if gap.known else ["  "]), gap.line)
        whys = reasons(self._report, verbose=self._verbose) if len(self._report.files) == 1 else []
        beyond = max(0, min(len(whys), REASONS_SHOWN + 1) - REASONS_IN_ROOM)
        self._findings(file, FILE_LINES - 1 - len(notes) - len(file.gaps) - beyond)

    def _findings(self, file: FileReport, room: int) -> None:
        """Write the findings of a file, the most severe first: in full while there is room, then one line each, then a count."""
        findings = sorted(file.findings, key=lambda each: (each.known, _proved(each), gravity_of(each)))
        full: list[Finding] = []
        short: list[Finding] = []
        for number, finding in enumerate(findings):
            is_news = finding.verdict != "INFO" and finding.rule not in self._in_full
            if finding.known or not (self._verbose or is_news):
                short.append(finding)
                continue
            block = self._block(finding, full)
            needed = len(block) + 1 + len(short) + min(len(findings) - number - 1, LINES_PER_FILE)
            if not (self._verbose or number == 0 or needed < room):
                short.append(finding)
                continue
            self._in_full[finding.rule] = None
            self._console.print()
            for line in block:
                self._line(*line)
            full.append(finding)
            room -= len(block) + 1
        if full:
            self._console.print()
        shown = short[: max(1, min(LINES_PER_FILE, room - 2))]
        for finding in shown:
            self._short_finding(finding)
        if rest := Counter(finding.rule for finding in short[len(shown) :]):
            rules_left = ", ".join(f"{count:,} {rule}" for rule, count in rest.most_common(LINES_PER_FILE))
            self._line(f"  … and {counted(rest.total(), 'further finding')}: {rules_left}")
            self._is_short = True
        if full and short:
            self._console.print()

    def _block(self, finding: Finding, before: Iterable[Finding]) -> list[Sequence[Part]]:
        """The lines of a finding in full; a proof that an earlier finding of the file also has takes one line."""
        rule = rules().get(finding.rule)
        block: list[Sequence[Part]] = [
            ((f"  {finding.verdict}", COLOURS[finding.verdict]), (f" {finding.rule}", "bold"), finding.times)
        ]
        if rule is not None:
            block.append((f"    {rule.sentence}",))
        for label, value in details(finding) if self._verbose else gist(finding):
            # A proof on this file comes before possible effects of the rule.
            if label == "could" and finding.proof is not None:
                same = (one.rule for one in before if one.proof and says_the_same(finding.proof, one.proof))
                block += proof_rows(finding.proof, shown_under=next(same, None), is_whole=self._verbose)
            block.append(labelled(label, value))
        if self._verbose and rule is not None:
            further = {"reading": rule.reading_for(finding.message), "newer": newer(rule)}
            block += [labelled(label, value) for label, value in further.items() if value]
        shown = [] if finding.proof is not None else gist_of_bytes(finding.hexdump)
        for line in finding.hexdump if self._verbose else shown:
            block.append(((f"    {line}", "red" if is_line_of_marks(line) else ""),))
        return block

    def _short_finding(self, finding: Finding) -> None:
        known = (" known", "dim") if finding.known else ""
        column = "" if is_column_named(finding) else f", column {finding.column}"
        self._line(
            (f"  {finding.verdict}", COLOURS[finding.verdict]),
            f" {finding.rule}",
            known,
            f"{finding.times}, could: {finding.could}{column}: {finding.message}",
        )

    def _tables(self) -> None:
        by_rule = self._grouped(lambda finding, _: finding.rule)
        rows = [
            (
                rule,
                group[0][0].verdict,
                group[0][0].could,
                observed_effect(group[0][0]),
                f"{len(group):,}",
                f"{len({file.path for _, file in group}):,}",
                group[0][1].path,
            )
            for rule, group in by_rule
        ]
        self._table(("rule", "verdict", "could", "observed", "findings", "files", "first in"), rows)
        writers = Counter(
            (rule, file)
            for rule, group in by_rule
            for file in (_writer(file) for file in {file.path: file for _, file in group}.values())
        )
        by_writer = [
            (rule, f"{count:,}", writer)
            for (rule, writer), count in sorted(writers.items(), key=lambda item: (-item[1], item[0]))
        ]
        self._table(("rule", "files", "created by"), by_writer)
        self._errors()
        self._console.print()
        self._line("--format json has every finding")

    def _table(self, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        if not rows:
            return
        shown = [tuple(printable(cell) for cell in row) for row in rows[:TABLE_ROWS]]
        widths = [max(len(row[column]) for row in (header, *shown)) for column in range(len(header) - 1)]
        self._console.print()
        for row in (header, *shown):
            cells = [
                cell.rjust(width)
                if cell.replace(",", "").isdigit() or name in ("files", "findings")
                else cell.ljust(width)
                for cell, width, name in zip(row[:-1], widths, header, strict=False)
            ]
            self._line(("  ".join([*cells, row[-1]]), "bold" if row is header else ""))
        if len(rows) > TABLE_ROWS:
            self._line(f"… and {counted(len(rows) - TABLE_ROWS, 'further row')}")

    def _summary(self) -> None:
        summary = self._report.summary
        if summary.files > 1:
            known = f"; {counted(summary.known, 'known finding')}" if summary.known else ""
            partly = summary.conformant_where_checked
            self._line(
                f"{summary.files:,} files: {summary.conformant:,} conformant, "
                + (f"{partly:,} conformant where checked, " if partly else "")
                + f"{summary.broken_words}, {summary.errored:,} errored"
                + (f", {summary.gone:,} gone" if summary.gone else "")
                + known
            )
        if summary.throttled:
            self._line(f"throttled: {counted(summary.throttled, 'request')}, made again")
        if self._report.profile is not None:
            self._line(f"profile {self._report.profile}: some rules have a higher severity")
        for entry in self._report.ignored:
            example = f", for example {entry.examples[0]}" if entry.count > 1 else f": {entry.examples[0]}"
            self._line(f"ignored: {entry.count:,} ({entry.reason}){example}")
        if self._report.baseline is not None:
            self._baseline(self._report.baseline)
        for line in coverage_lines(self._report, verbose=self._verbose):
            self._line(line)
        if self._verbose and (against := judged_against_line(self._report.judged_against)):
            self._line(f"judged against {against}")
        if self._in_full and not self._verbose:
            self._line(
                f"more: `pqassay explain {next(iter(self._in_full))}` explains the rule; `-v` shows every detail"
            )
        self._gaps()
        self._gate()
        for line in [] if self._report.sample is None else self._report.sample.lines:
            self._line(line)

    def _gate(self) -> None:
        """Write which result the exit code reports, if there are several."""
        report, summary = self._report, self._report.summary
        if report.gate is not None:
            colour = "green" if report.gate.passed else "red"
            self._line(("gate", colour), f" {report.gate.line}")
        if report.exit_code > 1 and summary.broken:
            self._line(
                f"besides exit code {report.exit_code}: {summary.broken_words}"
                + (f", {summary.errored:,} could not be judged" if summary.errored else "")
            )

    def _gaps(self) -> None:
        """Write the gaps last, since untested parts are easily mistaken for good ones."""
        files = [file for file in self._report.files if file.outcome == "conformant where checked"]
        if not files:
            return
        gap = next(gap for gap in files[0].gaps if not gap.known)
        where = f"{files[0].path}: " if len(self._report.files) > 1 else ""
        if len(files) > 1:
            where = f"{counted(len(files), 'file')}, for example {where}"
        hint = "" if self._report.complete else "; --complete fails on that"
        self._line(
            ("conformant where checked", COLOURS["conformant where checked"]), f": {where}{gap.line}{hint}"
        )

    def _baseline(self, state: BaselineState) -> None:
        self._line(f"baseline {state.line}")
        for entry in state.stale[:STALE_SHOWN]:
            self._line(("  stale", "yellow"), f" {entry.line}")
        if len(state.stale) > STALE_SHOWN:
            self._line(
                f"  … and {counted(len(state.stale) - STALE_SHOWN, 'further entry', 'further entries')}"
            )
        if state.stale:
            self._line(
                f"  `pqassay baseline --baseline {state.path} --output {state.path}` removes what is stale"
            )


def _proved(finding: Finding) -> int:
    """A rank for proofs: wrong rows before refusals, and both before all else."""
    return {"misled": 0, "refused": 1}.get(finding.proof.outcome, 2) if finding.proof else 2


def _is_quiet(file: FileReport) -> bool:
    """Whether a file needs no line of its own among many: it has no findings, or only known ones."""
    return file.outcome == "conformant" and all(finding.known for finding in file.findings)


def _shortened_text(text: str) -> str:
    return text if len(text) <= WRITER_LENGTH else f"{text[: WRITER_LENGTH - 1]}…"


def _writer(file: FileReport) -> str:
    return encodable(file.created_by or "") or (
        UNKNOWN_WRITER if file.kind == DEFAULT_FILE else f"({file.kind} files do not say)"
    )


def _verdicts(file: FileReport) -> str:
    new = Counter(finding.verdict for finding in file.findings if not finding.known)
    parts = [f"{new[verdict]} {verdict}" for verdict in VERDICTS if new[verdict]]
    if known := sum(finding.known for finding in file.findings):
        parts.append(f"{known} known")
    return f" ({', '.join(parts)})" if parts else ""
