"""The formats of tables, recognized by file names; plug-ins add them.

A format names the modules that read its metadata as text, so they are imported only for a table.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pqassay.plugins import rooms
from pqassay_spec.table.layout import TableKind


@dataclass(frozen=True)
class Moment:
    """The state of a table to judge; by default the newest.

    Attributes:
        version: A version, for formats with versions.
        snapshot: The id of a snapshot, for formats with snapshots.
        ref: A branch or tag.
        pointer: The path of the metadata file, relative to the table, for tables whose catalog selects it.
    """

    version: int | None = None
    snapshot: int | None = None
    ref: str | None = None
    pointer: str = ""


NEWEST = Moment()


@dataclass(frozen=True)
class Format:
    """A format of tables.

    Attributes:
        kind: Its name, which is also the kind of its targets.
        folder: The metadata folder of a table.
        sign: The mark that identifies a table, in words.
        is_mark: Whether a file with this name in that folder identifies a table.
        moment_of: The table state of a metadata file, from its name; ``None`` if it belongs to no particular state.
        dumped_as: The kind of a table's file for `pqassay dump`, from its name; ``None`` for other files.
        words: These kinds in words.
        engines: Names of engines that are asked only about its tables, not about single files.
        reader: The reader of its metadata, as ``module:attribute``; see
            `pqassay.judge.table_reader.TableReader`.
        proof: The object that queries engines about it; see `pqassay.proof.table_proof.TableProof`.
    """

    kind: TableKind
    folder: str
    sign: str
    is_mark: Callable[[str], bool]
    moment_of: Callable[[str], Moment | None]
    dumped_as: Callable[[str], str | None]
    words: Mapping[str, str]
    engines: Sequence[str]
    reader: str
    proof: str


@cache
def formats() -> Mapping[str, Format]:
    """The formats of the plug-ins, by kind; each package ``formats`` has them as ``FORMATS``."""
    return {found.kind: found for room in rooms("formats") for found in room.FORMATS}


@cache
def resolved(place: str) -> Any:
    """The object at ``module:attribute``."""
    return pkgutil.resolve_name(place)


def shown_by(names: Sequence[str]) -> Format | None:
    """The format of the table to which a metadata file belongs, from the names of its path; ``None`` for other files."""
    if len(names) < 2:
        return None
    below, name = names[-2:]
    return next((one for one in formats().values() if below == one.folder and one.is_mark(name)), None)
