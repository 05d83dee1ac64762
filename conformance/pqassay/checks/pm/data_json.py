"""Checks of ``_pm`` against the key ``questdb`` in the footer of the Parquet file beside it.

Only QuestDB writes the key; of files of others these rules are not applicable.
"""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.pm.pair import Pair
from pqassay.checks.subjects import FILE
from pqassay.under_test.file import DATA_PREFIX, FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm import json as pm_json
from pqassay_spec.pm.codes import ColumnFlag, type_name
from pqassay_spec.pm.json import QuestDBMetadata
from pqassay_spec.pm.order import designated_column


def _key_path(pair: Pair) -> str:
    """Field path of the key's value in the Parquet footer."""
    pairs = pair.metadata.key_value_metadata or []
    index = next(index for index, item in enumerate(pairs) if item.key == pm.JSON_KEY)
    return f"{DATA_PREFIX}footer.key_value_metadata[{index}].value"


def _questdb(file: FileUnderTest) -> tuple[Pair, QuestDBMetadata]:
    """What the key says.

    Raises:
        NotApplicable: There is none.
        NotChecked: It cannot be read, PM-121.
    """
    pair = file.part(Pair)
    if pm_json.text_in(pair.metadata) is None:
        raise NotApplicable
    found = pair.questdb
    if found is None:
        raise NotChecked("PM-121 is broken")
    return pair, found


@rule("PM-121", of=FILE)
def the_key_can_be_read(file: FileUnderTest) -> Iterator[Violation]:
    """The version, and an object for each column."""
    pair = file.part(Pair)
    if pm_json.text_in(pair.metadata) is None:
        raise NotApplicable
    try:
        pm_json.read(pair.metadata, len(pair.leaves))
    except Malformed as error:
        yield Violation(
            message=f"{error.field}: {error.reason}",
            field=_key_path(pair),
            expected=error.expected or "a JSON object as QuestDB writes it",
            actual=error.actual or error.reason,
        )


@rule("PM-122", of=FILE)
def types_agree(file: FileUnderTest) -> Iterator[Violation]:
    """The code says how values are understood."""
    pair, questdb = _questdb(file)
    for column in range(pair.column_count):
        actual, expected = pair.header.descriptors[column].type, questdb.schema[column].column_type
        if actual != expected:
            leaf = pair.leaves[column]
            texts = [f"{code} ({type_name(code)})" for code in (expected, actual)]
            yield Violation(
                message=f"TYPE of column {leaf.name} is {texts[1]}, "
                f"schema[{column}].column_type in {_key_path(pair)} is {texts[0]}",
                field=f"column_descriptors[{column}].type",
                offset=pm_header.descriptor_place(column, "type"),
                length=pm.ColumnDescriptor.widths["type"],
                expected=texts[0],
                actual=texts[1],
                column=leaf.name,
            )


@rule("PM-123", of=FILE)
def flags_agree(file: FileUnderTest) -> Iterator[Violation]:
    """A flag too few costs time, a flag too many may give wrong text."""
    pair, questdb = _questdb(file)
    for column in range(pair.column_count):
        described, said = pair.header.descriptors[column], questdb.schema[column]
        for flag, expected, member in (
            (ColumnFlag.IS_ASCII, said.ascii is True, "ascii"),
            (ColumnFlag.LOCAL_KEY_IS_GLOBAL, said.format == pm_json.LOCAL_KEY_IS_GLOBAL, "format"),
        ):
            if bool(described.flags & flag) != expected:
                leaf = pair.leaves[column]
                yield Violation(
                    message=f"{flag.name} of column {leaf.name} is {'clear' if expected else 'set'}, against "
                    f"schema[{column}].{member} in {_key_path(pair)}",
                    field=f"column_descriptors[{column}].flags",
                    offset=pm_header.descriptor_place(column, "flags"),
                    length=pm.ColumnDescriptor.widths["flags"],
                    expected=f"{flag.name} {'set' if expected else 'clear'}",
                    actual=f"{described.flags:#x}",
                    column=leaf.name,
                )


@rule("PM-124", of=FILE)
def unused_bytes_agree(file: FileUnderTest) -> Iterator[Violation]:
    """When to rewrite the file is decided by it."""
    pair, questdb = _questdb(file)
    name, actual = "unused_bytes", pair.snapshot.fields.unused_bytes
    if actual != questdb.unused_bytes:
        offset, length = pair.snapshot.place(name)
        yield Violation(
            message=f"UNUSED_BYTES is {actual}, unused_bytes in {_key_path(pair)} is {questdb.unused_bytes}",
            field=f"{pair.snapshot.path}.footer.{name}",
            offset=offset,
            length=length,
            expected=str(questdb.unused_bytes),
            actual=str(actual),
        )


@rule("PM-125", of=FILE)
def designated_timestamps_agree(file: FileUnderTest) -> Iterator[Violation]:
    """The bit in the type code marks it."""
    pair, questdb = _questdb(file)
    name, actual, expected = (
        "designated_timestamp",
        pair.header.fixed.designated_timestamp,
        designated_column(questdb),
    )
    if actual != expected:
        yield Violation(
            message=f"DESIGNATED_TIMESTAMP is {actual}, the type codes in {_key_path(pair)} mark {expected}",
            field=f"header.{name}",
            offset=pm.FixedHeader.offsets[name],
            length=pm.FixedHeader.widths[name],
            expected=str(expected),
            actual=str(actual),
        )
