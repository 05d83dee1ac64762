"""Spark's own scan of a folder of Parquet files, without the files that their indexes exclude.

The driver asks the indexes which files may satisfy a predicate, and passes their names to Spark as a filter on its
hidden column ``_metadata.file_path``.  Spark then opens only these. Everything else is unchanged: its listing
of the files, partition columns, and the vectorized reader, which skips row groups by statistics, dictionaries
and bloom filters.  On this machine the indexes are loaded while Spark lists the files and finds their schema;
see `pqassay_spark.query.lake_indexes`.

Spark's spelling of a path differs between its columns and versions; a filter with a wrong spelling finds no
file and silently loses all rows.  A spelling is therefore only used if Spark's plan of the scan selects exactly
the expected number of files.  Otherwise it scans all of them, with a warning.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack, cast
from urllib.parse import unquote

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped] # it has no types
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from pqassay_reader.condition.normal import columns_named
from pqassay_reference.columns.literals import Tree
from pqassay_reference.rewrite.extract import Trust
from pqassay_spark.jobs.uris import is_remote, local_path
from pqassay_spark.query.lake_indexes import Believed, Early, loaded, loading
from pqassay_spark.query.predicates import find_column, is_set, read_predicate, spark_condition
from pqassay_spark.query.questions import AskedColumn, question, reading


class PruningWarning(UserWarning):
    """A scan reads all files although indexes exclude some of them."""


@dataclass(frozen=True)
class PrunedScan:
    """A scan and the files that it skips.

    Attributes:
        frame: The rows that satisfy the predicate; nothing has been read yet.
        files: Number of files that Spark lists below the root.
        skipped: The files that it will not open, by their paths relative to the root.
        why: The reason for each of these.
        aside: The stale or damaged indexes of index directories, which are not used, one sentence for each.
    """

    frame: DataFrame
    files: int
    skipped: tuple[str, ...]
    why: Mapping[str, str]
    aside: tuple[str, ...]


class ReadOptions(TypedDict, total=False):
    """Options of reading files.

    Attributes:
        table: A folder with an index table; ``"auto"`` for the table beside the root if there is one.
        trust: ``companion``, or ``published`` if you vouch for indexes without companion record; see `open_indexed`.
        column: The column of those indexes.
        schema: The schema of the rows; by default Spark finds it in the files.
        options: Further options of Spark's Parquet reader.
    """

    table: str | None
    trust: Trust
    column: str | None
    schema: StructType | str | None
    options: Mapping[str, str] | None


def read(
    spark: SparkSession, root: str | os.PathLike[str], predicate: str | Tree, **how: Unpack[ReadOptions]
) -> DataFrame:
    """Read the rows of a folder of Parquet files that satisfy a predicate; files are skipped by their indexes.

    The rows are those of ``spark.read.parquet(root).where(predicate)``.  The skipped files are fixed by this call;
    call `read` again after files were replaced.

    Args:
        spark: The session.
        root: A folder, as a local path, taken literally, or as a URI that both Spark and pyarrow can reach.
        predicate: A condition in Spark SQL (comparisons of columns with constants, ``IN``, ``BETWEEN``,
            ``IS NULL``, and ``AND``, ``OR``, ``NOT`` of those), or the same as a tree of ``conformance/PROTOCOL.md``.
        **how: See `ReadOptions`.

    Raises:
        Refused: The predicate is not valid, or trees cannot express it.
        AnalysisException: Spark cannot read the folder.

    Warns:
        PruningWarning: Spark reads all files, because it does not select the expected ones.
    """
    return plan_read(spark, root, predicate, **how).frame


def plan_read(
    spark: SparkSession, root: str | os.PathLike[str], predicate: str | Tree, **how: Unpack[ReadOptions]
) -> PrunedScan:
    """The same as `read`, with a report of the files that are skipped."""
    tree = read_predicate(spark, predicate)
    believed = Believed(how.get("table"), how.get("trust", "companion"), how.get("column"))
    reader = spark.read.options(**dict(how.get("options") or {}))
    if (schema := how.get("schema")) is not None:
        reader = reader.schema(schema)
    with loading(root, columns_named(tree), believed) as early:
        frame = reader.parquet(spark_location(root))
    case_sensitive = is_set(spark, "spark.sql.caseSensitive")
    condition = spark_condition(tree, frame.schema, case_sensitive=case_sensitive)
    listed = sorted(_input_files(spark, frame))
    names = relative_names(root, listed)
    left, aside = _left_out(spark, root, tree, frame.schema, names.values(), believed, early)
    skipped = {entry: name for entry, name in names.items() if name in left}
    scan = _without(frame, listed, skipped) if skipped else frame
    left_out = sorted(skipped.values()) if scan is not None else []
    if scan is None:
        warnings.warn(
            f"{os.fspath(root)}: {len(skipped)} of {len(listed)} files could be skipped, but "
            "Spark cannot select the others; it reads all of them",
            PruningWarning,
            stacklevel=3,
        )
    rows = (frame if scan is None else scan).where(condition)
    return PrunedScan(rows, len(listed), tuple(left_out), {name: left[name] for name in left_out}, aside)


GLOB = re.compile(r"[*?\[\]{}\\]")
"""Characters that make a path a pattern in Spark."""


def spark_location(root: str | os.PathLike[str]) -> str:
    r"""The name of a folder for Spark: a local path becomes a URI whose pattern characters are escaped.

    >>> spark_location("/lake/[a] b%20"), spark_location("s3a://lake/sales")
    ('file:///lake/\\[a\\] b%20', 's3a://lake/sales')
    """
    text = os.fspath(root)
    # Hadoop uses the text after the scheme literally, percent signs included.
    if is_remote(text) or local_path(text) != text:
        return text
    path = os.path.abspath(text)  # noqa: PTH100 - see `relative_names`
    return "file://" + GLOB.sub(r"\\\g<0>", path)


def relative_names(root: str | os.PathLike[str], listed: Sequence[str]) -> dict[str, str]:
    """The paths relative to the root for entries of Spark's listing; entries outside it are omitted."""
    path = local_path(root)
    # Not resolved: Spark's listing does not follow the links of the root's path either.
    base = path if is_remote(path) else os.path.abspath(path)  # noqa: PTH100
    base = base.rstrip("/") + "/"
    names = {entry: local_path(unquote(entry)) for entry in listed}
    return {entry: name[len(base) :] for entry, name in names.items() if name.startswith(base)}


