"""The museum: a section for each exhibit, by family, and what no file shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pages.markup import Link, rule_link, table
from pages.places import GOLDEN_FILES
from pqassay_reference.golden import museum
from pqassay_spec.golden.case import to_json
from pqassay_spec.rules import catalogue


def museum_rooms(link: Link) -> Iterator[str]:
    """Yield a section for each family with its exhibits by number, then a table of what no file shows."""
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(GOLDEN_FILES.rglob("case.json"))]
    for family in catalogue.families():
        shown = [case for case in cases if case["family"] == family.prefix and "exhibit" in case]
        if shown:
            yield from (f"## Room {family.prefix}", "")
            for case in sorted(shown, key=lambda case: (case["exhibit"]["numbers"], case["id"])):
                yield from _exhibit(case, family, link)
    yield from ("## Not shown", "", "What no file of this collection can show, and why.")
    rows = (
        (str(one.number), one.defect, one.reason, "<br>".join(map(_sighting, map(to_json, one.seen))))
        for one in museum.absent()
    )
    yield from table(("Exhibit", "Defect", "Why there is no file", "Seen in"), rows)


def _exhibit(case: dict[str, Any], family: catalogue.Family, link: Link) -> Iterator[str]:
    """A section: what happened, where, what finds it, and the command that shows it."""
    name, exhibit, check = case["id"], case["exhibit"], case["expect"]["check"]
    anchor = name.replace("/", "-")
    numbers = ", ".join(map(str, exhibit["numbers"]))
    yield from (f"### {numbers}. {case['title']} {{ #{anchor} }}", "", exhibit["story"], "")
    yield from (f"- **Seen in** {'; '.join(map(_sighting, exhibit['seen']))}",)
    rules = check["rules"]
    linked = [rule_link(rule, link) for rule in rules]
    if linked:
        yield f"- **Breaks** {', '.join(linked)}; found at tier `{check['tier']}`"
    else:
        yield "- **Breaks** no rule: the file is as it should be, and it is readers that get it wrong"
    if "scan" in case["expect"]:
        yield f"- **Ask a reader for** the rows with `{_condition(case['expect']['predicate'])}`"
    page = link(f"golden_files/{family.prefix.lower()}.md", anchor)
    yield from (f"- **Golden file** [`{name}`]({page})", "")
    yield from (
        "```console",
        f"$ pqassay check golden_files/{name}/{case['input']['file']} --tier {check['tier']}",
        "```",
        "",
    )


def _sighting(seen: dict[str, str]) -> str:
    """The software, linked to where people spoke of it, and its versions."""
    text = f"[{seen['software']}]({seen['reference']})" if "reference" in seen else seen["software"]
    return f"{text} ({seen['versions']})" if "versions" in seen else text


def _condition(predicate: list[Any]) -> str:
    """A predicate as SQL writes it, in the few forms that exhibits have."""
    operator, column, *values = predicate
    texts = [next(iter(value.values())) if isinstance(value, dict) else repr(value) for value in values]
    return " ".join([column, operator, *texts])
