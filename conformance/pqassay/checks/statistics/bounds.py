"""Checks of the statistics in the footer: column orders, bounds, counts, level histograms and geospatial boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from pqassay.checks import rule
from pqassay.checks.subjects import FILE, STATISTICS, Subject
from pqassay.checks.undefined import unknown
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable
from pqassay.under_test.nan_bounds import bounds_in_use
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.column_order import (
    FLOATING,
    SIGNED_ORDERS,
    TOTAL,
    Order,
    annotation_fits,
    is_bound,
    is_nan,
    is_unordered,
    key,
    number_of,
    shown,
    signed_key,
    type_order,
    width_of,
)
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf, is_string
from pqassay_spec.parquet.thrift import (
    ColumnOrder,
    SchemaElement,
    Statistics,
    Type,
)

BoundName = Literal["min_value", "max_value", "min", "max"]

BOUNDS: tuple[BoundName, ...] = ("min_value", "max_value")
DEPRECATED: tuple[BoundName, ...] = ("min", "max")


def given(statistics: Statistics, names: tuple[BoundName, ...]) -> list[tuple[BoundName, bytes]]:
    """The bounds with these names that are present."""
    return [(name, raw) for name in names if (raw := getattr(statistics, name)) is not None]


def statistics_of(chunk: ColumnChunkUnderTest) -> Statistics:
    """The statistics of a chunk, which must have some."""
    if chunk.statistics is None:
        raise NotApplicable
    return chunk.statistics


# ------------------------------------------------------------------------------------------------ column orders


@rule("STA-001", of=FILE)
def orders_are_given(file: FileUnderTest) -> Iterator[Violation]:
    """Without column orders, bounds have no meaning."""
    if file.metadata.column_orders is not None:
        return
    for chunk in file.part(ColumnChunks).all:
        statistics = chunk.statistics
        if statistics is not None and given(statistics, BOUNDS):
            what = "statistics have bounds"
        elif chunk.chunk.column_index_offset is not None:
            what = "chunk has a column index"
        else:
            continue
        said = f"the {what}, but the footer has no column_orders for comparing bounds"
        field = chunk.fields.facts
        yield Violation(said, field, "column_orders", "none", column=chunk.column, row_group=chunk.row_group)
        return
    raise NotApplicable


class ColumnOrders(NamedTuple):
    """The column orders of a footer, and the leaves to which they belong."""

    file: FileUnderTest
    orders: list[ColumnOrder]
    leaves: list[SchemaLeaf]


def _column_orders(file: FileUnderTest) -> list[ColumnOrders]:
    orders = file.metadata.column_orders
    return [] if orders is None else [ColumnOrders(file, orders, file.leaves)]


COLUMN_ORDERS = Subject("column orders", _column_orders)
"""The column orders of a footer, all together."""


@rule("STA-002", of=COLUMN_ORDERS)
def orders_are_those_of_the_leaves(listed: ColumnOrders) -> Iterator[Violation]:
    """Readers find the order of a column by its position, so each leaf has one order."""
    orders, leaves = listed.orders, listed.leaves
    if len(orders) != len(leaves):
        said = f"{len(orders)} column orders for {len(leaves)} leaves"
        yield Violation(said, in_footer(listed.file, "column_orders"), str(len(leaves)), str(len(orders)))


@rule("STA-003", of=COLUMN_ORDERS)
def orders_are_known(listed: ColumnOrders) -> Iterator[Violation]:
    """A later version of the format may define other orders."""
    orders, leaves = listed.orders, listed.leaves
    member = 0
    for number, order in enumerate(orders):
        if order.unknown:
            member = order.unknown[0].id
            yield Violation(
                message=f"order {number} is member {member} of the union, which is not defined; a later version may define it",
                field=in_footer(listed.file, f"column_orders[{number}]"),
                expected="1, 2 or 3",
                actual=str(member),
                column=leaves[number].name if len(leaves) == len(orders) else None,
            )
    if member:
        raise unknown(f"member {member} of ColumnOrder")


@rule("STA-004", of=COLUMN_ORDERS)
def orders_fit_their_columns(listed: ColumnOrders) -> Iterator[Violation]:
    """The orders of floats and of INT96 belong to such columns."""
    orders, leaves = listed.orders, listed.leaves
    if len(orders) != len(leaves):
        raise Broken("STA-002")
    for number, (order, leaf) in enumerate(zip(orders, leaves, strict=True)):
        element = leaf.element
        if order.IEEE_754_TOTAL_ORDER is not None:
            is_floating = type_order(element) in FLOATING
            name, fits = "IEEE_754_TOTAL_ORDER", is_floating or not annotation_fits(element)
        elif order.INT96_TIMESTAMP_ORDER is not None:
            name, fits = "INT96_TIMESTAMP_ORDER", element.type == Type.INT96
        else:
            continue
        if not fits:
            said = f"{name} is the order of a column of {leaf.physical_type}"
            field = in_footer(listed.file, f"column_orders[{number}]")
            yield Violation(said, field, "TYPE_ORDER", name, column=leaf.name)


# ------------------------------------------------------------------------------------------------ bounds


@rule("STA-005", of=STATISTICS)
def bounds_are_values(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Every bound is encoded as a value."""
    bounds = bounds_of_values(chunk, statistics_of(chunk))
    if not bounds or not annotation_fits(chunk.leaf.element):
        raise NotApplicable
    for name, raw in bounds:
        if not is_bound(chunk.leaf.element, raw):
            yield is_no_value(chunk, name, raw, chunk.fields.statistics / name)