def _left_out(
    spark: SparkSession,
    root: str | os.PathLike[str],
    tree: Tree,
    schema: StructType,
    names: Collection[str],
    believed: Believed,
    early: Early,
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The files without matching rows, by relative name with the reason; and the indexes that are not used."""
    if is_set(spark, "spark.sql.parquet.fieldId.read.enabled"):
        return {}, ()  # then Spark finds columns by numbers, and indexes speak of names
    if not names:
        return {}, ()  # Spark treats this URI as a pattern, so the files are below other folders
    case_sensitive = is_set(spark, "spark.sql.caseSensitive")
    # Uses the whole path: with the option `basePath`, folders above the root are partitions, too.
    above = local_path(spark_location(root))
    partitions = {key.lower() for name in names for key in partition_keys(f"{above}/{name}")}
    columns: dict[str, AskedColumn] = {}
    for name in sorted(columns_named(tree)):
        column = AskedColumn.of(find_column(schema, name, case_sensitive=case_sensitive))
        if column is not None and column.name.lower() not in partitions:
            columns[name] = column
    condition = question(tree, columns, read=reading(spark, tree, columns), may_be_old=True)
    if condition is None:
        return {}, ()
    try:
        indexes = loaded(early, root, {one.name: one.arrow_type for one in columns.values()}, believed)
        return indexes.left_out(condition, stacklevel=4), indexes.aside
    except (pa.ArrowException, OSError) as error:
        if not is_remote(root):
            raise
        # Spark reaches the store, but Arrow may not: another library, other credentials.
        warnings.warn(f"{root}: no file is skipped: {error}", PruningWarning, stacklevel=4)
        return {}, ()


def partition_keys(path: str) -> list[str]:
    """The partition columns in the names of a file's folders. A percent sign encodes one character, also beyond ASCII.

    >>> partition_keys("year=2024/c%3D=a/part-0.parquet")
    ['year', 'c=']
    """
    pairs = [folder.partition("=") for folder in path.split("/")[:-1]]
    return [
        re.sub("%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), key)
        for key, _, value in pairs
        if key and value
    ]


PIECE = 7_000
"""Approximate bytes of file names that Java sends at a time.

It sends 8 KiB at once.  For a longer answer, it waits until the system acknowledges the first part: 40 ms, and
five times that for 16 KiB.
"""

FIRST_NAMES = 16
"""Names in the first piece, when their length is still unknown."""


def _input_files(spark: SparkSession, frame: DataFrame) -> list[str]:
    """The files that Spark lists for a scan, percent-encoded."""
    try:
        # In a few pieces: otherwise, Python would ask Java twice for each file.
        predef = cast("Any", spark)._jvm.scala.Predef  # noqa: SLF001 - see above
        found = predef.genericWrapArray(cast("Any", frame)._jdf.inputFiles())  # noqa: SLF001 - see above
        count, start, step = int(found.length()), 0, FIRST_NAMES
        names: list[str] = []
        while start < count:
            piece = str(found.slice(start, start + step).mkString("\n"))
            names += piece.split("\n")
            start += step
            step = max(1, PIECE * step // (len(piece.encode()) + 1))
    except (Py4JError, AttributeError, TypeError):
        return frame.inputFiles()  # another version of Spark, or one behind Spark Connect
    return names if len(names) == count else frame.inputFiles()


def _without(frame: DataFrame, listed: Sequence[str], skipped: Collection[str]) -> DataFrame | None:
    """The scan without some of the files that Spark listed; ``None`` if Spark does not select the right ones."""
    if any(field.name.lower() == "_metadata" for field in frame.schema.fields):
        return None  # a column of this name hides Spark's own
    kept = [entry for entry in listed if entry not in skipped]
    if not kept:
        return frame.where(f.lit(False))
    if len(kept) <= len(skipped):
        for spell in SPELLINGS:
            scan = _named(frame, map(spell, kept))
            if _selected(scan) == len(kept):
                return scan
    # Excluding the skipped files by name never loses rows, even with a wrong spelling.  It also works if Spark does not
    # scan everything that it lists, for example files beside the folders of partitions.
    total = _selected(frame)
    for spell in SPELLINGS if total is not None else ():
        scan = _named(frame, map(spell, skipped), negated="NOT ")
        selected = _selected(scan)
        if selected is not None and total is not None and selected < total:
            return scan
    return None


def _named(frame: DataFrame, spelt: Iterable[str], *, negated: str = "") -> DataFrame:
    return frame.where(f.expr(f"_metadata.file_path {negated}IN ({', '.join(map(_sql_text, spelt))})"))


SPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda entry: re.sub(r"^file:///", "file:/", entry),
    lambda entry: entry,
    unquote,
)
"""Spellings in ``_metadata.file_path`` of an entry of ``inputFiles()``; the first is that of Spark 4."""


def _sql_text(text: str) -> str:
    r"""Text as a literal in Spark SQL.

    >>> _sql_text("it's")
    "'it\\'s'"
    """
    return "'" + re.sub(r"['\\]", r"\\\g<0>", text) + "'"


def _selected(frame: DataFrame) -> int | None:
    """The number of files that Spark selects for a scan, from its plan; ``None`` if the plan does not have it."""
    try:
        plan = cast("Any", frame)._jdf.queryExecution().sparkPlan()  # noqa: SLF001 - there is no other way
        leaves = plan.collectLeaves()
        if leaves.size() != 1:
            return 0 if leaves.isEmpty() else None
        return int(leaves.apply(0).selectedPartitions().totalNumberOfFiles())
    except (Py4JError, AttributeError, TypeError):
        return None  # another version of Spark, or one behind Spark Connect
