"""The whole pipeline on 1,000 files: produce, index, check, query; a kill in the middle, and a damaged file.

``make pipeline`` runs it. Every line that begins with ``$`` is a command, printed and then run; the files stay in
``build-pipeline``.  Needs Java, and the engines of ``pip install '.[spark,engines]'``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from examples.demo import ROOT, command_line, emphasised, heading, run

from pqassay_reader.lake.indexed_dataset import open_indexed
from pqassay_spark.jobs.java import JavaMissingError, require_java
from pqassay_spark.produce.sales import RARE_NATION
from pqassay_spec.base.sources import FileSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_footer, read_framing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path("build-pipeline")
SALES = FOLDER / "sales"
FINDINGS = FOLDER / "findings"
PLAIN = FOLDER / "before"

FILES = 1000
ROWS = 200_000
COLUMN = "nation"

CONDITION = f"{COLUMN} = '{RARE_NATION}'"

Query = Callable[[], tuple[pa.Table, str]]
"""Returns the rows, and how many files were opened as far as that is known."""


# ----------------------------------------------------------------------------------------------- a kill


def parents() -> dict[int, int]:
    """The parent of each process of this machine."""
    parent_of: dict[int, int] = {}
    if Path("/proc/self/stat").exists():
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # it has ended
                # After the name, which may hold anything, come the state and the parent.
                parent_of[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        return parent_of
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
    return {int(child): int(parent) for child, parent in map(str.split, listing.stdout.splitlines())}


def processes_below(pid: int) -> list[int]:
    """A process and all that it has started, and those have: Spark's Java, and its Python workers."""
    children: dict[int, list[int]] = {}
    for child, parent in parents().items():
        children.setdefault(parent, []).append(child)
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def kill_midway(command: str, files: list[Path], after: int) -> None:
    """Start a command that rewrites files, and kill it and its workers as soon as it has rewritten some of them."""
    print(emphasised(f"$ {command}", "36"), flush=True)
    sizes = {path: path.stat().st_size for path in files}

    def rewritten() -> int:
        return sum(path.stat().st_size != size for path, size in sizes.items())

    with subprocess.Popen(command_line(command), stderr=subprocess.DEVNULL) as process:
        while rewritten() < after:
            if process.poll() is not None:
                sys.exit(
                    f"pipeline: it ended with exit status {process.returncode} before it could be killed"
                )
            time.sleep(0.02)
        doomed = processes_below(process.pid)
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    print(f"killed (kill -9 of {len(doomed)} processes): {rewritten()} of {len(files)} files have an index")


def require_equal_rows() -> None:
    """Leave unless both folders hold the same rows, each as often."""
    before, after = (f"read_parquet('{folder}/*.parquet')" for folder in (PLAIN, SALES))
    either = f"(FROM {before} EXCEPT ALL FROM {after}) UNION ALL (FROM {after} EXCEPT ALL FROM {before})"
    with duckdb.connect() as connection:
        ((count,),) = connection.execute(f"SELECT count(*) FROM {after}").fetchall()
        ((differences,),) = connection.execute(f"SELECT count(*) FROM ({either})").fetchall()
    if differences or count != ROWS:
        sys.exit(f"pipeline: {count} rows, {differences} of them differ from what was written")
    print(f"{count:,} rows, the same as before the index (DuckDB, EXCEPT ALL both ways)")


# ---------------------------------------------------------------------------------------------- queries


def engines(session: SparkSession) -> Iterator[tuple[str, Query, Query]]:
    """For each engine its name, the query over all files, and the same with the files pruned."""
    from pqassay_spark.query.pruned_scan import plan_read  # noqa: PLC0415 - it needs Spark

    indexed = open_indexed(str(SALES), table="auto")
    plain = ds.dataset(SALES)
    condition = pc.field(COLUMN) == RARE_NATION
    kept = f"{len(indexed.prune(condition).kept)}"
    sql = f"SELECT * FROM sales WHERE {CONDITION}"

    def spark_all() -> tuple[pa.Table, str]:
        frame = session.read.parquet(f"file://{SALES.resolve()}").where(CONDITION)
        return frame.toArrow(), f"{FILES}"

    def spark_pruned() -> tuple[pa.Table, str]:
        plan = plan_read(session, SALES, CONDITION, table="auto")
        return plan.frame.toArrow(), f"{plan.files - len(plan.skipped)}"

    def with_duckdb(source: Any) -> pa.Table:
        with duckdb.connect() as connection:
            connection.register("sales", source)
            return cast("pa.Table", connection.sql(sql).to_arrow_table())

    def with_datafusion(source: Any) -> pa.Table:
        context = datafusion.SessionContext()
        context.register_dataset("sales", source)
        return pa.Table.from_batches(context.sql(sql).collect(), plain.schema)

    def with_polars(source: Any) -> pa.Table:
        scan = pl.scan_pyarrow_dataset(source)
        return scan.filter(pl.col(COLUMN) == RARE_NATION).collect().to_arrow()

    def with_pyarrow(source: Any) -> pa.Table:
        return cast("pa.Table", source.to_table(filter=condition))

    yield "Spark", spark_all, spark_pruned
    for name, ask in {
        "DuckDB": with_duckdb,
        "DataFusion": with_datafusion,
        "Polars": with_polars,
        "pyarrow": with_pyarrow,
    }.items():
        yield name, partial(opening, f"{FILES}", ask, plain), partial(opening, kept, ask, indexed)


