"""Sales data: deterministic rows of any number, made by Spark itself.

Each value depends only on the row's id, the number of rows and the seed, so the rows are the same however
splits the work.  They have what real tables have: nulls, names beyond ASCII, a column with few values
and one with as many as there are rows.  A range of neighboring rows has only some of the nations, which are
not neighbors in the alphabet. Minimum and maximum therefore exclude little, but the set of distinct values of a file
excludes much.

The example of nations and their sales comes from "Embedding User-Defined Indexes in Apache Parquet Files".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pqassay_spark.jobs.session import session_settings
from pqassay_spark.jobs.spark_jobs import cores
from pqassay_spark.produce.sales_columns import FIRST_DAY, Draw, wide_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

NATIONS = (
    "Singapore", "Argentina", "日本", "Côte d'Ivoire", "Zimbabwe", "Österreich", "Brasil", "Ελλάδα", "Canada", "Türkiye",
    "Kenya", "São Tomé e Príncipe", "New Zealand", "Україна", "Bolivia", "مصر", "Viet Nam", "Åland", "India", "Perú",
)  # fmt: skip
"""Values of the column ``nation``; each range of rows uses some neighbors in this order."""

NATIONS_AT_A_TIME = 6
"""The number of nations in one range of rows."""

RARE_NATION = "Pitcairn"
"""The nation that only occurs in one hundredth of the rows, which are neighbors."""

RARE_HUNDREDTH = 42
"""The number of that hundredth of the rows, counted from 0."""

RARE_EVERY = 8
"""In that hundredth, each row whose number is divisible by this has `RARE_NATION`."""

CATEGORIES = ("books", "food", "garden", "music", "tools")
"""Values of the column ``category``."""

YEARS = tuple(FIRST_DAY)
"""Values of the column ``year``."""

NULL_NATION = 20
"""One in this many nations is null."""

NULL_AMOUNT = 30
"""One in this many amounts is null."""

BLOOM_COLUMN = "customer"
"""The column that gets a bloom filter.

It has nearly as many values as rows: a chunk whose values all fit into its dictionary would not get a filter.
"""

MOST_ROWS = 10**15
"""Most rows: for more, computations with row numbers would not fit into 64 bits."""

MOST_FILES = 10**6
"""Most files: for more, computations with file numbers would not fit into 64 bits."""

WRITING = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Java interprets methods beyond this length: for a wide table, Spark would make a longer one, five times as slow.
    "spark.sql.codegen.hugeMethodLimit": "8000",
}
"""Settings of the session while it writes."""

TASKS_PER_CORE = 4
"""Tasks per core for writing many files: more tasks balance the work better, but each costs its start."""

AT_A_TIME = 1 << 16
"""Rows that a task numbers in one batch."""


def sales(
    spark: SparkSession,
    rows: int,
    *,
    files: int = 1,
    seed: int = 0,
    wide: bool = False,
    rare: bool = False,
    skew: bool = False,
    tasks: int | None = None,
) -> DataFrame:
    """Describe the rows as a DataFrame, of ``files`` partitions unless ``tasks`` says otherwise.

    ============ ====== ================================================================
    id           long   0 to rows - 1
    nation       string one of `NATIONS` or null
    year         int    one of `YEARS`
    category     string one of `CATEGORIES`
    customer     string another one in nearly every row
    sales_amount double 0.00 to 9999.99 in steps of 0.01, or null
    ============ ====== ================================================================

    Args:
        spark: The session.
        rows: How many rows.
        files: Number of files for the rows. It decides which rows are together, not their content.
        seed: Random seed.
        wide: Also add the columns of `wide_columns`.
        rare: Add `RARE_NATION`: of a hundred or more files, one in a hundred contains it.
        skew: Make files of very different sizes: the last is about three times the average, and half of them have an eighth
            of the rows.
        tasks: Number of partitions for the files, in their order.

    Raises:
        ValueError: There is less than one row per file, or more than `MOST_ROWS` or `MOST_FILES` are requested.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - importing this module must not cost what pyspark costs

    draw, row = Draw(seed), f.col("id")
    stretch = f.floor(row * len(NATIONS) / max(rows, 1))
    nation = f.pmod(stretch + draw.below("nation", NATIONS_AT_A_TIME), f.lit(len(NATIONS)))
    named = draw.unless("nation is null", NULL_NATION, draw.choice(NATIONS, nation))
    if rare:
        hundredth = f.call_function("div", row * 100, f.lit(max(rows, 1)))
        is_rare = (hundredth == RARE_HUNDREDTH) & (row % RARE_EVERY == 0)
        named = f.when(is_rare, f.lit(RARE_NATION)).otherwise(named)
    customer = f.concat(f.lit("customer-"), f.lower(f.hex(draw.bits("customer"))))
    amount = draw.below("sales_amount", 1_000_000) / 100
    table = _numbered(spark, rows, files, tasks or files, skew=skew).select(
        row,
        named.alias("nation"),
        draw.choice(YEARS, draw.below("year", len(YEARS))).alias("year"),
        draw.choice(CATEGORIES, draw.below("category", len(CATEGORIES))).alias("category"),
        customer.alias(BLOOM_COLUMN),
        draw.unless("amount is null", NULL_AMOUNT, amount).alias("sales_amount"),
    )
    return table.select("*", *wide_columns(draw)) if wide else table


