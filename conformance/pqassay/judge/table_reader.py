"""The interface of a table format for judging, and the files of a table.

Table formats are plug-ins (`pqassay.stores.formats`). To the judge, a table is a target whose metadata
describe other files; its `TableReader` returns these files and the table's claims about them.
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
        path: The file, relative to the table; ``None`` where it is elsewhere.
        name: The file as the table names it.
        claims: Makes what the table says about it.
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
        trouble: Why they are not known, where the table's own verdict does not say it.
        older: Data files that are live and not judged, since only what is new is.
        reason: Why they are not.
    """

    files: Sequence[LiveFile] = ()
    others: set[str] = field(default_factory=set[str])
    trouble: str = ""
    older: Sequence[LiveFile] = ()
    reason: str = ""


class TableView(Protocol):
    """The facts of a report about a table, apart from findings."""

    @property
    def size(self) -> int:
        """Bytes of the metadata that were read."""
        ...

    @property
    def engine(self) -> str:
        """What wrote it; empty if it does not say."""
        ...

    @property
    def notes(self) -> list[str]:
        """The parts of it that are not judged."""
        ...


class TableReader(Protocol):
    """The interface of a table format for its tables."""

    def live(self, table: TableAt) -> Live:
        """The files of a table at its moment.

        Raises:
            UsageError: The table does not have the state that was asked for.
        """
        ...

    def added(self, table: TableAt, since: Since) -> set[str]:
        """The files that came after a moment, as the table names them.

        Raises:
            UsageError: The table does not know any more what came since then.
        """
        ...

    def number(self, table: TableAt) -> int | None:
        """The number of the state that is judged; ``None`` for a table without one. Raises the error of reading."""
        ...

    def moment(self, number: int) -> Moment:
        """The state that has a number."""
        ...

    def view(self, file: FileUnderTest) -> TableView:
        """The table under test."""
        ...

    def remedy_of(self, rule_id: str, remedy: str) -> str:
        """The remedy of a finding in what a table says, given the one that its check names."""
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
    """Bytes of a table's metadata that were read; 0 if they cannot be."""
    try:
        return _view(file).size
    except UNREADABLE:
        return 0


def engine_of(file: FileUnderTest) -> str | None:
    """What wrote the newest metadata of a table, as they say; ``None`` if they do not."""
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
