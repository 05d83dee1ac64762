"""Checks of ``_pm`` against the key ``questdb`` in the footer of the Parquet file beside it.

Only QuestDB writes the key; for other writers' files, most of these rules are not applicable.
"""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.pm.pair import FilePair
from pqassay.checks.pm.pair_parts import ColumnOfPair
from pqassay.checks.pm.subjects import COLUMN_OF_PAIR, PAIR, QUESTDB_COLUMN, QUESTDB_PAIR
from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import NotApplicable
from pqassay.under_test.pm.file import footer_field, header_field
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import (
    DESCENDING_TYPE_BIT,
    DESIGNATED_TYPE_BIT,
    ColumnFlag,
    type_name,
    type_tag,
)
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet.fields import type_of
from pqassay_spec.pm.from_parquet.order import designated_column
from pqassay_spec.pm.types import STORED_AS, described_type

MARKS_OF_TIMESTAMPS = DESIGNATED_TYPE_BIT | DESCENDING_TYPE_BIT
"""Bits of TYPE about the order of the rows, not about the values."""


def _key_field(pair: FilePair) -> Field:
    """The field of the key's value in the Parquet footer."""
    pairs = pair.metadata.key_value_metadata or []
    index = next(index for index, item in enumerate(pairs) if item.key == pm.JSON_KEY)
    return in_footer(pair.parquet, f"key_value_metadata[{index}].value")


@rule("PM-121", of=PAIR, only=lambda pair: questdb_key.text_in(pair.metadata) is not None)
def the_key_can_be_read(pair: FilePair) -> Iterator[Violation]:
    """The key has a version, and an object for each column."""
    try:
        _ = pair.questdb
    except Malformed as error:
        said = f"{error.field}: {error.reason}"
        field = _key_field(pair)
        yield Violation(
            said, field, error.expected or "a JSON object as QuestDB writes it", error.actual or error.reason
        )


@rule("PM-122", of=QUESTDB_COLUMN)
def types_agree(column: ColumnOfPair) -> Iterator[Violation]:
    """The code determines how values are interpreted."""
    actual, said = column.described.type, column.said_by_questdb.column_type
    if actual != said:
        texts = [f"{code} ({type_name(code)})" for code in (said, actual)]
        message = (
            f"TYPE of column {column.leaf.name} is {texts[1]}, "
            f"schema[{column.position}].column_type in {_key_field(column.pair)} is {texts[0]}"
        )
        yield column.violation("type", message, *texts)


@rule("PM-147", of=COLUMN_OF_PAIR)
def types_are_inferred(column: ColumnOfPair) -> Iterator[Violation]:
    """Without the key, only the schema gives the types. PM-146 judges types that cannot be stored this way."""
    if column.pair.questdb is not None:
        raise NotApplicable
    actual, expected = column.described.type, type_of(column.pair.fields[column.position])
    is_stored = column.described.physical_type in STORED_AS.get(type_tag(actual), ())
    if is_stored and actual & ~MARKS_OF_TIMESTAMPS != expected:
        texts = [f"{code} ({described_type(code)})" for code in (expected, actual)]
        message = (
            f"TYPE of column {column.leaf.name} is {texts[1]}, but data.footer.schema implies {texts[0]}"
        )
        yield column.violation("type", message, f"{texts[0]}, or -1", texts[1])


@rule("PM-148", of=COLUMN_OF_PAIR)
def ids_agree(column: ColumnOfPair) -> Iterator[Violation]:
    """QuestDB finds columns by ID, and shows nulls for a column that it does not find."""
    expected, actual = column.pair.given_ids[column.position], column.described.id
    if not expected:
        raise NotApplicable
    if actual not in expected:
        words = " or ".join(map(str, sorted(expected)))
        yield column.differs("id", "ID", words, str(actual))


@rule("PM-149", of=QUESTDB_COLUMN)
def no_column_has_a_top(column: ColumnOfPair) -> Iterator[Violation]:
    """Nulls of the rows before a column was added are in the pages; an additional number counts them twice."""
    top = column.said_by_questdb.column_top
    if top:
        field = _key_field(column.pair)
        message = f"schema[{column.position}].column_top in {field} is {top}"
        yield Violation(message, field, "0", str(top), column=column.leaf.name)


@rule("PM-123", of=QUESTDB_COLUMN)
def flags_agree(column: ColumnOfPair) -> Iterator[Violation]:
    """A missing flag costs time; a wrong flag may return wrong text."""
    flags, said = column.described.flags, column.said_by_questdb
    for flag, expected, member in (
        (ColumnFlag.IS_ASCII, said.ascii is True, "ascii"),
        (ColumnFlag.LOCAL_KEY_IS_GLOBAL, said.format == questdb_key.LOCAL_KEY_IS_GLOBAL, "format"),
    ):
        if bool(flags & flag) != expected:
            message = (
                f"{flag.name} of column {column.leaf.name} is {'clear' if expected else 'set'}, against "
                f"schema[{column.position}].{member} in {_key_field(column.pair)}"
            )
            wanted = f"{flag.name} {'set' if expected else 'clear'}"
            yield column.violation("flags", message, wanted, f"{flags:#x}")


@rule("PM-124", of=QUESTDB_PAIR)
def unused_bytes_agree(pair: FilePair) -> Iterator[Violation]:
    """QuestDB decides by this number when to rewrite the file."""
    actual, said = pair.snapshot.fields.unused_bytes, pair.said_by_questdb.unused_bytes
    if actual != said:
        message = f"UNUSED_BYTES is {actual}, unused_bytes in {_key_field(pair)} is {said}"
        yield footer_field(pair.snapshot, "unused_bytes").violation(message, str(said), str(actual))


@rule("PM-125", of=QUESTDB_PAIR)
def designated_timestamps_agree(pair: FilePair) -> Iterator[Violation]:
    """A bit in the type code marks the designated timestamp."""
    actual, said = pair.header.fixed.designated_timestamp, designated_column(pair.said_by_questdb)
    if actual != said:
        message = f"DESIGNATED_TIMESTAMP is {actual}, the type codes in {_key_field(pair)} mark {said}"
        yield header_field("designated_timestamp").violation(message, str(said), str(actual))
