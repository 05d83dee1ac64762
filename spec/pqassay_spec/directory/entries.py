r"""The directory and its entries: the value of a footer key that lists the indexes of a file.

The value of the key `KEY` is a `DIRECTORY` in Base64.  Each entry begins with its length, so that a reader can skip
additions of a later minor version:

    >>> entry = Entry(
    ...     EntryHead.of(type=IndexType.DISTINCT_SET, granularity=Granularity.FILE), columns=(("city",),), writer="docs"
    ... )
    >>> text = directory_text([entry])
    >>> text[:8], parse_directory(text).entries[0].key == entry.key
    ('UFFJWAEA', True)

Source: chapter ``directory.md``, sections "The key" and "The directory".
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from construct import Array, Bytes, Const, GreedyBytes, Int8ul, Int16ul, Int32ul, Int64ul, Struct, this

from pqassay_spec.base.errors import Malformed, Unsupported, boundary
from pqassay_spec.directory.codes import TYPE_VERSION, Granularity, IndexType, Placement
from pqassay_spec.directory.named_types import FIRST_NAMED, is_named
from pqassay_spec.grammar.constructs import expressed
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, integer_format, member
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.grammar.trace import Leaf, trace
from pqassay_spec.parquet.thrift import CompressionCodec

KEY = "pqassay.index_directory"
"""Footer key that holds a directory."""

MAGIC = b"PQIX"
"""The first bytes of a directory."""

MAJOR, MINOR = 1, 0
"""The version that this chapter specifies."""

Path = tuple[str, ...]
"""The names from below the schema's root to a leaf, as in ``path_in_schema``."""


# --8<-- [start:head]
@flat_struct
class EntryHead(FlatStruct):
    """The fixed part of an entry."""

    type: int = member(Labelled(Int16ul, IndexType), "What the blob is; 32768 and more: a named type.")
    type_version: int = member(
        Int8ul, "Version of the type's blob: 1; the owner of a named type counts its own."
    )
    granularity: int = member(Labelled(Int8ul, Granularity), "What each part of the blob describes.")
    placement: int = member(Labelled(Int8ul, Placement), "Where the blob is.")
    codec: int = member(Labelled(Int8ul, CompressionCodec), "Compression of the blob.")
    flags: int = member(Int16ul, "0.")
    offset: int = member(
        Int64ul,
        "Where the blob begins: in the file (BODY), among the extension's bytes behind its UUID (EXTENSION); 0 (INLINE).",
    )
    stored_length: int = member(Int64ul, "Bytes of the blob as stored.")
    plain_length: int = member(Int64ul, "Bytes of the blob before compression.")
    value_count: int = member(Int64ul, "Values, groups or sketched values in all parts of the blob.")
    row_count: int = member(Int64ul, "Rows that the blob describes: those of the file.")
    shape: int = member(Int64ul, "XXH64 of what the footer says about the described data.")
    content: int = member(Int64ul, "XXH64 of the stored bytes of the described column chunks.")
    crc32: int = member(Int32ul, "CRC-32 (as in gzip) of the blob as stored.")
    column_count: int = member(Int16ul, "Columns that the blob describes.")
    writer_length: int = member(Int16ul, "Bytes of the writer's name.")

    @classmethod
    def of(cls, **values: int) -> EntryHead:
        """A head with the given values; other fields are 0, and the version is that of the type."""
        return cls._make(
            tuple({**dict.fromkeys(cls.offsets, 0), "type_version": TYPE_VERSION, **values}.values())
        )


# --8<-- [end:head]


def _inline_length_of(head: Any) -> int:
    return int(head.stored_length) if head.placement == Placement.INLINE else 0


@expressed(f"head.placement.to_i == {Placement.INLINE:d} ? head.stored_length : 0")
def _inline_length(entry: Any) -> int:
    return _inline_length_of(entry.head)


@expressed(f"head.type.to_i >= {FIRST_NAMED} ? 1 : 0")
def _name_count(entry: Any) -> int:
    return int(is_named(entry.head.type))


# --8<-- [start:grammar]
NAME = Struct(
    "length" / Int16ul * "Bytes of the name.",
    "text" / Bytes(this.length) * "The name, UTF-8.",
)
"""A name in a path, or the name of a type."""

PATH = Struct(
    "name_count" / Int8ul * "Names of the path.",
    "names" / Array(this.name_count, NAME) * "The names from below the schema's root.",
)
"""The path of a column."""

ENTRY = Struct(
    "head" / EntryHead.grammar * "The fixed part.",
    "columns"
    / Array(this.head.column_count, PATH)
    * "The described columns, in the order that the type gives a meaning to.",
    "writer" / Bytes(this.head.writer_length) * "Name and version of the program that made the entry, UTF-8.",
    "inline" / Bytes(_inline_length) * "The blob, if its placement is INLINE.",
    "type_name" / Array(_name_count, NAME) * "The name of a named type; nothing for other types.",
    "later" / GreedyBytes * "Whatever a later minor version adds; passed over.",
)
"""An entry, without the length before it."""

FRAMED_ENTRY = Struct(
    "length" / Int32ul * "Bytes of the entry, without this field.",
    "entry" / Bytes(this.length) * "The entry.",
)
"""An entry with its length."""

