"""The pages of ``docs/upstream``: each describes a defect in the form of an issue, with its state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter

from pages.markup import table
from pages.places import UPSTREAM


def upstream_issues() -> Iterator[str]:
    """Yield a row for each page of ``docs/upstream`` except the index, from the table at its top."""
    kinds = ("Project", "Version", "State", "Rules")

    def rows() -> Iterator[tuple[str, ...]]:
        for path in UPSTREAM.glob("*.md"):
            if path.stem != "index":
                text = path.read_text(encoding="utf-8")
                told = dict(re.findall(r"^\| (\w+) \| (.*) \|$", text, re.MULTILINE))
                heading = text.partition("\n")[0].removeprefix("# ")
                yield (f"[{heading}]({path.name})", *(told[kind] for kind in kinds))

    yield from table(("Defect", *kinds), sorted(rows(), key=itemgetter(slice(1, None))))
