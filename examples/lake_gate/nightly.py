"""The nightly job: write the sales of a night, index them, check the lake, and fail if anything new is broken.

    python nightly.py [--night 2026-11-20] [--rows 20000] [--compact]

What is judged, and how deep, is said in pqassay.toml; what is known to be broken, in baseline.json.  The report goes to the
log, and to the folder report: report.json for programs, summary.md for people.  The exit status is that of
`pqassay check`: 0 if nothing new is broken, 1 if something is, 3 if the baseline lists what does not occur any more, 4 if a
file could not be judged.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from pqassay.report.model import Report
from pqassay.report.renderers.text import render
from pqassay_spark.check.run import check
from pqassay_spark.index.run import index_files
from pqassay_spark.jobs.session import open_session

SALES = Path("lake", "sales")
REPORTS = Path("report")

COLUMN = "nation"
"""The column that queries select by: its distinct values are embedded in every file."""

NATIONS = ("Argentina", "Canada", "Côte d'Ivoire", "India", "Kenya", "Perú", "Singapore", "Türkiye", "日本")


def write_night(spark: SparkSession, night: dt.date, rows: int) -> Path:
    """Write the sales of a night as files of their own; a night that is written again is replaced."""
    folder = SALES / f"night={night}"
    nation = f.element_at(f.array(*map(f.lit, NATIONS)), (f.col("id") % len(NATIONS) + 1).cast("int"))
    sales = spark.range(0, rows, 1, 4).select(
        "id",
        f.when(f.col("id") % 20 != 0, nation).alias(COLUMN),
        (f.pmod(f.xxhash64("id", f.lit(str(night))), f.lit(100_000)) / 100).alias("amount"),
    )
    # Spark resolves a relative path where its Java process was started, which need not be here.
    sales.write.mode("overwrite").parquet(f"file://{folder.resolve()}")
    return folder


def merge_small_files(folder: Path) -> Path:
    """Write the rows of all files of a folder into one, and remove the others: with a mistake that many such jobs make.

    Whoever rewrites a Parquet file likes to keep what others wrote into its footer: a schema, a watermark, the name of
    a job.  But a key may also say where in the file something is, and after the rewriting, nothing is there.
    """
    small = sorted(folder.glob("part-*.parquet"))
    merged = folder / "merged.parquet"
    # The mistake: among the keys of the first file are `distinct_index_offset` and the record that vouches for it.
    # Without the second line, the merged file has no index, and is right.
    rows = pa.concat_tables(pq.read_table(path, partitioning=None) for path in small)
    rows = rows.replace_schema_metadata(pq.read_metadata(small[0]).metadata)
    pq.write_table(rows, merged)
    for path in small:
        path.unlink()
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    return merged


def summary(report: Report) -> str:
    """The report in Markdown, short enough for the page of a build."""
    found = [finding for file in report.files for finding in file.findings if not finding.known]
    counts = report.summary
    title = (
        f"### {counts.files} files: {counts.conformant} conformant, {counts.nonconformant} nonconformant, "
        f"{counts.errored} not judged; {counts.known} known findings"
    )
    lines = [title, ""]
    if found:
        lines += [
            "| File | Rule | What it costs | What is wrong | Remedy |",
            "| --- | --- | --- | --- | --- |",
        ]
    for finding in found:
        remedy = f"`{finding.remedy}`" if finding.remedy else "see the report"
        cells = (f"`{finding.path}`", finding.rule, finding.could, finding.message, remedy)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    lines += [f"- `{file.path}` could not be judged: {file.error}" for file in report.files if file.error]
    stale = report.baseline.stale if report.baseline is not None else []
    lines += [f"- the baseline lists {entry.rule} of `{entry.path}`: {entry.reason}" for entry in stale]
    return "\n".join([*lines, ""])


def main(arguments: list[str]) -> int:
    """Do the night's work."""
    yesterday = dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--night", type=dt.date.fromisoformat, default=yesterday, help="YYYY-MM-DD")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--compact", action="store_true", help="merge the files of the night into one")
    options = parser.parse_args(arguments)
    gate = tomllib.loads(Path("pqassay.toml").read_text())["check"]

    spark = open_session(name="nightly sales")
    folder = write_night(spark, options.night, options.rows)
    print(f"{folder}: {options.rows} rows written")
    indexed = index_files(spark, SALES, [COLUMN])
    print(f"{SALES}: {indexed.indexed} files indexed, {indexed.fresh} were already")
    for file in indexed.refused:
        print(f"{file.name} cannot be indexed: {file.reason}")
    if options.compact:
        print(f"{merge_small_files(folder)}: the files of the night in one")
    report = check(spark, gate["paths"], tier=gate["tier"], baseline=gate["baseline"])

    render(report)
    REPORTS.mkdir(exist_ok=True)
    (REPORTS / "report.json").write_text(report.to_json())
    (REPORTS / "summary.md").write_text(summary(report))
    return max(report.exit_code, 1 if indexed.refused else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
