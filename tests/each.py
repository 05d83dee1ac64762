"""A table of tests that is one test: thousands of tests of a row each take longer to begin and to end than to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[[], None]


def each(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Test]:
    """Runs a test with each row of a table, as `pytest.mark.parametrize` does, but as one test; an error names its row.

    Args:
        names: The names of the members of a row, as the test calls them; a string for rows of one member.
        rows: The rows; not empty.
    """
    table = [(row,) if isinstance(names, str) else tuple(row) for row in rows]
    members = (names,) if isinstance(names, str) else names
    assert table

    def tested(test: Callable[..., None]) -> Test:
        def all_rows() -> None:
            for number, row in enumerate(table):
                try:
                    test(**dict(zip(members, row, strict=True)))
                except BaseException as error:
                    error.add_note(f"row {number}: {row!r}"[:2_000])
                    raise

        all_rows.__name__, all_rows.__qualname__ = test.__name__, test.__qualname__
        all_rows.__module__, all_rows.__doc__ = test.__module__, test.__doc__
        return all_rows

    return tested
