"""A tiny Parquet writer: the same bytes for the same rows, on every machine and with every library version.

Golden files come from here.  It writes uncompressed pages of all physical types, flat or nested, in either version, PLAIN or
with a dictionary, divided into row groups and pages as requested, with statistics, page index, bloom filters and an IDX1 index
in any order.  It is not fast, and does not depend on a clock, random numbers or other libraries.

    >>> file = TinyParquet([Column("metal", "string", ["tin", None, "lead"])])
    >>> data = file.build()
    >>> data[:4], data[-4:], file.rows()
    (b'PAR1', b'PAR1', [['tin'], [None], ['lead']])

`pqassay_golden.tiny.columns` describes the values of a column: ``Column("price", decimal(9, 2), [1250])``,
``Column("tags", ListOf("string"), [["a", None], []])``.  A `Layout` describes how its chunks are written, for all columns
(``layout``), for one column (``Column.layout``), or for one leaf of a nested column by its name (``layouts``, which wins):

    >>> total = Layout(order="total", version=2, page_rows=(1, 0, 2), dictionary=Encoding.RLE_DICTIONARY)
    >>> nested = ListOf("double")
    >>> file = TinyParquet(
    ...     [Column("mass", "double", [1.0, None, float("nan")], layout=total), Column("marks", nested, [[1.0], [], None])],
    ...     page_index=True,
    ...     layouts={"marks.list.element": Layout(size_statistics=True, histograms=True)},
    ...     bloom_filters=("mass", "marks.list.element"),
    ...     body=("row groups", bytes(16), "bloom filters", "column indexes", "offset indexes"),
    ...     extensions={"footer.row_groups[0].columns[0].meta_data": b"sixteen bytes id"},
    ...     sorting_columns=[SortingColumn(column_idx=0, descending=False, nulls_first=False)],
    ... )
    >>> len(file.build())
    776

Source: apache/parquet-format, ``README.md`` and ``Encodings.md``; chapters ``parquet_file.md`` and ``idx1.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay_golden.tiny.columns import (
    VARIANT,
    AnyType,
    Column,
    Kind,
    Leaf,
    ListOf,
    MapOf,
    Member,
    Repeated,
    Scalar,
    Struct,
    decimal,
    elements_of,
    fixed,
    leaves_of,
    raw_value,
    time,
    timestamp,
)
from pqassay_golden.tiny.layout import ORDERS, Layout
from pqassay_golden.tiny.page_index import bloom_filter, column_index, offset_index
from pqassay_golden.tiny.pages import Page, pages_of
from pqassay_golden.tiny.statistics import entries_of, size_statistics, statistics
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.footer_splice import footer_and_tail
from pqassay_spec.grammar.field_paths import get
from pqassay_spec.grammar.thrift import Record, grammar, unknown_field
from pqassay_spec.grammar.thrift_values import Binary
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.file import HEAD
from pqassay_spec.parquet.thrift import (
    EXTENSION_FIELD,
    ColumnChunk,
    ColumnMetaData,
    Encoding,
    FileMetaData,
    KeyValue,
    PageEncodingStats,
    PageType,
    RowGroup,
    SchemaElement,
    SortingColumn,
)

__all__ = [
    "BODY",
    "CREATED_BY",
    "VARIANT",
    "AnyType",
    "Column",
    "Encoding",
    "IndexToEmbed",
    "Kind",
    "Layout",
    "ListOf",
    "MapOf",
    "Member",
    "Part",
    "Repeated",
    "Scalar",
    "SortingColumn",
    "Struct",
    "TinyParquet",
    "decimal",
    "fixed",
    "time",
    "timestamp",
]

CREATED_BY = "pqassay-reference version 1 (build golden)"
"""The version of the bytes that this module writes; it never follows the package's version."""

Part = Literal["row groups", "row group 0", "other row groups", "idx1", "column indexes", "offset indexes", "bloom filters"]  # fmt: skip

BODY: tuple[Part, ...] = ("row groups", "bloom filters", "column indexes", "offset indexes", "idx1")
"""Default order of the parts of the body."""

ROW_GROUPS = {"row groups": slice(None), "row group 0": slice(1), "other row groups": slice(1, None)}
"""The row groups in each part of the body that has row groups."""


@dataclass(frozen=True)
class IndexToEmbed:
    """An IDX1 index to embed.

    Attributes:
        column: Name of the indexed column.
        payload: The payload; by default the column's values in `idx1.lossless_order`.
        companion: Whether to write the companion record.
        layout: Published, or one of the drafts.
    """

    column: str
    payload: bytes | None = None
    companion: bool = False
    layout: idx1.Layout = idx1.Layout.PUBLISHED


