"""Identity of an unchanged file: its length, when it was changed, what is beside it, what its table says about it, and the etag of a store."""

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
        size: Length in bytes; -1 where that is not known.
        modified: When it was changed, in nanoseconds since 1970; ``None`` where that is not known.
        beside: The same of each file beside it that its rules look at, as text; empty for most kinds. For a file of a table,
            also a digest of what the table says about it: that changes while the file does not.
        youngest: The latest change of the file and of those beside it; ``None`` where one is not known.
        ctime: When anything about a local file was changed, its times included: a program that writes a file and sets its time
            back cannot set this one back. ``None`` elsewhere.
    """

    size: int
    modified: int | None
    beside: str = ""
    youngest: int | None = None
    ctime: int | None = None


UNKNOWN = Stamp(-1, None)

_Times = tuple[int, int | None, int | None]
"""Length and both times, as in a stamp."""


def stamps(targets: Sequence[Target]) -> list[Stamp]:
    """The stamps of files, in order. In stores they are those of the listing, which costs no request."""
    listed = {(target.store, target.path): _looked_up(target) for target in targets}
    return [_stamp(target, listed) for target in targets]


def _stamp(target: Target, listed: Mapping[tuple[str, str], _Times]) -> Stamp:
    if target.is_table:
        return UNKNOWN  # its metadata were read already, and are judged in no time
    if target.name.rpartition("/")[2] in SUMMARY_NAMES:
        return UNKNOWN  # what it says is compared with other files, which may have changed
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
        if found[0] >= 0:  # a file that is not there is not young
            youngest = None if youngest is None or found[1] is None else max(youngest, found[1])
    return Stamp(size, modified, "; ".join(parts), youngest, ctime)


def _looked_up(target: Target) -> _Times:
    """Length and times of change; -1 and ``None`` where there is no such file."""
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
