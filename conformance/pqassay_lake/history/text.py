"""Views of a history as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pqassay.report.rules import compare_first
from pqassay_lake.history.views import HistoryView
from pqassay_spec.base.terminal import printable
from pqassay_spec.rules.catalogue import rules

WIDEST = 60
"""The number of characters of a name in a table."""

RULES = 6
"""The number of rules listed on the line of a group."""


def text_of(view: HistoryView) -> str:
    """The view as lines of text."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(view))


def _lines(view: HistoryView) -> Iterator[str]:
    if view.run is None:
        yield from _runs(view)
        return
    run = view.runs[0]
    partly = ", a part" if run.partial else ""
    known = f", {run.known:,} known" if run.known else ""
    known += f", {run.not_failing:,} NOT FAILING" if run.not_failing else ""
    yield (
        f"run {run.run} of {printable(run.scope) or 'listed files'}{partly}: {_count(run.files, 'file')}, "
        f"{run.nonconformant:,} nonconformant or untrue, {run.errored:,} errored; {_count(run.findings, 'finding')}, {run.new:,} new{known}"
    )
    if view.by is not None:
        yield ""
        yield from _groups(view)
        return
    for finding in view.findings:
        yield ""
        states = (("new", finding.new), ("known", finding.known), ("not failing", finding.not_failing))
        marks = [name for name, is_so in states if is_so]
        column = f", column {printable(finding.column)}" if finding.column is not None else ""
        state = f" ({', '.join(marks)})" if marks else ""
        yield f"{finding.verdict} {finding.rule} {printable(finding.path)}{column}{state}"
        label = (
            "rule "
            if finding.rule in rules() and finding.message == rules()[finding.rule].sentence
            else "found"
        )
        yield f"  {label}     {printable(finding.message)}"
        yield f"  could     {finding.could}"
        yield f"  since     {finding.first}"
        yield f"  writer    {printable(finding.writer)}"
        if finding.owner is not None:
            said = [
                f"{name} {printable(value)}"
                for name, value in (
                    ("commit", finding.commit),
                    ("user", finding.user),
                    ("query", finding.query),
                )
                if value and value != finding.owner
            ]
            more = f" ({', '.join(said)})" if said else ""
            yield f"  owner     {printable(finding.owner)}{more}"
        is_comparison = finding.rule in rules() and rules()[finding.rule].compares_values
        if first := compare_first(compares_values=is_comparison, remedy=finding.remedy):
            yield f"  first     {first}"
        if finding.remedy:
            yield f"  remedy    {printable(finding.remedy)}"
    if not view.findings:
        yield "nothing new" if view.only_new else "no findings"


def _runs(view: HistoryView) -> Iterator[str]:
    rows = [
        (
            run.run,
            f"{run.files:,}",
            f"{run.nonconformant:,}",
            f"{run.errored:,}",
            f"{run.findings:,}",
            f"{run.new:,}",
            f"{run.known:,}",
            f"{run.exit_code}{f' ({run.not_failing:,} NOT FAILING)' if run.not_failing else ''}",
            f"{printable(run.scope) or 'listed files'}{' (a part)' if run.partial else ''}",
        )
        for run in view.runs
    ]
    head = ("run", "files", "nonconformant", "errored", "findings", "new", "known", "exit", "scope")
    yield from _table(head, rows, {0, 8})


def _groups(view: HistoryView) -> Iterator[str]:
    if not view.groups:
        yield "nothing new" if view.only_new else "no findings"
        return
    has_judged = any(group.judged is not None for group in view.groups)
    rows: list[Sequence[str]] = []
    for group in view.groups:
        more = f" and {len(group.rules) - RULES} more" if len(group.rules) > RULES else ""
        of = [f"{group.judged:,}" if group.judged is not None else ""] if has_judged else []
        rules = [] if view.by == "rule" else [f"{' '.join(group.rules[:RULES])}{more}"]
        rows.append(
            [
                printable(group.name)[:WIDEST],
                f"{group.files:,}",
                *of,
                f"{group.findings:,}",
                f"{group.new:,}",
                f"{group.known:,}",
                group.first,
                *rules,
            ]
        )
    of = ["of"] if has_judged else []
    head = [
        str(view.by),
        "files",
        *of,
        "findings",
        "new",
        "known",
        "since",
        *([] if view.by == "rule" else ["rules"]),
    ]
    yield from _table(head, rows, {0, head.index("since"), len(head) - 1})


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], left: set[int]) -> Iterator[str]:
    """Yield the aligned rows of a table, numbers to the right."""
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    for row in (head, *rows):
        yield "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
