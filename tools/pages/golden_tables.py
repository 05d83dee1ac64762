"""Tables of golden files, and the bytes in which each invalid one differs from its parent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pages.markup import Link, anchored, rule_link, table
from pages.places import GOLDEN_FILES
from pqassay.difference import Change, difference
from pqassay.difference.marks import marked_rows
from pqassay.lake.kinds import judged_as
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.mutations import IN_DATA
from pqassay_spec.pm import grammar as pm


def golden_files(prefix: str, link: Link) -> Iterator[str]:
    """Yield a table of a family's golden files, then the bytes in which each invalid one differs from its parent."""
    cases = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(GOLDEN_FILES.rglob("case.json"))
        if f'"family": "{prefix}"' in path.read_text(encoding="utf-8")
    ]
    for kind, heads in (
        ("valid", ("Valid case", "What it is")),
        ("invalid", ("Invalid case", "What is wrong with it, and what that costs", "Reported")),
    ):
        rows = (_golden_row(case, link) for case in cases if case["kind"] == kind)
        yield from table(heads, rows)
    yield from ("## The bytes that differ", "")
    for case in cases:
        if "mutation" in case:
            yield from _golden_difference(case)


def _golden_row(case: dict[str, Any], link: Link) -> tuple[str, ...]:
    anchor = case["id"].replace("/", "-")
    target = f"#{anchor}-bytes" if "mutation" in case else f"#{anchor}"
    name = anchored(f"`{case['id']}`", anchor, target)
    what = case["title"]
    if case["kind"] == "valid":
        return name, what
    rules = case["expect"]["check"]["rules"]
    linked = (rule_link(rule, link) for rule in rules)
    return name, f"{what}<br><small>{case['effect']}</small>", "<br>".join(linked)


MOST_SHOWN = 3
"""Changed fields of a golden file that its page shows with their bytes; further ones are named."""


def _golden_difference(case: dict[str, Any]) -> Iterator[str]:
    """The fields that differ from the parent, by field and not by offset, with the bytes of the first of them marked."""
    mutation = case["mutation"]
    to = f" to `{json.dumps(mutation['to'], ensure_ascii=False)}`" if "to" in mutation else ""
    raw = ", nothing else adapted" if mutation.get("raw") else ""
    yield f"### `{case['id']}` {{ #{case['id'].replace('/', '-')}-bytes }}"
    yield ""
    yield f"`{case['parent']}`, then **{mutation['op']}** `{mutation['path'] or 'file'}`{to}{raw}."
    yield ""
    changed = pm.DATA_NAME if mutation["path"].startswith(IN_DATA) else case["input"]["file"]
    before, after = (
        BytesSource((GOLDEN_FILES / name / changed).read_bytes()) for name in (case["parent"], case["id"])
    )
    found = difference(before, after, (judged_as(changed), judged_as(changed)))
    yield "```text"
    yield f"before {before.size} bytes, after {after.size} bytes"
    named = mutation["path"].removeprefix(IN_DATA)
    changes = sorted(  # the field of which the sentence above speaks comes first
        found.changes, key=lambda change: not (change.path.startswith(named) or named.startswith(change.path))
    )
    for change in changes[:MOST_SHOWN]:
        yield from ("", *_shown_change(change, (before, after)))
    if rest := changes[MOST_SHOWN:]:
        yield from ("", f"and {', '.join(change.path for change in rest)}")
    yield "```"
    yield ""


def _shown_change(change: Change, sources: tuple[BytesSource, BytesSource]) -> Iterator[str]:
    """A field with its values and the rows of its bytes."""
    values = [place.value for place in (change.old, change.new) if place is not None]
    yield f"{change.path}  {change.kind}: {' -> '.join(values)}"
    for label, rows in zip(("before", "after"), marked_rows(change, sources, most=2), strict=True):
        for row, marks in rows:
            yield f"{label:<8}{row}"
            if marks:
                yield f"{'':<8}{marks}"