def _numbered(spark: SparkSession, rows: int, files: int, tasks: int, *, skew: bool) -> DataFrame:
    """The numbers of the rows, with those of a file together and in order; rows do not move between tasks."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - see `sales`

    if not (files <= rows <= MOST_ROWS and files <= MOST_FILES):
        raise ValueError(
            f"{rows} rows in {files} files: each file needs at least one row; at most "
            f"{MOST_FILES} files and {MOST_ROWS} rows are allowed"
        )
    power = 3 if skew else 1

    def first_row(file: Column) -> Column:
        """The first row of a file: one row for each earlier file, plus ``(file / files) ** power`` of the other rows."""
        raised = file
        for _ in range(power - 1):
            raised = raised * file
        rest = f.lit(rows - files).cast("decimal(16,0)") * raised.cast("decimal(19,0)")
        return file + f.call_function("div", rest, f.lit(files**power).cast("decimal(19,0)"))

    def whole_numbers(first: Column, last: Column, name: str) -> Column:
        return f.explode(f.sequence(first, last)).alias(name)

    def block_of(row: Column) -> Column:
        return f.call_function("div", row, f.lit(AT_A_TIME))

    file, first, last, block = f.col("id"), f.col("first"), f.col("last"), f.col("block")
    bounds = spark.range(0, files, 1, tasks).select(
        first_row(file).alias("first"), (first_row(file + 1) - 1).alias("last")
    )
    blocks = bounds.select(first, last, whole_numbers(block_of(first), block_of(last), "block"))
    return blocks.select(
        whole_numbers(
            f.greatest(first, block * AT_A_TIME), f.least(last, block * AT_A_TIME + AT_A_TIME - 1), "id"
        )
    )


def write_sales(
    spark: SparkSession,
    out: str,
    rows: int,
    files: int,
    *,
    seed: int = 0,
    wide: bool = False,
    rare: bool = False,
    skew: bool = False,
    partition_by: str | None = None,
    overwrite: bool = False,
    options: Mapping[str, str] | None = None,
) -> None:
    """Write `sales` as a directory of Parquet files, with a page index and with a bloom filter on `BLOOM_COLUMN`.

    Times are written in microseconds, which have bounds and page indexes; Spark's own choice is INT96.

    Args:
        spark: The session.
        out: The directory.
        rows: How many rows.
        files: Number of files; with ``partition_by``, for each of its values.
        seed: Random seed.
        wide: Add more columns, see `sales`.
        rare: Add a nation that is in few files, see `sales`.
        skew: Make files of very different sizes, see `sales`.
        partition_by: A column whose values become directories instead of being stored in the files.
        overwrite: Replace a directory that exists.
        options: Further options of Spark's Parquet writer.

    Raises:
        ValueError: See `sales`.
    """
    writing = {
        f"parquet.bloom.filter.enabled#{BLOOM_COLUMN}": "true",
        f"parquet.bloom.filter.expected.ndv#{BLOOM_COLUMN}": str(max(rows // max(files, 1), 1)),
    }
    tasks = files
    if not skew and partition_by is None and files and rows % files == 0:
        # Files of the same size: a task can begin a new file after a number of rows. One task per file takes twice as long.
        tasks = min(files, TASKS_PER_CORE * cores(spark))
        writing["maxRecordsPerFile"] = str(rows // files)
    table = sales(spark, rows, files=files, seed=seed, wide=wide, rare=rare, skew=skew, tasks=tasks)
    writer = table.write.mode("overwrite" if overwrite else "error").options(**writing, **(options or {}))
    if partition_by is not None:
        writer = writer.partitionBy(partition_by)
    with session_settings(spark, WRITING):
        writer.parquet(out)
