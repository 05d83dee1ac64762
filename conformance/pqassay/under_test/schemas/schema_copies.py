"""Copies of the schema in the footer's key-value metadata: the faults of each, cached for all files of a lake that share it.

The result depends only on a copy and its schema, and most files of a lake share both with the previous file. So the result is cached by
both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.under_test.footer_parts import KeyValueUnderTest
from pqassay_spec.base.errors import Malformed
from pqassay_spec.grammar.thrift_wire import field_ranges
from pqassay_spec.parquet.schema.tree import SchemaNode, schema_tree
from pqassay_spec.parquet.thrift import FileMetaData, SchemaElement
from pqassay_spec.parquet.undefined import is_as_defined

LONGEST = 1 << 24
"""The number of characters of the longest value that is read; a schema of 100,000 columns takes half of it."""

REMEMBERED = 1 << 18
"""The number of characters of the longest value that is cached with others; a longer one is cached alone, for the rules of its own file."""

MOST_COPIES = 64
"""The number of cached copies."""

MOST_FAULTS = 1000
"""The number of faults of a copy that are collected."""


class Fault(NamedTuple):
    """A place where a copy breaks a rule, or prevents its test by an unknown value: the message, and the name of the column."""

    rule: str
    message: str
    expected: str
    actual: str
    column: str | None = None
    is_unknown: bool = False


Faults = Callable[[str, SchemaNode], Iterator[Fault]]
"""A function that yields the faults of a value, given the root of the schema.

It raises `Malformed` with a rule if the value cannot be read.
"""


class _Known(NamedTuple):
    """The faults of a copy, and the first bytes of a footer with the same schema."""

    beginning: bytes
    faults: tuple[Fault, ...]


def schema_beginning(file: FileUnderTest) -> bytes:
    """The bytes of a footer up to the end of its schema; a footer with the same first bytes has the same schema."""
    for field in field_ranges(file.footer):
        if field.id == _SCHEMA:
            return file.footer[: field.end]
    return file.footer


_SCHEMA = next(field.id for field in FileMetaData.fields if field.name == "schema")


class Copies:
    """The faults of the copies of one kind.

    Args:
        find: Finds the faults of a copy.
    """

    def __init__(self, find: Faults) -> None:
        self._find = find
        self._known: dict[str, _Known] = {}

    def faults(self, pair: KeyValueUnderTest) -> tuple[Fault, ...]:
        """The faults of a pair's value.

        Raises:
            NotChecked: The value is too long.
        """
        value, file = pair.part.value or "", pair.file
        known = self._known.get(value)
        if known is not None and file.footer.startswith(known.beginning):
            return known.faults
        if len(value) > LONGEST:
            raise NotChecked(
                f"its {len(value):,} characters are more than the {LONGEST:,} that pqassay reads", "tool"
            )
        _ = file.leaves
        faults = self._found(value, file.metadata.schema)
        if len(value) > REMEMBERED or len(self._known) >= MOST_COPIES:
            self._known.clear()
        self._known[value] = _Known(schema_beginning(file), faults)
        return faults

    def _found(self, value: str, schema: Sequence[SchemaElement]) -> tuple[Fault, ...]:
        root = schema_tree(schema)
        try:
            faults = (fault for fault in self._find(value, root) if not _is_of_unknown_column(fault, root))
            return tuple(islice(faults, MOST_FAULTS))
        except Malformed as error:
            return (Fault(error.rule or "", error.reason, "", ""),)

    def shape(self, pair: KeyValueUnderTest) -> tuple[str | None] | None:
        """The writer of a copy without faults, since the writer determines which rules apply; ``None`` with faults or if unknown."""
        known = self._known.get(pair.part.value or "")
        if known is None or known.faults or not pair.file.footer.startswith(known.beginning):
            return None
        return (pair.file.metadata.created_by,)


def _is_of_unknown_column(fault: Fault, root: SchemaNode) -> bool:
    """Whether a fault is about a column with undefined types, for which no copy can be judged."""
    left = [
        child for child in root.children if fault.column and f"{fault.column}.".startswith(f"{child.name}.")
    ]
    for node in left:  # which grows meanwhile
        if not is_as_defined(node.element):
            return True
        left += node.children
    return False


def read_json(value: str, rule: str) -> Any:
    """The JSON of a value.

    Raises:
        Malformed: The value is not JSON, or is nested deeper than Python's own parser supports, which other readers use.
    """
    try:
        return json.loads(value)
    except RecursionError:
        raise Malformed("its JSON is nested too deeply", rule=rule) from None
    except ValueError as error:
        raise Malformed(f"it is not JSON: {error}", rule=rule) from None


def as_object(value: Any) -> dict[str, Any] | None:
    """A JSON value if it is an object; otherwise ``None``."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any] | None:
    """A JSON value if it is a list; otherwise ``None``."""
    return value if isinstance(value, list) else None
