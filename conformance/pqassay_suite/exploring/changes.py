"""Changes to a written file: remove optional fields, and insert well-formed lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_tree import FileTree
from pqassay_spec.mutation.mutations import FORMS, Inapplicable, Mutation, mutate
from pqassay_spec.parquet.thrift import BoundaryOrder, Statistics

STATISTICS = "meta_data.statistics"

OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "null_count": (f"{STATISTICS}.null_count",),
    "bounds": tuple(f"{STATISTICS}.{name}" for name in ("min_value", "max_value", "min", "max", "is_min_value_exact", "is_max_value_exact")),
    "lower bounds": tuple(f"{STATISTICS}.{name}" for name in ("min_value", "min", "is_min_value_exact")),
    "exactness": (f"{STATISTICS}.is_min_value_exact", f"{STATISTICS}.is_max_value_exact"),
    "deprecated bounds": (f"{STATISTICS}.min", f"{STATISTICS}.max"),
    "size_statistics": ("meta_data.size_statistics",),
    "encoding_stats": ("meta_data.encoding_stats",),
    "bloom_filter_length": ("meta_data.bloom_filter_length",),
    "null_counts": ("column_index.null_counts",),
    "histograms": ("column_index.definition_level_histograms", "column_index.repetition_level_histograms"),
}  # fmt: skip
"""Optional fields of each chunk that can be removed, by name."""


@dataclass(frozen=True)
class Lie:
    """A false, well-formed statement about a chunk.

    Attributes:
        name: A name in `LIES`.
        row_group, column, page: The chunk and page; numbers wrap around, so each number is valid.
    """

    name: str
    row_group: int = 0
    column: int = 0
    page: int = 0


Told = Callable[[Any, Any, int], tuple[str, Any] | None]
"""From the footer's statistics, the chunk's parts and a page: the path within the chunk, and the false value; ``None`` without a field."""


def _bound(name: str, other: str) -> Told:
    def told(statistics: Statistics | None, _: Any, __: int) -> tuple[str, Any] | None:
        value = getattr(statistics, other, None)
        return None if value in (None, getattr(statistics, name, None)) else (f"{STATISTICS}.{name}", value)

    return told


def _page_bound(name: str, other: str, end: BoundaryOrder) -> Told:
    """A lie that replaces one bound of a page by the other; a page at an end is used, so ordered bounds stay ordered.

    Args:
        name: The bounds to change.
        other: The bounds that replace them.
        end: The boundary order in which the last page may be changed.
    """

    def told(_: Any, chunk: Any, page: int) -> tuple[str, Any] | None:
        index = chunk.column_index
        pages = (
            [] if index is None else [each for each, is_null in enumerate(index.null_pages) if not is_null]
        )
        if index is not None and index.boundary_order != BoundaryOrder.UNORDERED:
            pages = pages[-1:] if index.boundary_order == end else pages[:1]
        if not pages:
            return None
        place = pages[page % len(pages)]
        value = getattr(index, other)[place]
        return None if value == getattr(index, name)[place] else (f"column_index.{name}[{place}]", value)

    return told


LIES: Mapping[str, Told] = {
    "a lower bound that is too high": _bound("min_value", "max_value"),
    "an upper bound that is too low": _bound("max_value", "min_value"),
    "a null count of 0 for a column with nulls": lambda statistics, _, __: (f"{STATISTICS}.null_count", 0) if statistics and statistics.null_count else None,
    "a lower bound of a page that is too high": _page_bound("min_values", "max_values", BoundaryOrder.ASCENDING),
    "an upper bound of a page that is too low": _page_bound("max_values", "min_values", BoundaryOrder.DESCENDING),
    "a bloom filter of zeros": lambda _, chunk, __: ("bloom_filter.bitset", bytes(len(chunk.bloom_filter.bitset))) if chunk.bloom_filter else None,
}  # fmt: skip
"""The possible lies by name, which the structure itself does not reveal."""


def changed(data: bytes, without: Sequence[str], lie: Lie | None) -> bytes:
    """The file without these optional fields, and with the lie.

    Raises:
        Inapplicable: The file does not have the field for the lie.
    """
    if without:
        tree, parquet = take_apart(data), FORMS["parquet"]
        paths = list(_removed(tree, without))
        for path in paths:
            parquet.operators["remove"](tree, path, None)
        data = parquet.put_together(tree, paths)
    return mutate(data, lie_in(data, lie)) if lie else data


def _removed(tree: FileTree, without: Sequence[str]) -> Iterator[str]:
    for group, parts in enumerate(tree.row_groups):
        for place in range(len(parts.columns)):
            for path in dict.fromkeys(path for name in without for path in OPTIONAL[name]):
                if _value(tree, group, place, path) is not None:
                    yield _full(group, place, path)


def lie_in(data: bytes, lie: Lie) -> Mutation:
    """The mutation that inserts a lie.

    Raises:
        Inapplicable: The file does not have the field for it.
    """
    tree = take_apart(data)
    group = lie.row_group % max(len(tree.row_groups), 1)
    column = lie.column % len(tree.leaves)
    if tree.row_groups:
        metadata = tree.footer.row_groups[group].columns[column].meta_data
        told = LIES[lie.name](
            metadata and metadata.statistics, tree.row_groups[group].columns[column], lie.page
        )
        if told is not None:
            return Mutation("set", _full(group, column, told[0]), told[1])
    raise Inapplicable(f"the file has no place for {lie.name}")


def _full(group: int, column: int, path: str) -> str:
    head = "footer." if path.startswith("meta_data") else ""
    return f"{head}row_groups[{group}].columns[{column}].{path}"


def _value(tree: FileTree, group: int, column: int, path: str) -> Any:
    """The value of a chunk at a path; ``None`` if there is none."""
    in_footer = path.startswith("meta_data")
    value: Any = (
        tree.footer.row_groups[group].columns[column] if in_footer else tree.row_groups[group].columns[column]
    )
    for name in path.split("."):
        value = getattr(value, name, None)
    return value
