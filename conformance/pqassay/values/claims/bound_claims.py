"""Claims that are bounds, of a column chunk or of each page: no value lies beyond them.

`pqassay.values.claims.bounds` compares them with the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import Broken, NotChecked
from pqassay.under_test.violation import Violation, first_places
from pqassay.values.claims.count_claims import require_pages
from pqassay.values.claims.value_rules import Claim
from pqassay.values.claims.wording import named, others, value_at, where
from pqassay_spec.parquet.column_order import (
    FLOATING,
    TOTAL,
    Order,
    annotation_fits,
    is_nan,
    shown,
    type_order,
    width_of,
    zeros,
)
from pqassay_spec.parquet.thrift import Type

if TYPE_CHECKING:
    from pqassay.values.claims.bounds import BoundsAudit, ValueBeyond
    from pqassay.values.decoding.chunk_values import ChunkValues


def bounds_of(values: ChunkValues) -> BoundsAudit:
    """The values of a chunk, prepared for comparison with bounds."""
    return values.remembered(_bounds_of)


def _bounds_of(values: ChunkValues) -> BoundsAudit:
    from pqassay.values.claims.bounds import BoundsAudit  # noqa: PLC0415 - numpy, at this tier only

    return BoundsAudit(values, values.starts)


class BoundComparison(NamedTuple):
    """How values compare with a bound: their order, and whether their bytes are signed."""

    order: Order
    signed_bytes: bool = False


def order_of_readers(chunk: ColumnChunkUnderTest) -> Order | None:
    """The order of the type, which readers use if the footer gives no column orders; ``None`` if it gives some."""
    given = chunk.file.metadata.column_orders
    return type_order(chunk.leaf.element) if given is None else None


def require_order(chunk: ColumnChunkUnderTest) -> Order:
    """The order of the column. Raises `NotChecked` if no order is known for comparing bounds."""
    order = chunk.order
    if order is not None:
        return order
    if chunk.column_order is None:
        # Other rules report this, and compare the bounds by the order of the type.
        raise NotChecked(f"the footer gives no order for column {chunk.column}", "another rule")
    if chunk.leaf.element.type == Type.INT96 and not chunk.column_order.unknown:
        bounds = chunk.facts.statistics
        if bounds is not None and (bounds.min_value, bounds.max_value) != (None, None):
            raise Broken("STA-016")
    raise _no_order(chunk)


def _no_order(chunk: ColumnChunkUnderTest) -> NotChecked:
    kind = chunk.leaf.physical_type
    return NotChecked(f"column {chunk.column}, {kind}, has no order that pqassay knows", "file")


def deprecated_comparisons(chunk: ColumnChunkUnderTest) -> Sequence[BoundComparison]:
    """The possible comparisons for the deprecated bounds.

    Some writers compare signed values, and others, such as DuckDB, use the order of the type. Raises `NotChecked`.
    """
    kind, natural = chunk.leaf.element.type, type_order(chunk.leaf.element)
    if not annotation_fits(chunk.leaf.element):
        raise _no_order(chunk)
    if natural is Order.UNSIGNED:
        return BoundComparison(Order.SIGNED), BoundComparison(natural)
    if natural in (Order.BOOLEAN, Order.SIGNED, Order.SIGNED_12, Order.FLOAT, Order.HALF):
        return (BoundComparison(natural),)
    if natural in (Order.DECIMAL, Order.BYTES):
        return BoundComparison(natural), BoundComparison(Order.BYTES, signed_bytes=True)
    if kind in (Type.BYTE_ARRAY, Type.FIXED_LEN_BYTE_ARRAY) and natural is None:
        return (BoundComparison(Order.BYTES, signed_bytes=True),)
    raise Broken("STA-014")  # INT96: signed comparison is not defined for it


# -------------------------------------------------------------------------------------------- of a column chunk


@dataclass(frozen=True)
class ChunkBound(Claim):
    """A bound of all values of a column chunk.

    Attributes:
        chunk: The chunk.
        name: Its field in the statistics.
        raw: Its bytes.
        order: The order for comparing and showing values; it may be ``None`` only if another comparison is given.
    """

    chunk: ColumnChunkUnderTest
    name: str
    raw: bytes
    order: Order | None

    @property
    def above(self) -> bool:
        """Whether it is the upper bound."""
        return self.name.startswith("max")

    @property
    def own(self) -> BoundComparison:
        """The comparison of values with it, unless another comparison is given."""
        return BoundComparison(cast("Order", self.order))

    @property
    def field(self) -> Field:
        """The field of the bound."""
        return self.chunk.fields.statistics / self.name

    @property
    def text(self) -> str:
        """The bound as text, for messages."""
        return shown(self.order, self.raw)

    def beyond(self, values: ChunkValues, comparison: BoundComparison | None = None) -> ValueBeyond | None:
        """The first value beyond it; ``None`` if there is none."""
        order, signed_bytes = comparison or self.own
        return bounds_of(values).of_chunk(order, self.raw, above=self.above, signed_bytes=signed_bytes)

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation if a value lies beyond it."""
        beyond = self.beyond(values)
        if beyond is not None:
            yield self.crossed(values, beyond)

    def crossed(self, values: ChunkValues, beyond: ValueBeyond) -> Violation:
        """The violation of a value beyond it."""
        value = value_at(values, beyond.place, self.order)
        return Violation(
            f"{where(values, beyond.place)} holds {value}, {self.name} is {self.text}{others(beyond.total)}",
            self.field,
            expected=f"{'at least' if self.above else 'at most'} {value}",
            actual=self.text,
        )


