"""Kinds of files by name: kinds that are judged, and reasons not to judge others.

A kind is judged if a family of the catalog has rules for it.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from functools import cache

from pqassay.stores.formats import formats
from pqassay_spec.parquet.file import SUFFIXES, SUMMARY_NAMES
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.txn import FILE_NAME as TXN_NAME
from pqassay_spec.rules.catalogue import DEFAULT_FILE, families

OTHER = "other names; --include GLOB adds them"
HIDDEN = "hidden: the name begins with a dot"
EXCLUDED = "left out by --exclude"
TWICE = "named more than once"
SEEN_FOLDER = "links to folders that are read under another name"
SPECIAL = "no regular files"


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        name: Its name in reports.
        patterns: Patterns for file names, ignoring case.
        beside: Other files that its rules read, by path relative to its folder.
        otherwise: The reason why it is not judged, if so.
    """

    name: str
    patterns: tuple[str, ...]
    beside: tuple[str, ...] = ()
    otherwise: str = ""

    @property
    def ignored(self) -> str:
        """The reason why files of this kind are not judged; empty if they are."""
        return "" if self.name in _judged() else self.otherwise


TXN_PLACES = (f"../{TXN_NAME}", TXN_NAME)
"""The places of a table's ``_txn``: the table's folder, or a copy beside ``_pm``."""

KINDS = (
    Kind(DEFAULT_FILE, (*(f"*{suffix}" for suffix in SUFFIXES), *SUMMARY_NAMES)),
    Kind("pm", (pm.FILE_NAME,), beside=(pm.DATA_NAME, *TXN_PLACES)),
    Kind(
        "marker",
        ("_success", "*.crc", "_committed_*", "_started_*"),
        otherwise="markers and checksums of the writer",
    ),
)
"""The kinds in order of priority; the first match is used."""

UNFINISHED_FOLDERS = ("_temporary",)
"""Folders of unfinished files, which readers ignore."""

UNFINISHED = "folders of unfinished jobs"


@cache
def _judged() -> frozenset[str]:
    return frozenset(family.file for family in families())


def judged_kinds() -> list[str]:
    """The names of the kinds that have rules."""
    return [kind.name for kind in KINDS if kind.name in _judged()]


def kind_of(name: str) -> Kind | None:
    """The kind of a file, from the last part of its path; ``None`` if unknown.

    >>> kind_of("part-0.PARQUET").name, kind_of("README.md")
    ('parquet', None)
    """
    lowered = name.lower()
    if lowered.endswith(".parquet"):  # most names are this kind, and no other kind has this ending
        return KINDS[0]
    for kind in KINDS:
        if any(fnmatch.fnmatchcase(lowered, pattern) for pattern in kind.patterns):
            return kind
    return None


def judged_as(name: str) -> str:
    """The kind of a file that the user named; Parquet if its name is not known.

    >>> judged_as("2024-01-01.1/_pm"), judged_as("part-0.backup")
    ('pm', 'parquet')
    """
    kind = kind_of(name.rpartition("/")[2])
    return DEFAULT_FILE if kind is None else kind.name


def dumped_as(path: str) -> str:
    """The kind of a file for a dump, including metadata files of tables.

    >>> dumped_as("t/_pm"), dumped_as("a.parquet")
    ('pm', 'parquet')
    """
    name = path.rpartition("/")[2]
    return next((kind for one in formats().values() if (kind := one.dumped_as(name))), judged_as(path))


def beside(kind: str) -> tuple[str, ...]:
    """Names of files in the same folder that the rules for a kind read."""
    return next((known.beside for known in KINDS if known.name == kind), ())


def why_folder_is_left_out(name: str) -> str:
    """The reason not to enter a subfolder; empty if it is entered."""
    if name.startswith("."):
        return HIDDEN
    return UNFINISHED if name in UNFINISHED_FOLDERS else ""
