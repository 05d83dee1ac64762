"""Finding the indexes of many files quickly: one read from the end of each, and hardly any Thrift.

Parsing a footer in Python takes longer than everything else together.  So the last bytes of a file are read in one
request; where the footer holds an index key exactly once, as bytes, the value that follows is taken, and where it begins
with a schema that was parsed before, row count and columns are known without parsing it again.  What is found this
way is validated as by `pqassay_reference.rewrite.extract`, which is also what every doubtful file goes through.

What this path does not look at is the rest of the footer, row groups above all: a file that is damaged there fails when
it is read, and is not made better or worse by its index.

Source: chapter ``idx1.md``, sections "Finding the blob" and "When it may be trusted".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Self, TypeAlias

from pqassay_reference.rewrite.extract import NO_KEY, Extracted, NoIndexError, extract
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import FileSource, Source, require_range
from pqassay_spec.grammar.flat_records import integer_format
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.thrift_wire import WireType, field_ranges, read_byte, read_field_id, read_varint
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.file import HEAD_SIZE, MAGIC, TAIL, TAIL_SIZE, read_footer, read_framing
from pqassay_spec.parquet.schema import SchemaLeaf, leaves
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue

REQUEST_SIZE = 64 << 10
"""Bytes that are read from the end of a file. Most footers are in them, and most blobs, which stand before the footer."""

LOCAL_REQUEST_SIZE = 8 << 10
"""The same for files of this machine, where a second read costs less than bytes that nobody needs."""

SCHEMAS = 16
"""Schemas that are remembered: the files of a table have few."""

REMOTE_THREADS = 16
"""Files of an object store that are read at the same time: there, waiting takes the time."""

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number of files that are done and that of all."""

Columns: TypeAlias = dict[tuple[str, ...], list[SchemaLeaf]]
"""Leaf columns by their paths; a damaged schema may have several with the same one."""

_FIELDS = {declared.name: declared for declared in FileMetaData.fields}


# Single numbers of declared structures in Python's own terms: to call the grammar for them takes longer than the rest.
_FOOTER_LENGTH = integer_format(TAIL, "footer_length")
_PAYLOAD_LENGTH = integer_format(idx1.HEADER, "length")
_SEPARATOR = idx1.SEPARATOR.encode()


class TailSource:
    """A source whose last bytes are in memory; what stands before them is read where it is asked for.

    Attributes:
        name: What messages call it.
        size: Length in bytes.
    """

    def __init__(self, whole: Source, tail_size: int = REQUEST_SIZE) -> None:
        self.name, self.size = whole.name, whole.size
        self._whole = whole
        self._start = max(0, whole.size - tail_size)
        self._tail = whole.read(self._start, whole.size - self._start)

    def read(self, offset: int, length: int) -> bytes:
        """Return a range. See `pqassay_spec.base.sources.Source.read`."""
        require_range(self, offset, length)
        if offset < self._start:
            return self._whole.read(offset, length)
        return self._tail[offset - self._start : offset - self._start + length]


