"""The interface of a table format for judging, and the files of a table.

Table formats are plug-ins (`pqassay.stores.formats`). To the judge, a table is a target whose metadata describe other files; its
`TableReader` returns these files and the table's claims about them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from pqassay.judge.selection.since import Since
from pqassay.stores.formats import Moment, formats, resolved
from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import FileClaims
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay_spec.base.errors import FormatError

UNREADABLE = (FormatError, NotApplicable, NotChecked, OSError, MemoryError)


@dataclass
class LiveFile:
    """A file that a table names.

    Attributes:
        path: The path relative to the table; ``None`` if the file is outside the table's folder.
        name: The name of the file in the table's metadata.
        claims: Creates the table's claims about it.
    """

    path: str | None
    name: str
    claims: Callable[[], FileClaims]


@dataclass
class Live:
    """The files of a table.

    Attributes:
        files: Its data files.
        others: Further files that belong to it, such as deletion vectors, relative to it.
        trouble: Why the files are unknown, if the table's own verdict does not say it.
        older: Live data files that are not judged, because only new files are.
        reason: Why these are not judged.
    """

    files: Sequence[LiveFile] = ()
    others: set[str] = field(default_factory=set[str])
    trouble: str = ""
    older: Sequence[LiveFile] = ()
    reason: str = ""


class TableView(Protocol):
    """The facts for a report about a table, apart from findings."""

    @property
    def size(self) -> int:
        """The number of metadata bytes that were read."""
        ...

    @property
    def engine(self) -> str:
        """The writer of the table; empty if unknown."""
        ...

    @property
    def notes(self) -> list[str]:
        """The parts of the table that are not judged."""
        ...


class TableReader(Protocol):
    """The interface that a table format implements for judging its tables."""

    def live(self, table: TableAt) -> Live:
        """The files of a table in its selected state.

        Raises:
            UsageError: The table does not have the requested state.
        """
        ...

    def added(self, table: TableAt, since: Since) -> set[str]:
        """The files added after a moment, as the table names them.

        Raises:
            UsageError: The table no longer knows what was added since then.
        """
        ...

    def number(self, table: TableAt) -> int | None:
        """The number of the judged state; ``None`` for a table without one. Raises the error of reading."""
        ...

    def moment(self, number: int) -> Moment:
        """The state with a number."""
        ...

    def view(self, file: FileUnderTest) -> TableView:
        """The table under test."""
        ...

    def remedy_of(self, rule_id: str, remedy: str) -> str:
        """The remedy for a finding in a table's claims, derived from the remedy that the check names."""
        ...

    def rewriting(self, claims: FileClaims) -> str:
        """The command that rewrites a file of a table: the remedy for damage in the file itself."""
        ...


def reader_of(kind: str) -> TableReader:
    """The reader of a format, by its kind. Raises `KeyError` if no plug-in has it."""
    return cast("TableReader", resolved(formats()[kind].reader))


def _view(file: FileUnderTest) -> TableView:
    if file.table is None or file.claims is not None:
        raise NotApplicable
    return reader_of(file.table.kind).view(file)


def metadata_size(file: FileUnderTest) -> int:
    """The number of metadata bytes of a table that were read; 0 if they cannot be read."""
    try:
        return _view(file).size
    except UNREADABLE:
        return 0


def engine_of(file: FileUnderTest) -> str | None:
    """The writer of a table's newest metadata; ``None`` if they do not name it."""
    try:
        return _view(file).engine[:200] or None
    except UNREADABLE:
        return None


def notes_about(file: FileUnderTest) -> list[str]:
    """The parts of a table that are not judged."""
    try:
        return _view(file).notes
    except UNREADABLE:
        return []
