"""Choosing some of many files, the same ones every time, so that each folder and each size has its share."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass

from pqassay.judge.checker import Plan
from pqassay.stores.targets import Target

REASON = "not checked: not in the sample"
"""The reason that a report does not judge the other files."""


@dataclass(frozen=True)
class Sample:
    """The coverage of a sample.

    Attributes:
        chosen: Files that are checked.
        files: Files that there are.
        chosen_folders: Folders of which at least one file is checked.
        folders: Folders that there are.
    """

    chosen: int
    files: int
    chosen_folders: int
    folders: int

    @property
    def sentence(self) -> str:
        """A sentence about what the report covers, and what it does not."""
        return (
            f"sample: {self.chosen:,} of {self.files:,} files, from {self.chosen_folders:,} of {self.folders:,} "
            f"folders; {self.files - self.chosen:,} files were not checked, and nothing is known of them"
        )


def choose(targets: Sequence[Target], wanted: int) -> list[int]:
    """Choose files: at equal distances in the order of kinds, folders and sizes.

    So a folder has its share of the sample, and within it small and large files have theirs. There is no chance in it: the
    same files give the same sample.

    Args:
        targets: The files.
        wanted: How many.

    Returns:
        Positions in ``targets``, ascending.
    """
    if wanted >= len(targets):
        return list(range(len(targets)))
    order = sorted(range(len(targets)), key=lambda position: (*_stratum(targets[position]), position))
    return sorted(order[(2 * number + 1) * len(order) // (2 * wanted)] for number in range(wanted))


def _stratum(target: Target) -> tuple[str, str, int]:
    return target.kind, os.path.dirname(target.name), target.known_size()  # noqa: PTH120 - of a URI as well


def sampled(plan: Plan, wanted: int) -> tuple[Plan, Sample]:
    """Reduce a plan to a sample; the other files are ignored, with the reason, and none of them counts as passed.

    Args:
        plan: The plan.
        wanted: How many files to judge.
    """
    chosen = choose(plan.targets, wanted)
    sample = Sample(
        chosen=len(chosen),
        files=len(plan.targets),
        chosen_folders=_folders([plan.targets[position] for position in chosen]),
        folders=_folders(plan.targets),
    )
    if len(chosen) == len(plan.targets):
        return plan, sample
    return Plan(plan.found.reduced(chosen, REASON), plan.settings, plan.known), sample


def _folders(targets: Sequence[Target]) -> int:
    return len({os.path.dirname(target.name) for target in targets})  # noqa: PTH120 - as above
