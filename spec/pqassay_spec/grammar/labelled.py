"""Integers whose values, or whose bits, have names: read as plain integers, shown with their names.

A missing name is not an error here; rules judge unknown values.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING

from pqassay_spec.grammar.constructs import AnyConstruct, AnySubconstruct

if TYPE_CHECKING:
    from pqassay_spec.grammar.trace import Recorder


class Labelled(AnySubconstruct):
    r"""An integer with a name for each value (an ``IntEnum``) or for each bit (an ``IntFlag``).

    >>> from construct import Int8ul
    >>> from pqassay_spec.parquet.thrift import Type
    >>> Labelled(Int8ul, Type).parse(b"\x02"), Labelled(Int8ul, Type).label(2)
    (2, 'INT64')
    """

    def __init__(self, integer: AnyConstruct, names: type[IntEnum | IntFlag]) -> None:
        super().__init__(integer)
        self.names = names

    def label(self, value: int) -> str:
        """The name of a value, or the names of its bits joined by ``|``; ``unknown`` if it has no name."""
        if not issubclass(self.names, IntFlag):
            return next((member.name for member in self.names if member == value), "unknown")
        known = [member for member in self.names if value & member]
        rest = value & ~sum(known)
        return "|".join([member.name or "" for member in known] + ([f"unknown {rest:#x}"] if rest else []))

    def traced(self, recorder: Recorder) -> AnyConstruct:
        """A leaf that records the name of its value."""
        return recorder.leaf(self.subcon, self)
