"""A page for each golden file: the error, the bytes with their fields, and the answers of implementations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pages.cases.byte_changes import changed, changed_file, comparison, fields_of, mutation_sentence
from pages.cases.case_questions import LONGEST, golden_cases, questions
from pages.cases.hex_view import HexView
from pages.cases.museum_pages import exhibit_page
from pages.implementations.answers import HARM, Answer, worst
from pages.implementations.matrix import catalogue_title, kind_of
from pages.page import File, Page, Site, case_boost, case_file, case_page, implementation_page
from pages.places import GOLDEN_FILES
from pqassay_spec.golden.case import MANIFEST, OWN
from pqassay_spec.golden.revision import current
from pqassay_spec.rules import catalogue

MOST_FIELDS = 3
"""The number of changed fields whose bytes are shown before and after; the hex view marks all of them."""

MOST_ROWS = 12
"""The number of rows of a table that are shown."""

MOST_SIBLINGS = 40
"""The number of linked files with the same parent; the list of all files has the rest."""

STANDINGS = {
    "counted": "counts in revision {}",
    "added": "is asked and reported, and counts from the revision after {} on",
    "changed": "changed since revision {}, and does not count in it",
}


class ImplementationAnswers(NamedTuple):
    """The answers of an implementation about a case, and the most severe verdict."""

    name: str
    version: str
    page: str
    worst: str
    answers: Sequence[Answer]


def pages(site: Site) -> Iterator[Page]:
    """Yield the page of every golden file."""
    for case in site.cases.values():
        yield page_of(case, site)


def page_of(case: Mapping[str, Any], site: Site) -> Page:
    """The page of a golden file."""
    path = case_page(case["id"])
    body = _body(case, path, site) if site.shows(path) else ""
    words = " ".join(case["expect"]["check"]["rules"])
    return Page(path, f"{case['id']}: {case['title']}", summary(case), body, words, case_boost(case["id"]))


def _body(case: Mapping[str, Any], path: str, site: Site) -> str:
    case_id = case["id"]
    rules = [catalogue.rules()[rule] for rule in case["expect"]["check"]["rules"]]
    difference = comparison(case).difference if "mutation" in case else None
    answers = told_by(case_id, site)
    return site.render(
        "case.html",
        path,
        it=case,
        kind=kind_of(case),
        family=catalogue_title(case["family"]),
        rules=rules,
        verdict=verdict(rules),
        mutation=mutation_sentence(case) if difference else "",
        found=difference,
        changed=changed(case, MOST_FIELDS) if difference else None,
        views=list(views(case)),
        told=answers,
        right=[one for one in answers if one.worst == "right"],
        not_asked=[kept.name for kept in site.results.newest if case_id not in site.answers[kept.name]],
        questions=list(questions(case_id, site)),
        longest=LONGEST,
        rows=rows_of(case_id, site),
        files=files_of(case),
        siblings=siblings(case, site),
        most_siblings=MOST_SIBLINGS,
        exhibit=exhibit_page(case) if "exhibit" in case else None,
        is_foreign=case["provenance"]["by"] not in OWN,
        standing=STANDINGS[current().standing(case_id, golden_cases(site)[case_id].asked_sha256)].format(
            current().number
        ),
    )


def summary(case: Mapping[str, Any]) -> str:
    """A sentence about a case: the cost of its error, or the kind of file."""
    return "A valid golden file." if case["effect"] == "none" else str(case["effect"])


def verdict(rules: Sequence[catalogue.Rule]) -> str:
    """The first line of a check's report about the file."""
    if fails := [rule.origin.kind for rule in rules if rule.verdict == "FAIL"]:
        return f"{catalogue.broken_outcome(fails)} ({len(fails)} FAIL)"
    return "conformant, with remarks" if rules else "conformant"


def views(case: Mapping[str, Any]) -> Iterator[HexView]:
    """Yield the hex view of the changed file, with marks at changed bytes, and the view of an input beside it."""
    names = dict.fromkeys((changed_file(case), case["input"]["file"]))
    for number, name in enumerate(names):
        if "mutation" in case and number == 0:
            yield comparison(case).view(name)
        else:
            yield HexView(name, fields_of(case["id"], name), prefix="o" if number else "")


def told_by(case_id: str, site: Site) -> Sequence[ImplementationAnswers]:
    """The answers of each asked implementation, the most severe first."""
    told = [
        ImplementationAnswers(kept.name, kept.version, implementation_page(kept.name), worst(given), given)
        for kept in site.results.newest
        if (given := site.answers[kept.name].get(case_id))
    ]
    return sorted(told, key=lambda one: HARM.index(one.worst))


def rows_of(case_id: str, site: Site) -> Mapping[str, Any] | None:
    """The rows of a case's file for readers: columns, the first rows, and the number of rows."""
    rows = golden_cases(site)[case_id].rows
    if rows is None or not rows.columns:
        return None
    shown = [[_written(value) for value in row] for row in rows.rows[:MOST_ROWS]]
    return {"columns": rows.columns, "shown": shown, "count": len(rows.rows)}


def _written(value: Any) -> str:
    """A value of a row, without JSON syntax."""
    if value is None:
        return "null"
    if isinstance(value, bool | int | str):
        return str(value)
    members: dict[str, Any] = vars(value)
    only = next(iter(members.values())) if len(members) == 1 else None
    text = only if isinstance(only, str) else json.dumps(members, default=vars, ensure_ascii=False)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


MOST_CHARACTERS = 60
"""The number of characters of a row's value that are shown."""


def files_of(case: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
    """The files in the folder of a case with their sizes in bytes, its manifest last."""
    folder = GOLDEN_FILES / case["id"]
    found = sorted(folder.iterdir(), key=lambda path: (path.name == MANIFEST, path.name))
    return [(path.name, path.stat().st_size) for path in found]


def siblings(case: Mapping[str, Any], site: Site) -> Sequence[str]:
    """Other cases, or tables, with the same parent; for a parent, its descendants."""
    family = site.made_from.get(case.get("parent", case["id"]), ())
    return [name for name in family if name != case["id"]]


def files(site: Site) -> Iterator[File]:
    """Yield every file of every case."""
    for case in site.cases.values():
        for name, _ in files_of(case):
            yield File(case_file(case["id"], name), GOLDEN_FILES / case["id"] / name)
