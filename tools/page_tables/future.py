"""What each driver makes of files from the future: the answers that ``pqassay suite future --output docs/data/future.json`` keeps."""

from __future__ import annotations

from collections.abc import Iterator

from page_tables import Figures, grid, table

NOT_ASKED = "not today"
GROUPS = {"enum": "Enums", "union": "Unions", "struct": "Structs", "annotation": "Annotations"}
"""By how the ids of their files begin."""


def totals(figures: Figures) -> Iterator[str]:
    """A row for each driver: promises that it keeps, of those that it was asked about."""
    rows = list[list[str]]()
    for label, answers in figures["drivers"].items():
        cells = [_kept(answers, f"{group}/") for group in GROUPS]
        rows.append([label, *cells, _kept(answers, "")])
    yield from grid(["", *GROUPS.values(), "All"], rows)


def _kept(answers: Figures, begin: str) -> str:
    asked = [one for id_, one in answers.items() if id_.startswith(begin) and one["outcome"] != NOT_ASKED]
    return f"{sum(one['kept'] for one in asked)} of {len(asked)}"


def outcomes(figures: Figures) -> Iterator[str]:
    """A row for each file that not every driver reads."""
    drivers = figures["drivers"]
    rows = list[list[str]]()
    for file in figures["files"]:
        answers = [answers[file["id"]] for answers in drivers.values()]
        if any(one["outcome"] not in ("reads", NOT_ASKED) for one in answers):
            rows.append([f"`{file['id']}`", file["title"], file["promise"], *map(_cell, answers)])
    yield from table(["File", "New in it", "Promise", *drivers], rows)


def _cell(answer: Figures) -> str:
    if answer["outcome"] == NOT_ASKED:
        return "not asked"
    return str(answer["outcome"]) if answer["kept"] else f"**{answer['outcome']}**"


def read_by_all(figures: Figures) -> Iterator[str]:
    """The files that every driver reads which reads their twins, as one paragraph."""
    drivers = figures["drivers"].values()
    ids = [
        f"`{file['id']}`"
        for file in figures["files"]
        if all(answers[file["id"]]["outcome"] in ("reads", NOT_ASKED) for answers in drivers)
    ]
    yield f"{len(ids)} of {len(figures['files'])} files: {', '.join(ids)}."


TABLES = {"future totals": totals, "future": outcomes, "future read by all": read_by_all}
"""By the name in the comment."""
