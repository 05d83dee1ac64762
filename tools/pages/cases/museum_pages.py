"""The museum: a page for each exhibit, the list of all with its filter, and mistakes that no file shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pages.cases.case_list import sufferers
from pages.implementations.matrix import catalogue_title
from pages.markup import table
from pages.page import Page, Site
from pqassay_golden.museum import defects as museum
from pqassay_spec.golden.case import to_json

HERE = "museum/index.html"


def exhibit_page(case: Mapping[str, Any]) -> str:
    """The path of an exhibit's page in the site."""
    return f"museum/{case['exhibit']['numbers'][0]}-{case['id'].replace('/', '-')}.html"


def exhibits(site: Site) -> Sequence[Mapping[str, Any]]:
    """The cases that show a mistake, by number."""
    shown = [case for case in site.cases.values() if "exhibit" in case]
    return sorted(shown, key=lambda case: (case["exhibit"]["numbers"], case["id"]))


def pages(site: Site) -> Iterator[Page]:
    """Yield the page of every exhibit."""
    shown = exhibits(site)
    for place, case in enumerate(shown):
        path, exhibit = exhibit_page(case), case["exhibit"]
        body = site.render(
            "exhibit.html",
            path,
            it=case,
            family=catalogue_title(case["family"]),
            told=[
                next(answer for answer in site.answers[name][case["id"]] if answer.verdict == verdict)
                for verdict, name in sufferers(case["id"], site)
            ],
            condition=condition(case["expect"]["predicate"]) if "scan" in case["expect"] else "",
            before=shown[place - 1] if place else None,
            after=shown[place + 1] if place + 1 < len(shown) else None,
            exhibit_page=exhibit_page,
        )
        seen = ", ".join(dict.fromkeys(sighting["software"] for sighting in exhibit["seen"]))
        yield Page(path, f"Exhibit {_numbers(case)}: {case['title']}", exhibit["story"], body, seen)


def overview(part: str, site: Site) -> Iterator[str]:
    """Yield the list of exhibits with its filter, or a table of mistakes that no file shows.

    Raises:
        LookupError: The part does not exist.
    """
    if part == "exhibits":
        software = {sighting["software"] for case in exhibits(site) for sighting in case["exhibit"]["seen"]}
        yield site.render(
            "museum.html",
            HERE,
            rows=[(case, _numbers(case), sufferers(case["id"], site)) for case in exhibits(site)],
            software=[(name.lower(), name) for name in sorted(software, key=str.lower)],
            families=[
                (prefix.lower(), catalogue_title(prefix))
                for prefix in dict.fromkeys(case["family"] for case in exhibits(site))
            ],
            implementations=[(name, name) for name in site.answers],
            exhibit_page=exhibit_page,
        )
    elif part == "absent":
        rows = (
            (
                str(defect.number),
                defect.defect,
                defect.reason,
                "<br>".join(map(_sighting, map(to_json, defect.seen))),
            )
            for defect in museum.absent()
        )
        yield from table(("Exhibit", "Defect", "Why there is no file", "Seen in"), rows)
    else:
        raise LookupError(f"the museum has no part {part}")


def _numbers(case: Mapping[str, Any]) -> str:
    return ", ".join(map(str, case["exhibit"]["numbers"]))


def _sighting(seen: Mapping[str, str]) -> str:
    """The software with its versions, linked to the report about it."""
    text = f"[{seen['software']}]({seen['reference']})" if "reference" in seen else seen["software"]
    return f"{text} ({seen['versions']})" if "versions" in seen else text


def condition(predicate: Sequence[Any]) -> str:
    """A predicate in SQL syntax, in the few forms that exhibits have.

    >>> condition(["=", "metal", "lead"]), condition([">", "grade", {"float": "2.0"}])
    ("metal = 'lead'", 'grade > 2.0')
    """
    operator, column, *values = predicate
    texts = [
        str(next(iter(cast("dict[str, Any]", value).values()))) if isinstance(value, dict) else repr(value)
        for value in values
    ]
    return " ".join([column, operator, *texts])
