"""Sales data: deterministic rows of any number, made by Spark itself.

Each value depends only on the row's id, the number of rows and the seed, so the rows are the same however
Spark splits the work.  They have what real tables have: nulls, names beyond ASCII, a column with few values
and one with as many as there are rows.  A range of neighboring rows has only some of the nations, which are
not neighbors in the alphabet. So minimum and maximum exclude little, but the set of distinct values of a file
excludes much.

The example of nations and their sales is that of "Embedding User-Defined Indexes in Apache Parquet Files".
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
"""Values of the column ``nation``, in the order in which they come and go along the rows."""

NATIONS_AT_A_TIME = 6
"""The number of nations in one stretch of rows."""

RARE_NATION = "Pitcairn"
"""The nation that only one hundredth of the rows, all neighbors, may be from."""

RARE_HUNDREDTH = 42
"""The number of that hundredth of the rows, counted from 0."""

RARE_EVERY = 8
"""In that hundredth, each row whose number this divides is of `RARE_NATION`."""

CATEGORIES = ("books", "food", "garden", "music", "tools")
"""Values of the column ``category``."""

YEARS = tuple(FIRST_DAY)
"""Values of the column ``year``."""

NULL_NATION = 20
"""One nation in this number is null."""

NULL_AMOUNT = 30
"""One amount in this number is null."""

BLOOM_COLUMN = "customer"
"""The column that gets a bloom filter.

It has as many values as rows: a chunk whose values all stay in its dictionary would get none.
"""

MOST_ROWS = 10**15
"""Rows beyond this are refused: what is computed with their numbers would not fit into 64 bits."""

MOST_FILES = 10**6
"""Files beyond this are refused, for the same reason."""

WRITING = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Java interprets methods beyond this length: from a wide table Spark would make one that takes five times as long.
    "spark.sql.codegen.hugeMethodLimit": "8000",
}
"""Settings of the session while it writes."""

TASKS_PER_CORE = 4
"""Tasks for each core that share the writing of many files: more share it more evenly, and each costs its start."""

AT_A_TIME = 1 << 16
"""Rows that a task numbers at a time."""


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
        files: How many files the rows are for. It decides which rows come together, and not what they hold.
        seed: Another seed gives other rows.
        wide: With the columns of `wide_columns`, too.
        rare: With `RARE_NATION`: of a hundred or more files, one in a hundred holds it.
        skew: Files of very different sizes: the last is about three times the average, half of them hold an eighth
            of the rows.
        tasks: How many partitions the files are put into, in their order.

    Raises:
        ValueError: There is not one row for each file, or more than `MOST_ROWS` or `MOST_FILES` are wanted.
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
    """The numbers of the rows, those of a file together and in order, without moving any from task to task."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - see `sales`

    if not (files <= rows <= MOST_ROWS and files <= MOST_FILES):
        raise ValueError(
            f"{rows} rows in {files} files: each file needs a row, and there may be at most {MOST_FILES} files "
            f"and {MOST_ROWS} rows"
        )
    power = 3 if skew else 1

    def first_row(file: Column) -> Column:
        """One row for each file before this one, and of the rest the part ``(file / files) ** power``."""
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

    Times are written in microseconds, for which there are bounds and page indexes; Spark's own choice is INT96.

    Args:
        spark: The session.
        out: The directory.
        rows: How many rows.
        files: How many files; where ``partition_by`` is given, for each of its values.
        seed: Another seed gives other rows.
        wide: With more columns, see `sales`.
        rare: With a nation that few files hold, see `sales`.
        skew: Files of very different sizes, see `sales`.
        partition_by: A column whose values become directories instead of being stored in the files.
        overwrite: Replace a directory that exists.
        options: More options of Spark's Parquet writer.

    Raises:
        ValueError: See `sales`.
    """
    writing = {
        f"parquet.bloom.filter.enabled#{BLOOM_COLUMN}": "true",
        f"parquet.bloom.filter.expected.ndv#{BLOOM_COLUMN}": str(max(rows // max(files, 1), 1)),
    }
    tasks = files
    if not skew and partition_by is None and files and rows % files == 0:
        # Files of the same size: a task can begin a new one after a number of rows. A task for each takes twice as long.
        tasks = min(files, TASKS_PER_CORE * cores(spark))
        writing["maxRecordsPerFile"] = str(rows // files)
    table = sales(spark, rows, files=files, seed=seed, wide=wide, rare=rare, skew=skew, tasks=tasks)
    writer = table.write.mode("overwrite" if overwrite else "error").options(**writing, **(options or {}))
    if partition_by is not None:
        writer = writer.partitionBy(partition_by)
    with session_settings(spark, WRITING):
        writer.parquet(out)