def opening(files: str, ask: Callable[[Any], pa.Table], source: Any) -> tuple[pa.Table, str]:
    """Ask an engine about a dataset that opens ``files`` files."""
    return ask(source), files


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows in the order of their id, whatever types an engine has for its columns."""
    names = sorted(table.column_names)
    columns = [table.column(name).to_pylist() for name in names]
    return sorted(zip(*columns, strict=True), key=lambda row: row[names.index("id")])


def timed(query: Query) -> tuple[pa.Table, str, float]:
    """The rows, the files opened, and the seconds of the second time; the first warms up."""
    query()
    started = time.perf_counter()
    table, opened = query()
    return table, opened, time.perf_counter() - started


def compare_engines() -> None:
    """Ask all engines, with all files and with those that the index keeps; leave if any rows differ."""
    from pqassay_spark.jobs.session import spark_session  # noqa: PLC0415 - without Java there is nothing to import it for

    truth: list[tuple[Any, ...]] | None = None
    with spark_session(name="pqassay pipeline") as session:
        print(f"{'':12}{'all files':>12}{'pruned':>12}{'files opened':>18}{'rows':>8}")
        for name, ask_all, ask_pruned in engines(session):
            everything, opened_all, seconds_all = timed(ask_all)
            pruned, opened, seconds = timed(ask_pruned)
            truth = rows_of(everything) if truth is None else truth
            if not rows_of(everything) == rows_of(pruned) == truth:
                sys.exit(f"pipeline: {name} returned other rows")
            print(
                f"{name:12}{seconds_all * 1000:>9,.0f} ms{seconds * 1000:>9,.0f} ms"
                f"{f'{opened} of {opened_all}':>18}{pruned.num_rows:>8}",
                flush=True,
            )
    if not truth:
        sys.exit("pipeline: there are no rows to find, so that nothing was shown")
    print("All rows are equal: in every engine, with and without the index.")


# ----------------------------------------------------------------------------------------------- damage


def flip_a_bit(path: Path) -> None:
    """Flip one bit of a file's index, as a disk may, which also leaves the file's size and time as they were."""
    with FileSource(path) as source:
        metadata, _ = read_footer(source, read_framing(source))
    (text,) = [pair.value for pair in metadata.key_value_metadata or [] if pair.key == idx1.KEY]
    offset = idx1.parse_offset(str(text))
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(offset)
        first = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([first ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    print(f"{path}: a bit at offset {offset} is now another")


def main() -> None:
    """Run the pipeline."""
    os.chdir(ROOT)
    try:
        java = require_java()
    except JavaMissingError as error:
        sys.exit(f"pipeline: {error}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    started = time.monotonic()

    heading(f"1. Produce: sales in {FILES:,} Parquet files, with Spark on Java {java}")
    run(f"pqassay spark produce {SALES} --rows {ROWS} --files {FILES} --rare")
    files = sorted(SALES.glob("part-*.parquet"))
    if len(files) != FILES:
        sys.exit(f"pipeline: Spark wrote {len(files)} files, not {FILES}")
    shutil.copytree(SALES, PLAIN)

    heading(f"2. Index: embed the distinct values of column {COLUMN}, and be killed in the middle of it")
    index = f"pqassay spark index {SALES} --column {COLUMN}"
    kill_midway(index, files, FILES // 3)
    print("Each file is either as it was or has an index. The same command does what is left:")
    run(index)
    require_equal_rows()

    heading("3. Check: every index is compared with the values of its column")
    check = f"pqassay spark check {SALES} --tier values --reuse {FINDINGS}"
    run(check)

    heading(f"4. Query: WHERE {CONDITION}, in five engines, with all files and with those that may hold it")
    compare_engines()

    heading("5. Damage one file, and check again what has changed: it must be found")
    flip_a_bit(files[FILES // 2])
    run(check, expect=1)

    heading(f"All went as it should, in {time.monotonic() - started:.0f} seconds.")
    programs = Path(sys.executable).parent
    if programs.is_relative_to(ROOT):
        programs = programs.relative_to(ROOT)
    print(
        f"Files to look at: {SALES}, and its index table {SALES}.index; the verdicts as a table: {FINDINGS}"
    )
    print("Try next:")
    suggestions = {
        f'pqassay scan --files {SALES} "{CONDITION}"': "which files a query would open, and why",
        f"pqassay check {SALES} --jobs 2 --tier values": "the same check without Spark",
    }
    for command, purpose in suggestions.items():
        print(f"  {f'{programs}/{command}':<78}  {purpose}")


if __name__ == "__main__":
    main()
