"""The run of a check of many files: with a findings table, or on a growing sample."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from pqassay.judge.checker import CheckPlan, Outcome, Progress, Work, concluded
from pqassay.judge.one_file import Judged
from pqassay_lake.history.incremental import Keeper
from pqassay_lake.sampling import Wish, sampled


def carried_out(
    plan: CheckPlan,
    work: Work,
    *,
    started: int,
    table: Path | None = None,
    is_reused: bool = False,
    wish: Wish | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Carry out a plan.

    Args:
        plan: The plan.
        work: The workers that judge.
        started: The start of the run, before the search for files, in nanoseconds since 1970.
        table: The folder of the findings table to write.
        is_reused: Whether verdicts of unchanged files are reused from the table.
        wish: The requirements of a sample; ``None`` to judge all files.
        progress: Called with each file.

    Raises:
        UsageError: The table cannot be at this place, or cannot be read or written; the old table stays unchanged.
    """
    keeper = None if table is None else Keeper(plan, table, work, started=started, is_reused=is_reused)

    def judge(positions: Sequence[int]) -> Generator[Judged]:
        return _alone(plan, work, positions) if keeper is None else keeper.verdicts(positions)

    if wish is not None:
        plan, report = sampled(
            plan, wish, judge, save=None if keeper is None else keeper.write, progress=progress
        )
    else:
        every = range(len(plan.targets))
        with closing(judge(every)) as verdicts:
            report = concluded(plan, verdicts, progress)
        if keeper is not None:
            keeper.write(report, every)
    return plan, report, [] if keeper is None or not keeper.note else [keeper.note]


def _alone(plan: CheckPlan, work: Work, positions: Sequence[int]) -> Generator[Judged]:
    targets = [plan.targets[position] for position in positions]
    with closing(work.judge(plan, targets, wants_etags=False)) as verdicts:
        for verdict, _ in verdicts:
            yield verdict
