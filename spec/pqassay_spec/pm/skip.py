"""Skipping: the row groups that a query need not read, according to the facts in ``_pm`` about their column chunks.

A row group is skipped only if none of its rows can satisfy the predicate.  Bounds, null counts and bloom filters are facts about
all values of a chunk; anything that they do not exclude stays possible.  Each part of a predicate has two answers: whether
it may be true of some row, and whether it may be false of some row. ``not`` swaps the answers. A comparison with null can be
neither.

Values are the stored ones: whole numbers for integers, dates, timestamps and decimals (unscaled), text or
bytes for byte arrays, floats for floats.  A value of another kind than the column's excludes nothing.

    >>> from pqassay_spec.pm.value import SnapshotColumn
    >>> year = Facts(SnapshotColumn("year", 1), 3, 0, (2000).to_bytes(4, "little"), (2010).to_bytes(4, "little"))
    >>> [may_match([">", "year", value], {"year": year}.get) for value in (1999, 2009, 2010)]
    [True, True, False]

Source: "Parquet metadata file" (``parquet-metadata.md``), sections "Stat encoding" and "Bloom filters"; where it is silent,
the behavior of its software, or something more careful.
"""

from __future__ import annotations

import math
import reprlib
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeGuard, cast

from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.base.strict_json import EXACT_INTEGERS
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.block import Block, Side, find_statistic, read_statistic
from pqassay_spec.pm.codes import DECIMALS, ColumnType, PhysicalType, Repetition, type_tag
from pqassay_spec.pm.value import SnapshotColumn

PLAIN_FORMATS: dict[int, str] = {kind: cast("Any", number).fmtstr for kind, number in FIXED_WIDTH.items()}
"""Formats of Python's ``struct`` for physical types whose bounds are numbers of a fixed width."""

INTEGERS = (PhysicalType.INT32, PhysicalType.INT64)
FLOATS = (PhysicalType.FLOAT, PhysicalType.DOUBLE)
BYTES = (PhysicalType.BYTE_ARRAY, PhysicalType.FIXED_LEN_BYTE_ARRAY)

UNSIGNED = frozenset((ColumnType.IPV4, ColumnType.CHAR))
"""Types of integers that are compared as unsigned numbers."""

PERHAPS_UNSIGNED = frozenset((-1, ColumnType.INT, ColumnType.LONG))
"""Types of integers in files that QuestDB did not write; the integers may be signed or unsigned."""

IN_BYTE_ORDER = frozenset(
    (
        ColumnType.STRING,
        ColumnType.SYMBOL,
        ColumnType.VARCHAR,
        ColumnType.BINARY,
        ColumnType.UUID,
        ColumnType.LONG128,
        ColumnType.LONG256,
    )
)
"""Types of byte arrays that are compared byte by byte."""

NULL_IS_ZERO = frozenset((ColumnType.BYTE, ColumnType.SHORT, ColumnType.CHAR))
"""Types without a null value: QuestDB reads a null as 0."""

UNCOUNTED_NULLS = frozenset((ColumnType.FLOAT, ColumnType.DOUBLE, ColumnType.CHAR))
"""Types with values that QuestDB treats as null (NaN, 0), which null counts do not include."""

NEVER_NULL = frozenset((ColumnType.BYTE, ColumnType.SHORT))
"""Types of which QuestDB treats no value as null."""

LARGEST_COUNT = (1 << 63) - 1
"""The largest valid null count; a larger number is a negative one."""


class Facts(NamedTuple):
    """The statistics of a column chunk, and its bloom filter.

    Attributes:
        column: The column.
        num_values: Values, nulls included.
        null_count: Nulls; ``None`` if unknown.
        min, max: The bounds, in Parquet's encoding; ``None`` if unknown. They need not be exact.
        may_hold: The bloom filter: whether it may have a value in PLAIN encoding without length prefix; ``False`` is
            certain. ``None`` if there is no filter.
    """

    column: SnapshotColumn
    num_values: int
    null_count: int | None
    min: bytes | None
    max: bytes | None
    may_hold: Callable[[bytes], bool] | None = None


FactsOf = Callable[[str], Facts | None]
"""Facts by the name of a column; ``None`` if they are unknown."""


class NotAPredicateError(ValueError):
    """A tree that is not a predicate."""


class Possible(NamedTuple):
    """The truth values that a predicate may have for rows of a row group; a row with an unknown result counts for neither."""

    true: bool
    false: bool


ANYTHING = Possible(true=True, false=True)
NOTHING = Possible(true=False, false=False)


