"""Sales data: deterministic rows of any number, made by Spark itself.

Each value depends only on the row's id, the number of rows and the seed, so the rows are the same however Spark
splits the work.  They have what real tables have: nulls, names beyond ASCII, a column with few values and
one with as many as there are rows.  A stretch of neighbouring rows holds only some of the nations, and those
are neighbours in no alphabet: minimum and maximum say little about a file, its set of distinct values says much.

The example of nations and their sales is that of "Embedding User-Defined Indexes in Apache Parquet Files".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

NATIONS = (
    "Singapore",
    "Argentina",
    "日本",
    "Côte d'Ivoire",
    "Zimbabwe",
    "Österreich",
    "Brasil",
    "Ελλάδα",
    "Canada",
    "Türkiye",
    "Kenya",
    "São Tomé e Príncipe",
    "New Zealand",
    "Україна",
    "Bolivia",
    "مصر",
    "Viet Nam",
    "Åland",
    "India",
    "Perú",
)
"""Values of the column ``nation``, in the order in which they come and go along the rows."""

NATIONS_AT_A_TIME = 6
"""How many nations occur in one stretch of rows."""

CATEGORIES = ("books", "food", "garden", "music", "tools")
"""Values of the column ``category``."""

YEARS = (2022, 2023, 2024)
"""Values of the column ``year``."""

NULL_NATION = 20
"""One nation in so many is null."""

NULL_AMOUNT = 30
"""One amount in so many is null."""

BLOOM_COLUMN = "customer"
"""The column that gets a bloom filter.

It has as many values as rows: a chunk whose values all stay in its dictionary would get none.
"""


def sales(spark: SparkSession, rows: int, *, files: int = 1, seed: int = 0) -> DataFrame:
    """Describe the rows as a DataFrame of ``files`` partitions.

    ============ ====== ================================================================
    id           long   0 to rows - 1
    nation       string one of `NATIONS` or null
    year         int    one of `YEARS`
    category     string one of `CATEGORIES`
    customer     string another one in nearly every row
    sales_amount double 0.00 to 9999.99 in steps of 0.01, or null
    ============ ====== ================================================================
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - importing this module must not cost what pyspark costs

    row = f.col("id")

    def random(purpose: str, below: int) -> Column:
        """Draw a whole number in [0, below) that depends on the row, the purpose and the seed."""
        return f.pmod(f.xxhash64(row, f.lit(purpose), f.lit(seed)), f.lit(below))

    def choice(values: tuple[str, ...] | tuple[int, ...], position: Column) -> Column:
        return f.element_at(f.array(*map(f.lit, values)), (position + 1).cast("int"))

    stretch = f.floor(row * len(NATIONS) / max(rows, 1))
    nation = f.pmod(stretch + random("nation", NATIONS_AT_A_TIME), f.lit(len(NATIONS)))
    customer = f.concat(f.lit("customer-"), f.lower(f.hex(f.xxhash64(row, f.lit("customer"), f.lit(seed)))))
    amount = random("sales_amount", 1_000_000) / 100
    return spark.range(0, rows, 1, files).select(
        row,
        f.when(random("nation is null", NULL_NATION) != 0, choice(NATIONS, nation)).alias("nation"),
        choice(YEARS, random("year", len(YEARS))).alias("year"),
        choice(CATEGORIES, random("category", len(CATEGORIES))).alias("category"),
        customer.alias(BLOOM_COLUMN),
        f.when(random("amount is null", NULL_AMOUNT) != 0, amount).alias("sales_amount"),
    )


def write_sales(
    spark: SparkSession,
    out: str,
    rows: int,
    files: int,
    *,
    seed: int = 0,
    partition_by: str | None = None,
    overwrite: bool = False,
    options: Mapping[str, str] | None = None,
) -> None:
    """Write `sales` as a directory of Parquet files, with a page index and with a bloom filter on `BLOOM_COLUMN`.

    Args:
        spark: The session.
        out: The directory.
        rows: How many rows.
        files: How many files; where ``partition_by`` is given, so many for each of its values.
        seed: Another seed gives other rows.
        partition_by: A column whose values become directories instead of being stored in the files.
        overwrite: Replace a directory that exists.
        options: More options of Spark's Parquet writer.
    """
    bloom = {
        f"parquet.bloom.filter.enabled#{BLOOM_COLUMN}": "true",
        f"parquet.bloom.filter.expected.ndv#{BLOOM_COLUMN}": str(max(rows // files, 1)),
    }
    writer = sales(spark, rows, files=files, seed=seed).write.mode("overwrite" if overwrite else "error")
    if partition_by is not None:
        writer = writer.partitionBy(partition_by)
    writer.options(**bloom, **(options or {})).parquet(out)
