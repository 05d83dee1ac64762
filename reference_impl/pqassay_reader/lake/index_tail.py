"""Finding the indexes of many files quickly: one read from the end of each, and hardly any Thrift.

Parsing a footer in Python takes longer than everything else together.  So the last bytes of a file are read in one
request; where the footer holds the pairs of an index as writers write them, and begins with a schema that was parsed before, the record is
compared with the file without parsing either.  Every other file goes through `pqassay_reference.rewrite.extract`.

What this path does not look at is the rest of the footer, row groups above all, and what is stored before the bytes
that were read, the magic at the head of the file with it: a file that is damaged there fails when it is read, and is not
made better or worse by its index.

Source: chapter ``idx1.md``, sections "Finding the blob" and "When it may be trusted".
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from pqassay_reader.lake.index_pairs import DoubtfulError, spelled, written_pairs
from pqassay_reader.lake.known_schemas import KnownSchema, KnownSchemas
from pqassay_reader.lake.tails import (
    AT_ONCE,
    LOCAL_REQUEST_SIZE,
    REQUEST_SIZE,
    NativeSource,
    TailSource,
    local_tails,
)
from pqassay_reader.lake.value_lists import is_distinct, with_repeats
from pqassay_reference.rewrite.extract import NO_KEY, Extracted, NoIndexError, extract
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory import entries as directory_entries
from pqassay_spec.grammar.flat_records import integer_format
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import HEAD_SIZE, MAGIC, TAIL, TAIL_SIZE, read_footer, read_framing

REMOTE_THREADS = 16
"""Files of an object store that are read at the same time: there, waiting takes the time."""

SHORT = 256
"""Characters of a text whose values are looked at by themselves."""

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number of files that are done and that of all."""

# Single numbers of declared structures in Python's own terms: to call the grammar for them takes longer than the rest.
_FOOTER_LENGTH = integer_format(TAIL, "footer_length")
_PAYLOAD_LENGTH = integer_format(idx1.HEADER, "length")


