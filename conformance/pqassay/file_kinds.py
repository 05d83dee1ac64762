"""What kinds of files a folder holds, by their names: which are judged, and why others are not.

A kind whose rules belong to a family of the catalogue is judged as soon as that family exists.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from functools import cache

from pqassay_spec.catalogue import families
from pqassay_spec.parquet_file import SUMMARY_NAMES

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
        name: What reports call it.
        patterns: Patterns of its names; upper and lower case are the same.
        family: Prefix of the family whose rules judge it; empty if none ever will.
        otherwise: Why it is not judged, where it is not.
    """

    name: str
    patterns: tuple[str, ...]
    family: str = ""
    otherwise: str = ""

    @property
    def ignored(self) -> str:
        """Why files of this kind are not judged; empty if they are."""
        return "" if self.family in _prefixes() else self.otherwise


KINDS = (
    Kind("parquet", ("*.parquet", "*.parq", "*.pq", *SUMMARY_NAMES), family="PQF"),
    Kind("pm", ("_pm",), family="PM", otherwise="_pm files: this version has no rules for them"),
    Kind(
        "marker",
        ("_success", "*.crc", "_committed_*", "_started_*"),
        otherwise="markers and checksums of the writer",
    ),
)
"""In this order; the first that matches counts."""

UNFINISHED_FOLDERS = ("_temporary",)
"""Folders in which writers keep what is not finished; nobody reads it as data."""

UNFINISHED = "folders of unfinished jobs"


@cache
def _prefixes() -> frozenset[str]:
    return frozenset(family.prefix for family in families())


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


def why_folder_is_left_out(name: str) -> str:
    """Why a folder below a named one is not entered; empty if it is."""
    if name.startswith("."):
        return HIDDEN
    return UNFINISHED if name in UNFINISHED_FOLDERS else ""
