"""Columns of the sales data beyond the first six: more types, more nulls, unevenly distributed values.

Every value is computed by exact operations from whole numbers, which are hashes of the row's number, a purpose and the seed.
It is therefore the same on every machine, for every division of rows into files.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

FIRST_DAY = {2022: 18_993, 2023: 19_358, 2024: 19_723}
"""The years of the sales, each with its first of January in days since 1970."""

DAYS = 365
"""Days of a year with sales."""

SECONDS_OF_DAY = 86_400
MICROSECONDS = 1_000_000

PRODUCTS = 5_000
"""Number of products. Half of the sales are of the first, a sixth of the second, a twelfth of the third."""

MOST_PIECES = 1_000
"""The most pieces in a sale; half of the sales have one piece."""

NOTES = (
    "thanks", "très bon", "良い品物です", "wird gewünscht 🎁", "отличное качество", "ممتاز",
    "line one\nline two", 'says "again", please', "",
)  # fmt: skip
"""Texts of notes."""

MOST_REPEATS = 200
"""Most repetitions of the text in a note: half of the notes have one, and a few notes are longer than all others together."""

TAGS = ("new", "gift", "späti", "セール", "returned", "b2b")
"""Members of ``tags``."""

CITIES = ("Reykjavík", "München", "東京", "Lagos", "Montréal", "Kraków", "Athens")
"""Values of ``address.city``."""


class Draw:
    """Pseudorandom values that depend only on a row's number ``id``, a purpose and the seed."""

    def __init__(self, seed: int) -> None:
        from pyspark.sql import functions  # noqa: PLC0415 - importing this module must not cost what pyspark costs

        self._f = functions
        self._seed = functions.lit(seed)

    def bits(self, purpose: str) -> Column:
        """64 bits as a signed whole number."""
        return self._f.xxhash64(self._f.col("id"), self._f.lit(purpose), self._seed)

    def below(self, purpose: str, bound: int) -> Column:
        """A whole number from 0 to ``bound`` - 1."""
        return self._f.pmod(self.bits(purpose), self._f.lit(bound))

    def skewed(self, purpose: str, most: int) -> Column:
        """A whole number from 1 to ``most``; n occurs in one of n * (n + 1) rows."""
        return self._f.call_function("div", self._f.lit(most), self.below(purpose, most) + 1)

    def unless(self, purpose: str, one_in: int, value: Column) -> Column:
        """The value, or null in one row of ``one_in``."""
        return self._f.when(self.below(purpose, one_in) != 0, value)

    def choice(self, values: tuple[str, ...] | tuple[int, ...], position: Column) -> Column:
        """The value at a position that is counted from 0."""
        return self._f.element_at(self._f.array(*map(self._f.lit, values)), (position + 1).cast("int"))


def wide_columns(draw: Draw) -> list[Column]:
    """The additional columns of a wide table. They need the columns ``id`` and ``year``.

    ============ ============================ ==================================================================
    sold_at      timestamp                    in the year of the column ``year``, to the microsecond, UTC
    sold_on      date                         the day of ``sold_at``
    delivered_at timestamp without time zone  up to 30 days after the day of ``sold_at`` began, or null
    product      string                       half of the rows the same, thousands of products rare
    quantity     int                          1 in half of the rows, up to `MOST_PIECES` in few
    price        decimal(12,2)                0.01 to 9999.99
    total        decimal(20,2)                ``quantity`` times ``price``
    channel      tinyint                      -3 to 3
    store        smallint                     1 to 300; null in half of the rows
    is_return    boolean                      true in one row of 40; null in one of 50
    rating       float                        0 to 5 in steps of 0.5, also -0.0, NaN, null
    weight       double                       0.001 to 1000, also infinite, NaN, null
    note         string                       null in four rows of five; else of `NOTES`, sometimes very long
    tags         list of strings              null, empty, or up to 4 of `TAGS`, null among them
    attributes   map of strings to ints       null, empty, or up to 2 pairs
    address      struct                       ``city`` and ``position``, a struct of ``lat`` and ``lon``; each may be null
    payload      binary                       0 to 16 bytes, or null
    ============ ============================ ==================================================================
    """
    return [*_times(draw), *_numbers(draw), *_texts(draw), *_nested(draw)]