class ExactBound(ChunkBound):
    """A bound that is marked exact: some value should equal it."""

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation unless a value equals it; the rule of the bound itself judges values beyond it."""
        if self.beyond(values) is None and not self._occurs(values):
            yield Violation(
                f"{self.name} of {named(self.chunk)} is marked exact, but no value is {self.text}",
                self.chunk.fields.statistics / f"is_{self.name}_exact",
                expected=f"not exact, or a value {self.text}",
                actual="exact",
            )

    def _occurs(self, values: ChunkValues) -> bool:
        """Whether it can be a value; NaN can, for example."""
        if is_nan(self.own.order, self.raw):
            return bool(values.is_nan.any())
        return bounds_of(values).is_met(self.own.order, self.raw, above=self.above) is not False


@dataclass(frozen=True)
class DeprecatedBounds(Claim):
    """The deprecated bounds of a column chunk, which are true if they hold in one of the possible orders."""

    bounds: Sequence[ChunkBound]

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield violations unless one possible order has none; the order with the fewest is reported."""
        wrong: list[tuple[ChunkBound, ValueBeyond]] = []
        for number, comparison in enumerate(deprecated_comparisons(values.chunk)):
            crossed = [
                (bound, beyond)
                for bound in self.bounds
                if (beyond := bound.beyond(values, comparison)) is not None
            ]
            if not crossed:
                return
            if not number or len(crossed) < len(wrong):
                wrong = crossed
        for bound, beyond in wrong:
            yield bound.crossed(values, beyond)


# ------------------------------------------------------------------------------------------------------ of pages


@dataclass(frozen=True)
class BoundsOfPages(Claim):
    """The bounds of one side, for each data page of a column chunk.

    Attributes:
        chunk: The chunk.
        side: Their name in messages: ``lower`` or ``upper``, with further distinction.
        raws: Their bytes; ``None`` for pages without a bound.
        order: The order for comparing and showing values; it may be ``None`` only if another comparison is given.
        field: The field of each bound, by the number of its page.
    """

    chunk: ColumnChunkUnderTest
    side: str
    raws: Sequence[bytes | None]
    order: Order | None
    field: Callable[[int], Field]

    @property
    def above(self) -> bool:
        """Whether they are upper bounds."""
        return self.side.endswith("upper")

    @property
    def own(self) -> BoundComparison:
        """The comparison of values with them, unless another comparison is given."""
        return BoundComparison(cast("Order", self.order))

    def beyond(self, values: ChunkValues, comparison: BoundComparison | None = None) -> Iterator[ValueBeyond]:
        """Yield the first value beyond its bound for each page; see `BoundsAudit.of_pages`."""
        order, signed_bytes = comparison or self.own
        return bounds_of(values).of_pages(order, self.raws, above=self.above, signed_bytes=signed_bytes)

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation for each page with a value beyond its bound."""
        return self.crossed(values, self.beyond(values))

    def crossed(self, values: ChunkValues, beyond: Iterator[ValueBeyond]) -> Iterator[Violation]:
        """Yield the violations of values beyond the bounds of their pages."""
        for each in beyond:
            value, bound = (
                value_at(values, each.place, self.order),
                shown(self.order, self.raws[each.page] or b""),
            )
            yield Violation(
                f"{where(values, each.place)} holds {value}, but the page's {self.side} bound is {bound}",
                self.field(each.page),
                expected=f"{'at least' if self.above else 'at most'} {value}",
                actual=bound,
                more=each.total - 1,
            )


class DeprecatedBoundsOfPages(BoundsOfPages):
    """The deprecated bounds of pages, which are true if they hold in one of the possible orders."""

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield violations unless one order has no page with a value beyond its bound."""
        comparisons = deprecated_comparisons(values.chunk)
        for comparison in comparisons:
            if next(self.beyond(values, comparison), None) is None:
                return
        yield from self.crossed(values, self.beyond(values, comparisons[0]))


