"""Checks of version checksum files, tier ``meta``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, cast

from pqassay.checks import rule
from pqassay.tables.claims import DeletedRows
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table.delta import REQUIRED
from pqassay_spec.table.layout import DELTA_LOG, checksum_name
from pqassay_tables.checks.delta_table.subjects import TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json, object_of
from pqassay_tables.metadata.delta.comparison import described_differ, statistics_differ
from pqassay_tables.metadata.delta.state import AddEntry, DeltaState, added, logical_key
from pqassay_tables.metadata.delta.statistics import count_of
from pqassay_tables.metadata.delta.vectors import deleted_rows
from pqassay_tables.under_test.table import DeltaTable, JsonOfLog


class VersionChecksum(JsonOfLog):
    """The version checksum file of a Delta table, read once for all rules about it."""

    rule = "DLT-021"
    remedy = repairs.DELTA_CHECKSUM.text

    @property
    def name(self) -> str:
        """See `JsonOfLog`."""
        return f"{DELTA_LOG}/{checksum_name(self.table.state.segment.version)}"


@rule("DLT-021", of=TABLE)
def checksum_files_say_what_the_state_is(table: DeltaTable) -> Iterator[Violation]:
    """Readers that compare the state with the file refuse the table, and readers that trust the file return wrong counts."""
    state, checksum = table.state, table.file.part(VersionChecksum)
    if not isinstance(checksum.content, dict):
        yield checksum.no_object()
        return
    for path, expected in _facts(state, checksum.members):
        actual: Any = checksum.members
        for name in path:
            actual = actual[int(name)] if isinstance(actual, list) else actual[name]
        if actual != expected:
            said = (
                f"{'.'.join(path)} of version {state.segment.version} is {actual}, but "
                f"{expected} according to the log"
            )
            yield checksum.wrong(path, said, str(expected), str(actual))


@rule("DLT-049", of=TABLE)
def checksum_files_describe_the_table(table: DeltaTable) -> Iterator[Violation]:
    """Readers that compare it refuse the table, and readers that trust it see other columns."""
    state, checksum = table.state, table.file.part(VersionChecksum)
    members = object_of(checksum.content)
    described = [
        (name, kind, cast("Json", one), expected)
        for name, kind, expected in (
            ("protocol", "protocol", state.protocol),
            ("metadata", "metaData", state.metadata),
        )
        if isinstance(one := members.get(name), dict)
    ]
    if not described:
        raise NotApplicable
    for name, kind, one, expected in described:
        for member in described_differ(kind, one, expected):
            left, right = str(one.get(member))[:80], str(expected.get(member))[:80]
            said = (
                f"{member} of {name} of version {state.segment.version} is {left}, but "
                f"{right} according to the log"
            )
            yield checksum.wrong((name, member), said, right, left)


@rule("DLT-061", of=TABLE)
def checksum_files_list_the_live_files(table: DeltaTable) -> Iterator[Violation]:
    """Readers that take the file list from it read other files than the table has, or use other statistics."""
    state, checksum = table.state, table.file.part(VersionChecksum)
    listed: Any = object_of(checksum.content).get("allFiles")
    if not isinstance(listed, list):
        raise NotApplicable
    live = state.by_key
    seen: set[tuple[str, str]] = set()
    for number, one in enumerate(listed):
        place = "allFiles", f"[{number}]"
        own = added(checksum.name, number, cast("Json", one)) if isinstance(one, dict) else None
        if own is None or logical_key(own) not in live:
            name = "an element of allFiles" if own is None else own.path or "a file without a path"
            yield checksum.wrong(
                place, f"{name} is in allFiles, but not live in the log", "no element", "one"
            )
            continue
        seen.add(logical_key(own))
        for path, said, true in _differences(state, own, live[logical_key(own)]):
            message = f"{path[-1]} of {own.path} is {said} in allFiles, but {true} in the log"
            yield checksum.wrong((*place, *path), message, true, said)
    for key in live.keys() - seen:
        message = f"{live[key].path} is live in the log, but not in allFiles"
        yield checksum.wrong(("allFiles",), message, "an element", "none")


COMPARED = ("size", "modificationTime", "partitionValues", "baseRowId", "defaultRowCommitVersion")
"""Members of entries that are the same wherever an entry is stored; only a commit tells whether data changed."""


def _differences(
    state: DeltaState, own: AddEntry, live: AddEntry
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield the differences between two entries of one file: the path of the member, and both values."""
    for name in COMPARED:
        said, true = own.action.get(name), live.action.get(name)
        if true is not None and said != true:
            yield (name,), str(said), str(true)
    if live.stats is None:
        return
    if own.stats is None:
        yield ("stats",), own.stats_problem or "none", "statistics"
        return
    for found in statistics_differ(state.schema, own.stats, live.stats, is_whole=True):
        yield ("stats", *found.path), found.one, found.other


@rule("DLT-062", of=TABLE)
def checksum_files_have_their_members(table: DeltaTable) -> Iterator[Violation]:
    """Without these members, readers cannot compare the state."""
    checksum = table.file.part(VersionChecksum)
    for name in REQUIRED["crc"]:
        if checksum.members.get(name) is None:
            yield checksum.wrong((), f"{checksum.name} has no {name}", f"a member {name}", "none")


def _facts(state: DeltaState, held: Json) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the members that can be compared, with their correct values."""
    sizes = [count_of(entry.action.get("size")) for entry in state.entries]
    vectors = [found for entry in state.entries if isinstance(found := deleted_rows(entry), DeletedRows)]
    facts: dict[str, int] = {"numFiles": len(sizes), "numMetadata": 1, "numProtocol": 1}
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes):
        facts["tableSizeBytes"] = sum(known)
    facts["numDeletedRecordsOpt"] = sum(vector.cardinality for vector in vectors)
    facts["numDeletionVectorsOpt"] = len(vectors)
    for name, value in facts.items():
        if held.get(name) is not None:
            yield (name,), value
    histogram: Any = held.get("fileSizeHistogram")
    if isinstance(histogram, dict) and len(known) == len(sizes):
        yield from _histogram(cast("Json", histogram), known)


def _histogram(held: Json, sizes: list[int]) -> Iterator[tuple[tuple[str, ...], int]]:
    lists = [_whole_numbers(held.get(name)) for name in ("sortedBinBoundaries", "fileCounts", "totalBytes")]
    if not all(lists) or len({len(one) for one in lists}) != 1:
        return
    starts = lists[0]
    histogram = [[0, 0] for _ in starts]
    for size in sizes:
        place = bisect_right(starts, size) - 1
        if place >= 0:
            histogram[place][0] += 1
            histogram[place][1] += size
    for number, (count, total) in enumerate(histogram):
        yield ("fileSizeHistogram", "fileCounts", str(number)), count
        yield ("fileSizeHistogram", "totalBytes", str(number)), total


def _whole_numbers(given: Any) -> list[int]:
    """A list of integers; empty for any other value."""
    if not isinstance(given, list):
        return []
    numbers = given
    return numbers if all(type(one) is int for one in numbers) else []