def _times(draw: Draw) -> list[Column]:
    from pyspark.sql import functions as f  # noqa: PLC0415 - see `Draw`

    # Spark's divisions are floating point, except its function `div`; so days and seconds are drawn separately.
    first = f.element_at(f.create_map(*[f.lit(n) for pair in FIRST_DAY.items() for n in pair]), f.col("year"))
    day = first + draw.below("day of sale", DAYS).cast("int")
    second = day.cast("long") * SECONDS_OF_DAY + draw.below("second of sale", SECONDS_OF_DAY)
    microsecond = second * MICROSECONDS + draw.below("microsecond of sale", MICROSECONDS)
    # Added to the day, not to `sold_at`: as a time without zone, `sold_at` depends on the zone of the session.
    delay = draw.below("delivery", 30 * SECONDS_OF_DAY * MICROSECONDS)
    interval = f.make_dt_interval(secs=_scaled(delay, 6).cast("decimal(18,6)"))
    wall = f.date_from_unix_date(day).cast("timestamp_ntz") + interval
    return [
        f.timestamp_micros(microsecond).alias("sold_at"),
        f.date_from_unix_date(day).alias("sold_on"),
        draw.unless("delivery is null", 10, wall).alias("delivered_at"),
    ]


def _scaled(number: Column, places: int) -> Column:
    """A decimal from a whole number of at most 16 digits, some of which are after the point."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - see `Draw`

    return number.cast("decimal(16,0)") * f.lit(Decimal(1).scaleb(-places))


def _numbers(draw: Draw) -> list[Column]:
    from pyspark.sql import functions as f  # noqa: PLC0415 - see `Draw`

    quantity = draw.skewed("quantity", MOST_PIECES)
    cents = draw.below("price", 999_999) + 1

    stars = draw.below("rating", 14)
    rating = (
        f.when(stars < 11, stars / 2).when(stars == 11, f.lit(-0.0)).when(stars == 12, f.lit(float("nan")))
    )
    grams = draw.below("weight", 1_000_000) + 1
    weight = (
        f.when(grams % 500 == 0, f.lit(float("nan")))
        .when(grams % 501 == 0, f.lit(float("inf")))
        .otherwise(grams / 1000)
    )
    return [
        quantity.cast("int").alias("quantity"),
        _scaled(cents, 2).cast("decimal(12,2)").alias("price"),
        _scaled(cents * quantity, 2).cast("decimal(20,2)").alias("total"),
        (draw.below("channel", 7) - 3).cast("tinyint").alias("channel"),
        draw.unless("store is null", 2, draw.below("store", 300) + 1).cast("smallint").alias("store"),
        draw.unless("return is null", 50, draw.below("return", 40) == 0).alias("is_return"),
        rating.cast("float").alias("rating"),
        draw.unless("weight is null", 30, weight).alias("weight"),
    ]


def _texts(draw: Draw) -> list[Column]:
    from pyspark.sql import functions as f  # noqa: PLC0415 - see `Draw`

    product = f.concat(f.lit("product-"), draw.skewed("product", PRODUCTS).cast("string"))
    said = draw.choice(NOTES, draw.below("note", len(NOTES)))
    note = f.call_function("repeat", said, draw.skewed("length of note", MOST_REPEATS).cast("int"))
    payload = f.unhex(f.concat(*[f.lpad(f.hex(draw.bits(f"payload {half}")), 16, "0") for half in (0, 1)]))
    length = draw.below("length of payload", 17).cast("int")
    return [
        product.alias("product"),
        f.when(draw.below("note is there", 5) == 0, note).alias("note"),
        draw.unless("payload is null", 10, f.substring(payload, f.lit(1), length)).alias("payload"),
    ]


def _nested(draw: Draw) -> list[Column]:
    from pyspark.sql import functions as f  # noqa: PLC0415 - see `Draw`

    tags = f.array(
        *[
            draw.unless(f"tag {n} is null", 9, draw.choice(TAGS, draw.below(f"tag {n}", len(TAGS))))
            for n in range(4)
        ]
    )
    some = f.slice(tags, f.lit(1), draw.below("number of tags", 5).cast("int"))
    pairs = f.array(
        *[
            f.struct(f.lit(key), draw.unless(f"{key} is null", 4, draw.below(key, 100).cast("int")))
            for key in ("größe", "色")
        ]
    )
    attributes = f.map_from_entries(
        f.slice(pairs, f.lit(1), draw.below("number of attributes", 3).cast("int"))
    )
    position = f.struct(
        ((draw.below("lat", 180_001) - 90_000) / 1000).alias("lat"),
        ((draw.below("lon", 360_001) - 180_000) / 1000).alias("lon"),
    )
    city = draw.choice(CITIES, draw.below("city", len(CITIES)))
    address = f.struct(
        draw.unless("city is null", 12, city).alias("city"),
        draw.unless("position is null", 6, position).alias("position"),
    )
    return [
        draw.unless("tags are null", 8, some).alias("tags"),
        draw.unless("attributes are null", 3, attributes).alias("attributes"),
        draw.unless("address is null", 7, address).alias("address"),
    ]
