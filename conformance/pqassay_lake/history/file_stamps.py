"""The identity of an unchanged file.

It consists of its size, the times of change, the files beside it, the claims of its table about it, and the etag of a store.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pqassay.stores import kinds as file_kinds
from pqassay.stores.targets import Target
from pqassay_spec.parquet.file import SUMMARY_NAMES


@dataclass(frozen=True, slots=True)
class Stamp:
    """The state of a file before it was judged.

    Attributes:
        size: The size in bytes; -1 if unknown.
        modified: The time of its last change, in nanoseconds since 1970; ``None`` if unknown.
        beside: The stamps of files beside it that its rules read, as text; empty for most kinds. For a file of a table, also a digest of the table's claims about it, which may change while the file does not.
        youngest: The latest change of the file and of the files beside it; ``None`` if one is unknown.
        ctime: The inode change time of a local file: a program that resets the modification time cannot reset it. ``None`` in a store.
    """

    size: int
    modified: int | None
    beside: str = ""
    youngest: int | None = None
    ctime: int | None = None


UNKNOWN = Stamp(-1, None)

_Times = tuple[int, int | None, int | None]
"""The size and both times, as in a stamp."""


def stamps(targets: Sequence[Target]) -> list[Stamp]:
    """The stamps of files, in order. In stores, they come from the listing, which needs no request."""
    listed = {(target.store, target.path): _looked_up(target) for target in targets}
    return [_stamp(target, listed) for target in targets]


def _stamp(target: Target, listed: Mapping[tuple[str, str], _Times]) -> Stamp:
    if target.is_table:
        return UNKNOWN  # its metadata were already read, and judging them is fast
    if target.name.rpartition("/")[2] in SUMMARY_NAMES:
        return UNKNOWN  # its claims are compared with other files, which may have changed
    size, modified, ctime = listed[target.store, target.path]
    parts: list[str] = []
    youngest = modified
    if target.claims is not None:
        metrics = target.claims.metrics
        claimed = repr((target.claims, () if metrics is None else metrics.facts()))
        parts.append(f"claims {hashlib.sha256(claimed.encode('utf-8', 'surrogatepass')).hexdigest()}")
    for name in file_kinds.beside(target.kind):
        other = target.beside(name)
        found = listed.get((other.store, other.path)) or _looked_up(other)
        parts.append(" ".join([name, *(str(part) for part in found)]))
        if found[0] >= 0:  # a missing file is not recent
            youngest = None if youngest is None or found[1] is None else max(youngest, found[1])
    return Stamp(size, modified, "; ".join(parts), youngest, ctime)


def _looked_up(target: Target) -> _Times:
    """The size and the times of change; -1 and ``None`` if the file does not exist."""
    if target.data is not None:
        return -1, None, None
    if target.store:
        if target.modified is not None and target.size is not None:
            return target.size, target.modified, None
        from pqassay.stores import remote  # noqa: PLC0415 - local files need no pyarrow

        with contextlib.suppress(OSError):
            info = remote.filesystem(target.store).get_file_info([target.path])[0]
            if info.is_file:
                return int(info.size or 0), remote.modified(info), None
        return -1, None, None
    with contextlib.suppress(OSError, ValueError):
        found = os.stat(target.path)  # noqa: PTH116 - paths stay the text that the user wrote
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns
    return -1, None, None
