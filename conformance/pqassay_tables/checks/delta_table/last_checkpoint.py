"""Checks of ``_last_checkpoint``, the file of a log that names the newest checkpoint, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pqassay.checks import rule
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table.last_checkpoint import CHECKSUM, checksum_of
from pqassay_spec.table.layout import DELTA_LAST_CHECKPOINT, DELTA_LOG, delta_checkpoint
from pqassay_tables.checks.delta_table.subjects import TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.segment import complete_checkpoints
from pqassay_tables.under_test.table import DeltaTable, JsonOfLog

FILE = f"{DELTA_LOG}/{DELTA_LAST_CHECKPOINT}"


class LastCheckpoint(JsonOfLog):
    """The file ``_last_checkpoint``, read once for all rules about it."""

    rule = "DLT-059"
    remedy = repairs.DELTA_CHECKPOINT.text

    @property
    def name(self) -> str:
        """See `JsonOfLog`."""
        return FILE


@rule("DLT-059", of=TABLE)
def the_checkpoint_is_there(table: DeltaTable) -> Iterator[Violation]:
    """Some readers refuse the table, and others list the whole log."""
    last = table.file.part(LastCheckpoint)
    if not isinstance(last.content, dict):
        yield last.no_object()
        return
    version: Any = last.members.get("version")
    there = sorted(complete_checkpoints(table.at.listed(DELTA_LOG)))
    if type(version) is not int or not there or version > there[-1]:
        known = ", ".join(map(str, there[-20:])) or "none"
        message = f"{FILE} names the checkpoint of version {str(version)[:40]}, but the log has {known}"
        yield last.wrong(("version",), message, known, str(version)[:40])


@rule("DLT-065", of=TABLE)
def it_counts_what_the_checkpoint_holds(table: DeltaTable) -> Iterator[Violation]:
    """Readers reserve too little or too much memory for it."""
    last, state = table.file.part(LastCheckpoint), table.state
    members = last.members
    names = [name for name in map(delta_checkpoint, table.at.listed(DELTA_LOG)) if name is not None]
    alike = {(one.parts, one.unique) for one in names if one.version == members.get("version")}
    read = next(map(delta_checkpoint, state.segment.checkpoint), None)
    if read is None or read.version != members.get("version") or len(alike) > 1:
        raise NotApplicable  # the content of an older or multi-part checkpoint is unknown
    of_checkpoint = [size for file, size in state.sizes.items() if file in state.checkpoint.files]
    true: Mapping[str, int] = {
        "size": state.checkpoint.actions,
        "numOfAddFiles": state.checkpoint.adds,
        "sizeInBytes": sum(of_checkpoint),
        "parts": read.parts,
    }
    if members.get("size") is None:
        yield last.wrong((), f"{FILE} has no size", f"a size of {true['size']}", "none")
    for name, expected in true.items():
        actual = members.get(name)
        if actual is not None and actual != expected:
            said = f"{name} of {FILE} is {str(actual)[:40]}, but the checkpoint has {expected}"
            yield last.wrong((name,), said, str(expected), str(actual)[:40])


@rule("DLT-060", of=TABLE)
def its_checksum_is_that_of_its_members(table: DeltaTable) -> Iterator[Violation]:
    """Readers that compare the checksum ignore the file, and list the log."""
    last = table.file.part(LastCheckpoint)
    checksum = last.members.get(CHECKSUM)
    if checksum is None:
        raise NotApplicable
    actual = checksum_of(last.members)
    if checksum != actual:
        message = f"the checksum of {FILE} is {str(checksum)[:40]}, but its members have {actual}"
        yield last.wrong((CHECKSUM,), message, actual, str(checksum)[:40])
