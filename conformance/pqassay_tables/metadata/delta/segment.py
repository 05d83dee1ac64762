"""The files of a Delta log that are needed for a version: the newest complete checkpoint before it, and the later commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from pqassay_spec.base.errors import Malformed
from pqassay_spec.table.layout import DELTA_LOG, CheckpointName, commit_name, delta_checkpoint, delta_commit

VERSIONS, CHECKPOINTS = "DLT-002", "DLT-003"


@dataclass(frozen=True)
class Segment:
    """The files of a log to read.

    Attributes:
        version: The resulting version.
        checkpoint: The file names of the checkpoint at the start, in order; empty if it starts with version 0.
        commits: The versions of the following commits, ascending.
    """

    version: int
    checkpoint: tuple[str, ...]
    commits: tuple[int, ...]


class NoVersionError(ValueError):
    """The log does not have the requested version; the message names the existing ones."""


def segment_of(names: Mapping[str, int], version: int | None = None) -> Segment:
    """The files that are needed to read a version.

    Args:
        names: The files of the log.
        version: The version; by default the newest.

    Raises:
        NoVersionError: The version does not exist.
        Malformed: DLT-002, commits are missing; DLT-003, only an incomplete checkpoint has the older commits.
    """
    commits = sorted(number for name in names if (number := delta_commit(name)) is not None)
    checkpoints = complete_checkpoints(names)
    known = sorted({*commits, *checkpoints})
    if not known:
        raise Malformed("no checkpoint in the log is complete", rule=CHECKPOINTS, field=DELTA_LOG)
    target = known[-1] if version is None else version
    if target not in known:
        raise NoVersionError(f"there is no version {target}; the log has {known[0]} to {known[-1]}")
    start = max((number for number in checkpoints if number <= target), default=None)
    needed = range(0 if start is None else start + 1, target + 1)
    have = {number for number in commits if number in needed}
    missing = next((number for number in needed if number not in have), None)
    if missing is not None:
        incomplete = start is None and any(delta_checkpoint(name) for name in names)
        raise Malformed(
            f"version {target} needs {commit_name(missing)}, which the log does not have"
            + (", and no checkpoint is complete" if incomplete else ""),
            rule=VERSIONS,
            field=f"{DELTA_LOG}/{commit_name(missing)}",
            expected=f"a commit for each version from {needed[0]} to {target}",
            actual=f"none for {missing}",
        )
    files = () if start is None else checkpoints[start]
    return Segment(target, files, tuple(needed))


def complete_checkpoints(names: Mapping[str, int]) -> dict[int, tuple[str, ...]]:
    """The files of one complete checkpoint for each version that has one.

    If a version has several, a checkpoint in a single file is preferred, then the last by name.
    """
    parts_by_checkpoint: dict[tuple[int, int, str], dict[int, str]] = defaultdict(dict)
    for name in names:
        told = delta_checkpoint(name)
        if told is not None:
            parts_by_checkpoint[_key(told)][told.part] = name
    complete: dict[int, tuple[str, ...]] = {}
    for (version, parts, _), files in sorted(
        parts_by_checkpoint.items(), key=lambda item: (item[0][0], -item[0][1], item[0][2])
    ):
        if len(files) == parts and min(files) == 1 and max(files) == parts:
            complete[version] = tuple(files[part] for part in sorted(files))
    return complete


def _key(told: CheckpointName) -> tuple[int, int, str]:
    return told.version, told.parts, f"{told.unique}.{told.form}"