class NativeSource:
    """A source over a file that a `pyarrow.fs` filesystem opens; use it as a context manager."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self.name = path
        self._file = filesystem.open_input_file(path)
        self.size = int(self._file.size())

    def read(self, offset: int, length: int) -> bytes:
        """Read a range. See `pqassay_spec.base.sources.Source.read`."""
        require_range(self, offset, length)
        data = bytes(self._file.read_at(length, offset))
        if len(data) != length:
            raise Malformed("the file became shorter while it was read", offset=offset, file=self.name)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@dataclass
class KnownSchemas:
    """The beginnings of footers that were parsed: version and schema, byte for byte.

    Decoding goes from left to right, so a footer that begins with the same bytes has the same schema.
    """

    _known: list[tuple[bytes, Columns]] = field(default_factory=list[tuple[bytes, Columns]])

    def columns_and_rows(self, footer: bytes) -> tuple[Columns, int] | None:
        """The leaf columns and the row count of a footer that begins with a known schema; else ``None``."""
        for beginning, columns in self._known:
            if footer.startswith(beginning):
                rows = _row_count(footer, len(beginning))
                return None if rows is None else (columns, rows)
        return None

    def learn(self, footer: bytes, metadata: FileMetaData) -> None:
        """Remember how a footer begins that was parsed whole."""
        if len(self._known) >= SCHEMAS:
            return
        first = list(islice(field_ranges(footer), 2))
        if [part.id for part in first] == [_FIELDS["version"].id, _FIELDS["schema"].id]:
            columns: Columns = {}
            for leaf in leaves(metadata):
                columns.setdefault(leaf.path, []).append(leaf)
            self._known.append((footer[: first[-1].end], columns))


def _row_count(footer: bytes, position: int) -> int | None:
    """The number in the field behind the schema if it is the row count, as with every writer known."""
    header = read_byte(footer, position)
    number, position = read_field_id(footer, position + 1, header, _FIELDS["schema"].id)
    if number != _FIELDS["num_rows"].id or header & 15 != WireType.I64:
        return None
    raw, _ = read_varint(footer, position)
    return (raw >> 1) ^ -(raw & 1)


class _Doubtful(Exception):  # noqa: N818 - no error: the full parse decides
    """The quick look is not enough."""


@cache
def _opening(key: str) -> bytes:
    """The beginning of a pair with this key, up to the length of its value."""
    empty = grammar(KeyValue).build(KeyValue(key=key, value=""))
    return bytes(empty).removesuffix(b"\0\0")  # the length, and the end of the struct


def _value_of(footer: bytes, key: str) -> str | None:
    """The value of a key that the footer holds at most once; ``None`` if it does not hold it.

    Raises:
        _Doubtful: It occurs more than once, or not as the key of a pair.
    """
    name = key.encode()
    place = footer.find(name)
    if place < 0:
        return None
    opening = _opening(key)
    start = place + len(name) - opening.rfind(name) - len(name)
    if footer.find(name, place + 1) >= 0 or start < 0 or not footer.startswith(opening, start):
        raise _Doubtful
    length, position = read_varint(footer, start + len(opening))
    end = position + length
    if read_byte(footer, end) != WireType.STOP:
        raise _Doubtful
    try:
        return footer[position:end].decode()
    except UnicodeDecodeError:
        raise _Doubtful from None


def quick_extract(source: Source, known: KnownSchemas) -> Extracted:
    """Find and read the index of a Parquet file as `pqassay_reference.rewrite.extract.extract` does, and quickly.

    Args:
        source: The file; a `TailSource` for speed.
        known: Schemas of files before, which grow by that of this one.

    Raises:
        FormatError: No Parquet file, no index, or one that cannot be read; names field and offset.
    """
    try:
        return _quick(source, known)
    except (_Doubtful, FormatError) as error:
        if isinstance(error, NoIndexError):
            raise
        # Also where the quick look found damage: the full parse says where it is.
        return extract(source)


def _quick(source: Source, known: KnownSchemas) -> Extracted:
    start, footer = _footer(source)
    text = _value_of(footer, idx1.KEY)
    if text is None:
        raise NoIndexError(NO_KEY, field="footer")
    if _value_of(footer, idx1.LENGTH_KEY) is not None or source.read(0, HEAD_SIZE) != MAGIC:
        raise _Doubtful
    record_text = _value_of(footer, idx1.COMPANION_KEY)
    found = known.columns_and_rows(footer)
    if found is None:
        known.learn(footer, read_footer(source, read_framing(source))[0])
        raise _Doubtful
    columns, row_count = found
    offset = idx1.parse_offset(text)
    blob, raw = _blob(source, offset, start)
    record, mistrust = None, ""
    if record_text is not None:
        record = idx1_companion.parse_companion(record_text)
        named = columns.get(record.column, [])
        mistrust = idx1_companion.why_not_trusted(record, blob, raw, row_count=row_count, columns=named)
        if mistrust:
            record = None
    values = tuple(idx1.exact_values(blob.payload))
    if not blob.payload and (not row_count or (record and not record.value_count)):
        values = ()
    published = values if _reads_alike(blob.payload) else tuple(idx1.published_values(blob.payload))
    return Extracted(idx1.Layout.PUBLISHED, offset, values, published, record, mistrust)


def _footer(source: Source) -> tuple[int, bytes]:
    available = source.size - HEAD_SIZE - TAIL_SIZE
    if available <= 0:
        raise _Doubtful
    tail = source.read(source.size - TAIL_SIZE, TAIL_SIZE)
    (length,) = _FOOTER_LENGTH.unpack_from(tail)
    if not tail.endswith(MAGIC) or not 0 < length <= available:
        raise _Doubtful
    start = source.size - TAIL_SIZE - length
    return start, source.read(start, length)


def _blob(source: Source, offset: int, end: int) -> tuple[idx1.Blob, bytes]:
    """The blob at an offset and all its bytes, as `pqassay_spec.idx1.blob.read_blob` finds it."""
    if offset + idx1.HEADER_SIZE > end:
        raise _Doubtful
    header = source.read(offset, idx1.HEADER_SIZE)
    (length,) = _PAYLOAD_LENGTH.unpack_from(header, idx1.MAGIC_SIZE)
    start = offset + idx1.HEADER_SIZE
    if not header.startswith(idx1.MAGIC) or length > end - start:
        raise _Doubtful
    payload = source.read(start, length)
    return idx1.Blob(idx1.Layout.PUBLISHED, offset, start, start + length, payload), header + payload


def _reads_alike(payload: bytes) -> bool:
    return bool(payload) and not payload.endswith(_SEPARATOR) and idx1.LOSSY_ENDING not in payload


Found: TypeAlias = Extracted | str
"""The index of a file, or why there is none."""


def load_indexes(
    paths: Sequence[str], filesystem: Any = None, *, progress: Progress | None = None
) -> list[Found]:
    """Read the indexes of many files, in the order of their paths.

    Args:
        paths: Of the files; of local ones where no filesystem is given.
        filesystem: A `pyarrow.fs.FileSystem`.
        progress: Called after each file.

    Returns:
        For each file its index, or in a few words why none can be read. Nothing is raised for a single file.
    """
    known = KnownSchemas()
    request_size = LOCAL_REQUEST_SIZE if filesystem is None else REQUEST_SIZE

    def load(path: str) -> Found:
        try:
            with FileSource(path) if filesystem is None else NativeSource(filesystem, path) as whole:
                return quick_extract(TailSource(whole, request_size), known)
        except NoIndexError:
            return "it has no IDX1 index"
        except FormatError as error:
            return error.reason or str(error)
        except OSError as error:
            return f"it cannot be read: {error.strerror or ' '.join(str(error).split())}"

    if filesystem is None:
        return _counted(map(load, paths), len(paths), progress)
    with ThreadPoolExecutor(max(1, min(REMOTE_THREADS, len(paths)))) as pool:
        return _counted(pool.map(load, paths), len(paths), progress)


def _counted(results: Iterable[Found], total: int, progress: Progress | None) -> list[Found]:
    found: list[Found] = []
    for result in results:
        found.append(result)
        if progress is not None:
            progress(len(found), total)
    return found