class _TooShortError(DoubtfulError):
    """Another number of bytes from the end of the file is needed.

    Attributes:
        request_size: As many as would have been enough here, rounded up; at most `REQUEST_SIZE`.
    """

    def __init__(self, wanted: int) -> None:
        super().__init__(wanted)
        self.request_size = min(REQUEST_SIZE, -(-wanted // LOCAL_REQUEST_SIZE) * LOCAL_REQUEST_SIZE)


class _LoneTail(TailSource):
    """The last bytes of a file that is closed by now.

    Whoever needs others opens it again and begins anew: it may be another file, of which no part may be taken for the old one's.
    """

    __slots__ = ()

    def __init__(self, name: str, size: int, tail: bytes) -> None:
        self.name, self.size, self.tail = name, size, tail
        self.start = size - len(tail)

    def read(self, offset: int, length: int) -> bytes:
        """Return a range, if it is in memory."""
        if 0 <= offset < self.start:
            raise _TooShortError(self.size - offset)
        return super().read(offset, length)


class TrustedIndex(NamedTuple):
    """An index in the published layout whose companion record agrees with the file, as far as pruning asks.

    Attributes:
        column: Path of the column that it describes.
        text: Its distinct values with line feeds between them; ``None`` if there are none.
        null_count: The nulls in it.
    """

    column: tuple[str, ...]
    text: str | None
    null_count: int


def as_trusted(index: Extracted) -> TrustedIndex | Extracted:
    """The same index as a `TrustedIndex`, if it is one."""
    if index.companion is None or index.layout is not idx1.Layout.PUBLISHED:
        return index
    text = idx1.SEPARATOR.join(index.values) if index.values else None
    return TrustedIndex(index.companion.column, text, index.companion.null_count)


def quick_extract(source: TailSource, known: KnownSchemas) -> TrustedIndex | Extracted:
    """Find and read the index of a Parquet file as `pqassay_reference.rewrite.extract.extract` does, and quickly.

    Args:
        source: The file.
        known: Schemas of files before, which grow by that of this one.

    Raises:
        FormatError: Not a Parquet file, no index, or one that cannot be read; names field and offset.
    """
    try:
        return _quick(source, known)
    except (DoubtfulError, FormatError) as error:
        if isinstance(error, NoIndexError):
            raise
        # Also where the quick look found damage: the full parse says where it is.
        return as_trusted(extract(source))


def _quick(
    source: TailSource, known: KnownSchemas, is_good: Callable[[str], bool] = is_distinct
) -> TrustedIndex:
    """The index of a file by its last bytes, if its pairs are as writers write them; ``is_good`` says whether no value occurs twice in it.

    Raises:
        DoubtfulError: They are not enough.
        FormatError: Something is damaged.
    """
    end, footer = _footer(source)
    pairs = written_pairs(footer)
    if pairs is not None:
        schema = _schema(source, footer, known)
        raw = _blob(source, pairs.offset, end)
        payload = raw[idx1.HEADER_SIZE :]
        column = schema.described(pairs.column)
        if payload and column is not None:
            text = idx1.decode_payload(payload)
            count = text.count(idx1.SEPARATOR) + 1
            found = pairs.offset, len(payload), zlib.crc32(raw), schema.rows(footer), count
            # What `pqassay_spec.idx1.companion.why_not_trusted` asks, without saying what differs.
            if spelled(pairs.column, *found, pairs.null_count) == pairs.record and is_good(text):
                return TrustedIndex(column, text, pairs.null_count)
    if idx1.KEY.encode() not in footer:
        raise NoIndexError(NO_KEY, field="footer")
    raise DoubtfulError


def _schema(source: TailSource, footer: bytes, known: KnownSchemas) -> KnownSchema:
    """The schema of a footer, which is parsed if it is new.

    Raises:
        DoubtfulError: It is new, and no more are remembered.
        FormatError: The footer is damaged.
    """
    schema = known.of(footer)
    if schema is None and known.has_room:
        schema = known.learn(footer, read_footer(source, read_framing(source))[0])
    if schema is None:
        raise DoubtfulError
    return schema


def _footer(source: TailSource) -> tuple[int, bytes]:
    tail, available = source.tail, source.size - HEAD_SIZE - TAIL_SIZE
    if available <= 0 or not tail.endswith(MAGIC):
        raise DoubtfulError
    end = len(tail) - TAIL_SIZE
    (length,) = _FOOTER_LENGTH.unpack_from(tail, end)
    if not 0 < length <= available or not (source.start or tail.startswith(MAGIC)):
        raise DoubtfulError
    start = source.size - TAIL_SIZE - length
    return start, tail[end - length : end] if length <= end else source.read(start, length)


def _blob(source: TailSource, offset: int, end: int) -> bytes:
    """All bytes of the blob at an offset, as `pqassay_spec.idx1.blob.read_blob` finds it."""
    if offset + idx1.HEADER_SIZE > end:
        raise DoubtfulError
    held, place = source.tail, offset - source.start
    if place < 0:
        held, place = source.read(offset, idx1.HEADER_SIZE), 0
    (length,) = _PAYLOAD_LENGTH.unpack_from(held, place + idx1.MAGIC_SIZE)
    size = idx1.HEADER_SIZE + length
    if not held.startswith(idx1.MAGIC, place) or size > end - offset:
        raise DoubtfulError
    return held[place : place + size] if held is source.tail else source.read(offset, size)


Found: TypeAlias = TrustedIndex | Extracted | str
"""The index of a file, or why there is none. One without a companion record that agrees is `Extracted`."""


Noted: TypeAlias = Callable[[int, TailSource], None]
"""Called with the number of a file and the file, while it is open."""


def load_indexes(
    paths: Sequence[str],
    sizes: Sequence[int],
    filesystem: Any = None,
    *,
    progress: Progress | None = None,
    noted: Noted | None = None,
) -> list[Found]:
    """Read the indexes of many files, in the order of their paths.

    Args:
        paths: Of the files; of local ones where no filesystem is given.
        sizes: Of the files in bytes, as they were listed; a local file that has another size by now is opened by itself.
        filesystem: A `pyarrow.fs.FileSystem`.
        progress: Called after each file.
        noted: Called for each file that may have an index directory; not for a file that cannot be read.

    Returns:
        For each file its index, or in a few words why none can be read. Nothing is raised for a single file.
    """
    if filesystem is None:
        found = _counted(_local_indexes(paths, sizes, noted), len(paths), progress)
        texts = {
            number: index.text
            for number, index in enumerate(found)
            if isinstance(index, TrustedIndex) and index.text is not None and len(index.text) > SHORT
        }
        numbers = list(texts)
        for place in with_repeats(list(texts.values())):
            number = numbers[place]
            found[number] = _index_of(partial(FileSource, paths[number]), REQUEST_SIZE, KnownSchemas())
        return found
    known = KnownSchemas()

    def load(number: int) -> Found:
        opened = partial(NativeSource, filesystem, paths[number])
        return _index_of(opened, REQUEST_SIZE, known, None if noted is None else partial(noted, number))

    with ThreadPoolExecutor(max(1, min(REMOTE_THREADS, len(paths)))) as pool:
        return _counted(pool.map(load, range(len(paths))), len(paths), progress)


def _local_indexes(paths: Sequence[str], sizes: Sequence[int], noted: Noted | None) -> Iterator[Found]:
    known = KnownSchemas()
    request_size = _enough(paths[0], sizes[0], known) if paths else 0
    for start in range(0, len(paths), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        tails = local_tails(paths[part], sizes[part], request_size)
        for number, (path, size, tail) in enumerate(zip(paths[part], sizes[part], tails, strict=True), start):
            if noted is not None and tail is not None and _may_have_directory(tail):
                _note(partial(FileSource, path), request_size, partial(noted, number))
            if tail is not None:
                try:
                    yield _quick(_LoneTail(path, size, tail), known, _checked_later)
                    continue
                except NoIndexError:
                    yield NOT_INDEXED
                    continue
                except _TooShortError as error:
                    request_size = max(request_size, error.request_size)
                except (DoubtfulError, FormatError):
                    pass  # what is wrong, the full parse says
            yield _index_of(partial(FileSource, path), request_size, known)


def _checked_later(text: str) -> bool:
    """Whether no value occurs twice; true of a long text, of which `load_indexes` asks for all files at once."""
    return len(text) > SHORT or is_distinct(text)


def _enough(path: str, size: int, known: KnownSchemas) -> int:
    """How many of the last bytes of a file show its index: what is enough for one will be for others of its table."""
    request_size = LOCAL_REQUEST_SIZE
    while request_size < REQUEST_SIZE:
        (tail,) = local_tails([path], [size], request_size)
        try:
            if tail is not None:
                _quick(_LoneTail(path, size, tail), known, _checked_later)
        except _TooShortError as error:
            request_size = error.request_size
            continue
        except (DoubtfulError, FormatError):
            pass
        break
    return request_size


NOT_INDEXED = "it has no IDX1 index, and no distinct set that is asked for"


_DIRECTORY_KEY = directory_entries.KEY.encode()


def _may_have_directory(tail: bytes) -> bool:
    """Whether the footer has the key of an index directory, or is longer than what is there of it."""
    end = len(tail) - TAIL_SIZE
    if end < 0 or not tail.endswith(MAGIC):
        return True
    (length,) = _FOOTER_LENGTH.unpack_from(tail, end)
    return length > end or _DIRECTORY_KEY in tail


def _note(
    opened: Callable[[], FileSource | NativeSource], request_size: int, noted: Callable[[TailSource], None]
) -> None:
    """Have a look at a file; that it cannot be read, whoever reads it will say."""
    with contextlib.suppress(FormatError, OSError), opened() as whole:
        noted(TailSource(whole, request_size))


def _index_of(
    opened: Callable[[], FileSource | NativeSource],
    request_size: int,
    known: KnownSchemas,
    noted: Callable[[TailSource], None] | None = None,
) -> Found:
    """The index of a single file."""
    try:
        with opened() as whole:
            source = TailSource(whole, request_size)
            if noted is not None:
                noted(source)
            return quick_extract(source, known)
    except NoIndexError:
        return NOT_INDEXED
    except FormatError as error:
        return error.reason or str(error)
    except OSError as error:
        return f"it cannot be read: {error.strerror or ' '.join(str(error).split())}"


def _counted(results: Iterable[Found], total: int, progress: Progress | None) -> list[Found]:
    found: list[Found] = []
    for result in results:
        found.append(result)
        if progress is not None:
            progress(len(found), total)
    return found
