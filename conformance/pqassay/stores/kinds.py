"""Kinds of files, by their names: those that are judged, and reasons against the others.

A kind is judged as soon as a family of the catalogue has rules for it.
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
        patterns: Patterns of its names; upper and lower case are the same.
        beside: Files that its rules look at as well, by their paths from its folder.
        otherwise: Why it is not judged, where it is not.
    """

    name: str
    patterns: tuple[str, ...]
    beside: tuple[str, ...] = ()
    otherwise: str = ""

    @property
    def ignored(self) -> str:
        """Reason not to judge files of this kind; empty for none."""
        return "" if self.name in _judged() else self.otherwise


TXN_PLACES = (f"../{TXN_NAME}", TXN_NAME)
"""Where the ``_txn`` of the table is looked for: in the folder of the table, and as a copy beside ``_pm``."""

KINDS = (
    Kind(DEFAULT_FILE, (*(f"*{suffix}" for suffix in SUFFIXES), *SUMMARY_NAMES)),
    Kind("pm", (pm.FILE_NAME,), beside=(pm.DATA_NAME, *TXN_PLACES)),
    Kind(
        "marker",
        ("_success", "*.crc", "_committed_*", "_started_*"),
        otherwise="markers and checksums of the writer",
    ),
)
"""In this order; the first that matches counts."""

UNFINISHED_FOLDERS = ("_temporary",)
"""Folders in which writers keep what is not finished; readers do not take it for data."""

UNFINISHED = "folders of unfinished jobs"


@cache
def _judged() -> frozenset[str]:
    return frozenset(family.file for family in families())


def judged_kinds() -> list[str]:
    """Names of the kinds for which there are rules."""
    return [kind.name for kind in KINDS if kind.name in _judged()]


def kind_of(name: str) -> Kind | None:
    """The kind of a file, by the last part of its path; ``None`` for one that is not known.

    >>> kind_of("part-0.PARQUET").name, kind_of("README.md")
    ('parquet', None)
    """
    lowered = name.lower()
    if lowered.endswith(".parquet"):  # most are; nothing else ends so
        return KINDS[0]
    for kind in KINDS:
        if any(fnmatch.fnmatchcase(lowered, pattern) for pattern in kind.patterns):
            return kind
    return None


def judged_as(name: str) -> str:
    """The kind as which a file is judged that someone asked for; Parquet if its name says nothing.

    >>> judged_as("2024-01-01.1/_pm"), judged_as("part-0.backup")
    ('pm', 'parquet')
    """
    kind = kind_of(name.rpartition("/")[2])
    return DEFAULT_FILE if kind is None else kind.name


def dumped_as(path: str) -> str:
    """The kind as which a file is shown byte by byte: also what tables keep beside their data files.

    >>> dumped_as("t/_pm"), dumped_as("a.parquet")
    ('pm', 'parquet')
    """
    name = path.rpartition("/")[2]
    return next((kind for one in formats().values() if (kind := one.dumped_as(name))), judged_as(path))


def beside(kind: str) -> tuple[str, ...]:
    """Names of files in the same folder that the rules for a kind of file look at."""
    return next((known.beside for known in KINDS if known.name == kind), ())


def why_folder_is_left_out(name: str) -> str:
    """Reason not to enter a folder below a named one; empty for none."""
    if name.startswith("."):
        return HIDDEN
    return UNFINISHED if name in UNFINISHED_FOLDERS else ""
