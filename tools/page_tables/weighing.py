"""How often the side that is wrong is named, where values and metadata contradict each other: what ``tools/weighing.py`` keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from page_tables import Figures, grid

SIDES = {"values": "Damaged values", "metadata": "False metadata"}
"""What was made false, as the table calls it."""


def weighings(kinds: Sequence[Figures]) -> Iterator[str]:
    """A row for each kind of damage, and one for each side before those of it."""
    rows = list[list[str]]()
    for wrong, title in SIDES.items():
        members = [kind for kind in kinds if kind["wrong"] == wrong]
        total: Counter[str] = Counter()
        for kind in members:
            total.update({side: kind[side] for side in (*SIDES, "either")})
        rows.append(_row(f"**{title}**", wrong, total))
        rows += [_row(kind["how"], wrong, kind) for kind in members]
    yield from grid(["", "Files", "Right", "Undecided", "Wrong"], rows)


def _row(name: str, wrong: str, count: Figures) -> list[str]:
    total = sum(count[side] for side in (*SIDES, "either"))
    other = next(side for side in SIDES if side != wrong)
    return [name, f"{total:,}", *(f"{count[side] / total:.0%}" for side in (wrong, "either", other))]


TABLES = {"weighings": weighings}
"""By the name in the comment."""
