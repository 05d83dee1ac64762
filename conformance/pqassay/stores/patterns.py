"""Path patterns: ``*``, ``?`` and ``[...]`` within a name, ``**`` over any number of folders.

As in a shell, wildcards do not match a name that begins with a dot; the pattern must contain the dot. Patterns are matched name by name, so
a walk can skip folders in which nothing can match.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from functools import cache

_WILDCARD = re.compile(r"[*?\[]")

States = frozenset[int]
"""The states of a match: for each, how many parts of the pattern the names so far have used."""


def has_wildcard(text: str) -> bool:
    """Whether a name or path has wildcards.

    >>> has_wildcard("part-*.parquet"), has_wildcard("part-0.parquet")
    (True, False)
    """
    return _WILDCARD.search(text) is not None


class PathPattern:
    """A pattern over the names of a path.

    >>> pattern = PathPattern(["year=*", "**", "*.parquet"])
    >>> pattern.matches(["year=2024", "month=1", "a.parquet"]), pattern.matches(["a.parquet"])
    (True, False)
    """

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = tuple(parts)

    def start(self) -> States:
        """The states before any name."""
        return self._closed({0})

    def step(self, states: States, name: str) -> States:
        """The states after one more name; empty if no match can begin with these names."""
        after: set[int] = set()
        for state in states:
            if state == len(self._parts):
                continue
            part = self._parts[state]
            if part == "**":
                if not name.startswith("."):
                    after.add(state)
            elif _takes(part, name):
                after.add(state + 1)
        return self._closed(after)

    def accepts(self, states: States) -> bool:
        """Whether the names so far match."""
        return len(self._parts) in states

    def accepts_file(self, states: States) -> bool:
        """Whether the names so far match and name a file; ``**`` at the end also matches every file below the folder."""
        return self.accepts(states) and self._parts[-1] != "**"

    def matches(self, names: Iterable[str]) -> bool:
        """Whether a whole path matches."""
        states = self.start()
        for name in names:
            states = self.step(states, name)
        return self.accepts(states)

    def _closed(self, states: set[int]) -> States:
        """The states with those added in which ``**`` matches no folder."""
        for state in range(len(self._parts)):
            if state in states and self._parts[state] == "**":
                states.add(state + 1)
        return frozenset(states)


@cache
def _compiled(part: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(part))


def _takes(part: str, name: str) -> bool:
    if name.startswith(".") and not part.startswith("."):
        return False
    return _compiled(part).match(name) is not None


class NamePatterns:
    """Patterns for files below a folder, as in ``--include`` and ``--exclude``.

    A pattern without a slash is matched against the file name, and a pattern with a slash against the path below the folder.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = list(patterns)
        self._names = [pattern for pattern in patterns if "/" not in pattern]
        self._paths = [PathPattern(split(pattern)) for pattern in patterns if "/" in pattern]

    def __bool__(self) -> bool:
        return bool(self._names or self._paths)

    def match(self, names: Sequence[str]) -> bool:
        """Whether a path, given as names below the folder, matches a pattern."""
        return any(_compiled(pattern).match(names[-1]) for pattern in self._names) or any(
            pattern.matches(names) for pattern in self._paths
        )


def split(path: str) -> list[str]:
    """The names of a path, without empty names and redundant dots."""
    return [name for name in path.split("/") if name not in ("", ".")]
