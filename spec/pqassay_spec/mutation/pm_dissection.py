"""Parse a whole ``_pm`` file into a tree of its parts, so that a single part can be changed.

`pqassay_spec.mutation.pm_layout.put_together` builds a file from the parts again.

A file is parsed if a reader can walk its chain of snapshots. Other errors, such as a reference to
nothing, are kept; bytes without a reference belong to the gaps.

Source: "Parquet metadata file" (``parquet-metadata.md``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

from pqassay_spec.base.errors import Unsupported
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.mutation.pm_layout import live_paths
from pqassay_spec.mutation.pm_tree import (
    NAME,
    ORDINAL,
    TARGET,
    BlockParts,
    FilterParts,
    HeaderSections,
    Part,
    PmTree,
    Serialised,
    SnapshotParts,
)
from pqassay_spec.pm import block as pm_block
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.codes import ALIGNMENT, HeaderFeature, block_offset
from pqassay_spec.pm.section import Entries


def take_apart(data: bytes) -> PmTree:
    """Parse a whole file.

    Raises:
        FormatError: The header or the chain of snapshots is damaged.
    """
    source = BytesSource(data)
    size = pm_header.read_committed_size(source)
    header = pm_header.read_header(source, size)
    snapshots = list(pm_file.walk(source, header, size))
    tree = PmTree(
        header=header.fixed.members(),
        column_descriptors=[
            {**record.members(), NAME: number} for number, record in enumerate(header.descriptors)
        ],
        sorting_columns=[{"index": index} for index in header.sorting_columns],
        names=[None] * header.column_count,
        header_sections=_header_sections(header),
        blocks=[],
        snapshots=[_snapshot(data, header, snapshot) for snapshot in snapshots],
        orphan_tail=data[size:],
    )
    _place_names(data, header, tree)
    _place_body(data, header, snapshots, tree)
    if bytes(Serialised(tree).content) != data:
        raise Unsupported("the parts of the file cannot be put together again", field="header")
    tree.live = live_paths(tree)
    return tree


class _Candidate(NamedTuple):
    start: int
    end: int
    part: Part


def _disjoint(candidates: Iterable[_Candidate], start: int, end: int) -> Iterator[_Candidate]:
    """The candidates within a range that do not overlap an earlier one, in the order of the bytes."""
    for candidate in sorted(candidates):
        if start <= candidate.start and candidate.end <= end:
            yield candidate
            start = candidate.end


def _place_names(data: bytes, header: pm_header.Header, tree: PmTree) -> None:
    stated = (
        _Candidate(record.name_offset, record.name_offset + record.name_length, Part("names", number))
        for number, record in enumerate(header.descriptors)
    )
    position = header.names_start
    for start, end, part in _disjoint(stated, position, header.sections_start):
        _add_gap(data[position:start], tree.gaps, tree.names_order)
        tree.names[part.key] = data[start:end]
        tree.names_order.append(part)
        position = end
    _add_gap(data[position : header.sections_start], tree.gaps, tree.names_order)


def _add_gap(raw: bytes, gaps: list[bytes], order: list[Part]) -> None:
    if raw:
        order.append(Part("gaps", len(gaps)))
        gaps.append(raw)


def _header_sections(header: pm_header.Header) -> HeaderSections:
    sections = HeaderSections()
    if header.bloom_columns:
        columns = list(header.bloom_columns)
        sections.bloom_filters = {"bloom_col_count": len(columns), "bloom_filter_columns": columns}
    if header.squash_tracker is not None:
        sections.squash_tracker = {"squash_tracker": header.squash_tracker}
    return sections


def _snapshot(data: bytes, header: pm_header.Header, snapshot: pm_file.Snapshot) -> SnapshotParts:
    sections = {name: _plain(value) for name, (value, _) in snapshot.sections.items()}
    external = HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features
    entry = pm.BloomEntry.grammar if external else pm.InlinedBloom.grammar
    width = entry.sizeof()
    starts = range(snapshot.bloom_start, snapshot.bloom_start + snapshot.bloom_count * width, width)
    return SnapshotParts(
        key=snapshot.number,
        footer=snapshot.fields.members(),
        row_group_entries=[
            {
                **_plain(pm.RowGroupEntry.grammar.parse(data[start : start + pm.RowGroupEntry.size])),
                TARGET: None,
            }
            for start in range(snapshot.entries_start, snapshot.bloom_start, pm.RowGroupEntry.size)
        ],
        bloom_entries=[
            {**_plain(entry.parse(data[start : start + width])), TARGET: None} for start in starts
        ],
        seq_txn=sections.get("seq_txn"),
        scratchpad=sections.get("scratchpad"),
        covering_index=sections.get("covering_index"),
        rest=data[snapshot.sections_end : snapshot.checksum_offset],
        checksum=snapshot.checksum,
        footer_length=snapshot.length,
    )


def _plain(parsed: Any) -> Any:
    """A value that construct parsed, as lists and dictionaries."""
    if isinstance(parsed, dict):
        members = cast("dict[str, Any]", parsed).items()
        return {name: _plain(value) for name, value in members if not name.startswith("_")}
    if isinstance(parsed, Entries):
        return [one._asdict() for one in parsed]
    if isinstance(parsed, list):
        return [_plain(one) for one in parsed]
    return parsed


def _place_body(
    data: bytes, header: pm_header.Header, snapshots: list[pm_file.Snapshot], tree: PmTree
) -> None:
    """Set the blocks, the gaps and the order of the parts after the header, and the references of the entries."""
    footers = [_Candidate(one.start, one.size, Part("snapshots", one.number)) for one in snapshots]
    offsets = _free_of({offset for one in snapshots for offset in one.blocks}, header.block_size, footers)
    blocks = [_Candidate(start, start + header.block_size, Part("blocks", start)) for start in offsets]
    placed = list(_disjoint([*footers, *blocks], header.end, snapshots[0].size))
    entries = _bloom_offsets(tree, header, snapshots)
    position = header.end
    keys: dict[int, int] = {}
    blooms: dict[tuple[int, int], int] = {}
    for candidate, following in zip(placed, [*placed[1:], None], strict=True):
        gap = data[position : candidate.start]
        position = candidate.end
        if candidate.part.kind == "snapshots":
            _add_gap(gap, tree.gaps, tree.body)
            tree.body.append(candidate.part)
            continue
        end = following.start if following is not None else len(data)
        key = keys[candidate.start] = len(tree.blocks)
        filters = entries.get(candidate.start, set())
        block, position, held = _block(data, header, candidate.start, end, filters)
        block.key = key
        blooms |= {(key, number): offset for number, offset in held.items()}
        gap, block.padding = _padding_of(gap)
        _add_gap(gap, tree.gaps, tree.body)
        tree.body.append(Part("blocks", key))
        tree.blocks.append(block)
    _refer(tree, header, snapshots, keys, blooms)


def _bloom_offsets(
    tree: PmTree, header: pm_header.Header, snapshots: list[pm_file.Snapshot]
) -> dict[int, set[tuple[int, int]]]:
    """The bloom filters that entries assign to the block at each offset: their offsets and positions."""
    filters: dict[int, set[tuple[int, int]]] = {}
    if HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features:
        return filters
    for snapshot in snapshots:
        for index, entry in enumerate(tree.snapshots[snapshot.number].bloom_entries):
            row_group, position = divmod(index, len(header.bloom_columns))
            filters.setdefault(snapshot.blocks[row_group], set()).add(
                (block_offset(entry["offset"]), position)
            )
    return filters


def _free_of(offsets: set[int], size: int, footers: list[_Candidate]) -> list[int]:
    """The offsets of blocks that do not overlap a footer: footers exist even if the entries contradict them."""
    return [
        offset
        for offset in sorted(offsets)
        if not any(offset < footer.end and footer.start < offset + size for footer in footers)
    ]


def _padding_of(gap: bytes) -> tuple[bytes, bytes]:
    """Split the padding from the end of a gap: a short gap is all padding, and of a long gap the zeros are."""
    if len(gap) < ALIGNMENT:
        return b"", gap
    zeros = min(len(gap) - len(gap.rstrip(b"\0")), ALIGNMENT - 1)
    return gap[: len(gap) - zeros], gap[len(gap) - zeros :]


def _block(
    data: bytes, header: pm_header.Header, start: int, end: int, blooms: set[tuple[int, int]]
) -> tuple[BlockParts, int, dict[int, int]]:
    """The block at an offset with its parts, the end of the block, and the offset of each bloom filter."""
    parsed = pm_block.read_block(BytesSource(data), header, start, end)
    block = BlockParts(
        key=0,
        num_rows=parsed.num_rows,
        column_chunks=[{**chunk.members(), ORDINAL: number} for number, chunk in enumerate(parsed.chunks)],
        min_stats=[None] * header.column_count,
        max_stats=[None] * header.column_count,
        bloom_filters=[None] * len(header.bloom_columns),
    )
    candidates: list[_Candidate] = []
    for side in pm_block.SIDES:
        for column in range(header.column_count):
            place = pm_block.find_statistic(parsed, column, side)
            if place is not None and not place.inlined and place.length:
                candidates.append(
                    _Candidate(place.offset, place.offset + place.length, Part(f"{side.field}s", column))
                )
    for offset, number in blooms:
        bits = offset + pm.BLOOM_LENGTH_SIZE
        length = int.from_bytes(data[offset:bits], "little", signed=True)
        if parsed.region_start <= offset and length >= 0:
            candidates.append(_Candidate(offset, bits + length, Part("bloom_filters", number)))
    position = parsed.region_start
    filters: dict[int, int] = {}
    for first, last, part in _disjoint(candidates, position, end):
        gap = data[position:first]
        if part.kind == "bloom_filters":
            if part.key in filters:
                continue  # it is stated to be at two places: the first counts
            filters[part.key] = first
            gap, padding = _padding_of(gap)
            bits = first + pm.BLOOM_LENGTH_SIZE
            block.bloom_filters[part.key] = FilterParts(last - bits, data[bits:last], padding)
        else:
            getattr(block, part.kind)[part.key] = data[first:last]
        _add_gap(gap, block.gaps, block.order)
        block.order.append(part)
        position = last
    return block, position, filters


def _refer(
    tree: PmTree,
    header: pm_header.Header,
    snapshots: list[pm_file.Snapshot],
    keys: dict[int, int],
    blooms: dict[tuple[int, int], int],
) -> None:
    """Store in the footers' entries the parts of the tree that they refer to."""
    for parsed, snapshot in zip(snapshots, tree.snapshots, strict=True):
        for entry, offset in zip(snapshot.row_group_entries, parsed.blocks, strict=True):
            entry[TARGET] = keys.get(offset)
        for index, entry in enumerate(snapshot.bloom_entries):
            row_group, position = divmod(index, len(header.bloom_columns))
            place = keys.get(parsed.blocks[row_group], -1), position
            entry[TARGET] = place if blooms.get(place) == block_offset(entry["offset"]) else None
