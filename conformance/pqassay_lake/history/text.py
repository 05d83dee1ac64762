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
    for one in view.findings:
        yield ""
        states = (("new", one.new), ("known", one.known), ("not failing", one.not_failing))
        marks = [name for name, is_so in states if is_so]
        column = f", column {printable(one.column)}" if one.column is not None else ""
        state = f" ({', '.join(marks)})" if marks else ""
        yield f"{one.verdict} {one.rule} {printable(one.path)}{column}{state}"
        label = "rule " if one.rule in rules() and one.message == rules()[one.rule].sentence else "found"
        yield f"  {label}     {printable(one.message)}"
        yield f"  could     {one.could}"
        yield f"  since     {one.first}"
        yield f"  writer    {printable(one.writer)}"
        if one.owner is not None:
            said = [
                f"{name} {printable(value)}"
                for name, value in (("commit", one.commit), ("user", one.user), ("query", one.query))
                if value and value != one.owner
            ]
            more = f" ({', '.join(said)})" if said else ""
            yield f"  owner     {printable(one.owner)}{more}"
        is_comparison = one.rule in rules() and rules()[one.rule].compares_values
        if first := compare_first(compares_values=is_comparison, remedy=one.remedy):
            yield f"  first     {first}"
        if one.remedy:
            yield f"  remedy    {printable(one.remedy)}"
    if not view.findings:
        yield "nothing new" if view.only_new else "no findings"


def _runs(view: HistoryView) -> Iterator[str]:
    rows = [
        (
            one.run,
            f"{one.files:,}",
            f"{one.nonconformant:,}",
            f"{one.errored:,}",
            f"{one.findings:,}",
            f"{one.new:,}",
            f"{one.known:,}",
            f"{one.exit_code}{f' ({one.not_failing:,} NOT FAILING)' if one.not_failing else ''}",
            f"{printable(one.scope) or 'listed files'}{' (a part)' if one.partial else ''}",
        )
        for one in view.runs
    ]
    head = ("run", "files", "nonconformant", "errored", "findings", "new", "known", "exit", "scope")
    yield from _table(head, rows, {0, 8})


def _groups(view: HistoryView) -> Iterator[str]:
    if not view.groups:
        yield "nothing new" if view.only_new else "no findings"
        return
    has_judged = any(one.judged is not None for one in view.groups)
    rows: list[Sequence[str]] = []
    for one in view.groups:
        more = f" and {len(one.rules) - RULES} more" if len(one.rules) > RULES else ""
        of = [f"{one.judged:,}" if one.judged is not None else ""] if has_judged else []
        rules = [] if view.by == "rule" else [f"{' '.join(one.rules[:RULES])}{more}"]
        rows.append(
            [
                printable(one.name)[:WIDEST],
                f"{one.files:,}",
                *of,
                f"{one.findings:,}",
                f"{one.new:,}",
                f"{one.known:,}",
                one.first,
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
