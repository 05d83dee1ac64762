"""Generated parts of the page on implementations, made of the results that ``make matrix`` keeps.

    <!-- results: overview -->      each implementation and version: what was asked, passed, and wrong, by what was observed
    <!-- results: lies -->          what each made of well-formed lies, one row for each file that cost somebody rows
    <!-- results: exchange -->      files of each writer, read by each reader
    <!-- results: not-asked -->     what each was not asked, since its driver does not declare it

Every part works with any number of results, none included.  The tables about single files show the newest version of each
implementation, the overview all of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from kept_results import Kept, Reading, Trouble

from pages.implementations.answers import MEANINGS, SIGNS
from pages.implementations.results import Results
from pages.markup import Link, case_link, literal, rule_link, table
from pages.page import shared_site
from pqassay.report.run.model import SEVERITIES, UNMET, Result
from pqassay.report.run.model import WRITING as WRITERS_DO
from pqassay_spec.rules import catalogue
from pqassay_suite.cases.case import GoldenCase

NOBODY = "No results are kept yet; `make matrix` asks the implementations that are built."

DIGITS = 12
"""Digits of a digest that are shown."""

CASES_SHOWN = 4
"""Cases of one cause that are named."""

OF_LIES = ("right", "rows lost", "wrong rows", "refused", "crashed", "unsupported", "not asked")
"""What a reader can make of a lie."""


def lines(part: str, link: Link) -> Iterator[str]:
    """Yield the Markdown lines of a part of the page.

    Raises:
        KeyError: There is no such part.
        UsageError: A file among the results is not a result.
    """
    results = shared_site().results
    yield from PARTS[part](results, link)


# ------------------------------------------------------------------------------------------------- overview


def overview(results: Results, link: Link) -> Iterator[str]:
    """Yield a row for each result, what its columns mean, and who has none."""
    if not results.kept:
        yield NOBODY
    else:
        heads = (
            "Implementation",
            "Version",
            "Passed",
            *map(str, OF_READERS),
            "Writing",
            "Otherwise",
            "Not asked",
        )
        rows = (_overview_row(one, results, link) for one in results.kept)
        yield from _in_matrix(table((*heads, "Golden files"), rows))
        yield from (
            "Columns with a number count wrong answers of readers by what was observed, the gravest first:",
            "",
        )
        yield from (f"{severity}. {what}" for severity, what in OF_READERS.items())
        yield from ("", OVERVIEW, "", _today(results), "")
    if missing := [name for name in results.wanted if name not in {one.name for one in results.kept}]:
        yield from ("", f"Without results so far: {', '.join(f'`{name}`' for name in missing)}.", "")


OF_READERS = {severity: what for severity, what in SEVERITIES.items() if severity != UNMET}
"""What is observed of readers."""

OVERVIEW = (
    "*Writing* counts files that were written wrongly or not at all. *Inherited* is what is equally wrong about the valid file that "
    "another one was made from, where it counts; *no credit* is a right answer about a damaged file if the driver is wrong about the "
    "valid one; *unsupported* is what the library says that it lacks. The last column says whether the golden files were those of today."
)
"""What the other columns of the overview mean."""


def _today(results: Results) -> str:
    golden = len(results.families)
    return (
        f"What is *submitted* was produced by others, is held to the schema and to the cases, and could not be repeated here. "
        f"Today's golden files, {golden:,} cases and {len(results.cases) - golden:,} tables to write, have the digest "
        f"`{results.digest[:DIGITS]}`. Answers about earlier ones remain until `make matrix` asks again."
    )


def _overview_row(one: Kept, results: Results, link: Link) -> Sequence[str]:
    report = one.report
    placed = Counter(map(_place, report.scored))
    others = [
        f"{count:,}&nbsp;{place}"
        for place, count in placed.items()
        if isinstance(place, str) and place != WRITING
    ]
    asked, passed = (sum(getattr(score, name) for score in report.own_scores) for name in ("asked", "passed"))
    foreign = sum(score.passed for score in report.past_foreign)
    source = link(f"data/results/{one.name}/{one.path.name}", "").removesuffix("#")
    called = report.driver.name if report.driver.name != one.name else None
    told = [called, report.driver.language, *map(" ".join, (report.tools or {}).items())]
    is_todays = report.golden_files_sha256 == results.digest
    by = report.scored_by
    revision = f"<br>revision {by.revision}" if by is not None else ""
    return (
        f"`{one.name}`<br><small>{literal(', '.join(filter(None, told)))}</small>",
        f"[{literal(one.version)}]({source})<br><small>{report.date or 'without a date'}{_submitted(one)}</small>",
        f"{passed:,} of&nbsp;{asked:,}{f'<br><small>and {foreign:,} past foreign bytes</small>' if foreign else ''}",
        *(f"{placed[severity]:,}" for severity in OF_READERS),
        f"{placed[WRITING]:,}",
        "<br>".join(others) or "0",
        f"{_not_asked(one):,}",
        f"{'those of today' if is_todays else 'earlier ones'}<br><small>`{report.golden_files_sha256[:DIGITS]}`{revision}</small>",
    )


def _submitted(one: Kept) -> str:
    """Where results come from that others produced; empty for those that were produced here."""
    mark = one.report.submitted
    if mark is None:
        return ""
    return (
        f"<br>**submitted** by {literal(mark.by)}, [from here]({mark.url}), taken {mark.date}, "
        f"SHA-256 of the file `{mark.sha256[:DIGITS]}`"
    )


WRITING = "writing"
"""What `_place` says about a writer's failure."""


