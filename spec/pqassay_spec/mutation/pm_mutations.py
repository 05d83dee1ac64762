"""The mutations that the grammar of ``_pm`` suggests; see `pqassay_spec.mutation.possible`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntFlag
from typing import Any, cast

from construct import Int32sl, Int64sl

from pqassay_spec.grammar.constructs import bare
from pqassay_spec.grammar.labelled import Labelled
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.mutation.pm_dissection import take_apart
from pqassay_spec.mutation.pm_tree import BlockParts, Flat, PmTree, SnapshotParts, is_external
from pqassay_spec.mutation.value_mutations import of_element, of_integer, of_leaves, of_value
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.trace import traced


def mutations_of_pm(data: bytes) -> Iterator[Mutation]:
    """Yield the mutations that the grammar suggests for every field of a ``_pm`` file.

    Numbers become 0, one more, one less, and the ends of their range. Every bit of flags is inverted. Names, statistics and
    bitsets become empty, shorter and longer. Elements and sections are removed; elements are duplicated and moved. The committed
    size becomes the offset of every edge of a structure, and the file is cut at each edge.

    Raises:
        FormatError: The file cannot be taken apart.
    """
    tree = take_apart(data)
    leaves = traced(data)
    yield from _of_header(tree)
    for number, block in enumerate(tree.blocks):
        yield from _of_block(block, f"blocks[{number}]")
    for number, snapshot in enumerate(tree.snapshots):
        yield from _of_snapshot(tree, snapshot, f"snapshots[{number}]")
    for edge in sorted({leaf.offset for leaf in leaves} - {tree.header["parquet_meta_file_size"]}):
        yield Mutation("set", "header.parquet_meta_file_size", edge)
    yield from of_leaves(leaves)


def _of_header(tree: PmTree) -> Iterator[Mutation]:
    yield from _of_flat("header", tree.header, pm.FixedHeader.grammar)
    yield from _of_elements("column_descriptors", tree.column_descriptors, pm.ColumnDescriptor.grammar)
    yield from _of_elements("sorting_columns", tree.sorting_columns, pm.SortingColumn.grammar)
    for number, name in enumerate(tree.names):
        yield from of_value(f"names[{number}]", name)
        yield Mutation("set", f"names[{number}]", b"\xff\xfe")
    yield from _of_sections("header_sections.", tree.header_sections, pm.HEADER_SECTIONS)
    for number, gap in enumerate(tree.gaps):
        yield from of_value(f"gaps[{number}]", gap)
    yield from of_value("orphan_tail", tree.orphan_tail)


def _of_block(block: BlockParts, path: str) -> Iterator[Mutation]:
    yield Mutation("remove", path)
    yield Mutation("duplicate", path)
    yield from of_integer(f"{path}.num_rows", block.num_rows, 64)
    yield from of_value(f"{path}.padding", block.padding)
    yield from _of_elements(f"{path}.column_chunks", block.column_chunks, pm.ColumnChunk.grammar)
    for kind in ("min_stats", "max_stats"):
        for number, raw in enumerate(getattr(block, kind)):
            yield from of_value(f"{path}.{kind}[{number}]", raw)
    for number, bloom in enumerate(block.bloom_filters):
        if bloom is not None:
            place = f"{path}.bloom_filters[{number}]"
            yield from of_integer(f"{place}.length", bloom.length, 32, signed=True)
            yield from of_value(f"{place}.bitset", bloom.bitset)
            yield from of_value(f"{place}.padding", bloom.padding)
    for number in range(1, len(block.order)):
        yield Mutation("swap", f"{path}.order[{number - 1}]", f"{path}.order[{number}]")


def _of_snapshot(tree: PmTree, snapshot: SnapshotParts, path: str) -> Iterator[Mutation]:
    yield Mutation("remove", path)
    yield Mutation("duplicate", path)
    yield from _of_flat(f"{path}.footer", snapshot.footer, pm.FooterFields.grammar)
    yield from _of_elements(f"{path}.row_group_entries", snapshot.row_group_entries, pm.RowGroupEntry.grammar)
    entry = pm.BloomEntry.grammar if is_external(tree) else pm.InlinedBloom.grammar
    yield from _of_elements(f"{path}.bloom_entries", snapshot.bloom_entries, entry)
    yield from _of_sections(f"{path}.", snapshot, pm.FOOTER_SECTIONS)
    yield from of_value(f"{path}.rest", snapshot.rest)
    yield from of_integer(f"{path}.checksum", snapshot.checksum, 32)
    yield from of_integer(f"{path}.footer_length", snapshot.footer_length, 32)


def _of_sections(path: str, owner: Any, declared: Sequence[pm.FeatureSection]) -> Iterator[Mutation]:
    for section in declared:
        members: Flat | None = getattr(owner, section.name)
        if members is not None:
            yield Mutation("remove", f"{path}{section.name}")
            yield from _of_flat(f"{path}{section.name}", members, section.structure)


def _of_elements(path: str, elements: Sequence[Any], structure: Any) -> Iterator[Mutation]:
    for number, element in enumerate(elements):
        place = f"{path}[{number}]"
        yield from of_element(path, number)
        if isinstance(element, dict):
            yield from _of_flat(place, cast("Flat", element), structure)
        else:
            yield from of_integer(place, element, 8 * structure.sizeof())


def _of_flat(path: str, members: Flat, structure: Any) -> Iterator[Mutation]:
    for member in structure.subcons:
        value, place, kind = members[member.name], f"{path}.{member.name}", bare(member)
        if isinstance(value, list):
            yield from _of_elements(place, value, kind.subcon)
        elif isinstance(value, bytes):
            yield from of_value(place, value)
        else:
            bits = 8 * member.sizeof()
            yield from of_integer(place, value, bits, signed=kind in (Int32sl, Int64sl))
            if isinstance(kind, Labelled) and issubclass(kind.names, IntFlag):
                yield from (Mutation("set", place, value ^ 1 << bit) for bit in range(bits))