HEADER = Struct(
    "magic" / Const(MAGIC) * "Says that this is an index directory.",
    "major" / Int8ul * "Major version. A reader ignores a directory of a version that it does not know.",
    "minor" / Int8ul * "Minor version; later ones only add to the end of entries.",
    "reserved" / Int16ul * "0.",
    "entry_count" / Int32ul * "Entries.",
)
"""The beginning of a directory, the same in every version."""

DIRECTORY = Struct(
    *HEADER.subcons,
    "entries" / Array(this.entry_count, FRAMED_ENTRY) * "The entries.",
    "crc32" / Int32ul * "CRC-32 (as in gzip) of everything before this field.",
)
"""The whole directory."""
# --8<-- [end:grammar]

HEADER_SIZE = HEADER.sizeof()
CRC_SIZE = Int32ul.sizeof()
LENGTH_SIZE = Int32ul.sizeof()


class EntryKey(NamedTuple):
    """The unique key of an entry in a file: a newer entry with the same key replaces it."""

    type: int
    granularity: int
    columns: tuple[Path, ...]
    type_name: str = ""


@dataclass(frozen=True)
class Entry:
    """One entry.

    Attributes:
        head: Its fixed part.
        columns: Paths of the described columns.
        writer: The program that made the entry.
        inline: The blob as stored, if the placement is INLINE.
        later: Bytes that a later minor version added.
        type_name: The name of the index type, if it is a named type.
    """

    head: EntryHead
    columns: tuple[Path, ...] = ()
    writer: str = ""
    inline: bytes = b""
    later: bytes = b""
    type_name: str = ""

    @property
    def key(self) -> EntryKey:
        """The unique key of the entry."""
        return EntryKey(self.head.type, self.head.granularity, self.columns, self.type_name)

    @property
    def names(self) -> str:
        """The described columns as text for people."""
        return ", ".join(".".join(column) for column in self.columns)

    def at_offset(self, offset: int) -> Entry:
        """A copy of the entry whose blob is at another offset."""
        return replace(self, head=self.head.changed(offset=offset))

    def build(self) -> bytes:
        """The bytes of the entry, without the length before them; counts and lengths follow from its parts.

        Raises:
            ValueError: A part is too long for its length field.
        """
        writer = self.writer.encode()
        head = self.head.changed(column_count=len(self.columns), writer_length=len(writer))
        paths = [path_members(column) for column in self.columns]
        with boundary(field="entry"):
            parts = {"head": head.members(), "columns": paths, "writer": writer, "inline": self.inline}
            names = _name_members([self.type_name] * is_named(head.type))
            return bytes(ENTRY.build({**parts, "type_name": names, "later": self.later}))


def path_members(column: Path) -> dict[str, Any]:
    """A path in the form that `PATH` builds from."""
    return {"name_count": len(column), "names": _name_members(column)}


def _name_members(names: Iterable[str]) -> list[dict[str, Any]]:
    encoded = [name.encode() for name in names]
    return [{"length": len(name), "text": name} for name in encoded]


@dataclass(frozen=True)
class Directory:
    """A directory that was read.

    Attributes:
        major, minor: Its version.
        entries: Its entries, in their order.
        starts: Where each entry begins in the directory's bytes, after its length.
        data: Its bytes.
    """

    major: int
    minor: int
    entries: tuple[Entry, ...]
    starts: tuple[int, ...]
    data: bytes


# --8<-- [start:text]
def decode_text(text: str) -> bytes:
    """The bytes in the key's value, which is Base64 with padding and nothing else (RFC 4648, section 4).

    Raises:
        Malformed: Rule DIR-002.
    """
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise Malformed(f"the value is not Base64: {error}", rule="DIR-002") from None


def directory_text(entries: Iterable[Entry]) -> str:
    """The value of the key for these entries."""
    return base64.b64encode(build_directory(entries)).decode()


# --8<-- [end:text]


def build_directory(entries: Iterable[Entry]) -> bytes:
    """The bytes of a directory with these entries."""
    built = [entry.build() for entry in entries]
    framed = [{"length": len(one), "entry": one} for one in built]
    data = DIRECTORY.build(
        {
            "magic": MAGIC,
            "major": MAJOR,
            "minor": MINOR,
            "reserved": 0,
            "entry_count": len(framed),
            "entries": framed,
            "crc32": 0,
        }
    )
    return with_crc(bytes(data))


def with_crc(data: bytes) -> bytes:
    """A directory whose CRC is computed again from its other bytes."""
    body = data[:-CRC_SIZE]
    return body + Int32ul.build(zlib.crc32(body))


def parse_directory(text: str) -> Directory:
    """Read the value of the key.

    Raises:
        Malformed: Rules DIR-002 to DIR-006, with offsets in the decoded bytes.
        Unsupported: The major version is not known. Readers then ignore the directory.
    """
    return read_directory(decode_text(text))