def _place(result: Result) -> int | str:
    """The column in which a result counts that did not pass: a severity, `WRITING`, or the outcome in words."""
    if result.is_good or result.severity is None:
        return result.outcome
    return WRITING if result.operation in WRITERS_DO else result.severity


# ------------------------------------------------------------------------------------------- well-formed lies


def lies(results: Results, link: Link) -> Iterator[str]:
    """Yield what the signs mean, how often each was given, and a row for each lie that cost somebody rows."""
    if not results.kept:
        yield NOBODY
        return
    yield from table(("Sign", "Answer", "Meaning"), ((_sign(name), name, MEANINGS[name]) for name in OF_LIES))
    counts = {
        one.name: Counter(results.verdict(one.name, lie.case.id) for lie in results.lies)
        for one in results.newest
    }
    heads = ("Implementation", *(f"{_sign(name)} {name}" for name in OF_LIES))
    rows = ((f"`{one}`", *(f"{told[name]:,}" for name in OF_LIES)) for one, told in counts.items())
    yield from _in_matrix(table(heads, rows))
    shown = [lie for lie in results.lies if results.costs_rows(lie.case.id)]
    told = (
        f"{len(shown):,} of the {len(results.lies):,} files that tell a well-formed lie cost at least one implementation rows, or give it "
        "wrong ones. These have a row. Point at a sign to see the query and what came of it."
    )
    yield from (told, "")
    for family in catalogue.families():
        if mine := [lie for lie in shown if lie.case.family == family.prefix]:
            yield from (f"### {family.title}", "")
            yield from _in_matrix(
                table(_heads("Rule that is broken, and file", results), _lie_rows(mine, results, link)),
                "upright",
            )


def _lie_rows(mine: Sequence[GoldenCase], results: Results, link: Link) -> Iterator[Sequence[str]]:
    """The lies of one family by rule: a row with its sentence, or with several ids, then one for each file."""
    groups: dict[tuple[str, ...], list[GoldenCase]] = {}
    for lie in mine:
        groups.setdefault(tuple(lie.case.rules), []).append(lie)
    for rules, group in sorted(groups.items()):
        sentence = f" {catalogue.rules()[rules[0]].sentence}" if len(rules) == 1 else ""
        linked = f"**{', '.join(rule_link(rule, link) for rule in rules)}**{sentence}"
        yield linked, *("&nbsp;" for _ in results.newest)
        for lie in group:
            case = lie.case
            about = f"{case_link(case.id, link)}<br><small>{case.title}</small>"
            yield about, *(_cell(results, one.name, case.id) for one in results.newest)


def _cell(results: Results, name: str, case: str) -> str:
    answer = results.answers[name].get(case)
    if answer is None:
        return _sign("not asked")
    if answer.predicate is None:
        return _sign(answer.verdict)
    query = json.dumps(answer.predicate, ensure_ascii=False)
    return _sign(
        answer.verdict,
        f"{query}: {answer.detail or answer.verdict}; {answer.misled} of {answer.asked} queries lack rows or have wrong ones",
    )


