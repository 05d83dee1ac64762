"""What each release of Spark can do: the answers that ``make matrix-spark`` keeps."""

from __future__ import annotations

from collections.abc import Iterator

from page_tables import Figures, grid

PLACES = {"own": "a session of its own", "connect": "Spark Connect"}
"""How a release was asked, as the table calls it."""


def versions(answers: Figures) -> Iterator[str]:
    """Two rows for each release."""
    releases = answers["releases"]
    trials = list(releases[0]["own"])
    yield from grid(
        ["", *(trial if " " in trial else f"`{trial}`" for trial in trials)],
        (
            [f"Spark {one['version']}, {how}", *(one[place][trial] for trial in trials)]
            for one in releases
            for place, how in PLACES.items()
        ),
    )


TABLES = {"spark versions": versions}
"""By the name in the comment."""