@dataclass(frozen=True)
class ExactBoundsOfPages(BoundsOfPages):
    """Bounds of pages that are marked exact; ``flag`` is the field of the mark."""

    flag: Callable[[int], Field]

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation for each page without a value equal to its bound."""
        within = bounds_of(values).pages_within(self.own.order, self.raws, above=self.above)
        name = f"{'max' if self.above else 'min'}_value"

        def violation(page: int) -> Violation:
            text = shown(self.order, self.raws[page] or b"")
            return Violation(
                f"{name} of page {page} of {named(self.chunk)} is marked exact, but no value is {text}",
                self.flag(page),
                expected=f"not exact, or a value {text}",
                actual="exact",
            )

        return first_places(within.tolist(), violation)


# -------------------------------------------------------------------------------------------------------- zeros


class ZeroBound(NamedTuple):
    """A bound that is a zero and excludes the other zero.

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
        """The excluded zero, for messages."""
        return "0.0" if self.negative else "-0.0"

    def left_out(self, values: ChunkValues) -> Any:
        """A bool mask of the values that are the excluded zero."""
        return values.is_zero(negative=not self.negative)

    def violation(self, where_it_is: str, bound: str, field: Field) -> Violation:
        """The violation of a bound that excludes the other zero."""
        return Violation(
            f"{where_it_is} holds {self.other}, {bound} is {self}",
            field,
            expected=self.other,
            actual=str(self),
        )


def zero_bound(
    chunk: ColumnChunkUnderTest, raws: Sequence[bytes | None], *, above: bool
) -> tuple[bool, ZeroBound | None]:
    """Whether the bounds of one side include zeros, and the zero among them that excludes the other zero, if any.

    The two zeros are equal, unless the type has only one, or the order distinguishes them.
    """
    order = chunk.order
    if order not in FLOATING or order in TOTAL:
        return False, None
    both = zeros(width_of(chunk.leaf.element) or 0)
    narrow = ZeroBound(both.negative if above else both.positive, negative=above)
    return any(zero in raws for zero in both), narrow if narrow.raw in raws else None


@dataclass(frozen=True)
class ChunkZero(Claim):
    """A bound of a column chunk that is a zero."""

    bound: ChunkBound
    zero: ZeroBound

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation if a value is the other zero."""
        left_out = self.zero.left_out(values)
        if left_out.any():
            row = where(values, int(left_out.argmax()))
            yield self.zero.violation(row, self.bound.name, self.bound.field)


@dataclass(frozen=True)
class ZerosOfPages(Claim):
    """Bounds of pages, some of which are a zero."""

    bounds: BoundsOfPages
    zero: ZeroBound

    def compare(self, values: ChunkValues) -> Iterator[Violation]:
        """Yield a violation for each page with a zero bound and a value that is the other zero."""
        require_pages(self.bounds.raws, values, "column index")
        has_other = values.sums(self.zero.left_out(values)) > 0
        raws = self.bounds.raws
        wrong = [page for page in has_other.nonzero()[0].tolist() if raws[page] == self.zero.raw]
        of, side = named(self.bounds.chunk), self.bounds.side
        return first_places(
            wrong,
            lambda page: self.zero.violation(
                f"page {page} of {of}", f"its {side} bound", self.bounds.field(page)
            ),
        )
