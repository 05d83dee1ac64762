"""A place where a rule is broken, as reported by a check."""

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

    ``message`` describes the error in one sentence, with names and values. ``remedy`` is a command that repairs it, if the command in
    `pqassay.checks.remedies` is not the best one. ``field`` is text if only the check knows its place, which is then ``offset`` and
    ``length``. The place of a `Field` is looked up when it is shown. ``more`` counts further places, so that a check need not yield
    thousands of them; ``more_row_groups`` are the row groups of these places, if different. ``data_file`` is the data file, relative to the
    table, for a claim of a table about a file.
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
    """A field with a place that the check knows, as in structures that are not encoded by Thrift: its path, offset and length."""

    path: str
    offset: int
    length: int

    @classmethod
    def member(cls, path: str, record: type[FlatStruct], name: str, start: int = 0) -> Spot:
        """The spot of a record's field, given path and offset of the record."""
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
        """The violation at this spot."""
        return Violation(
            message, self.path, expected, actual, self.offset, self.length, column, row_group, remedy
        )


@dataclass
class Suspects(Generic[Thing]):
    """The things on which a rule must be tested after a screen; all other things certainly keep the rule.

    Attributes:
        things: The things that break the rule or may break it.
        more: For each column, the number of certain violations at further things, which are only counted.
        problem: Why the list is incomplete, if so.
    """

    things: list[Thing] = field(default_factory=list[Thing])
    more: dict[str | None, int] = field(default_factory=dict[str | None, int])
    problem: str | None = None


def name_in(names: type[IntEnum], number: int | None, unnamed: str) -> str:
    """The name of an enum number, for messages; ``unnamed`` if it has none."""
    return next((member.name for member in names if member == number), unnamed)


def first_places(
    places: Sequence[Place], violation: Callable[[Place], Violation], count: int | None = None
) -> Iterator[Violation]:
    """Yield violations at the first of many places; the last of them counts all further places.

    Args:
        places: The places that break a rule; with ``count``, only as many as a finding lists.
        violation: Creates the violation at a place.
        count: The number of all places.
    """
    shown = places[:FIRST_POSITIONS]
    more = (len(places) if count is None else count) - len(shown)
    for place in shown[:-1]:
        yield violation(place)
    for place in shown[-1:]:
        last = violation(place)
        yield replace(last, more=more) if more else last


def keep_first(places: list[Violation], violation: Violation) -> None:
    """Append a violation to the stored first ones; if there are enough, the last of them counts it."""
    if len(places) < FIRST_POSITIONS:
        places.append(violation)
        return
    last = places[-1]
    row_groups = set[int | None]() if last.more_row_groups is None else last.more_row_groups
    row_groups.add(violation.row_group)
    row_groups.update(violation.more_row_groups or ())
    places[-1] = replace(last, more=last.more + 1 + violation.more, more_row_groups=row_groups)
