"""The command that mends a broken ``_pm``: it is made anew from the Parquet file beside it.

That helps wherever ``_pm`` says something else than the Parquet file, or says it in the wrong way.  Where it repeats
what the Parquet file itself has wrong, a new one would repeat it again.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from pqassay.checks import registry, remedies_of
from pqassay.checks.pm_pair import Pair
from pqassay.file_under_test import FileUnderTest, NotApplicable, NotChecked
from pqassay_spec import pm
from pqassay_spec.errors import FormatError
from pqassay_spec.sources import FileSource

NOTHING_TO_MEND = ("PM-005", "PM-006", "PM-016", "PM-030", "PM-101")
"""Rules of which a sound file may break one: later revisions, an append that is not published yet."""

ABOUT_THE_ROWS = ("PM-036", "PM-075", "PM-121", "PM-144")
"""Rules that the Parquet file breaks by its rows or its key: only who writes it anew can mend them."""

REPEATED = (
    *("PM-034", "PM-035", "PM-043", "PM-054", "PM-056", "PM-057", "PM-058", "PM-060", "PM-062", "PM-063"),
    *("PM-066", "PM-070", "PM-072", "PM-074", "PM-077", "PM-080", "PM-081"),
    *("PM-140", "PM-141", "PM-142", "PM-143", "PM-145"),
)
"""Rules about numbers that come from the Parquet file, which may be wrong there already."""

COMPARED = tuple(f"PM-{number}" for number in range(102, 127))
"""Rules that say whether ``_pm`` differs from the Parquet file."""


@remedies_of("PM")
def remedy(file: FileUnderTest, rule: str) -> str:
    """The command for a broken rule; empty where it would change nothing.

    Raises:
        FormatError, NotChecked: There is no Parquet file, or its footer, at its end, cannot be read.
    """
    if rule in NOTHING_TO_MEND or rule in ABOUT_THE_ROWS or not isinstance(file.data.source, FileSource):
        return ""
    _ = file.data.metadata
    if rule in REPEATED and not _differs(file):
        return ""
    options = ["--history"] if _has_history(file) else []
    if Path(file.source.name).name != pm.FILE_NAME:
        options += ["--output", _argument(file.source.name)]
    return shlex.join(["pqassay-ref", "pm", "generate", _argument(file.data.source.name), *options])


def _argument(name: str) -> str:
    return f"./{name}" if name.startswith("-") else name


def _differs(file: FileUnderTest) -> bool:
    """Whether the snapshot says anything else than the Parquet file."""
    for rule in COMPARED:
        try:
            if next(iter(registry()[rule](file)), None) is not None:
                return True
        except (FormatError, NotApplicable, NotChecked):
            continue
    return False


def _has_history(file: FileUnderTest) -> bool:
    """Whether readers may look for snapshots before the newest."""
    try:
        return bool(file.part(Pair).newest.fields.prev_parquet_meta_file_size)
    except FormatError:
        return False
