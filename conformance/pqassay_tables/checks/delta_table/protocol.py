"""Checks of required members of the actions of a Delta table, and of its table features, tier ``meta``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pqassay.checks import rule
from pqassay.tables.claims import ClaimPlace
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.table.delta import (
    COLUMN_MAPPING,
    DELETION_VECTORS,
    FEATURES_SINCE,
    MAPPING_MODE,
    PROVIDER,
    REQUIRED,
    TIMESTAMP_NTZ,
    TYPE_CHANGES,
    TYPE_WIDENING,
    V2_CHECKPOINT,
    VARIANT,
)
from pqassay_spec.table.layout import delta_checkpoint
from pqassay_tables.checks.delta_table.subjects import TABLE
from pqassay_tables.metadata.delta.actions import Json, object_of
from pqassay_tables.under_test.table import DeltaTable


@rule("DLT-056", of=TABLE)
def actions_have_their_members(table: DeltaTable) -> Iterator[Violation]:
    """Many readers refuse the whole table."""
    state = table.state
    for kind, action in (("protocol", state.protocol), ("metaData", state.metadata)):
        yield from _missing(table, kind, action, state.places[kind])
    names = REQUIRED["add"]
    for entry in state.entries:
        action = entry.action
        if any(action.get(name) is None for name in names):
            yield from _missing(table, "add", action, entry.place)


def _missing(
    table: DeltaTable, kind: str, action: Mapping[str, Any], place: ClaimPlace
) -> Iterator[Violation]:
    for name in REQUIRED[kind]:
        value = action.get(name)
        if value is None or (kind == "protocol" and (type(value) is not int or value < 1)):
            of = f" of {action.get('path')}" if kind == "add" else ""
            said = f"the {kind} action{of} has {'no' if value is None else 'an impossible'} {name}"
            yield table.wrong(place.below(name), said, f"a member {name}", "none" if value is None else str(value)[:40])  # fmt: skip


@rule("DLT-057", of=TABLE)
def features_are_listed_where_versions_say_so(table: DeltaTable) -> Iterator[Violation]:
    """Readers and writers that use the version do not look for features, and others do not find them."""
    state = table.state
    for member, features in FEATURES_SINCE.items():
        version, listed = state.protocol.get(member), state.protocol.get(features.member)
        if version is None:
            continue  # DLT-056
        if isinstance(listed, list) is not (version == features.version):
            said = (
                f"{member} is {version}, but {features.member} are {'missing' if listed is None else 'given'}"
            )
            place = state.places["protocol"].below(member)
            expected = f"{member} {features.version}" if listed is not None else f"a list of {features.member}"  # fmt: skip
            yield table.wrong(place, said, expected, str(version)[:40])


@rule("DLT-063", of=TABLE)
def the_format_is_that_of_the_files(table: DeltaTable) -> Iterator[Violation]:
    """A reader that uses the format expects files of another format."""
    given: Any = table.state.metadata.get("format")
    if not isinstance(given, dict):
        raise Broken("DLT-056") if given is None else NotApplicable
    provider = cast("Json", given).get("provider")
    if provider != PROVIDER:
        said = (
            f"the provider of the format is {str(provider)[:40]}, but the files of the "
            "table are Parquet files"
        )
        place = table.state.places["metaData"].below("format", "provider")
        yield table.wrong(place, said, PROVIDER, str(provider)[:40])


@rule("DLT-064", of=TABLE)
def features_for_readers_are_for_writers_too(table: DeltaTable) -> Iterator[Violation]:
    """Writers that do not know the feature write files that readers do not expect; some readers refuse the table."""
    state = table.state
    if not state.features or (
        state.protocol.get("writerFeatures") is None and state.protocol.get("minWriterVersion") == 7
    ):
        raise NotApplicable  # DLT-057 reports a missing list
    for feature in sorted(state.features - state.writer_features):
        said = f"{feature[:40]} is among the readerFeatures, but not among the writerFeatures"
        place = state.places["protocol"].below("readerFeatures")
        yield table.wrong(place, said, f"{feature[:40]} in both", "in one")


@rule("DLT-058", of=TABLE)
def what_readers_have_to_know_is_listed(table: DeltaTable) -> Iterator[Violation]:
    """Readers that do not know the feature still read the table, and return deleted rows or other values."""
    state = table.state
    columns = state.schema.columns
    mode = str(object_of(state.metadata.get("configuration")).get(MAPPING_MODE, "none"))[:40]
    uses = {
        (DELETION_VECTORS,): next(("deletion vectors" for one in state.entries if one.action.get("deletionVector")), ""),
        TYPE_WIDENING: next((f"column {one.name} with {TYPE_CHANGES}" for one in columns if one.changes is not None), ""),
        (TIMESTAMP_NTZ,): next((f"column {one.name} of type timestamp_ntz" for one in columns if one.type == "timestamp_ntz"), ""),
        VARIANT: next((f"column {one.name} of type variant" for one in columns if one.type == "variant"), ""),
        (V2_CHECKPOINT,): next((f"the checkpoint {one}" for one in state.segment.checkpoint if getattr(delta_checkpoint(one), "unique", "")), ""),
        (COLUMN_MAPPING,): f"the property {MAPPING_MODE} with the value {mode}" if mode != state.schema.mode else "",
    }  # fmt: skip
    if not any(uses.values()):
        raise NotApplicable
    for features, used in uses.items():
        if used and not state.features & set(features):
            said = f"the table has {used}, but its readerFeatures lack {features[0]}"
            listed = ", ".join(sorted(state.features)) or "none"
            place = state.places["protocol"]
            yield table.wrong(place, said, features[0], listed[:80])
