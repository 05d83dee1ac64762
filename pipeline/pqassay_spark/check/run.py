"""The check of many files on Spark: the result of `pqassay.check`, with judging on executors.

The judge finds the files, makes the plan and the report; findings tables and samples are those of `pqassay_lake`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from pqassay.judge.checker import CheckPlan, planned
from pqassay.judge.options import AnyPath, CheckOptions
from pqassay.report.model import Report
from pqassay.stores.targets import Target
from pqassay.tables.kept import kept_states
from pqassay_lake.running import carried_out
from pqassay_lake.sampling import Wish
from pqassay_spark.check.executor_judging import Means, Verdict, etags_task
from pqassay_spark.check.spark_judging import Tell, judged
from pqassay_spark.check.spark_listing import SparkListing
from pqassay_spark.jobs.packing import pack
from pqassay_spark.jobs.spark_jobs import cores, packed, run, unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class OnExecutors:
    """Judges files on the executors of a session, as `pqassay.judge.checker.Work`.

    Args:
        session: Returns the session; not called if there is nothing to do.
        means: How the executors are used.
        tell: Called with the numbers of judged files, of all files, and of findings so far.
    """

    def __init__(self, session: Callable[[], SparkSession], means: Means, tell: Tell | None = None) -> None:
        self.listing = SparkListing(session)
        self._session, self._means, self._tell = session, means, tell

    def judge(self, plan: CheckPlan, targets: Sequence[Target], *, wants_etags: bool) -> Generator[Verdict]:
        """Judge files, see `pqassay.judge.checker.Work.judge`.

        Raises:
            UsageError: The limit on memory is too low for any process.
            JobError: The executors cannot do it; the message gives the reason.
        """
        if targets:
            yield from judged(
                self._session(), targets, plan.settings, self._means, wants_etags=wants_etags, tell=self._tell
            )

    def etags(self, targets: Sequence[Target]) -> Sequence[str | None]:
        """The etags of objects, requested on the executors."""
        if not targets:
            return []
        spark = self._session()
        positions = pack([0] * len(targets), cores(spark), per_file=1)
        tasks = [packed([targets[position] for position in task]) for task in positions]
        results = run(spark, tasks, etags_task, description=f"pqassay: etags of {len(targets)} objects")
        found: dict[int, str | None] = {}
        for task, result in zip(positions, results, strict=True):
            found.update(zip(task, unpacked(result), strict=True))
        return [found[position] for position in range(len(targets))]


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

    Arguments of `pqassay.check` have the same meaning here.

    Args:
        spark: The session. Its executors need this package (`pqassay_spark.jobs.shipping.ship_package` sends it) and see
            the files under the same paths as the driver.
        target: A path, a pattern or a URI, or several of them.
        timeout: Seconds for one file; see `pqassay.check`.
        memory: Bytes for one process; see there. The default is shared by the tasks of one machine.
        tasks: Number of tasks.
        sample: How many files to judge; the others are reported as ignored, not as passed.
        out: Folder of a findings table to write; see `pqassay_lake.history.findings_table`.
        incremental: Reuse the verdicts of that table for unchanged files.
        tell: Called with the numbers of judged files, of all files, and of findings so far.
        **options: See `pqassay.judge.checker.CheckOptions`.

    Returns:
        The same report as `pqassay.check` for the same files.

        Raises:
            UsageError: As in `pqassay.check`; or the table cannot be in that folder, or cannot be read or written.
            JobError: The executors cannot do it; the message gives the reason.
    """
    started = time.time_ns()
    work = OnExecutors(lambda: spark, Means(tasks, timeout, memory), tell)
    _, report, _ = carried_out(
        planned(target, listing=work.listing, **options),
        work,
        started=started,
        table=None if out is None else Path(out),
        is_reused=incremental,
        wish=None if sample is None else Wish(files=sample),
    )
    return report