def may_match(predicate: Sequence[Any], facts_of: FactsOf) -> bool:
    """Whether a row group has to be read.

    Args:
        predicate: A tree as in ``conformance/PROTOCOL.md``, with Python values. Also supported is
            ``["between", column, a, b]``, which is true of values between the two, in either order.
        facts_of: The facts about the row group's column chunks.

    Raises:
        NotAPredicateError: The tree is not a predicate.
    """
    return possible(predicate, facts_of).true


DEEPEST = 100
"""Most levels of a predicate."""


def possible(predicate: Any, facts_of: FactsOf, depth: int = DEEPEST) -> Possible:
    """Whether a predicate may be true, and whether it may be false. See `may_match`."""
    if not depth:
        raise NotAPredicateError(f"a predicate has at most {DEEPEST} levels")
    match predicate:
        case ["not", part]:
            inner = possible(part, facts_of, depth - 1)
            return Possible(inner.false, inner.true)
        case [("and" | "or") as name, *parts] if parts:
            each = [possible(part, facts_of, depth - 1) for part in parts]
            true, false = [part.true for part in each], [part.false for part in each]
            return Possible(all(true), any(false)) if name == "and" else Possible(any(true), all(false))
        case ["is null", str(column)]:
            return _is_null(facts_of(column))
        case ["is not null", str(column)]:
            null = _is_null(facts_of(column))
            return Possible(null.false, null.true)
        case [("=" | "!=" | "<" | "<=" | ">" | ">=") as name, str(column), value]:
            return _compared(name, facts_of(column), [value])
        case ["between", str(column), first, second]:
            return _compared("between", facts_of(column), [first, second])
        case [("in" | "not in") as name, str(column), values] if isinstance(values, list | tuple):
            return _compared(name, facts_of(column), cast("Sequence[Any]", values))
        case _:
            raise NotAPredicateError(f"{reprlib.repr(predicate)} is not a predicate")


def columns_of(predicate: Any) -> set[str]:
    """The columns that a predicate names.

    Raises:
        NotAPredicateError: The tree is not a predicate.
    """
    columns: set[str] = set()
    possible(predicate, columns.add)
    return columns


# ------------------------------------------------------------------------------------------------------- nulls


def _is_null(facts: Facts | None) -> Possible:
    if facts is None or is_nested(facts.column):
        return ANYTHING
    tag, nulls = type_tag(facts.column.type), null_count(facts)
    if facts.num_values == 0:
        return NOTHING
    some = nulls is None or nulls > 0 or tag in UNCOUNTED_NULLS
    others = nulls is None or nulls < facts.num_values or tag in NEVER_NULL
    return Possible(some, others)


def null_count(facts: Facts) -> int | None:
    """The null count; ``None`` if it is absent or impossible."""
    count = facts.null_count
    return None if count is None or not 0 <= count <= min(facts.num_values, LARGEST_COUNT) else count


def is_all_null(facts: Facts) -> bool:
    """Whether all values of a chunk are null, so it need not be fetched."""
    return null_count(facts) == facts.num_values


def is_nested(column: SnapshotColumn) -> bool:
    """Whether a row may have several values, or a null of a group around this column: counts and bounds then exclude nothing.

    A required column with nulls is a required field inside an optional one. (QuestDB also declares symbols required
    if they merely had no null.)
    """
    in_a_required_field = (
        column.max_def_level > 0
        and column.repetition == Repetition.REQUIRED
        and type_tag(column.type) != ColumnType.SYMBOL
    )
    return column.max_rep_level > 0 or column.max_def_level > 1 or in_a_required_field


# ------------------------------------------------------------------------------------------------- comparisons


def _compared(name: str, facts: Facts | None, values: Sequence[Any]) -> Possible:
    """The answers for a comparison; ``values`` are its operands."""
    if name.startswith("not ") or name == "!=":
        opposite = _compared("=" if name == "!=" else "in", facts, values)
        return Possible(opposite.false, opposite.true)
    if not values:
        return Possible(true=False, false=True)  # one of none: false, even of a null
    if facts is None or is_nested(facts.column):
        return ANYTHING
    if is_all_null(facts) and type_tag(facts.column.type) not in NULL_IS_ZERO:
        # Neither true nor false, except in QuestDB, where null equals null.
        return Possible(name in ("=", "in") and None in values, false=False)
    if name in ("=", "in"):
        each = [_equal(facts, value) for value in values]
        return Possible(any(equal.true for equal in each), all(equal.false for equal in each))
    return _ranged(name, facts, values)


