"""Formats of tables, as the names of files show them; plug-ins say which there are.

The metadata of tables are read by modules that a format names as text; they are imported only if there is a
table.
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
        version: A version, of formats that count them.
        snapshot: A snapshot, of formats that have them, by its id.
        ref: A branch or tag.
        pointer: The metadata file, where a catalog has to say which it is; relative to the table.
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
        kind: Its name, which is also the kind of target as which a table is judged.
        folder: The folder of a table that holds its metadata.
        sign: The mark of such a table in a folder, in words.
        is_mark: Whether a file of this name in that folder shows that it is a table.
        moment_of: The state of which such a file is, by its name; ``None`` where it is of none in particular.
        dumped_as: The kind as which `pqassay dump` shows a file of the table, by its name; ``None`` of others.
        words: These kinds in words.
        engines: Names of engines that are asked about its tables, and about no files alone.
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
    """The formats that plug-ins add, by kind; a room ``formats`` has them as ``FORMATS``."""
    return {found.kind: found for room in rooms("formats") for found in room.FORMATS}


@cache
def resolved(place: str) -> Any:
    """What a format names as ``module:attribute``."""
    return pkgutil.resolve_name(place)


def shown_by(names: Sequence[str]) -> Format | None:
    """The format of the table of which a file is the metadata, by its names below some folder; ``None`` for other files."""
    if len(names) < 2:
        return None
    below, name = names[-2:]
    return next((one for one in formats().values() if below == one.folder and one.is_mark(name)), None)