def _sign(verdict: str, detail: str = "") -> str:
    """A sign with its word for screen readers, and what was seen for those who point at it."""
    told = literal(f"{verdict}: {detail}" if detail else verdict, 400)
    return f'<span class="sign {verdict.replace(" ", "-")}" role="img" aria-label="{verdict}" title="{told}">{SIGNS[verdict]}</span>'


# ------------------------------------------------------------------------------------------------------- cells


def _seen(text: str) -> str:
    return f"<br><small>{literal(text)}</small>" if text else ""


def _cases(ids: Iterable[str], results: Results, link: Link) -> str:
    """The first of some cases, each linked where it has a page, and how many more there are."""
    names = list(ids)
    shown = [
        case_link(name, link) if name in results.families else f"`{name}`" for name in names[:CASES_SHOWN]
    ]
    more = [f"and {len(names) - CASES_SHOWN:,} more"] if len(names) > CASES_SHOWN else []
    return "<br>".join((*shown, *more))


# ------------------------------------------------------------------------------------------------- exchange


def exchange(results: Results, link: Link) -> Iterator[str]:
    """Yield a row for each writer and a column for each reader, then what went wrong."""
    if not results.exchange:
        yield "No files were exchanged yet; `make matrix` has each reader read what each writer wrote."
        return
    readers = sorted({name for written in results.exchange.values() for name in written.readers})
    rows = (
        (
            f"`{writer}`{f' <small>{literal(written.version)}</small>' if written.version else ''}",
            f"{written.files:,}",
            *(_reading(written.readers.get(reader)) for reader in readers),
        )
        for writer, written in results.exchange.items()
    )
    yield from _in_matrix(table(("Writer", "Files", *readers), rows), "upright exchange")
    troubles = [
        (writer, reader, group)
        for writer, written in results.exchange.items()
        for reader, reading in written.readers.items()
        for group in _grouped(reading.wrong)
    ]
    if troubles:
        yield from ("What was not read as it was written:", "")
        yield from table(
            ("Writer → reader", "What happens", "Tables"),
            (
                (
                    f"`{writer}` → `{reader}`",
                    f"`{group[0].operation}`: {literal(group[0].because or group[0].outcome)}{_seen(group[0].actual)}",
                    _cases(
                        dict.fromkeys(one.case.removeprefix(f"written/{writer}/") for one in group),
                        results,
                        link,
                    ),
                )
                for writer, reader, group in troubles
            ),
        )


def _reading(reading: Reading | None) -> str:
    """Right answers of questions, and the version of the reader."""
    if reading is None:
        return _sign("not asked")
    wrong = f"<br><small>**{len(reading.wrong):,}&nbsp;wrong**</small>" if reading.wrong else ""
    return f"{reading.passed:,}/{reading.asked:,}{wrong}"


def _grouped(wrong: Sequence[Trouble]) -> Iterable[Sequence[Trouble]]:
    groups: dict[tuple[str, str], list[Trouble]] = {}
    for one in wrong:
        groups.setdefault((one.operation, one.because), []).append(one)
    return groups.values()


# ------------------------------------------------------------------------------------------------ not asked


def not_asked(results: Results, _: Link) -> Iterator[str]:
    """Yield how many questions each implementation was not asked, and which capability is missing."""
    if not results.kept:
        yield NOBODY
        return
    rows = (
        (
            f"`{one.name}`",
            f"{_not_asked(one):,}",
            ", ".join(f"`{missing.capability}`&nbsp;{missing.count:,}" for missing in one.report.not_asked)
            or "nothing",
        )
        for one in results.newest
    )
    yield from table(
        ("Implementation", "Not asked", "Questions by the capability that is not declared"), rows
    )


def _not_asked(one: Kept) -> int:
    return sum(missing.count for missing in one.report.not_asked)


def _heads(first: str, results: Results) -> Sequence[str]:
    return (first, *(f"{one.name} <small>{literal(one.version)}</small>" for one in results.newest))


def _in_matrix(rows: Iterable[str], heads: str = "level") -> Iterator[str]:
    """A table whose first column stays in sight where the others are scrolled; where its heads are ``upright``, many fit."""
    yield f'<div class="matrix {heads}" markdown="1">'
    yield from rows
    yield from ("</div>", "")


PARTS: Mapping[str, Callable[[Results, Link], Iterator[str]]] = {
    "overview": overview,
    "lies": lies,
    "exchange": exchange,
    "not-asked": not_asked,
}
"""The parts of the page."""
