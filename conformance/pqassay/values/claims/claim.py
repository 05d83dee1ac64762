"""The claims about one column chunk, and their outcomes once its values are there.

A claim names the rules that speak of it and judges it.  One that cannot be judged leaves its rules not checked, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import Broken, FileUnderTest, Mistake, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay.values.claims.bounds import BoundsAudit
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.decoding.chunk_values import ChunkValues, excused
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import FLOATING, TOTAL, Order, type_order, width_of, zeros
from pqassay_spec.parquet.thrift import Type

Outcomes = dict[str, Outcome]
"""The outcome of each rule, by its id."""

Found = Iterator[tuple[str, Violation]]
"""Rules and places where they are broken."""

Judge = Callable[[ChunkValues], Found]
"""Compares a claim with the values. Raises `FormatError` and `NotChecked` where that cannot be done."""


def why_not_all(file: FileUnderTest, compared: Collection[int]) -> NotChecked | None:
    """Why row groups are not among those that were compared; ``None`` if all are."""
    missing = next(
        (number for number in range(len(file.metadata.row_groups)) if number not in compared), None
    )
    if missing is None:
        return None
    for obstacle, found in file.part(ColumnChunks).left_out.items():
        return NotChecked(found.reason, obstacle)
    return NotChecked(f"a column of row group {missing} is not there", "file")


class ZeroBound(NamedTuple):
    """A bound that is a zero, beyond which the other zero lies.

    Attributes:
        raw: Its bytes.
        negative: Whether it is the negative zero.
    """

    raw: bytes
    negative: bool

    def __str__(self) -> str:
        return "-0.0" if self.negative else "0.0"

    @property
    def other(self) -> str:
        """The zero that it leaves out, for messages."""
        return "0.0" if self.negative else "-0.0"

    def left_out(self, decoded: ChunkValues) -> NDArray[np.bool_]:
        """The values that are the zero that it leaves out, bool."""
        return decoded.is_zero(negative=not self.negative)


class ChunkClaims:
    """The claims about one chunk, and what comes of them.

    Attributes:
        chunk: The chunk.
        order: How its values compare, if they do.
        outcomes: What came of each rule that speaks of a claim.
        claims: The claims, each with its rules.
        longest: Bytes of the longest bound.
    """

    def __init__(self, chunk: ColumnChunkUnderTest) -> None:
        self.chunk = chunk
        self.order = chunk.order
        self.outcomes: Outcomes = {}
        self.claims: list[tuple[tuple[str, ...], Judge]] = []
        self.longest = 0
        self._bounds: BoundsAudit | None = None

    @property
    def needs_values(self) -> bool:
        """Whether anything is said that the values decide."""
        return bool(self.claims)

    def leave(self, reason: NotChecked) -> None:
        """Note why the values cannot be decoded; if the pages break a rule, that is why."""
        why = excused(self.chunk, reason)
        for rules, _ in self.claims:
            self._hinder(rules, why)

    def judge(self, values: ChunkValues) -> None:
        """Judge what is said."""
        self._bounds = BoundsAudit(values, self.longest, values.starts)
        for rules, judge in self.claims:
            try:
                for rule, violation in judge(values):
                    self.outcomes[rule].add(self._of_chunk(violation))
            except NotApplicable:
                continue
            except (FormatError, NotChecked) as reason:
                self._hinder(rules, reason)
            except (OSError, MemoryError):
                raise
            except Exception as error:  # noqa: BLE001 - other claims are judged all the same
                self._hinder(rules, Mistake.by(error))
        # The judges know this object and it knows them: without this, the values would stay until the collector comes.
        self._bounds = None
        self.claims.clear()

    def _of_chunk(self, violation: Violation) -> Violation:
        return replace(violation, column=self.chunk.column, row_group=self.chunk.row_group)

    def _claim(self, judge: Judge, *rules: str) -> None:
        for rule in rules:
            self._applies(rule)
        if not all(rule in self.chunk.file.left_out for rule in rules):
            self.claims.append((rules, judge))

    def _hinder(self, rules: Sequence[str], reason: Exception) -> None:
        for rule in rules:
            outcome = self.outcomes.setdefault(rule, Outcome())
            outcome.applies = True
            outcome.hindered(reason, self.chunk.column)

    @contextmanager
    def _reading(self, *rules: str) -> Generator[None]:
        """Let what cannot be read hinder rules."""
        try:
            yield
        except NotApplicable:
            return
        except (FormatError, NotChecked) as reason:
            self._hinder(rules, reason)

    @property
    def _of(self) -> str:
        return f"row group {self.chunk.row_group} of column {self.chunk.column}"

    @property
    def _judged(self) -> BoundsAudit:
        if self._bounds is None:
            raise NotChecked("its values are not decoded", "file")
        return self._bounds

    def _bytes_of(self, raws: Sequence[bytes | None]) -> Sequence[bytes | None]:
        self.longest = max([self.longest, *(len(raw) for raw in raws if raw)])
        return raws

    def _applies(self, rule: str) -> None:
        self.outcomes.setdefault(rule, Outcome()).applies = True

    def _claim_zeros(
        self,
        rule: str,
        raws: Sequence[bytes | None],
        judge: Callable[[ZeroBound, ChunkValues], Found],
        *,
        above: bool,
    ) -> None:
        """Have it judged whether bounds that are a zero leave out the other one, which counts as equal.

        Args:
            rule: What is broken then. It applies wherever a bound is a zero, of either sign.
            raws: Bounds of the same side.
            judge: Looks for the other zero among the values that the bounds that are the given one speak of.
            above: Whether they are upper bounds.
        """
        if self.order not in FLOATING or self.order in TOTAL:
            return  # one zero alone, or two that the order tells apart
        both = zeros(width_of(self.chunk.leaf.element) or 0)
        if any(zero in raws for zero in both):
            self._applies(rule)
        narrow = ZeroBound(both.negative if above else both.positive, negative=above)
        if narrow.raw in raws:
            self._claim(partial(judge, narrow), rule)

    @property
    def order_of_readers(self) -> Order | None:
        """The order of the type, which readers take where the footer gives no column orders; ``None`` where it does."""
        given = self.chunk.file.metadata.column_orders
        return type_order(self.chunk.leaf.element) if given is None else None

    def _deprecated_orders(self) -> tuple[tuple[Order, bool], ...]:
        """The orders that may be meant by the deprecated bounds, each with whether its bytes are signed.

        Some writers compare by sign, and others, DuckDB among them, as the type does. Raises `NotChecked`.
        """
        kind, natural = self.chunk.leaf.element.type, type_order(self.chunk.leaf.element)
        if natural is Order.UNSIGNED:
            return (Order.SIGNED, False), (natural, False)
        if natural in (Order.BOOLEAN, Order.SIGNED, Order.FLOAT, Order.HALF):
            return ((natural, False),)
        if natural in (Order.DECIMAL, Order.BYTES):
            return (natural, False), (Order.BYTES, True)
        if kind in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY) and natural is None:
            return ((Order.BYTES, True),)
        raise Broken("STA-014")  # INT96: what signed comparison means for it, nobody says

    def _no_order(self) -> NotChecked:
        kind = self.chunk.leaf.physical_type
        if self.chunk.column_order is None:
            # Other rules say so, and compare the bounds by the order of the type.
            return NotChecked(f"the footer gives no order of column {self.chunk.column}", "another rule")
        if self.chunk.leaf.element.type == Type.INT96 and not self.chunk.column_order.unknown:
            bounds = self.chunk.facts.statistics
            if bounds is not None and (bounds.min_value, bounds.max_value) != (None, None):
                return Broken("STA-016")
        return NotChecked(
            f"the order of column {self.chunk.column}, {kind}, is none, or none that pqassay knows", "file"
        )

    def _where(self, decoded: ChunkValues, place: int) -> str:
        """The row and the page of a value, for messages."""
        page = decoded.page_of(place)
        row = f"row {decoded.row_of(place)} of {self._of}"
        return row if page is None else f"{row}, page {page},"


def others(count: int, what: str = "value", several: str = "values") -> str:
    """The number of further ones like the one that a message names, in brackets."""
    if count == 1:
        return ""
    return f" ({count - 1} more {what if count == 2 else several} like it)"
