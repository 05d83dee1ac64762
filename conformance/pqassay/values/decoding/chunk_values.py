"""The values of one column chunk, decoded once, with their pages and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pqassay.under_test.chunks import ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked
from pqassay.values.decoding.faults import FaultKind, Faulty, PageFault
from pqassay.values.decoding.hashes import physical_rows
from pqassay.values.decoding.hindrances import (
    has_bit_packed_levels,
    has_wide_booleans,
    reason_for,
    require_modest,
    require_narrow,
    require_own_bytes,
)
from pqassay.values.decoding.keys import is_half_type
from pqassay.values.decoding.levels import PageCounts
from pqassay.values.decoding.physical import bare, decode_chunk, leaf_of, open_physical, rows_of, stored_bytes
from pqassay.values.decoding.survey import counts_of, misread
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.parquet.encoding.null_counts import null_counts
from pqassay_spec.parquet.encoding.plain import LENGTH
from pqassay_spec.parquet.thrift import (
    DICTIONARY_ENCODINGS,
    DictionaryPageHeader,
    FileMetaData,
    Type,
)

Made = TypeVar("Made")


class Decoders:
    """The decoders of one file for one thread, with and without dictionaries."""

    def __init__(self, file: FileUnderTest) -> None:
        self._file = file
        self._open: dict[tuple[bool, bool], pq.ParquetFile | NotChecked] = {}

    def opened(self, *, dictionaries: bool, is_bare: bool = False) -> pq.ParquetFile:
        """A decoder, with a bare footer if requested. Raises `NotChecked` if pyarrow refuses the footer; it is tried once."""
        key = dictionaries, is_bare
        if key not in self._open:
            footer, metadata = bytes(self._file.footer), self._file.metadata
            if is_bare:
                metadata = bare(metadata)
                footer = bytes(grammar(FileMetaData).build(metadata))
            try:
                self._open[key] = open_physical(
                    self._file.source, footer, metadata, dictionaries=dictionaries
                )
            except NotChecked as reason:
                self._open[key] = reason
        if isinstance(opened := self._open[key], NotChecked):
            raise opened
        return opened

    def close(self) -> None:
        """Close the opened decoders."""
        for file in self._open.values():
            if not isinstance(file, NotChecked):
                file.close()


class ChunkValues:
    """The values of a column chunk.

    Attributes:
        chunk: The chunk.
        values: Its values without nulls: an array, a dictionary array, or for long byte arrays a chunked array.
        entries: The number of values and nulls according to the decoder; for a list, of its items.
    """

    def __init__(self, chunk: ColumnChunkUnderTest, decoders: Decoders) -> None:
        """Decode the values.

        Raises:
            NotChecked: The values cannot be decoded.
        """
        self.chunk = chunk
        self._remembered: dict[Any, Any] = {}
        require_own_bytes(chunk)
        if has_bit_packed_levels(chunk):
            raise NotChecked.because(Faulty(PageFault(FaultKind.BIT_PACKED_LEVELS)))
        if has_wide_booleans(chunk):
            raise NotChecked.because(Faulty(PageFault(FaultKind.WIDE_RUN)))
        require_narrow(chunk)
        require_modest(chunk)
        entries = _dictionary_entries(chunk)
        leaves = self._decoded(decoders, dictionaries=entries is not None)
        if entries is not None and any(not _is_whole(leaf, entries) for leaf in leaves):
            leaves = self._decoded(decoders, dictionaries=False)
        elif entries is not None and pa.types.is_dictionary(leaves[0].type):
            chunk.dictionary_size = _plain_size(leaves[0].dictionary)
        self.entries = sum(len(leaf) for leaf in leaves)
        self.values: Any = _joined(leaves)
        self._require_all()
        chunk.is_decoded = True
        chunk.byte_arrays_size = _plain_size(self.values)
        if (fault := misread(chunk)) is not None:
            raise NotChecked.because(fault)

    def _decoded(self, decoders: Decoders, *, dictionaries: bool) -> list[Any]:
        """The leaf values of each piece, including nulls."""
        try:
            self._pieces = self._decoded_by(decoders, dictionaries=dictionaries)
        except NotChecked as reason:
            try:
                self._pieces = self._decoded_by(decoders, dictionaries=dictionaries, is_bare=True)
            except NotChecked:
                raise reason_for(self.chunk, reason) from None
        return [leaf_of(piece) for piece in self._pieces]

    def _decoded_by(self, decoders: Decoders, **how: bool) -> list[Any]:
        chunk = self.chunk
        return decode_chunk(decoders.opened(**how), chunk.row_group, chunk.ordinal, chunk.leaf)

    def _require_all(self) -> None:
        """Raise `NotChecked` if the decoder omitted values of the pages, since the values are then unknown.

        On an empty page, pyarrow silently ends the chunk.
        """
        chunk = self.chunk
        try:
            counts = [page.data_header.num_values for page in chunk.data_pages]
        except (FormatError, NotChecked):
            return
        if not chunk.leaf.max_repetition_level:
            if self.entries < sum(counts):
                raise NotChecked(
                    f"the pages of column {chunk.column} hold {sum(counts)} values and nulls "
                    f"in row group {chunk.row_group}, but pyarrow decodes {self.entries}",
                    "file",
                )
        elif 0 in counts:  # the number of items of a list is known only from its levels
            with suppress(FormatError):  # other rules report unreadable levels
                _ = self.counts

    def remembered(self, make: Callable[[ChunkValues], Made]) -> Made:
        """A result of another module about these values, computed once.

        Raises the errors of ``make`` each time.
        """
        if make not in self._remembered:
            self._remembered[make] = make(self)
        return cast("Made", self._remembered[make])

    def forget(self) -> None:
        """Release the cached results, which refer to these values and would keep them until garbage collection."""
        self._remembered.clear()

    @property
    def nested(self) -> Sequence[Any]:
        """Its rows in pieces, including groups, lists and nulls around the leaf."""
        return self._pieces

    @property
    def count(self) -> int:
        """The number of non-null values."""
        return len(self.values)

    @cached_property
    def counts(self) -> PageCounts:
        """The counts of the levels of its pages.

        Raises:
            FormatError, NotChecked: See `counts_of`; also raised if they contradict the number of decoded values.
        """
        counts = counts_of(self.chunk)
        counted = int(counts.non_null.sum())
        if counted != self.count:
            said = (
                f"the levels of column {self.chunk.column} count {counted} values in row "
                f"group {self.chunk.row_group}, but pyarrow decodes {self.count}"
            )
            raise reason_for(self.chunk, NotChecked(said, "file"))
        return counts

    @cached_property
    def null_counts(self) -> Sequence[int]:
        """The possible null counts, see `pqassay_spec.parquet.encoding.null_counts`. For lists, raises the errors of `counts_of`."""
        leaf = self.chunk.leaf
        try:
            histogram = counts_of(self.chunk).definition_histogram.sum(axis=0).tolist()
            return null_counts(leaf, histogram)
        except NotChecked:
            if leaf.max_repetition_level:
                raise
            return [self.entries - self.count]

    def leave_out_lists(self, given: Sequence[int]) -> Sequence[bool]:
        """Whether each null count of a page omits only the nulls and empty lists around the values."""
        leaf = self.chunk.leaf
        if not leaf.max_repetition_level:
            return [False] * len(given)
        levels = self.counts.definition_histogram[:, ::-1].cumsum(axis=1)[:, ::-1]
        allowed = (levels - levels[:, -1:])[:, : leaf.max_definition_level - leaf.own_nulls + 1]
        found: list[bool] = (allowed == np.array(given, np.int64)[:, None]).any(axis=1).tolist()
        return found

    @cached_property
    def page_starts(self) -> NDArray[np.int64]:
        """The start of each data page's values, followed by the end of the last page's. Raises the errors of `counts`."""
        return np.concatenate(([0], np.cumsum(self.counts.non_null)))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The `page_starts`; if pages cannot be told apart, those of a single page."""
        try:
            return self.page_starts
        except (FormatError, NotChecked):
            return np.array([0, self.count], np.int64)

    def page_of(self, place: int) -> int | None:
        """The data page of a value; ``None`` if unknown."""
        try:
            return int(np.searchsorted(self.page_starts, place, "right")) - 1
        except (FormatError, NotChecked):
            return None

    @cached_property
    def valid(self) -> NDArray[np.bool_]:
        """A bool mask of the entries that are values, not nulls."""
        return np.concatenate([np.asarray(leaf_of(piece).is_valid(), np.bool_) for piece in self._pieces])

    def entry_of(self, place: int) -> int:
        """The position of a value among values and nulls."""
        return int(np.flatnonzero(self.valid)[place])

    def row_of(self, place: int) -> int:
        """The row of a value in the row group."""
        entry, before = self.entry_of(place), 0
        for piece in self._pieces:
            rows = rows_of(piece)
            if entry < len(rows):
                return before + int(rows[entry])
            entry -= len(rows)
            before += len(piece)
        return before

    def raw_of(self, place: int) -> bytes:
        """The PLAIN bytes of a value, without the length of a byte array."""
        one = self.values.slice(place, 1)
        if isinstance(one, pa.ChunkedArray):
            one = one.combine_chunks()
        return stored_bytes(plain(one))

    # ------------------------------------------------------------------------------------------ what is counted

    def _numbers(self) -> NDArray[Any] | None:
        """The values as IEEE 754 numbers, including FLOAT16; ``None`` for other types."""
        element = self.chunk.leaf.element
        if element.type in (Type.FLOAT, Type.DOUBLE):
            numbers: NDArray[Any] = self.values.to_numpy(zero_copy_only=False)
            return numbers
        logical = element.logicalType
        is_half = logical is not None and logical.FLOAT16 is not None and is_half_type(self.values.type)
        return buffer_view(self.values) if is_half else None

    @cached_property
    def is_nan(self) -> NDArray[np.bool_]:
        """A bool mask of the NaN values; all false for types other than IEEE 754 numbers."""
        numbers = self._numbers()
        return np.zeros(self.count, np.bool_) if numbers is None else np.asarray(np.isnan(numbers), np.bool_)

    def is_zero(self, *, negative: bool) -> NDArray[np.bool_]:
        """A bool mask of the zeros with a sign; all false for types other than IEEE 754 numbers."""
        numbers = self._numbers()
        if numbers is None:
            return np.zeros(self.count, np.bool_)
        return np.asarray((numbers == 0) & (np.signbit(numbers) == negative), np.bool_)

    def sums(self, of: NDArray[Any]) -> NDArray[np.int64]:
        """The sums over the values of each page, int64. Raises the errors of `counts`."""
        found = np.zeros(len(self.page_starts) - 1, np.int64)
        filled = np.flatnonzero(self.counts.non_null)
        if len(filled):
            found[filled] = np.add.reduceat(of, self.page_starts[filled], dtype=np.int64)
        return found

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The length of each byte array."""
        if pa.types.is_dictionary(self.values.type):
            entries = np.asarray(pc.binary_length(self.values.dictionary), np.int64)
            return np.asarray(entries[self.values.indices.to_numpy()], np.int64)
        return np.asarray(pc.binary_length(self.values), np.int64)

    def distinct(self) -> Any:
        """The distinct values, compared by their bytes."""
        if pa.types.is_dictionary(self.values.type):
            used = np.zeros(len(self.values.dictionary), np.bool_)
            used[self.values.indices.to_numpy()] = True
            return pc.unique(self.values.dictionary.filter(pa.array(used)))
        return pc.unique(self._by_bytes())

    def _by_bytes(self) -> Any:
        """The values, without a dictionary, in a form whose equality is equality of bytes."""
        values = self.values
        if pa.types.is_floating(values.type):
            values = values.view(pa.int32() if pa.types.is_float32(values.type) else pa.int64())
        if isinstance(values, pa.ChunkedArray):
            values = values.cast(pa.large_binary())
        return values

    def distinct_numbers(self) -> int:
        """The number of distinct IEEE 754 numbers, without NaN."""
        numbers = self._numbers()
        return 0 if numbers is None else len(np.unique(numbers[~self.is_nan]))

    def distinct_in_pages(self) -> NDArray[np.int64]:
        """The number of distinct values of each page, compared by bytes. Raises the errors of `counts`."""
        if pa.types.is_dictionary(self.values.type):
            entries = _numbered(self.values.dictionary)
            return self._distinct_in_pages(entries[self.values.indices.to_numpy()])
        return self._distinct_in_pages(_numbered(self._by_bytes()))

    def distinct_numbers_in_pages(self) -> NDArray[np.int64]:
        """The number of distinct IEEE 754 numbers of each page, without NaN. Raises the errors of `counts`."""
        numbers = self._numbers()
        if numbers is None:
            raise NotChecked(f"column {self.chunk.column} holds no floating point numbers", "file")
        _, codes = np.unique(numbers, return_inverse=True)
        return self._distinct_in_pages(codes, ~self.is_nan)

    def _distinct_in_pages(
        self, codes: NDArray[Any], kept: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """The number of distinct codes of each page, among the kept values."""
        pages = len(self.page_starts) - 1
        of_page = np.repeat(np.arange(pages), self.counts.non_null)
        if kept is not None:
            of_page, codes = of_page[kept], codes[kept]
        room = int(codes.max(initial=0)) + 1
        pairs = np.unique(of_page * room + codes)
        return np.bincount(pairs // room, minlength=pages)

    def pieces(self, size: int) -> Iterator[Any]:
        """Yield the values in arrays of at most ``size``, with decoded dictionaries."""
        for start in range(0, self.count, size):
            part = self.values.slice(start, size)
            for piece in part.chunks if isinstance(part, pa.ChunkedArray) else [part]:
                yield plain(piece)


def _numbered(values: Any) -> NDArray[np.int64]:
    """A number for each value, equal for equal values."""
    encoded: Any = pc.dictionary_encode(values)
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    return np.asarray(encoded.indices, np.int64)


def buffer_view(values: Any) -> NDArray[Any]:
    """FLOAT16 values as numbers."""
    return physical_rows(values).reshape(-1).view("<f2")


def plain(array: Any) -> Any:
    """An array without its dictionary."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _dictionary_entries(chunk: ColumnChunkUnderTest) -> int | None:
    """The number of dictionary entries, if all values of a byte array chunk are indexes into it; otherwise ``None``."""
    if chunk.leaf.element.type != Type.BYTE_ARRAY:
        return None
    try:
        if not all(page.data_header.encoding in DICTIONARY_ENCODINGS for page in chunk.data_pages):
            return None
        headers = [page.own_header for page in chunk.pages if page.is_dictionary]
    except (FormatError, NotChecked):
        return None
    return next((header.num_values for header in headers if isinstance(header, DictionaryPageHeader)), None)


