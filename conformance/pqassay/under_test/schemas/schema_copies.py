"""Copies of the schema in the footer's key-value metadata: what is found in each, once for all files of a lake that share it.

The result depends only on a copy and its schema, and most files of a lake share both with the previous file.
So the result is cached by both.
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
"""Characters of a value that is read; a schema of 100,000 columns takes half of them."""

REMEMBERED = 1 << 18
"""Characters of a value that is remembered together with others; a longer one, for the rules of its own file, is so alone."""

MOST_COPIES = 64
"""Copies that are remembered."""

MOST_FAULTS = 1000
"""Faults of a copy that are looked for."""


class Fault(NamedTuple):
    """A place where a copy breaks a rule, or is unknown so that a rule cannot be tested: the message, and the name of the column."""

    rule: str
    message: str
    expected: str
    actual: str
    column: str | None = None
    is_unknown: bool = False


Faults = Callable[[str, SchemaNode], Iterator[Fault]]
"""Finds the faults of a value, given the root of the schema. Raises `Malformed` with a rule where it cannot be read."""


class _Known(NamedTuple):
    """What was found in a copy, and how a footer begins that has the same schema."""

    beginning: bytes
    faults: tuple[Fault, ...]


def schema_beginning(file: FileUnderTest) -> bytes:
    """The bytes of a footer up to the end of its schema: another that begins with them has the same."""
    for field in field_ranges(file.footer):
        if field.id == _SCHEMA:
            return file.footer[: field.end]
    return file.footer


_SCHEMA = next(field.id for field in FileMetaData.fields if field.name == "schema")


class Copies:
    """What was found in the copies of one kind.

    Args:
        find: Finds the faults of one.
    """

    def __init__(self, find: Faults) -> None:
        self._find = find
        self._known: dict[str, _Known] = {}

    def faults(self, pair: KeyValueUnderTest) -> tuple[Fault, ...]:
        """The faults of a pair's value.

        Raises:
            NotChecked: It is too long.
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
        """The writer of a copy without known faults, who decides which rules apply."""
        known = self._known.get(pair.part.value or "")
        if known is None or known.faults or not pair.file.footer.startswith(known.beginning):
            return None
        return (pair.file.metadata.created_by,)


def _is_of_unknown_column(fault: Fault, root: SchemaNode) -> bool:
    """Whether a fault is about a column whose types are not as the format defines them: what fits those is unknown."""
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
        Malformed: It is not JSON, or nested deeper than Python's own reader goes, which other readers use.
    """
    try:
        return json.loads(value)
    except RecursionError:
        raise Malformed("its JSON is nested too deeply", rule=rule) from None
    except ValueError as error:
        raise Malformed(f"it is not JSON: {error}", rule=rule) from None


def as_object(value: Any) -> dict[str, Any] | None:
    """A part of a JSON that is an object; ``None`` of another one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any] | None:
    """A part of a JSON that is a list; ``None`` of another one."""
    return value if isinstance(value, list) else None
