"""Everything that follows from the places of the parts of a ``_pm`` file: offsets, lengths, counts, padding, checksums.

Each value is computed from the actual bytes, never from another field, which may be wrong.  It is
only written if it was right before, so existing errors in a file stay.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pqassay_spec.grammar.field_paths import get, put
from pqassay_spec.mutation.operators import thawed
from pqassay_spec.mutation.pm_tree import (
    NAME,
    ORDINAL,
    TARGET,
    BlockParts,
    HeaderSections,
    PmTree,
    Serialised,
    SnapshotParts,
    aligning,
    footer_bytes,
    is_external,
)
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import ALIGNMENT, BLOCK_SHIFT, MOST_OUT_OF_LINE, REFERENCE_SHIFT, FooterFeature

_CRC_TAIL = pm.CHECKSUM_SIZE + pm.TRAILER_SIZE


def put_together(tree: PmTree, frozen: Collection[str] = ()) -> bytes:
    """Lay the parts out and update the values that follow from the layout, if they were right before.

    Fields have a fixed width, so one round is enough: padding first, then places, then checksums.

    Args:
        tree: The parts.
        frozen: Paths that keep their value, and everything below them.

    Raises:
        construct.ConstructError, struct.error: A value does not fit into its field.
    """
    paths = thawed(tree.live, frozen)
    for path, value in derived(tree, paths):
        if path in paths:
            put(tree, path, value)
    return bytes(Serialised(tree).content)


def live_paths(tree: PmTree) -> set[str]:
    """The paths whose current value equals the value from the layout."""
    return {path for path, value in derived(tree) if get(tree, path) == value}


def derived(tree: PmTree, realigned: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield path and value of everything that follows from the layout; a value comes before those that depend on it."""
    laid = Serialised(tree, realigned)
    yield from _derived_of_header(tree, laid)
    for number, block in enumerate(tree.blocks):
        if f"blocks[{number}]" in laid.places:
            yield from _derived_of_block(block, f"blocks[{number}]", laid)
    for number in range(len(tree.snapshots)):
        if f"snapshots[{number}]" in laid.places:
            yield from _derived_of_snapshot(tree, number, laid)
    yield from _checksums(tree, laid)


def _derived_of_header(tree: PmTree, laid: Serialised) -> Iterator[tuple[str, Any]]:
    if "snapshots[0]" in laid.places:
        yield "header.parquet_meta_file_size", sum(laid.places["snapshots[0]"])
    yield "header.column_count", len(tree.column_descriptors)
    yield "header.sorting_column_count", len(tree.sorting_columns)
    for number, descriptor in enumerate(tree.column_descriptors):
        place = laid.places.get(f"names[{descriptor.get(NAME)}]")
        if place is not None:
            yield f"column_descriptors[{number}].name_offset", place[0]
            yield f"column_descriptors[{number}].name_length", place[1]
    sections, flags = tree.header_sections, tree.header["feature_flags"]
    yield "header.feature_flags", _announced(flags, sections, pm.HEADER_SECTIONS)
    bloom = sections.bloom_filters
    if bloom is not None:
        yield "header_sections.bloom_filters.bloom_col_count", len(bloom["bloom_filter_columns"])


def _derived_of_block(block: BlockParts, path: str, laid: Serialised) -> Iterator[tuple[str, Any]]:
    yield f"{path}.padding", aligning(laid.places[f"{path}.padding"][0])
    region = sum(laid.places[path])
    for number, chunk in enumerate(block.column_chunks):
        for side in ("min", "max"):
            start, length = laid.places.get(f"{path}.{side}_stats[{chunk.get(ORDINAL)}]", (0, 0))
            if length and length <= MOST_OUT_OF_LINE:
                value = start - region << REFERENCE_SHIFT | length
                yield f"{path}.column_chunks[{number}].{side}_stat", value
    for position, bloom in enumerate(block.bloom_filters):
        place = f"{path}.bloom_filters[{position}]"
        if bloom is not None and place in laid.places:
            yield f"{place}.padding", aligning(laid.places[f"{place}.padding"][0])
            yield f"{place}.length", len(bloom.bitset)


def _derived_of_snapshot(tree: PmTree, number: int, laid: Serialised) -> Iterator[tuple[str, Any]]:
    path, snapshot = f"snapshots[{number}]", tree.snapshots[number]
    before = laid.places.get(f"snapshots[{number + 1}]", (0, 0))
    yield f"{path}.footer.prev_parquet_meta_file_size", sum(before)
    flags = snapshot.footer["footer_feature_flags"]
    yield f"{path}.footer.footer_feature_flags", _announced(flags, snapshot, pm.FOOTER_SECTIONS)
    yield f"{path}.footer.row_group_count", len(snapshot.row_group_entries)
    for index, entry in enumerate(snapshot.row_group_entries):
        block = _block(tree, entry.get(TARGET))
        if block is not None:
            yield from _shifted(f"{path}.row_group_entries[{index}].block_offset", laid.places.get(block))
    for index, entry in enumerate(snapshot.bloom_entries) if not is_external(tree) else ():
        key, position = entry.get(TARGET) or (None, 0)
        place = f"{_block(tree, key)}.bloom_filters[{position}]"
        yield from _shifted(f"{path}.bloom_entries[{index}].offset", laid.places.get(place))
    if snapshot.scratchpad is not None:
        yield f"{path}.scratchpad.entry_count", len(snapshot.scratchpad["entries"])
        for index, entry in enumerate(snapshot.scratchpad["entries"]):
            yield f"{path}.scratchpad.entries[{index}].length", len(entry["data"])
    if snapshot.covering_index is not None:
        yield f"{path}.covering_index.index_count", len(snapshot.covering_index["indexes"])
    yield f"{path}.footer_length", len(footer_bytes(tree, snapshot)) - pm.TRAILER_SIZE


def _announced(
    flags: int, owner: HeaderSections | SnapshotParts, declared: Sequence[pm.FeatureSection]
) -> int:
    """Flags with exactly the bits of the sections that exist."""
    for section in declared:
        bits = int(section.bit)
        if section.bit is FooterFeature.COVERING_INDEX:
            bits |= FooterFeature.COVERING_INDEX_REQUIRED
        flags = flags | bits if getattr(owner, section.name) is not None else flags & ~bits
    return flags


def _block(tree: PmTree, key: int | None) -> str | None:
    """Path of the block with a key."""
    return next((f"blocks[{number}]" for number, block in enumerate(tree.blocks) if block.key == key), None)


def _shifted(path: str, place: tuple[int, int] | None) -> Iterator[tuple[str, int]]:
    """An offset as entries store it; nothing for an unaligned offset, which entries cannot express."""
    if place is not None and place[0] % ALIGNMENT == 0:
        yield path, place[0] >> BLOCK_SHIFT


def _checksums(tree: PmTree, laid: Serialised) -> Iterator[tuple[str, int]]:
    """The checksums, the oldest first: each covers the updated checksums before it."""
    content = Serialised(tree).content
    position, crc = pm.CRC_START, 0
    known = [number for number in range(len(tree.snapshots)) if f"snapshots[{number}]" in laid.places]
    for number in sorted(known, key=lambda number: laid.places[f"snapshots[{number}]"]):
        end = sum(laid.places[f"snapshots[{number}]"])
        crc = zlib.crc32(content[position : end - _CRC_TAIL], crc)
        yield f"snapshots[{number}].checksum", crc
        end_of_footer = vars(tree.snapshots[number])
        crc = zlib.crc32(pm.CHECKSUM.build(end_of_footer) + pm.TRAILER.build(end_of_footer), crc)
        position = end
