"""The bytes of a file that differ from the same field in another file; moved bytes do not count."""

from __future__ import annotations

from collections.abc import Sequence

from pqassay.difference.fields import Fields, same_ends

Range = tuple[int, int]
"""A range of bytes ``[start, end)``."""


def changed_bytes(old: Fields, new: Fields) -> list[Range]:
    """The bytes of the new file that differ from the field with the same path, or from bytes at the same place.

    Returns:
        Ranges in order; touching ranges are merged. If the files have the same size and nothing moved, these are the differing bytes.
    """
    by_path: list[Range] = []
    for path, leaf in new.leaves.items():
        before = old.leaves.get(path)
        at = (0, 0) if before is None else (before.offset, before.length)
        by_path += _apart(old.read(*at), new.read(leaf.offset, leaf.length), leaf.offset)
    if old.source.size == new.source.size:
        size = new.source.size
        in_place = _joined(_apart(old.source.read(0, size), new.source.read(0, size), 0))
        return min(in_place, _joined(by_path), key=lambda ranges: sum(end - start for start, end in ranges))
    return _joined(by_path)


def _apart(old: bytes, new: bytes, offset: int) -> list[Range]:
    """The new bytes that differ; if the length changed, the bytes between the common prefix and suffix."""
    if len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True), offset)
        return [(place, place + 1) for place, pair in pairs if pair[0] != pair[1]]
    first, last = same_ends(old, new)
    return [(offset + first, offset + len(new) - last)] if first < len(new) - last else []


def _joined(ranges: Sequence[Range]) -> list[Range]:
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
