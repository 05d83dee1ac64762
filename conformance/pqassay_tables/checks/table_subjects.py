"""The subjects of rules about table metadata, for any format: the table and its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pqassay.checks.subjects import Subject
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay_tables.under_test.entries import LiveEntry
from pqassay_tables.under_test.table import TableUnderTest

Table = TypeVar("Table", bound=TableUnderTest)
Thing = TypeVar("Thing")


def table_of(kind: type[Table], name: str) -> Subject[Table]:
    """The subject of tables of a format."""

    def find(file: FileUnderTest) -> list[Table]:
        if file.table is None or file.table.kind != kind.kind or file.claims is not None:
            return []
        return [file.part(kind)]

    return Subject(name, find)


def parts_of(tables: Subject[Table], find: Callable[[Table], Sequence[Thing]], name: str) -> Subject[Thing]:
    """The subject of parts of tables. A finding about the entry of a file is a finding about that file."""

    def found(file: FileUnderTest) -> Sequence[Thing]:
        return next((find(table) for table in tables.find(file)), ())

    def placed(violation: Violation, thing: Any) -> Violation:
        is_of_file = isinstance(thing, LiveEntry)
        return replace(violation, data_file=thing.entry.inside) if is_of_file else violation

    return Subject(name, found, placed)
