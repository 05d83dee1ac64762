"""The fields of a file as a tree, of which a page asks for one level at a time.

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
"""A step of a path: a name, the number of an item, or what is beside a field, such as its ``:length``."""


class Node(NamedTuple):
    """A structure or a field.

    Attributes:
        path: Its path.
        name: The part of its path that follows the path of its parent.
        fields: How many fields it has, itself included if it is one.
        is_field: Whether it is a field itself, and not only what holds some.
        is_branch: Whether there are others below.
    """

    path: str
    name: str
    fields: int
    is_field: bool
    is_branch: bool


class _Branch:
    """A place in the tree, with those below it in the order in which they came."""

    __slots__ = ("below", "fields", "is_field", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.below: dict[str, _Branch] = {}
        self.fields = 0
        self.is_field = False

    def only_way(self) -> _Branch:
        """The first place from here down that is a field, has several ways, or none."""
        place = self
        while len(place.below) == 1 and not place.is_field:
            (place,) = place.below.values()
        return place


class PathTree:
    """A tree of paths.

    Args:
        paths: The paths of all fields; a level has them in the order in which they come first.
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
        """Yield the nodes of the level below a path; a way without a fork is one node. Unknown paths have no nodes."""
        place = self._places.get(path)
        for child in place.below.values() if place else ():
            end = child.only_way()
            name = end.path[len(path) :].removeprefix(".")
            yield Node(end.path, name, end.fields, end.is_field, bool(end.below))

    def found(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the paths with all the words in them, in any case of letters."""
        small = [word.lower() for word in words]
        return (path for path in self.paths if all(word in path.lower() for word in small))
