"""Distinct sets of an index directory, compared with the values of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import Broken
from pqassay.under_test.violation import Spot, Violation
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.directory.audit import EntryAudit, Outcomes
from pqassay.values.directory.blob import BlobUnderTest
from pqassay.values.directory.columns import are_nan, by_bits, listed, one_array, raws_of, value_starts
from pqassay_spec.directory.codes import Granularity
from pqassay_spec.directory.distinct_set import SetFlags
from pqassay_spec.parquet.column_order import shown

LISTED, FLAGGED, OCCURS = "DIR-026", "DIR-027", "DIR-028"

INDEXED = "DIR-045"

NAMED = 3
"""Values that a message names."""

COUNTED = 10_000
"""Missing values that are counted; beyond, the count is a lower bound."""


class _Taken(NamedTuple):
    """What was found in the rows of a part that are in one row group: its distinct values but for NaN, by their bits."""

    distinct: Any
    has_null: bool
    has_nan: bool


@dataclass
class _Found:
    """What was found in a part so far."""

    listed: Any = None
    raws: list[bytes] = field(default_factory=list[bytes])
    seen: NDArray[np.bool_] | None = None
    missing: set[bytes] = field(default_factory=set[bytes])
    has_null: bool = False
    has_nan: bool = False


class SetAudit(EntryAudit):
    """The distinct sets of one entry."""

    rules: tuple[str, ...] = (LISTED, FLAGGED, OCCURS)

    def __init__(self, blob: BlobUnderTest, outcomes: Outcomes) -> None:
        super().__init__(blob, outcomes)
        self._order = self.entry.order
        self._found: dict[int, _Found] = {}
        for number in range(blob.part_count):
            _ = self.values_of_part(number)  # raises what is wrong with them

    def values_of_part(self, number: int) -> list[bytes]:
        """The values that a part lists. Raises what reading them does."""
        return self.blob.values_of_part(number)

    def take(self, values: ChunkValues, _column: int, /) -> list[_Taken]:
        """The distinct values of each part."""
        rows = self.row_starts(values.chunk.row_group)
        starts = value_starts(values, rows).tolist()
        taken: list[_Taken] = []
        for place in range(len(rows) - 1):
            part = values.values.slice(starts[place], starts[place + 1] - starts[place])
            distinct = values.distinct() if len(rows) == 2 else pc.unique(by_bits(part))
            found, has_nan = self._without_nan(values, distinct)
            taken.append(_Taken(found, len(part) < rows[place + 1] - rows[place], has_nan))
        return taken

    def _without_nan(self, values: ChunkValues, distinct: Any) -> tuple[Any, bool]:
        """Distinct values by their bits, but for NaN; and whether there is one."""
        array = one_array(distinct)
        kind = values.values.type
        numbers = array.view(kind) if pa.types.is_floating(kind) else array
        if pa.types.is_fixed_size_binary(kind) and not pa.types.is_fixed_size_binary(numbers.type):
            numbers = numbers.cast(kind)
        nan = are_nan(self._order, numbers)
        bits = by_bits(array)
        return (bits.filter(pa.array(~nan)), True) if nan.any() else (bits, False)

    def empty(self) -> list[_Taken]:
        """No values."""
        return [_Taken(None, has_null=False, has_nan=False)]

    def add(self, _row_group: int, parts: Sequence[int], taken: list[Any], /) -> None:
        """Compare what a row group holds with what is listed."""
        for number, found in zip(parts, taken[0], strict=False):
            self._add(self._found.setdefault(number, _Found()), number, found)

    def _add(self, part: _Found, number: int, taken: _Taken) -> None:
        part.has_null |= taken.has_null
        part.has_nan |= taken.has_nan
        if taken.distinct is None:
            return
        if part.seen is None:
            part.raws = self.values_of_part(number)
            part.listed = listed(part.raws, taken.distinct.type)
            part.seen = np.zeros(len(part.raws), np.bool_)
        places = pc.index_in(taken.distinct, value_set=part.listed)
        part.seen |= np.asarray(pc.is_in(part.listed, value_set=taken.distinct), np.bool_)
        room = COUNTED - len(part.missing)
        if places.null_count and room > 0:
            part.missing.update(raws_of(taken.distinct.filter(pc.is_null(places)).slice(0, room)))

    def judge_part(self, number: int) -> None:
        """Say what is missing, and what is too many."""
        found, head = self._found.pop(number, _Found()), self.blob.sets[number].head
        if head.flags & SetFlags.COMPLETE:
            said = f"the complete set of {self.name_of(number)}"
            self._note_missing(LISTED, number, found, said, self._values(number))
        for flag, is_there in ((SetFlags.NULLS, found.has_null), (SetFlags.NAN, found.has_nan)):
            what = "a null" if flag is SetFlags.NULLS else "a NaN"
            if is_there and not head.flags & flag:
                self.note(
                    FLAGGED,
                    number,
                    self._flags(
                        number,
                        f"{self.name_of(number)} holds {what}, and its set has no flag {flag.name}",
                        f"the flag {flag.name}",
                    ),
                )
            if not is_there and head.flags & flag:
                self.note(
                    OCCURS,
                    number,
                    self._flags(
                        number,
                        f"{self.name_of(number)} holds no {what[2:]}, and its set has the flag {flag.name}",
                        f"no flag {flag.name}",
                    ),
                )
        raws = self.blob.values_of_part(number)
        seen = np.zeros(len(raws), np.bool_) if found.seen is None else found.seen
        if not seen.all():
            extra = [raws[place] for place in np.flatnonzero(~seen)[:NAMED].tolist()]
            count = int(np.count_nonzero(~seen))
            told = self._told(extra, count)
            self.note(
                OCCURS,
                number,
                self._values(number).violation(
                    f"the set of {self.name_of(number)} lists {count} value{'' if count == 1 else 's'} that it does not have: {told}",
                    "values of the part only",
                    told,
                ),
            )

    def _note_missing(self, rule: str, number: int, found: _Found, said: str, spot: Spot) -> None:
        if not found.missing:
            return
        count = len(found.missing)
        told = self._told(sorted(found.missing)[:NAMED], count)
        lacks = f"{said} lacks {count} value{'' if count == 1 else 's'} of it: {told}"
        self.note(rule, number, spot.violation(lacks, f"{told} listed", "not there"))

    def _told(self, raws: Sequence[bytes], count: int) -> str:
        told = ", ".join(shown(self._order, raw) for raw in raws)
        return f"{told}, …" if count > len(raws) else told

    def _flags(self, number: int, said: str, expected: str) -> Violation:
        flags = self.blob.sets[number].head.flags
        return self.blob.head_spot(number, "flags").violation(said, expected, f"flags {flags:#x}")

    def _values(self, number: int) -> Spot:
        part = self.blob.sets[number]
        return self.entry.blob_spot(f"values[{number}]", part.start, part.end - part.start)


class Idx1Audit(SetAudit):
    """The IDX1 blob of one entry, which lists the values of the file and says nothing of nulls."""

    rules = (INDEXED,)

    def __init__(self, blob: BlobUnderTest, outcomes: Outcomes) -> None:
        if blob.entry.head.granularity != Granularity.FILE:
            raise Broken("DIR-048")
        super().__init__(blob, outcomes)

    def values_of_part(self, number: int) -> list[bytes]:  # noqa: ARG002 - there is one part
        """The values of the blob. Raises DIR-048."""
        return [text.encode() for text in self.blob.texts]

    def judge_part(self, number: int) -> None:
        """Say what is missing."""
        found = self._found.pop(number, _Found())
        spot = self.entry.blob_spot("payload", *self.blob.payload_place)
        self._note_missing(INDEXED, number, found, "the IDX1 blob of the file", spot)