def _is_missing(value: Any) -> bool:
    """Whether an operand is null, or NaN, whose order depends on the engine."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _equal(facts: Facts, value: Any) -> Possible:
    """Whether some value may equal an operand, and whether some value may differ from it: bloom filter first, then bounds."""
    if value is None:
        return Possible(true=null_count(facts) != 0, false=True)
    if not _is_missing(value) and not _bloom_allows(facts, value):
        return Possible(true=False, false=True)
    return _ranged("=", facts, [value])


def _ranged(name: str, facts: Facts, values: Sequence[Any]) -> Possible:
    """The answers from the bounds, for all readings of bounds and operands."""
    if any(_is_missing(value) for value in values):
        return ANYTHING
    answers = [
        _answer(name, bounds, operands)
        for bounds in _readings(facts)
        for operands in _operands(facts.column, values)
    ]
    if not answers:
        return ANYTHING
    # Bounds do not include NaN, for which every comparison is false.
    others = facts.column.physical_type in FLOATS
    return Possible(any(answer.true for answer in answers), others or any(answer.false for answer in answers))


def _answer(name: str, bounds: tuple[Any, Any], operands: Sequence[Any]) -> Possible:
    """The answers, if all values lie within the bounds."""
    least, greatest = bounds
    first, second = min(operands), max(operands)
    match name:
        case "=":
            return Possible(least <= first <= greatest, not least == first == greatest)
        case "<":
            return Possible(least < first, greatest >= first)
        case "<=":
            return Possible(least <= first, greatest > first)
        case ">":
            return Possible(greatest > first, least <= first)
        case ">=":
            return Possible(greatest >= first, least < first)
        case _:
            return Possible(least <= second and greatest >= first, false=least < first or greatest > second)


def _readings(facts: Facts) -> Iterator[tuple[Any, Any]]:
    """The readings of the bounds as values; nothing if there are no usable bounds.

    Integers of unknown sign have two readings. A reading counts if its MIN is not above its MAX, and a row group is skipped
    only if no reading lets a row match.
    """
    if facts.min is None or facts.max is None:
        return
    for reader in _readers(facts.column):
        least, greatest = reader(facts.min), reader(facts.max)
        if least is None or greatest is None or least > greatest:
            continue
        if type_tag(facts.column.type) in NULL_IS_ZERO and null_count(facts) != 0:
            least, greatest = min(least, 0), max(greatest, 0)
        yield least, greatest


def _readers(column: SnapshotColumn) -> list[Callable[[bytes], Any]]:
    """Readers of a column's bounds, one for each possible order; empty if the order is unknown."""
    physical, tag = column.physical_type, type_tag(column.type)
    if physical in INTEGERS:
        code = PLAIN_FORMATS[physical]
        signed, unsigned = _number(code), _number(code.upper())
        if tag in PERHAPS_UNSIGNED:
            return [signed, unsigned]
        return [unsigned if tag in UNSIGNED else signed]
    if physical in FLOATS:
        return [_number(PLAIN_FORMATS[physical])]
    if physical not in BYTES:
        return []
    width = column.fixed_byte_len if physical == PhysicalType.FIXED_LEN_BYTE_ARRAY else None
    if tag in DECIMALS:
        return [lambda raw: int.from_bytes(raw, "big", signed=True) if width in (None, len(raw)) else None]
    if tag in IN_BYTE_ORDER:
        return [lambda raw: raw if width in (None, len(raw)) else None]
    return []


def _number(code: str) -> Callable[[bytes], Any]:
    def read(raw: bytes) -> Any:
        if len(raw) != struct.calcsize(code):
            return None
        (number,) = struct.unpack(code, raw)
        return None if _is_missing(number) else number

    return read


# ---------------------------------------------------------------------------------------------------- operands


def _operands(column: SnapshotColumn, values: Sequence[Any]) -> Iterator[list[Any]]:
    """The operands as values of the column, for each way in which engines convert them; nothing if they do not fit."""
    if column.physical_type in FLOATS:
        if all(map(_is_number, values)):
            # Engines compare numbers exactly, or convert them to floats of 64 bits first, or to floats of 32 bits like the column.
            ways = [list(values), [_nearest("<d", value) for value in values]]
            if column.physical_type == PhysicalType.FLOAT:
                ways.append([_nearest("<f", value) for value in values])
            yield from (way for number, way in enumerate(ways) if way not in ways[:number])
        return
    fitting = [_fitting(column, value) for value in values]
    if None not in fitting:
        yield fitting