def bounds_of_values(chunk: ColumnChunkUnderTest, statistics: Statistics) -> list[tuple[BoundName, bytes]]:
    """The bounds that must be values; under an unknown order, only the deprecated ones."""
    order = chunk.column_order
    return given(statistics, DEPRECATED if order is not None and order.unknown else (*BOUNDS, *DEPRECATED))


def is_no_value(
    chunk: ColumnChunkUnderTest, name: BoundName, raw: bytes, field: Field, of: str = ""
) -> Violation:
    """The violation of a bound that is not a value of the column's type."""
    said = f"{name}{of} of a column of {chunk.leaf.physical_type} is {show(raw)}, {len(raw)} bytes"
    return Violation(
        said, field, _what_a_bound_is(chunk.leaf.element), f"{len(raw)} bytes, {show(raw, width=40)}"
    )


def _what_a_bound_is(element: SchemaElement) -> str:
    """The description of a valid bound for messages, as `is_bound` defines it."""
    if element.type == Type.BOOLEAN:
        return "one byte, 0 or 1"
    width = width_of(element)
    return "at least one byte" if width is None else f"{width} bytes"


@rule("STA-006", of=STATISTICS)
def bounds_are_not_swapped(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """The lower bound is not above the upper bound. STA-005 judges bytes that are not a value."""
    statistics, element = statistics_of(chunk), chunk.leaf.element
    pairs = comparable_pairs(chunk, statistics)
    if not pairs:
        raise NotApplicable
    for pair in pairs:
        if pair.is_swapped and is_bound(element, pair.low) and is_bound(element, pair.high):
            yield pair.violation(chunk.fields.statistics / pair.names[0])


class BoundsPair(NamedTuple):
    """The bounds of one column chunk or page, which can be compared.

    Attributes:
        names: The fields of the lower and the upper bound.
        order: Their order.
        low, high: Their bytes.
    """

    names: tuple[BoundName, ...]
    order: Order
    low: bytes
    high: bytes

    @property
    def is_swapped(self) -> bool:
        """Whether the lower bound is greater than the upper bound; false if the order does not contain one of them."""
        least, greatest = key(self.order, self.low), key(self.order, self.high)
        return least is not None and greatest is not None and bool(least > greatest)

    def violation(self, field: Field, of: str = "") -> Violation:
        """The violation of a swapped pair."""
        low, high = shown(self.order, self.low), shown(self.order, self.high)
        said = (
            f"{'the deprecated ' * (self.names is DEPRECATED)}{self.names[0]} {low}{of} is greater than "
            f"{self.names[1]} {high}"
        )
        return Violation(said, field, f"at most {high}", low)


def comparable_pairs(chunk: ColumnChunkUnderTest, statistics: Statistics) -> list[BoundsPair]:
    """The pairs of bounds, current and deprecated, that are complete and have a known order."""
    pairs: list[BoundsPair] = []
    order, low, high = chunk.order, statistics.min_value, statistics.max_value
    if order is not None and low is not None and high is not None:
        pairs.append(BoundsPair(BOUNDS, order, low, high))
    element, low, high = chunk.leaf.element, statistics.min, statistics.max
    order = type_order(element)
    if order is not None and low is not None and high is not None:
        keys = (signed_key(element, low), signed_key(element, high))
        pairs += [BoundsPair(DEPRECATED, order, low, high)] if None not in keys else []
    return pairs


def _float_order(chunk: ColumnChunkUnderTest) -> Order:
    """The order of a floating-point column, which must be known."""
    order = chunk.order
    if order not in FLOATING:
        raise NotApplicable
    return order


@rule("STA-007", of=STATISTICS)
def bounds_are_numbers(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Bounds without a count of NaN must not be NaN; with a count, STA-008 judges them."""
    bounds = bounds_in_use(chunk)
    if not bounds:
        raise NotApplicable
    for bound in bounds:
        if bound.is_nan:
            said, field = f"{bound.name} is NaN", chunk.fields.statistics / bound.name
            yield Violation(said, field, "a number, or no bound", f"nan (0x{bound.raw.hex()})")


@rule("STA-008", of=STATISTICS)
def bounds_are_nan_where_all_is(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """With a nan_count, bounds are NaN in only one case: the order includes NaN, and all values are NaN."""
    statistics, order = statistics_of(chunk), _float_order(chunk)
    bounds = given(statistics, BOUNDS)
    count = statistics.nan_count
    if count is None or not bounds:
        raise NotApplicable
    all_nan = _all_nan(statistics, chunk.facts.num_values)
    for name, raw in bounds:
        nan = is_nan(order, raw)
        if nan and order not in TOTAL:
            expected = "a number, or no bound: this order does not include NaN"
        elif nan and all_nan is False:
            expected = "a number: not all values are NaN"
        elif not nan and all_nan and order in TOTAL and number_of(order, raw) is not None:
            expected = "NaN, like every value"
        else:
            continue
        said = f"{name} is {shown(order, raw)} with {count} NaN among {chunk.facts.num_values} values"
        field = chunk.fields.statistics / name
        yield Violation(said, field, expected, f"{shown(order, raw)} (0x{raw.hex()})")


def _all_nan(statistics: Statistics, num_values: int) -> bool | None:
    """Whether all non-null values are NaN, and at least one exists; ``None`` if the counts do not show it."""
    if not statistics.nan_count:
        return False
    if statistics.null_count is None:
        return None
    return statistics.nan_count + statistics.null_count == num_values


@rule("STA-024", of=STATISTICS)
def total_order_counts_nan(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Under the total order, a reader that looks for NaN uses the count, not the bounds."""
    statistics, order = statistics_of(chunk), _float_order(chunk)
    if order not in TOTAL:
        raise NotApplicable
    if statistics.nan_count is None:
        said = "the order is IEEE_754_TOTAL_ORDER, and the statistics do not count NaN"
        yield Violation(said, chunk.fields.statistics, "nan_count", "none")


@rule("STA-014", of=STATISTICS)
def deprecated_bounds_are_signed(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Signed comparison is right only for signed numbers. Elsewhere it is harmless only if both bounds are equal."""
    statistics, element = statistics_of(chunk), chunk.leaf.element
    bounds = given(statistics, DEPRECATED)
    if not bounds or is_unordered(element) or not annotation_fits(element):
        raise NotApplicable
    order = type_order(element)
    if order not in SIGNED_ORDERS and statistics.min != statistics.max:
        kind = "INT96 timestamps" if order is None else order.value
        said = f"the deprecated {' and '.join(name for name, _ in bounds)} bound a column of {kind}"
        field = chunk.fields.statistics / bounds[0][0]
        yield Violation(
            said, field, "no such field: it only knows signed comparison", shown(order, bounds[0][1])
        )


@rule("STA-015", of=STATISTICS)
def deprecated_bounds_agree(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Current and deprecated bounds of a signed order are equal."""
    statistics, order, element = statistics_of(chunk), chunk.order, chunk.leaf.element
    pairs = [
        (old, new)
        for old, new in (("min", "min_value"), ("max", "max_value"))
        if getattr(statistics, old) is not None and getattr(statistics, new) is not None
    ]
    if not pairs or type_order(element) not in SIGNED_ORDERS or order is None:
        raise NotApplicable
    for old, new in pairs:
        before, now = getattr(statistics, old), getattr(statistics, new)
        if before != now and is_bound(element, before) and is_bound(element, now):
            said = f"the deprecated {old} is {shown(order, before)}, and {new} {shown(order, now)}"
            yield Violation(said, chunk.fields.statistics / old, shown(order, now), shown(order, before))


@rule("STA-016", of=STATISTICS)
def int96_bounds_have_their_order(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """Only one order is defined for INT96."""
    statistics, column_order = statistics_of(chunk), chunk.column_order
    bounds = given(statistics, BOUNDS)
    if chunk.leaf.element.type != Type.INT96 or not bounds or column_order is None or column_order.unknown:
        raise NotApplicable
    if column_order.INT96_TIMESTAMP_ORDER is None:
        name, raw = bounds[0]
        said = "an INT96 column has bounds, but no INT96_TIMESTAMP_ORDER for comparing them"
        field = chunk.fields.statistics / name
        yield Violation(said, field, "no bounds, or INT96_TIMESTAMP_ORDER", show(raw))


@rule("STA-017", of=STATISTICS)
def unordered_columns_have_no_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A type without an order has no minimum or maximum."""
    statistics, element = statistics_of(chunk), chunk.leaf.element
    if not is_unordered(element) or not annotation_fits(element):
        raise NotApplicable
    for name, raw in given(statistics, (*BOUNDS, *DEPRECATED)):
        said = f"{name} is given, but values of this type have no order"
        yield Violation(said, chunk.fields.statistics / name, "no bound", show(raw))


@rule("STA-018", of=STATISTICS)
def bounds_of_text_are_text(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A bound of text is text, even if it is truncated."""
    statistics, element = statistics_of(chunk), chunk.leaf.element
    bounds = given(statistics, (*BOUNDS, *DEPRECATED))
    annotated = element.logicalType is not None or element.converted_type is not None
    if not bounds or not annotated or not is_string(chunk.leaf):
        raise NotApplicable
    for name, raw in bounds:
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            said = f"{name} {show(raw)} is not UTF-8 from its byte {error.start} on"
            yield Violation(said, chunk.fields.statistics / name, "UTF-8", show(raw[error.start : error.end]))


@rule("STA-023", of=STATISTICS)
def flags_have_their_bounds(chunk: ColumnChunkUnderTest) -> Iterator[Violation]:
    """A flag needs the bound that it describes."""
    statistics = statistics_of(chunk)
    flags = [
        (name, name.removeprefix("is_").removesuffix("_exact"))
        for name in ("is_min_value_exact", "is_max_value_exact")
        if getattr(statistics, name) is not None
    ]
    if not flags:
        raise NotApplicable
    for flag, bound in flags:
        if getattr(statistics, bound) is None:
            said = f"{flag} is given without {bound}"
            field = chunk.fields.statistics / flag
            yield Violation(said, field, f"a {bound}, or no flag", str(getattr(statistics, flag)).lower())
