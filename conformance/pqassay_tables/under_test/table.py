"""A table under test: its metadata, read once, and the fields of its files for positions of findings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, ClassVar, cast

from pqassay.stores.table_files import TableAt
from pqassay.tables.claims import ClaimPlace
from pqassay.under_test.fields import NOWHERE, Field, Located, Structure
from pqassay.under_test.file import Broken, FileUnderTest, NotApplicable, NotChecked, Remembered
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.table.avro import MAGIC
from pqassay_spec.table.delta import CATALOG_MANAGED
from pqassay_spec.table.json_places import find
from pqassay_spec.table.layout import (
    DELTA_LOG,
    ICEBERG_METADATA,
    TableKind,
    delta_checkpoint,
    is_delta_json,
    is_iceberg_metadata,
)
from pqassay_tables.metadata.avro import avro_span, container
from pqassay_tables.metadata.delta.actions import Json, line_span, parse
from pqassay_tables.metadata.delta.segment import NoVersionError
from pqassay_tables.metadata.delta.state import DeltaState, states_of_checkpoint, states_of_compactions
from pqassay_tables.metadata.iceberg.metadata import NotKnownError
from pqassay_tables.metadata.iceberg.state import ElsewhereError
from pqassay_tables.under_test.states import delta_state


@contextmanager
def readable(what: str) -> Generator[None]:
    """A context that turns errors outside the content of files into `NotChecked`."""
    try:
        yield
    except (NoVersionError, NotKnownError) as error:
        raise NotChecked(str(error), "request", judgeable=False) from None
    except ElsewhereError as error:
        raise NotChecked(str(error), "file", judgeable=False) from None
    except OSError as error:
        reason = f"{what} cannot be read: {error.strerror or error}"
        raise NotChecked(reason, "file", judgeable=False) from None


class TableUnderTest:
    """A table; a part of the file that represents it.

    Attributes:
        kind: The format of such tables.
        file: The file.
    """

    kind: ClassVar[TableKind]

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @Remembered
    def at(self) -> TableAt:
        """The place of the table. Raises `NotApplicable` for other targets."""
        table = self.file.table
        if table is None or table.kind != self.kind or self.file.claims is not None:
            raise NotApplicable
        return table

    def wrong(
        self,
        place: ClaimPlace,
        message: str,
        expected: str,
        actual: str,
        *,
        remedy: str = "",
        column: str | None = None,
        data_file: str | None = None,
    ) -> Violation:
        """The violation in the metadata at a place; see `Violation` for the arguments."""
        field = claim_field(self.file, place)
        return Violation(message, field, expected, actual, column=column, remedy=remedy, data_file=data_file)


class DeltaTable(TableUnderTest):
    """The Delta table under test, available as ``file.part(DeltaTable)``."""

    kind = "delta"

    @Remembered
    def has_checkpoint(self) -> bool:
        """Whether the log has a file with the name of a checkpoint."""
        try:
            return any(map(delta_checkpoint, self.at.listed(DELTA_LOG)))
        except OSError as error:
            raise NotChecked(f"its log cannot be listed: {error}", "file", judgeable=False) from None

    @Remembered
    def state(self) -> DeltaState:
        """The state of its log. Raises `FormatError` of the rules DLT-001 to DLT-005, and `NotChecked`."""
        with readable("its log"):
            return delta_state(self.at)

    @Remembered
    def summaries(self) -> list[tuple[str, DeltaState, DeltaState]]:
        """What the checkpoint and the log compactions call themselves, and the states by each and by the log.

        Raises `NotApplicable` if there are none, and `NotChecked` if one of them or the log cannot be read.
        """
        try:
            compactions = list(states_of_compactions(self.at, self.state.segment))
        except (FormatError, OSError) as error:
            raise NotChecked(f"a log compaction cannot be read: {error}", "file") from None
        if not compactions:
            return [("checkpoint", *self.checkpoint)]
        with suppress(NotApplicable):
            return [("checkpoint", *self.checkpoint), *compactions]
        return compactions

    @Remembered
    def checkpoint(self) -> tuple[DeltaState, DeltaState]:
        """The state at the version of the checkpoint, read from the checkpoint alone and from the earlier log.

        Raises `NotApplicable` without a checkpoint or an earlier log, and `NotChecked` if that cannot be read.
        """
        try:
            both = states_of_checkpoint(self.at, self.state.segment)
        except (FormatError, OSError) as error:
            raise NotChecked(f"the log before the checkpoint cannot be read: {error}", "file") from None
        if both is None:
            raise NotApplicable  # the earlier log no longer exists
        return both

    @property
    def size(self) -> int:
        """See `pqassay.judge.table_reader.TableView`."""
        return sum(self.state.sizes.values())

    @property
    def engine(self) -> str:
        """See `pqassay.judge.table_reader.TableView`."""
        return self.state.engine

    @property
    def notes(self) -> list[str]:
        """See `pqassay.judge.table_reader.TableView`."""
        state = self.state
        notes: list[str] = []
        if features := ", ".join(state.unreadable):
            notes.append(f"the table uses reader features that pqassay does not know: {features}")
        if drafts := ", ".join(f"{name} ({at})" for name, at in state.drafts.items()):
            notes.append(
                f"the table uses draft reader features; it is judged by the pinned protocol: {drafts}"
            )
        if set(CATALOG_MANAGED) & state.features:
            notes.append(
                f"a catalog manages the table, and may have newer versions than {state.segment.version}"
            )
        with suppress(OSError):
            if named := [name for name in self.at.listed(ICEBERG_METADATA) if is_iceberg_metadata(name)]:
                notes.append(
                    "it is judged only as a Delta table; to judge its Iceberg metadata too, name their file: "
                    f"{ICEBERG_METADATA}/{max(named)}"
                )
        return notes


class JsonOfLog(ABC):
    """An auxiliary file of a Delta log with one JSON object; a part of the file.

    Attributes:
        table: The table.
        rule: The rule that it has one JSON object.
        remedy: The remedy for an error in it.
    """

    rule: ClassVar[str]
    remedy: ClassVar[str]

    def __init__(self, file: FileUnderTest) -> None:
        self.table = file.part(DeltaTable)

    @property
    @abstractmethod
    def name(self) -> str:
        """The path of the file, relative to the table."""

    @Remembered
    def content(self) -> Any:
        """The content of the file; an error object if it is not JSON. Raises `NotApplicable` if it does not exist, and `NotChecked`."""
        if self.table.at.size_of(self.name) is None:  # in a store, its listing shows that
            raise NotApplicable
        try:
            return parse(self.table.at.read(self.name).decode())
        except FileNotFoundError:
            raise NotApplicable from None
        except OSError as error:
            raise NotChecked(f"{self.name} cannot be read: {error.strerror or error}", "file") from None
        except ValueError as error:
            return error

    @property
    def members(self) -> Json:
        """The members of the object. Raises `Broken` if the content is not an object, and as `content`."""
        if not isinstance(self.content, dict):
            raise Broken(self.rule)
        return cast("Json", self.content)

    def wrong(self, path: tuple[str, ...], message: str, expected: str, actual: str) -> Violation:
        """The violation in a member."""
        place = ClaimPlace(self.name, 0, path)
        return self.table.wrong(place, message[:300], expected[:80], actual[:80], remedy=self.remedy)

    def no_object(self) -> Violation:
        """The violation that the content is not one object."""
        return self.wrong((), f"{self.name} is not a JSON object", "one JSON object", str(self.content))


# ------------------------------------------------------------------------------------------------------- fields


class _MetadataFiles:
    """The metadata files that findings refer to, each read once."""

    def __init__(self, file: FileUnderTest) -> None:
        self._table = file.table
        self._read: dict[str, tuple[bytes, FileUnderTest]] = {}
        self._options = file.options

    def opened(self, name: str) -> tuple[bytes, FileUnderTest]:
        """The bytes of a file, and the file under test for them; empty if it cannot be read."""
        if name not in self._read:
            data = b""
            if self._table is not None and name:
                try:
                    data = self._table.read(name)
                except (OSError, FormatError):
                    data = b""
            self._read[name] = data, FileUnderTest(BytesSource(data, name), self._options)
        return self._read[name]


def claim_field(file: FileUnderTest, place: ClaimPlace) -> Field:
    """The field of a claim, with its bytes if the file has lines of JSON or objects of Avro."""
    data, holder = file.part(_MetadataFiles).opened(place.file)
    beside = None if file.table is None else file.table.name_of(place.file)
    if data.startswith(MAGIC):
        return _avro_field(file, place, data, holder, beside)

    @cache
    def located() -> Located:
        if not is_delta_json(place.file.rpartition("/")[2]) or not data:
            return None, *NOWHERE
        try:
            start, end = line_span(data, place.entry)
        except ValueError:
            return None, *NOWHERE
        found = find(data[start:end], place.path)
        if found is None:
            return None, start, end - start
        return None, start + found[0], found[1] - found[0]

    return Field(Structure(str(place), holder, located, beside=beside))


def metadata_field(file: FileUnderTest, name: str, *path: str) -> Field:
    """The member at a path of a JSON metadata file, with its bytes unless they are compressed.

    Args:
        file: The file under test.
        name: The metadata file, relative to the table.
        path: The names of members; elements of lists by their numbers in brackets.
    """
    data, holder = file.part(_MetadataFiles).opened(name)
    beside = None if file.table is None else file.table.name_of(name)

    @cache
    def located() -> Located:
        found = find(data, path)
        return (None, *NOWHERE) if found is None else (None, found[0], found[1] - found[0])

    return Field(Structure(".".join((name, *path)).replace(".[", "["), holder, located, beside=beside))


def bytes_field(file: FileUnderTest, name: str, path: str, offset: int, length: int) -> Field:
    """A field of a binary file of the table, with a known place.

    Args:
        file: The file under test.
        name: The metadata file, relative to the table.
        path: The path of the field, including the name.
        offset: Its offset.
        length: Its size in bytes.
    """
    _, holder = file.part(_MetadataFiles).opened(name)
    beside = None if file.table is None else file.table.name_of(name)
    return Field(Structure(path, holder, lambda: (None, offset, length), beside=beside))


class _TracedEntries:
    """The traced fields of manifest entries, cached since findings about a file are mostly about one entry."""

    def __init__(self, _: FileUnderTest) -> None:
        self._known: dict[int, tuple[list[Leaf], bytes, int]] = {}

    def of(self, place: ClaimPlace, data: bytes) -> tuple[list[Leaf], bytes, int]:
        """See `pqassay_tables.metadata.avro.Container.traced`, also for errors."""
        if place.entry not in self._known:
            self._known[place.entry] = container(place.file, data, "").traced(place.entry)
        return self._known[place.entry]


def _avro_field(
    file: FileUnderTest, place: ClaimPlace, data: bytes, holder: FileUnderTest, beside: str | None
) -> Field:
    """A field of an Avro object: in the file, or in the decompressed bytes of its block."""
    try:
        leaves, plain, start = holder.part(_TracedEntries).of(place, data)
        span = avro_span(leaves, place.path)
    except (FormatError, IndexError, ValueError):
        return Field(Structure(str(place), holder, lambda: (None, *NOWHERE), beside=beside))
    if start < 0:
        holder = FileUnderTest(BytesSource(plain, place.file), file.options)
        beside = None if beside is None else f"{beside} (without compression)"
        start = 0
    located: Located = (None, start + span[0], span[1] - span[0])
    return Field(Structure(str(place), holder, lambda: located, beside=beside))


def raised_field(file: FileUnderTest, error: FormatError) -> Field:
    """The metadata field that an error names, with its bytes if the error has them."""
    _, holder = file.part(_MetadataFiles).opened(error.file or "")
    located: Located = (None, -1, 0) if error.offset is None else (None, error.offset, error.length)
    beside = None if file.table is None or not error.file else file.table.name_of(error.file)
    return Field(Structure(error.field or "", holder, lambda: located, beside=beside))