@dataclass
class TinyParquet:
    """A file to be built.

    Attributes:
        columns: The columns, all of the same length.
        row_group_rows: Rows in each row group, fewer in the last; or the rows of each one, 0 for an empty row
            group. By default, all rows are in one.
        page_rows: Rows in each page; one page per chunk by default.
        page_index: Whether to write column and offset indexes.
        bloom_filters: Names of the leaf columns that get a bloom filter.
        statistics: Whether chunks have statistics.
        index: An IDX1 index.
        keys: Further key-value pairs of the footer; they come before those of the index.
        body: The parts of the body in their order; bytes among them do not belong to a structure.
        layout: How chunks are written.
        layouts: The layouts of leaf columns that are written differently, by name.
        sorting_columns: The claims of row groups about their order. The rows are not sorted.
        column_orders: Whether the footer gives orders. Without them, no column indexes and no bounds are written,
            except the deprecated bounds.
        created_by: The writer that the footer names.
        version: The version in the footer.
        extensions: Content of the extension field by the path of its struct, ``footer``,
            ``footer.row_groups[0].columns[0].meta_data``, ``row_groups[0].columns[0].column_index``,
            ``row_groups[0].columns[0].pages[0].header``, ``row_groups[0].columns[0].bloom_filter.header``.
    """

    columns: Sequence[Column]
    row_group_rows: int | Sequence[int] | None = None
    page_rows: int | None = None
    page_index: bool = False
    bloom_filters: Collection[str] = ()
    statistics: bool = True
    index: IndexToEmbed | None = None
    keys: Sequence[tuple[str, str | None]] = ()
    body: Sequence[Part | bytes] = BODY
    layout: Layout = field(default_factory=Layout)
    layouts: Mapping[str, Layout] = field(default_factory=dict[str, Layout])
    sorting_columns: Sequence[SortingColumn] | None = None
    column_orders: bool = True
    created_by: str | None = CREATED_BY
    version: int = 1
    extensions: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    _out: bytearray = field(default_factory=bytearray, repr=False)
    _extended: set[str] = field(default_factory=set[str], repr=False)

    def rows(self) -> list[list[Any]]:
        """The rows, as lists of values in column order."""
        return [list(row) for row in zip(*(column.values for column in self.columns), strict=True)]

    def build(self) -> bytes:
        """The bytes of the file.

        Raises:
            Refused: It cannot be a file; the message gives the reason.
        """
        self._require_sense()
        leaves = [leaf for column in self.columns for leaf in leaves_of(column)]
        self._require_leaves(leaves)
        count = len(self.columns[0].values)
        groups = self._row_groups(count)
        chunks = [
            [
                self._chunk(leaf, rows, f"row_groups[{number}].columns[{ordinal}]")
                for ordinal, leaf in enumerate(leaves)
            ]
            for number, rows in enumerate(groups)
        ]
        self._out, self._extended = bytearray(HEAD.build({})), set()
        keys = [KeyValue(key=key, value=value) for key, value in self.keys]
        row_groups: list[RowGroup] = [RowGroup(columns=[], total_byte_size=0, num_rows=0) for _ in groups]
        for part in self.body:
            if isinstance(part, bytes):
                self._out += part
            elif part in ROW_GROUPS:
                for number in range(len(groups))[ROW_GROUPS[part]]:
                    row_groups[number] = self._write_row_group(number, len(groups[number]), chunks[number])
            elif part == "idx1":
                keys += self._write_index(count)
            else:
                for row in chunks:
                    for chunk in row:
                        self._write_attachment(part, chunk)
        schema = [SchemaElement(name="schema", num_children=len(self.columns))]
        footer = FileMetaData(
            version=self.version,
            schema=[*schema, *(element for column in self.columns for element in elements_of(column))],
            num_rows=count,
            row_groups=row_groups,
            key_value_metadata=keys or None,
            created_by=self.created_by,
            column_orders=[ORDERS[self._layout(leaf).order] for leaf in leaves]
            if self.column_orders
            else None,
        )
        content = bytes(self._out) + footer_and_tail(self._encoded(footer, "footer"))
        if unused := sorted(set(self.extensions) - self._extended):
            raise Refused(f"there is no {unused[0]} to extend")
        return content

    def _row_groups(self, count: int) -> list[range]:
        asked = self.row_group_rows
        if asked is None or isinstance(asked, int):
            size = asked or max(count, 1)
            return [range(start, min(start + size, count)) for start in range(0, count, size)]
        if sum(asked) != count:
            raise Refused(f"row groups of {list(asked)} rows, where there are {count}")
        starts = [sum(asked[:number]) for number in range(len(asked))]
        return [range(start, start + size) for start, size in zip(starts, asked, strict=True)]

    def _require_sense(self) -> None:
        if not self.columns:
            raise Refused("a file has at least one column")
        if len({len(column.values) for column in self.columns}) > 1:
            raise Refused("the columns have different lengths")
        for name in ("row_group_rows", "page_rows"):
            if isinstance(rows := getattr(self, name), int) and rows < 1:
                raise Refused(f"{name} is {rows}")
        parts = [part if isinstance(part, str) else "" for part in self.body]
        last = max(
            (place for place, part in enumerate(parts) if part.endswith(("groups", "group 0"))),
            default=-1,
        )
        layouts = [
            self.layout,
            *self.layouts.values(),
            *(column.layout for column in self.columns if column.layout),
        ]
        if "offset indexes" in parts[: last + 1] and (
            self.page_index or any(one.offset_index for one in layouts)
        ):
            raise Refused("offset indexes say where pages are, so they come behind all row groups")

    def _require_leaves(self, leaves: Sequence[Leaf]) -> None:
        names = {leaf.name for leaf in leaves}
        for name in (*self.bloom_filters, *self.layouts):
            if name not in names:
                raise Refused(f"there is no leaf column {name}; there is {', '.join(sorted(names))}")

    def _layout(self, leaf: Leaf) -> Layout:
        return self.layouts.get(leaf.name) or leaf.column.layout or self.layout

    # ------------------------------------------------------------------------------------------ the body

    def _write_row_group(self, number: int, row_count: int, chunks: Sequence[_Chunk]) -> RowGroup:
        first = len(self._out)
        for chunk in chunks:
            self._write_pages(chunk)
        size = sum(chunk.metadata.total_compressed_size for chunk in chunks)
        return RowGroup(
            columns=[chunk.record for chunk in chunks],
            total_byte_size=sum(chunk.metadata.total_uncompressed_size for chunk in chunks),
            num_rows=row_count,
            sorting_columns=None if self.sorting_columns is None else list(self.sorting_columns),
            file_offset=first,
            total_compressed_size=size,
            ordinal=number,
        )

    def _write_pages(self, chunk: _Chunk) -> None:
        start, facts = len(self._out), chunk.metadata
        for number, page in enumerate(chunk.pages):
            page.location.offset = offset = len(self._out)
            self._out += (
                self._encoded(page.page_header(), f"{chunk.path}.pages[{number}].header") + page.stored
            )
            page.location.compressed_page_size = len(self._out) - offset
        if chunk.data_pages:
            facts.data_page_offset = chunk.data_pages[0].location.offset
        if len(chunk.pages) > len(chunk.data_pages):
            facts.dictionary_page_offset = start
        facts.total_compressed_size = len(self._out) - start
        spared = sum(len(page.body) - len(page.stored) for page in chunk.pages)
        facts.total_uncompressed_size = facts.total_compressed_size + spared
        match chunk.layout.behind:
            case bytes() as other:
                self._out += other
            case copied:
                chunk.record.file_offset = len(self._out)
                record = facts if copied == "ColumnMetaData" else chunk.record
                self._out += bytes(grammar(type(record)).build(record))

    def _write_attachment(self, part: Part, chunk: _Chunk) -> None:
        """Write a column index, offset index or bloom filter, if the chunk has one."""
        offset, layout, record = len(self._out), chunk.layout, chunk.record
        if part == "bloom filters":
            if chunk.leaf.name in self.bloom_filters:
                header, bitset = bloom_filter(layout, chunk.entries)
                self._out += self._encoded(header, f"{chunk.path}.bloom_filter.header") + bitset
                chunk.metadata.bloom_filter_offset = offset
                chunk.metadata.bloom_filter_length = len(self._out) - offset
        elif part == "column indexes":
            asked = self.page_index if layout.column_index is None else layout.column_index
            index = column_index(chunk.leaf, layout, chunk.data_pages)
            if asked and self.column_orders and chunk.pages and index is not None:
                self._out += self._encoded(index, f"{chunk.path}.column_index")
                record.column_index_offset, record.column_index_length = offset, len(self._out) - offset
        elif part == "offset indexes":
            asked = self.page_index if layout.offset_index is None else layout.offset_index
            if asked and chunk.pages:
                places = offset_index(chunk.leaf, layout, chunk.data_pages)
                self._out += self._encoded(places, f"{chunk.path}.offset_index")
                record.offset_index_offset, record.offset_index_length = offset, len(self._out) - offset

    def _write_index(self, row_count: int) -> list[KeyValue]:
        if self.index is None:
            return []
        column = next((c for c in self.columns if c.name == self.index.column), None)
        if column is None:
            raise Refused(f"there is no column {self.index.column} to index")
        scalar = leaves_of(column)[0].scalar
        values = {raw_value(scalar, value).decode() for value in column.values if value is not None}
        payload = self.index.payload
        if payload is None:
            payload = idx1.published_payload(idx1.lossless_order(values))
        blob = bytes(idx1.BLOB.build({"length": len(payload), "payload": payload}))
        offset = len(self._out)
        if self.index.layout is idx1.Layout.DRAFT_G0:
            self._out += payload
        else:
            self._out += blob
        keys = [KeyValue(key=idx1.KEY, value=str(offset))]
        if self.index.layout is not idx1.Layout.PUBLISHED:
            keys.append(KeyValue(key=idx1.LENGTH_KEY, value=str(len(payload))))
        if self.index.companion:
            record = idx1_companion.make_companion(
                blob,
                offset=offset,
                column=(column.name,),
                row_count=row_count,
                value_count=len(values),
                null_count=sum(value is None for value in column.values),
            )
            keys.append(KeyValue(key=idx1.COMPANION_KEY, value=record.to_json()))
        return keys

    def _chunk(self, leaf: Leaf, rows: range, path: str) -> _Chunk:
        layout = self._layout(leaf)
        parts = leaf.rows[rows.start : rows.stop]
        entries = entries_of(parts)
        page_rows = self.page_rows if layout.page_rows is None else layout.page_rows
        pages = pages_of(leaf, layout, parts, page_rows, self.column_orders)
        kept = self.statistics if layout.statistics is None else layout.statistics
        metadata = ColumnMetaData(
            type=leaf.element.type,
            encodings=_encodings(pages, layout),
            path_in_schema=list(leaf.path),
            codec=layout.codec,
            num_values=len(entries),
            total_uncompressed_size=0,
            total_compressed_size=0,
            data_page_offset=0,
            index_page_offset=layout.index_page_offset,
            statistics=statistics(leaf, layout, entries, ordered=self.column_orders) if kept else None,
            encoding_stats=_encoding_stats(pages) if layout.encoding_stats else None,
            size_statistics=size_statistics(leaf, entries) if layout.size_statistics else None,
            geospatial_statistics=layout.geospatial,
        )
        return _Chunk(leaf, layout, path, pages, metadata, ColumnChunk(file_offset=0, meta_data=metadata))

    # ----------------------------------------------------------------------------------------- extensions

    def _encoded(self, record: Record, path: str) -> bytes:
        """The bytes of a struct, with its extension fields and those of structs in it."""
        for place, content in self.extensions.items():
            if place == path or place.startswith((f"{path}.", f"{path}[")):
                try:
                    owner = get(record, place[len(path) :].lstrip("."))
                except KeyError:
                    owner = None
                if not isinstance(owner, Record):
                    raise Refused(f"there is no {place} to extend")
                raw = bytes(Binary(text=False).build(content))
                owner.unknown = (unknown_field(EXTENSION_FIELD, WireType.BINARY, raw),)
                self._extended.add(place)
        return bytes(grammar(type(record)).build(record))


@dataclass
class _Chunk:
    leaf: Leaf
    layout: Layout
    path: str
    pages: list[Page]
    metadata: ColumnMetaData
    record: ColumnChunk

    @property
    def data_pages(self) -> list[Page]:
        """The pages, without the dictionary page."""
        return [page for page in self.pages if page.type != PageType.DICTIONARY_PAGE]

    @property
    def entries(self) -> list[Any]:
        """The entries of all data pages."""
        return [entry for page in self.data_pages for entry in page.entries]


def _encodings(pages: Sequence[Page], layout: Layout) -> list[Encoding]:
    """The encodings of values, and that of levels, which is listed even if there are no levels."""
    found = dict.fromkeys(page.encoding for page in pages) or {Encoding.PLAIN: None}
    return sorted({*found, Encoding.BIT_PACKED if layout.bit_packed_levels else Encoding.RLE})


def _encoding_stats(pages: Sequence[Page]) -> list[PageEncodingStats]:
    kinds = [(page.type, page.encoding) for page in pages]
    return [
        PageEncodingStats(page_type=kind, encoding=encoding, count=kinds.count((kind, encoding)))
        for kind, encoding in dict.fromkeys(kinds)
    ]