def _fitting(column: SnapshotColumn, value: Any) -> Any:
    """An operand as a value of the column, ``None`` if it is not one."""
    if isinstance(value, bool):
        return None
    physical, tag = column.physical_type, type_tag(column.type)
    if physical in INTEGERS or (physical in BYTES and tag in DECIMALS):
        return _whole(value)
    if physical in FLOATS:
        return value if _is_number(value) else None
    if physical == PhysicalType.BYTE_ARRAY and isinstance(value, str):
        return _utf8(value)
    return value if physical in BYTES and isinstance(value, bytes) else None


def _whole(value: Any) -> int | Fraction | None:
    """A whole number, or a fraction between two. Floats are only accepted if all engines agree on their value."""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_INTEGERS:
        return int(value)
    return value if isinstance(value, int | Fraction) else None


def _nearest(code: str, value: float) -> float:
    """The float of a given width that is nearest to a number."""
    try:
        # For a whole number beyond 32 bits, struct raises another error than for a float.
        (nearest,) = struct.unpack(code, struct.pack(code, float(value)))
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return float(nearest)


def _utf8(text: str) -> bytes | None:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


# ----------------------------------------------------------------------------------------------- bloom filters


def _bloom_allows(facts: Facts, value: Any) -> bool:
    """Whether a value may be in a chunk according to its bloom filter."""
    if facts.may_hold is None:
        return True
    if type_tag(facts.column.type) in NULL_IS_ZERO and null_count(facts) != 0 and _whole(value) == 0:
        return True
    plain = plain_bytes(facts.column, value)
    return not plain or any(facts.may_hold(raw) for raw in plain)


def plain_bytes(column: SnapshotColumn, value: Any) -> list[bytes]:
    """The PLAIN encodings, without length prefix, of all values equal to a value; empty if they are unknown.

    >>> plain_bytes(SnapshotColumn("x", 5), 0.0)[0].hex(), len(plain_bytes(SnapshotColumn("x", 5), 0.0))
    ('0000000000000000', 2)
    """
    physical, tag = column.physical_type, type_tag(column.type)
    if physical in FLOATS:
        return _plain_floats(physical, value)
    fitting = _fitting(column, value)
    if fitting is None or isinstance(fitting, Fraction):
        return []
    if physical in INTEGERS:
        width = struct.calcsize(PLAIN_FORMATS[physical])
        if not -(1 << 8 * width - 1) <= fitting < 1 << 8 * width:
            return []
        return [(fitting % (1 << 8 * width)).to_bytes(width, "little")]
    if tag not in DECIMALS:
        return [fitting]
    # A decimal in a byte array may have any number of bytes.
    width = column.fixed_byte_len
    if physical == PhysicalType.BYTE_ARRAY or not -(1 << 8 * width) // 2 <= fitting < (1 << 8 * width) // 2:
        return []
    return [fitting.to_bytes(width, "big", signed=True)]


def _plain_floats(physical: int, value: Any) -> list[bytes]:
    if not _is_number(value) or _is_missing(value):
        return []
    code = PLAIN_FORMATS[physical]
    try:
        if isinstance(value, int) and float(value) != value:
            return []
        # Zero is equal to zero, and has two encodings.
        return [struct.pack(code, one) for one in ((float(value),) if value else (0.0, -0.0))]
    except OverflowError:
        return []


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


# ------------------------------------------------------------------------------------- facts stored in a file


def read_bound(
    source: Source, block: Block, position: int, column: SnapshotColumn, side: Side, end: int
) -> bytes | None:
    """A chunk's bound for skipping; ``None`` if there is none, or it is not usable.

    A bound of a fixed width in its slot is read at that width, even if STAT_SIZES is missing, unless STAT_SIZES gives another
    width. The length of a byte array is only in STAT_SIZES. ``end`` is the start of the snapshot's footer.
    """
    found = find_statistic(block, position, side)
    if found is None:
        return None
    width = physical_width(column)
    if found.inlined and width is not None and not found.length:
        slot = pm.ColumnChunk.widths[side.field]
        return side.slot(block.chunks[position]).to_bytes(slot, "little")[:width] if width <= slot else None
    try:
        bound = read_statistic(source, block, position, side, end)
    except FormatError:
        return None
    return bound if width in (None, len(bound or b"")) else None


def physical_width(column: SnapshotColumn) -> int | None:
    """Bytes of each value of a column; ``None`` for byte arrays, and for types that are not compared."""
    if column.physical_type == PhysicalType.FIXED_LEN_BYTE_ARRAY:
        return column.fixed_byte_len
    code = PLAIN_FORMATS.get(column.physical_type)
    return struct.calcsize(code) if code else None