def _is_whole(leaf: Any, entries: int) -> bool:
    """Whether a decoded dictionary has all its entries, and every index is valid.

    pyarrow drops repeated entries but keeps the old indexes, and does not validate indexes.
    """
    if not pa.types.is_dictionary(leaf.type):
        return True
    if len(leaf.dictionary) != entries:
        return False
    if leaf.null_count == len(leaf):
        return True
    found: Any = pc.min_max(leaf.indices).as_py()
    return bool(found["min"] >= 0 and found["max"] < entries)


def _plain_size(values: Any) -> int | None:
    """The size in bytes of the values as PLAIN byte arrays; ``None`` for other types."""
    if not pa.types.is_binary(values.type):
        return None
    return int(pc.sum(pc.binary_length(values)).as_py() or 0) + LENGTH.sizeof() * len(values)


def _joined(leaves: list[Any]) -> Any:
    """All values without nulls."""
    parts = [_without_nulls(leaf) for leaf in leaves]
    if len(parts) == 1:
        return parts[0]
    kind = parts[0].type
    if pa.types.is_dictionary(kind):
        return pa.chunked_array(parts).unify_dictionaries().combine_chunks()
    return pa.chunked_array(parts, kind) if pa.types.is_binary(kind) else pa.concat_arrays(parts)


def _without_nulls(leaf: Any) -> Any:
    if not leaf.null_count:
        return leaf
    if pa.types.is_dictionary(leaf.type):
        return pa.DictionaryArray.from_arrays(leaf.indices.drop_null(), leaf.dictionary)
    return leaf.drop_null()