def read_directory(data: bytes) -> Directory:
    """Read the bytes of a directory.

    Raises:
        Malformed: Rules DIR-003 to DIR-006.
        Unsupported: The major version is not known.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise Malformed(
            f"the value begins with {data[: len(MAGIC)]!r}, not {MAGIC!r}",
            rule="DIR-003",
            field="directory.magic",
            offset=0,
            length=len(MAGIC),
            expected=repr(MAGIC),
            actual=repr(data[: len(MAGIC)]),
        )
    with boundary(rule="DIR-003", field="directory", offset=0):
        head = cast("Any", HEADER.parse(data))
    if head.major != MAJOR:
        raise Unsupported(
            f"an index directory of version {head.major}.{head.minor}; version {MAJOR} is known here",
            field="directory.major",
            offset=len(MAGIC),
        )
    entries, starts = _entries(data, head.entry_count)
    return Directory(head.major, head.minor, entries, starts, data)


def _entries(data: bytes, count: int) -> tuple[tuple[Entry, ...], tuple[int, ...]]:
    """The entries of a directory, and where they begin. Raises DIR-004, DIR-005, DIR-006."""
    position, end = HEADER_SIZE, len(data) - CRC_SIZE
    spans: list[tuple[int, int]] = []
    for index in range(count):
        start = position + LENGTH_SIZE
        length = Int32ul.parse(data[position:start]) if start <= end else 0
        if start + length > end:
            raise Malformed(
                f"entry {index} ends beyond the directory's {len(data)} bytes",
                rule="DIR-005",
                field=f"directory.entries[{index}].length",
                offset=position,
                length=LENGTH_SIZE,
            )
        spans.append((start, start + length))
        position = start + length
    if position != end:
        raise Malformed(
            f"{end - position} bytes between the last entry and the checksum",
            rule="DIR-005",
            field="directory",
            offset=position,
            length=end - position,
        )
    stored, computed = Int32ul.parse(data[end:]), zlib.crc32(data[:end])
    if stored != computed:
        raise Malformed(
            "the checksum does not fit the directory's bytes",
            rule="DIR-004",
            field="directory.crc32",
            offset=end,
            length=CRC_SIZE,
            expected=f"{computed:08x}",
            actual=f"{stored:08x}",
        )
    read = tuple(
        read_entry(data[start:stop], field=f"directory.entries[{index}]", offset=start)
        for index, (start, stop) in enumerate(spans)
    )
    return read, tuple(start for start, _ in spans)


def read_entry(data: bytes, *, field: str = "entry", offset: int = 0) -> Entry:
    """Read an entry, without the length before it.

    Raises:
        Malformed: Rule DIR-006.
    """
    with boundary(rule="DIR-006", field=field, offset=offset):
        if len(data) < EntryHead.size:
            raise ValueError(f"an entry of {len(data)} bytes; its fixed part alone takes {EntryHead.size}")
        return _entry(data)


_NAME_COUNT, _NAME_LENGTH = integer_format(PATH, "name_count"), integer_format(NAME, "length")


def _entry(data: bytes) -> Entry:
    """Parse an entry as `ENTRY` does. This runs for every entry of every file, and the grammar would take ten times as long.

    Raises:
        ValueError, struct.error: The entry ends within a field.
    """
    head = EntryHead.read(data)
    position = EntryHead.size

    def take(length: int) -> bytes:
        nonlocal position
        start, position = position, position + length
        if position > len(data):
            raise ValueError(f"an entry of {len(data)} bytes ends within {length} bytes at {start}")
        return data[start:position]

    columns: list[Path] = []
    for _ in range(head.column_count):
        (name_count,) = _NAME_COUNT.unpack(take(_NAME_COUNT.size))
        lengths = (_NAME_LENGTH.unpack(take(_NAME_LENGTH.size))[0] for _ in range(name_count))
        columns.append(tuple(take(length).decode() for length in lengths))
    writer, inline = take(head.writer_length).decode(), take(_inline_length_of(head))
    length = _NAME_LENGTH.unpack(take(_NAME_LENGTH.size))[0] if is_named(head.type) else 0
    type_name = take(length).decode()
    return Entry(head, tuple(columns), writer, inline, data[position:], type_name)


def trace_directory(data: bytes, *, root: str = "directory", base: int = 0) -> list[Leaf]:
    """Every field of a directory, in the order of its bytes; offsets count within the decoded bytes.

    Raises:
        Malformed: Rules DIR-005, DIR-006.
    """
    outer = trace(DIRECTORY, data, root=root, base=base, rule="DIR-005")[1]
    leaves: list[Leaf] = []
    for leaf in outer:
        if leaf.path.endswith("].entry"):
            leaves += trace(
                ENTRY, leaf.value, root=leaf.path.removesuffix(".entry"), base=leaf.offset, rule="DIR-006"
            )[1]
        else:
            leaves.append(leaf)
    return leaves


# --8<-- [start:merge]
def merged(directories: Sequence[Directory]) -> list[Entry]:
    """The entries of all directories of a footer; if several entries have the same key, only the last is returned."""
    entries: dict[EntryKey, Entry] = {}
    for directory in directories:
        for entry in directory.entries:
            entries.pop(entry.key, None)
            entries[entry.key] = entry
    return list(entries.values())


# --8<-- [end:merge]
