"""Files from the future: each is a golden file with one change of a later format version, and has that golden file as its twin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pqassay_spec.golden.literals import Timestamp, Value
from pqassay_spec.grammar.record_walk import structs_in
from pqassay_spec.grammar.thrift import Record, grammar
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.file_tree import EncodedStruct, FileTree, Page
from pqassay_spec.parquet.thrift import (
    BloomFilterAlgorithm,
    BloomFilterCompression,
    BloomFilterHash,
    ColumnOrder,
    ConvertedType,
    DictionaryPageHeader,
    EdgeInterpolationAlgorithm,
    EnumType,
    LogicalType,
    PageHeader,
    PageType,
    StringType,
    TimestampType,
    TimeUnit,
)
from pqassay_suite.cases.case import GoldenCase, golden_folder, load
from pqassay_suite.future.kinds import (
    OF_A_COLUMN,
    WITHOUT_FILE,
    Promise,
    declared,
    enum_fields,
    later_field,
    later_member,
    next_value,
)

MAIN = "pqf/row-groups-and-pages"
PAGES = "pqf/three-pages"
PLACES = "sta/geography"
WIDE = "sta/wide-timestamps"

TWINS: Sequence[str] = (
    MAIN, "pqf/pages-v2", "pqf/dictionary", "pqf/sorted", "pqf/decimals", "pqf/nanoseconds", "pqf/times", "pqf/times-of-day", "pqf/numbers",
    "pqf/types", "pqf/maps", "pqf/half", "pqf/uuid", "pqf/values-unknown", "pqf/values-json", "pqf/values-bson", PLACES, "pqf/values-of-places",
    "pqf/variants", "pqf/references-to-files", "pix/total-order", "pix/timestamp-order", "interop/arrow-rs-59.0.0/flat", "sta/audited",
)  # fmt: skip
"""Golden files of today, the simplest first: the first one that contains a struct is used for it."""

UNCHANGED = frozenset({"definition_level_encoding", "repetition_level_encoding"})
"""Encoding fields that keep their value, because a later encoding is not meant for levels."""

ADDED = frozenset({"converted_type", "algorithm"})
"""Fields that get the unknown value even if they are absent."""

NUMBER = 1
"""The column of `MAIN` that is changed: 64-bit numbers without annotation, so physical values and rows are the same."""


@dataclass(frozen=True)
class FutureFile:
    """A file of a later version, and its twin.

    Attributes:
        id: Its kind, such as ``enum/Encoding``.
        title: What is new in it.
        twin_id: The golden case that it is made from.
        data, twin: Their bytes.
        names: The columns.
        affected: The changed columns.
        promise: What a reader must still return.
        rows: The rows of the twin, which are also in the file.
        also: Other right rows: text as its bytes, and timestamps for a reader that knows the new type.
        types: The type of each column, as manifests have it.
    """

    id: str
    title: str
    twin_id: str
    data: bytes = field(repr=False)
    twin: bytes = field(repr=False)
    names: Sequence[str]
    affected: Sequence[str]
    promise: Promise
    rows: Sequence[Sequence[Value]] = field(repr=False)
    also: Sequence[Sequence[Value]] = field(default=(), repr=False)
    types: Mapping[str, str] = field(default_factory=dict[str, str])


@cache
def future_files() -> tuple[FutureFile, ...]:
    """Every file from the future: by the enums, unions and structs of the grammar, then pages and annotations.

    Raises:
        CaseError: This installation has no golden files.
        KeyError: A kind cannot be derived from any golden file, and `WITHOUT_FILE` has no reason for it.
    """
    wanted = {*TWINS, PAGES, WIDE}
    folder = golden_folder()
    golden = {one.case.id: one for one in load(folder) if one.case.id in wanted}
    return tuple(_every(golden))


def _every(golden: Mapping[str, GoldenCase]) -> Iterator[FutureFile]:
    enums, unions, structs = declared()
    kinds_in = {
        name: {type(record) for _, record in _records(take_apart(golden[name].content()))} for name in TWINS
    }
    kinds_in[MAIN].add(EnumType)  # no golden file has one: a column of this one gets it
    for enum in enums:
        number = next_value(enum)
        base = {PageType: PAGES, EdgeInterpolationAlgorithm: PLACES}.get(enum, MAIN)
        change = _page_between if enum is PageType else _enum_change(enum, number)
        promise: Promise = "column" if enum in OF_A_COLUMN else "rows"
        yield _file(golden[base], f"enum/{enum.__name__}", f"value {number}", change, promise)
    for union in unions:
        if f"union/{union.__name__}" not in WITHOUT_FILE:
            member = f"member {later_member(union).id}"
            yield _file(golden[MAIN], f"union/{union.__name__}", member, UNIONS[union], "rows")
    for struct in structs:
        if f"struct/{struct.__name__}" not in WITHOUT_FILE:
            title = f"field {later_field(struct).id}, a struct with every wire type"
            base = next((name for name in TWINS if struct in kinds_in[name]), struct.__name__)
            yield _file(golden[base], f"struct/{struct.__name__}", title, _struct_change(struct), "rows")
    text = LogicalType(STRING=StringType())
    yield _file(golden[MAIN], "annotation/misfit", "STRING on INT64", _annotated(text), "rows")
    yield _wide(golden[WIDE])


def _file(
    golden: GoldenCase, id_: str, title: str, change: Callable[[FileTree], Sequence[int]], promise: Promise
) -> FutureFile:
    data = golden.content()
    tree = take_apart(data)
    leaves = change(tree)
    rows = golden.rows
    if rows is None:
        raise KeyError(golden.case.id)
    affected = list(dict.fromkeys(tree.leaves[leaf].path[0] for leaf in leaves))
    types = {column.name: column.type for column in rows.columns}
    names, values = rows.names(), rows.values()
    physical = [
        [
            value.encode() if isinstance(value, str) and name in affected else value
            for name, value in zip(names, row, strict=True)
        ]
        for row in values
    ]
    later = put_together(tree)
    return FutureFile(
        id_, title, golden.case.id, later, data, names, affected, promise, values, physical, types
    )


# ---------------------------------------------------------------------------------------------------- changes


def _records(tree: FileTree) -> Iterator[tuple[int | None, Record]]:
    """Yield every struct of a file, after the number of its leaf column if it belongs to one."""
    leaf_of = {id(leaf.element): place for place, leaf in enumerate(tree.leaves)}
    for element in tree.footer.schema:
        for _, record in structs_in(element):
            yield leaf_of.get(id(element)), record
    for place, order in enumerate(tree.footer.column_orders or ()):
        yield from ((place, record) for _, record in structs_in(order))
    for group, parts in zip(tree.footer.row_groups, tree.row_groups, strict=True):
        for place, (declared_chunk, chunk) in enumerate(zip(group.columns, parts.columns, strict=True)):
            roots: list[Record | None] = [declared_chunk, chunk.column_index, chunk.offset_index]
            roots += [page.header for page in chunk.pages]
            roots += [chunk.bloom_filter.header] if chunk.bloom_filter else []
            for root in roots:
                if root is not None:
                    yield from ((place, record) for _, record in structs_in(root))
        yield from ((None, record) for each in group.sorting_columns or () for _, record in structs_in(each))
        yield None, group
    for pair in tree.footer.key_value_metadata or ():
        yield None, pair
    yield None, tree.footer


def _enum_change(enum: type[Any], number: int) -> Callable[[FileTree], Sequence[int]]:
    """Set an enum of one column, at each place where the column has it."""

    def change(tree: FileTree) -> Sequence[int]:
        for place, record in _records(tree):
            if place != NUMBER or isinstance(record, DictionaryPageHeader):
                continue
            for name, is_list in enum_fields(type(record), enum):
                value = getattr(record, name)
                if is_list:
                    setattr(record, name, [*(value or ()), number])
                elif name not in UNCHANGED and (value is not None or name in ADDED):
                    setattr(record, name, number)
        return [NUMBER]

    return change


def _struct_change(struct: type[Record]) -> Callable[[FileTree], Sequence[int]]:
    """Add a field to every instance of a struct."""

    def change(tree: FileTree) -> Sequence[int]:
        if struct is EnumType:  # the annotation of the text column becomes one
            tree.leaves[0].element.logicalType = LogicalType(ENUM=EnumType())
            tree.leaves[0].element.converted_type = ConvertedType.ENUM
        leaves: set[int] = set()
        for place, record in _records(tree):
            if type(record) is struct:
                record.unknown = (*record.unknown, later_field(struct))
                leaves |= set(range(len(tree.leaves))) if place is None else {place}
        return sorted(leaves)

    return change


def _page_between(tree: FileTree) -> Sequence[int]:
    """Insert a page of an unknown type between the first data pages of a column."""
    body = b"of a later version"
    header = PageHeader(
        type=next_value(PageType), uncompressed_page_size=len(body), compressed_page_size=len(body)
    )
    page = Page(header, body, EncodedStruct(header, bytes(grammar(PageHeader).build(header))))
    pages = tree.row_groups[0].columns[NUMBER].pages
    pages.insert(len(pages) - 1, page)
    return [NUMBER]


def _unknown(union: type[Record]) -> Any:
    return union(unknown=[later_member(union)])


def _annotated(annotation: LogicalType) -> Callable[[FileTree], Sequence[int]]:
    def change(tree: FileTree) -> Sequence[int]:
        tree.leaves[NUMBER].element.logicalType = annotation
        return [NUMBER]

    return change


def _order(tree: FileTree) -> Sequence[int]:
    if tree.footer.column_orders is not None:
        tree.footer.column_orders[NUMBER] = _unknown(ColumnOrder)
    return [NUMBER]


def _bloom(name: str, union: type[Record]) -> Callable[[FileTree], Sequence[int]]:
    def change(tree: FileTree) -> Sequence[int]:
        leaves: list[int] = []
        for parts in tree.row_groups:
            for place, chunk in enumerate(parts.columns):
                if chunk.bloom_filter is not None:
                    setattr(chunk.bloom_filter.header, name, _unknown(union))
                    leaves.append(place)
        return leaves

    return change


UNIONS: Mapping[type[Record], Callable[[FileTree], Sequence[int]]] = {
    LogicalType: _annotated(_unknown(LogicalType)),
    TimeUnit: _annotated(LogicalType(TIMESTAMP=TimestampType(isAdjustedToUTC=True, unit=_unknown(TimeUnit)))),
    ColumnOrder: _order,
    BloomFilterAlgorithm: _bloom("algorithm", BloomFilterAlgorithm),
    BloomFilterHash: _bloom("hash", BloomFilterHash),
    BloomFilterCompression: _bloom("compression", BloomFilterCompression),
}
"""How each union gets its unknown member; a new union of the grammar needs a line here, or a reason in `WITHOUT_FILE`."""


def _wide(golden: GoldenCase) -> FutureFile:
    """Timestamps in 12 fixed bytes: right answers are their bytes, or timestamps from a reader that knows the annotation."""
    data = golden.content()
    tree = take_apart(data)
    units: list[int] = []
    widths: list[int] = []
    for leaf in tree.leaves:
        widths.append(leaf.element.type_length or 0)
        annotation = leaf.element.logicalType
        stamp = annotation.TIMESTAMP if annotation else None
        unit = stamp.unit if stamp else None
        units.append(0 if unit is None else 10**6 if unit.MILLIS else 10**3 if unit.MICROS else 1)
        if unit is not None:
            leaf.element.logicalType = None
    rows = golden.rows
    if rows is None:
        raise KeyError(golden.case.id)
    names = rows.names()
    physical = [[_bytes_of(*cell) for cell in zip(row, units, widths, strict=True)] for row in rows.values()]
    affected = [name for name, unit in zip(names, units, strict=True) if unit]
    types = {column.name: column.type for column in rows.columns if column.name not in affected}
    return FutureFile(
        "annotation/wide-timestamp", "TIMESTAMP on 12 fixed bytes", golden.case.id, data, put_together(tree), names, affected, "rows",
        physical, rows.values(), types,
    )  # fmt: skip


def _bytes_of(value: Value, unit: int, width: int) -> Value:
    if not isinstance(value, Timestamp):
        return value
    return (int(value.timestamp) // unit).to_bytes(width, "little", signed=True)
