"""The check of many files on Spark: what `pqassay.check` finds, judged on executors.

The judge finds the files, says how they are judged, and makes the report.  What is added here is what very many files
need: verdicts of an earlier run are taken over, a sample may stand for all, and the report becomes a table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from pqassay.history import findings_table
from pqassay.history.file_stamps import UNKNOWN, stamps
from pqassay.history.findings_table import FileState, Row
from pqassay.history.verdict_cache import VerdictCache, state_of
from pqassay.judge.checker import AnyPath, CheckOptions, Plan, concluded, planned
from pqassay.judge.cost.estimate import USUAL_PRICES, Estimate, StorePrices
from pqassay.report.model import Report
from pqassay.stores.targets import Target
from pqassay.tables.kept import kept_states
from pqassay_spark.check.estimate import estimate
from pqassay_spark.check.executor_judging import Means, Verdict, etags_task
from pqassay_spark.check.sampling import Sample, sampled
from pqassay_spark.check.spark_judging import Tell, judged
from pqassay_spark.check.spark_listing import SparkListing
from pqassay_spark.jobs.packing import pack
from pqassay_spark.jobs.spark_jobs import cores, packed, run, unpacked
from pqassay_spec import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Checked:
    """The outcome of a run.

    Attributes:
        report: The report.
        states: What the findings table says of its files beside that; empty where there will be no table.
        kept: How many verdicts are those of an earlier run.
        sample: What the report covers, where it is about a sample.
    """

    report: Report
    states: list[FileState]
    kept: int = 0
    sample: Sample | None = None

    @property
    def notes(self) -> list[str]:
        """Sentences about the report beside what it says itself."""
        notes: list[str] = []
        if self.kept:
            total = self.report.summary.files
            notes.append(
                f"{self.kept:,} of {total:,} verdicts taken from the cache: those files did not change"
            )
        if self.sample is not None:
            notes.append(self.sample.sentence)
        return notes


@kept_states()
def check(
    spark: SparkSession,
    target: AnyPath | Sequence[AnyPath],
    *,
    timeout: float | None = None,
    memory: int | None = None,
    tasks: int | None = None,
    sample: int | None = None,
    out: AnyPath | None = None,
    incremental: bool = False,
    tell: Tell | None = None,
    **options: Unpack[CheckOptions],
) -> Report:
    """Check files on the executors of a Spark session.

    The arguments that `pqassay.check` has as well mean the same here.

    Args:
        spark: The session. Its executors need this package (`pqassay_spark.jobs.shipping.ship_package` sends it) and see
            the files under the same paths as the driver.
        target: A path, a pattern or a URI, or several of them.
        timeout: Seconds for one file; see `pqassay.check`.
        memory: Bytes for one process; see there. The default is shared by the tasks of one machine.
        tasks: Tasks to cut the work into.
        sample: How many files to judge; the others are ignored in the report, and none of them counts as passed.
        out: Folder of a findings table to write; see `pqassay.history.findings_table`.
        incremental: Take over what that table says of files that have not changed.
        tell: Told how many files are judged, how many there are, and how many findings there are so far.
        **options: See `pqassay.judge.checker.CheckOptions`.

    Returns:
        The report that `pqassay.check` makes of the same files.

    Raises:
        UsageError: As `pqassay.check`; or the table cannot be or be read where it is wanted.
        JobError: The executors cannot do it, and why.
        OSError: The table cannot be written.
    """
    started = time.time_ns()
    plan = planned(target, listing=SparkListing(lambda: spark), **options)
    table = None if out is None else Path(out)
    if table is not None:
        findings_table.require_place(table, plan.found.roots, (target.path for target in plan.targets))
    means = Means(tasks, timeout, memory)
    checked = carried_out(
        lambda: spark,
        plan,
        means,
        started=started,
        table=table,
        is_incremental=incremental,
        sample=sample,
        tell=tell,
    )
    if table is not None:
        findings_table.write(table, checked.report, checked.states, plan.settings)
    return checked.report


def carried_out(
    session: Callable[[], SparkSession],
    plan: Plan,
    means: Means,
    *,
    started: int,
    table: Path | None = None,
    is_incremental: bool = False,
    sample: int | None = None,
    tell: Tell | None = None,
) -> Checked:
    """Carry out a plan.

    Args:
        session: Gives the session; not called if all verdicts are known.
        plan: What is to be judged.
        means: How the executors are used.
        started: When the run began, before the files were found; in nanoseconds since 1970.
        table: The findings table that will be written, if one will.
        is_incremental: Whether to take over what it says now of files that have not changed.
        sample: How many files to judge; all by default.
        tell: Told how far it has come.

    Raises:
        UsageError: The table cannot be read, or the limit on memory is too low for any process.
        JobError: The executors cannot do it, and why.
    """
    covered = None
    if sample is not None:
        plan, covered = sampled(plan, sample)
    targets = plan.targets
    current_stamps = [UNKNOWN] * len(targets) if table is None else stamps(targets)
    kept: dict[int, Row] = {}
    if table is not None and is_incremental:
        kept = VerdictCache(table, plan.settings).all_kept(
            targets, current_stamps, lambda doubtful: _etags(session, doubtful)
        )
    rest = [position for position in range(len(targets)) if position not in kept]
    fresh: dict[int, Verdict] = {}
    if rest:
        wanted = [targets[position] for position in rest]
        verdicts = judged(session(), wanted, plan.settings, means, wants_etags=table is not None, tell=tell)
        fresh = dict(zip(rest, verdicts, strict=True))
    in_order = (
        (kept[position].report, kept[position].coverage) if position in kept else fresh[position][0]
        for position in range(len(targets))
    )
    report = concluded(plan, in_order)
    if table is None:
        return Checked(report, [], len(kept), covered)
    states = [
        kept[position].state
        if position in kept
        else state_of(current_stamps[position], fresh[position][0][0], fresh[position][1], started=started)
        for position in range(len(targets))
    ]
    return Checked(report, states, len(kept), covered)


def estimated(
    session: Callable[[], SparkSession],
    plan: Plan,
    *,
    table: Path | None = None,
    sample: int | None = None,
    prices: StorePrices = USUAL_PRICES,
) -> Estimate:
    """Estimate what carrying out a plan would cost; judge nothing.

    Args:
        session: Gives the session.
        plan: What would be judged.
        table: The findings table from which verdicts would be taken over, if they would.
        sample: How many files would be judged; all by default.
        prices: What a store takes.

    Raises:
        UsageError: The table cannot be read.
        JobError: The executors cannot do it, and why.
    """
    if sample is not None:
        plan, _ = sampled(plan, sample)
    kept: dict[int, Row] = {}
    if table is not None:
        kept = VerdictCache(table, plan.settings).all_kept(
            plan.targets, stamps(plan.targets), lambda doubtful: _etags(session, doubtful)
        )
    rest = [position for position in range(len(plan.targets)) if position not in kept]
    return estimate(session(), plan, rest, len(kept), __version__, prices)


def _etags(session: Callable[[], SparkSession], targets: Sequence[Target]) -> list[str | None]:
    if not targets:
        return []
    spark = session()
    positions = pack([0] * len(targets), cores(spark), per_file=1)
    tasks = [packed([targets[position] for position in task]) for task in positions]
    results = run(spark, tasks, etags_task, description=f"pqassay: etags of {len(targets)} objects")
    found: dict[int, str | None] = {}
    for task, result in zip(positions, results, strict=True):
        found.update(zip(task, unpacked(result), strict=True))
    return [found[position] for position in range(len(targets))]
