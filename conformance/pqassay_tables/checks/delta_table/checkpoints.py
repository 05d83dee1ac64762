"""Checks of checkpoints, against themselves and against the earlier log, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pqassay.checks import rule
from pqassay.tables.claims import ClaimPlace
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table.delta import DOMAINS, PARTITION_PARSED, STATS_AS_JSON, STATS_AS_STRUCT, STATS_PARSED
from pqassay_spec.table.layout import DELTA_LOG, delta_compaction
from pqassay_tables.checks.delta_table.subjects import ENTRY, TABLE
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import Json, object_of
from pqassay_tables.metadata.delta.comparison import described_differ, partitions_differ, statistics_differ
from pqassay_tables.metadata.delta.state import DeltaState
from pqassay_tables.under_test.delta_entries import DeltaEntry
from pqassay_tables.under_test.table import DeltaTable

WRITTEN_ANEW = repairs.DELTA_CHECKPOINT.text


def has_checkpoint(table: DeltaTable) -> bool:
    """Whether the judged version is read from a checkpoint."""
    return bool(table.state.segment.checkpoint)


def has_summary(table: DeltaTable) -> bool:
    """Whether a checkpoint or a log compaction stands for commits of the judged version."""
    return has_checkpoint(table) or any(map(delta_compaction, table.at.listed(DELTA_LOG)))


@rule("DLT-020", of=TABLE, only=has_summary)
def checkpoints_say_what_the_log_says(table: DeltaTable) -> Iterator[Violation]:
    """Readers that start from a checkpoint, or read a log compaction, do not read the commits before it."""
    for name, *both in table.summaries:
        yield from _files_differ(table, name, *both)


def _files_differ(table: DeltaTable, name: str, one: DeltaState, log: DeltaState) -> Iterator[Violation]:
    """Violations for live files that a checkpoint or compaction has, or describes, other than the log."""
    for key in log.by_key.keys() - one.by_key.keys():
        entry = log.by_key[key]
        yield _wrong(table, name, entry.place, f"{entry.path} is live in the log, but not in the {name}", "an entry", "none")  # fmt: skip
    for key, entry in one.by_key.items():
        before = log.by_key.get(key)
        if before is None:
            text = f"the {name} has {entry.path}, which is not live according to the log"
            yield _wrong(table, name, entry.place, text, "no entry", "one")
            continue
        for member in ("size", "partitionValues", "baseRowId", "defaultRowCommitVersion"):
            left, right = entry.action.get(member), before.action.get(member)
            if left is not None and right is not None and left != right:
                place = entry.place.below(member)
                text = f"{member} of {entry.path} is {left} in the {name}, but {right} in the log"
                yield _wrong(table, name, place, text, str(right), str(left))
        if entry.stats is None or before.stats is None:
            continue
        for found in statistics_differ(one.schema, entry.stats, before.stats):
            of = found.path[0] if found.column is None else f"{found.path[0]} of column {found.column}"
            text = f"{of} of {entry.path} is {found.one} in the {name}, but {found.other} in the log"
            place = entry.stat(found.path[0]).below(*found.path[1:])
            yield _wrong(table, name, place, text, found.other, found.one, found.column)


def _holds_statistics(table: DeltaTable) -> bool:
    """Whether the table properties say that checkpoints have statistics."""
    properties = object_of(table.state.metadata.get("configuration"))
    as_json, as_struct = properties.get(STATS_AS_JSON, "true"), properties.get(STATS_AS_STRUCT, "false")
    return str(as_json).lower() != "false" or str(as_struct).lower() == "true"


@rule("DLT-043", of=TABLE, only=has_checkpoint)
def checkpoints_keep_statistics(table: DeltaTable) -> Iterator[Violation]:
    """Without statistics, readers read the file for every query."""
    one, log = (state.by_key for state in table.checkpoint)
    if not _holds_statistics(table):
        raise NotApplicable
    for key, entry in one.items():
        before = log.get(key)
        if before is not None and before.stats and entry.stats is None and not entry.stats_problem:
            said = f"the log has statistics of {entry.path}, but the checkpoint does not"
            yield _wrong(table, "checkpoint", entry.place, said, "statistics", "none")


@rule("DLT-044", of=TABLE, only=has_summary)
def checkpoints_describe_the_table_as_the_log_does(table: DeltaTable) -> Iterator[Violation]:
    """Once the older commits are deleted, the checkpoint defines the columns of the table."""
    for summary, one, log in table.summaries:
        for kind, given, expected in (
            ("protocol", one.protocol, log.protocol),
            ("metaData", one.metadata, log.metadata),
        ):
            for name in described_differ(kind, given, expected):
                left, right = given.get(name), expected.get(name)
                said = (
                    f"{name} of {kind} is {str(left)[:80]} in the {summary}, but {str(right)[:80]} in the log"
                )
                place = ClaimPlace(one.places[kind].file, one.places[kind].entry, (kind, name))
                yield _wrong(table, summary, place, said, str(right)[:80], str(left)[:80])


@rule("DLT-045", of=TABLE, only=has_summary)
def checkpoints_have_the_domains_of_the_log(table: DeltaTable) -> Iterator[Violation]:
    """The content of a domain, such as the highest row id, is lost with the older commits."""
    if DOMAINS not in table.state.writer_features:
        raise NotApplicable
    for summary, one, log in table.summaries:
        for name in sorted(one.domains.keys() | log.domains.keys()):
            left, right = one.domains.get(name), log.domains.get(name)
            if left != right:
                said = (
                    f"the domain {name} is {str(left)[:80]} in the {summary}, but "
                    f"{str(right)[:80]} in the log"
                )
                yield _wrong(table, summary, one.places["protocol"], said, str(right)[:80], str(left)[:80])


def _wrong(
    table: DeltaTable,
    summary: str,
    place: ClaimPlace,
    said: str,
    expected: str,
    actual: str,
    column: str | None = None,
) -> Violation:
    remedy = WRITTEN_ANEW if summary == "checkpoint" else repairs.DELTA_COMPACTION.text
    return table.wrong(place, said, expected, actual, remedy=remedy, column=column)


def _parsed(one: DeltaEntry, member: str) -> Json | None:
    given: Any = one.entry.action.get(member)
    return cast("Json", given) if isinstance(given, dict) else None


def has_both_statistics(one: DeltaEntry) -> bool:
    """Whether statistics exist both as text and as a struct."""
    return (
        one.entry.stats is not None
        and one.entry.stats_member != STATS_PARSED
        and _parsed(one, STATS_PARSED) is not None
    )


@rule("DLT-036", of=ENTRY, only=has_both_statistics)
def both_statistics_are_the_same(one: DeltaEntry) -> Iterator[Violation]:
    """Some readers use the text, and others the struct."""
    parsed = _parsed(one, STATS_PARSED) or {}
    for found in statistics_differ(one.schema, parsed, one.stats):
        name = found.path[0] if found.column is None else f"{found.path[0]} of column {found.column}"
        said = f"{name} of {one.data_file} is {found.one} in {STATS_PARSED}, but {found.other} in stats"
        place = one.entry.place.below(STATS_PARSED, *found.path)
        yield one.wrong(place, said, found.other, found.one, remedy=WRITTEN_ANEW, column=found.column)


def has_parsed_partition(one: DeltaEntry) -> bool:
    """Whether partition values exist both as text and as a struct."""
    return (
        _parsed(one, PARTITION_PARSED) is not None and isinstance(one.entry.action.get("partitionValues"), dict)
    )  # fmt: skip


@rule("DLT-037", of=ENTRY, only=has_parsed_partition)
def both_partition_values_are_the_same(one: DeltaEntry) -> Iterator[Violation]:
    """Some readers use the texts, and others the struct."""
    texts = _parsed(one, "partitionValues") or {}
    for pair in partitions_differ(one.schema, texts, _parsed(one, PARTITION_PARSED) or {}):
        said = (
            f"the value of partition column {pair.column} of {one.data_file} is {pair.other} "
            f"in {PARTITION_PARSED}, but {pair.one} in partitionValues"
        )
        place = one.entry.place.below(PARTITION_PARSED, *pair.path)
        yield one.wrong(place, said, pair.one, pair.other, remedy=WRITTEN_ANEW, column=pair.column)
