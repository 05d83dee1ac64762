"""The tree of the fields of a file, which the page opens level by level.

>>> tree = PathTree(["footer.schema[0].name", "footer.schema[1].name", "head.magic"])
>>> [(node.path, node.name, node.fields) for node in tree.below("")]
[('footer.schema', 'footer.schema', 2), ('head.magic', 'head.magic', 1)]
>>> [(node.path, node.is_field) for node in tree.below("footer.schema")]
[('footer.schema[0].name', True), ('footer.schema[1].name', True)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

STEP = re.compile(r"\[[^\]]*\]|:\w+|[^.\[\]:]+")
"""A step of a path: a name, the number of an item, or a part of a field, such as its ``:length``."""


class Node(NamedTuple):
    """A structure or a field.

    Attributes:
        path: Its path.
        name: Its path relative to the parent.
        fields: The number of fields in it, including itself if it is a field.
        is_field: Whether it is a field, not only a structure of fields.
        is_branch: Whether it has nodes below.
    """

    path: str
    name: str
    fields: int
    is_field: bool
    is_branch: bool


class _Branch:
    """A place in the tree, with its children in the order of their first occurrence."""

    __slots__ = ("below", "fields", "is_field", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.below: dict[str, _Branch] = {}
        self.fields = 0
        self.is_field = False

    def only_way(self) -> _Branch:
        """The first place at or below this one that is a field or does not have exactly one child."""
        place = self
        while len(place.below) == 1 and not place.is_field:
            (place,) = place.below.values()
        return place


class PathTree:
    """A tree of paths.

    Args:
        paths: The paths of all fields; each level keeps the order of their first occurrence.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._root = _Branch("")
        self._places: dict[str, _Branch] = {"": self._root}
        self.paths: Sequence[str] = list(dict.fromkeys(paths))
        for path in self.paths:
            self._insert(path)

    def _insert(self, path: str) -> None:
        place = self._root
        place.fields += 1
        for step in STEP.finditer(path):
            upto = path[: step.end()]
            if upto not in self._places:
                self._places[upto] = place.below[upto] = _Branch(upto)
            place = self._places[upto]
            place.fields += 1
        place.is_field = True

    def below(self, path: str) -> Iterator[Node]:
        """Yield the nodes one level below a path. A chain without a fork is one node; unknown paths have no nodes."""
        place = self._places.get(path)
        for child in place.below.values() if place else ():
            end = child.only_way()
            name = end.path[len(path) :].removeprefix(".")
            yield Node(end.path, name, end.fields, end.is_field, bool(end.below))

    def found(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the paths that contain all the words, ignoring case."""
        small = [word.lower() for word in words]
        return (path for path in self.paths if all(word in path.lower() for word in small))
