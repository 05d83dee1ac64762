"""A place where a rule is broken, as a check reports it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Generic, NamedTuple, TypeVar

from pqassay.report.model import FIRST_POSITIONS
from pqassay.under_test.fields import Field
from pqassay_spec.grammar.flat_records import FlatStruct

Place = TypeVar("Place")
Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Violation:
    """One place where a rule is broken; see `pqassay.report.model.Position` for the fields.

    ``message`` says in one sentence what is wrong, with names and values; ``remedy`` is a command that
    repairs it, where the one of the table (`pqassay.checks.remedies`) is not the best one. ``field`` is text
    if only the check knows its place, which is then ``offset`` and ``length``; the place of a `Field` is
    looked up when it is shown. ``more`` counts further places, so that a check need not yield thousands of
    them; ``more_row_groups`` are theirs, where they differ.  ``data_file`` is the file that it is about,
    relative to the table, where a table says something of one.
    """

    message: str
    field: Field | str
    expected: str = ""
    actual: str = ""
    offset: int | None = None
    length: int = 0
    column: str | None = None
    row_group: int | None = None
    remedy: str = ""
    more: int = 0
    more_row_groups: set[int | None] | None = dataclasses.field(default=None, compare=False)
    data_file: str | None = None


class Spot(NamedTuple):
    """A field whose place the check knows, as in structures that Thrift does not encode: its path, offset and length."""

    path: str
    offset: int
    length: int

    @classmethod
    def member(cls, path: str, record: type[FlatStruct], name: str, start: int = 0) -> Spot:
        """A field of a record, of which path and offset are given."""
        return cls(f"{path}.{name}", *record.place(name, start))

    def violation(
        self,
        message: str,
        expected: str,
        actual: str,
        *,
        column: str | None = None,
        row_group: int | None = None,
        remedy: str = "",
    ) -> Violation:
        """A violation there."""
        return Violation(
            message, self.path, expected, actual, self.offset, self.length, column, row_group, remedy
        )


@dataclass
class Suspects(Generic[Thing]):
    """The things that a screen leaves to one rule; all other things certainly follow the rule.

    Attributes:
        things: Those that break the rule or may break it: the rule itself is tested on them.
        more: For each column, how many violations there are at further things, which are certain and only counted.
        problem: Why not all things that may break the rule are listed, if so.
    """

    things: list[Thing] = field(default_factory=list[Thing])
    more: dict[str | None, int] = field(default_factory=dict[str | None, int])
    problem: str | None = None


def name_in(names: type[IntEnum], number: int | None, unnamed: str) -> str:
    """The name of a number of an enumeration, for messages; ``unnamed`` where it has none."""
    return next((member.name for member in names if member == number), unnamed)


def first_places(
    places: Sequence[Place], violation: Callable[[Place], Violation], count: int | None = None
) -> Iterator[Violation]:
    """Violations at the first of many places, the last of which counts those that follow.

    Args:
        places: The places that break a rule; if ``count`` is given, only as many as a finding lists are
            needed.
        violation: Makes the violation at one of them.
        count: How many there are in all.
    """
    shown = places[:FIRST_POSITIONS]
    more = (len(places) if count is None else count) - len(shown)
    for place in shown[:-1]:
        yield violation(place)
    for place in shown[-1:]:
        last = violation(place)
        yield replace(last, more=more) if more else last


def keep_first(places: list[Violation], violation: Violation) -> None:
    """Add a violation to the stored first ones; the last of them counts all later ones."""
    if len(places) < FIRST_POSITIONS:
        places.append(violation)
        return
    last = places[-1]
    row_groups = set[int | None]() if last.more_row_groups is None else last.more_row_groups
    row_groups.add(violation.row_group)
    row_groups.update(violation.more_row_groups or ())
    places[-1] = replace(last, more=last.more + 1 + violation.more, more_row_groups=row_groups)
