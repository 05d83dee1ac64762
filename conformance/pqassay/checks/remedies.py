"""The commands that repair a file, by broken rule, or by family if all its rules have the same command.

False metadata are removed: without a page index, a bloom filter, statistics or a hint, readers return the same rows, only more slowly. The
command is limited to the column and the row groups of the finding. An IDX1 index is rebuilt if its column is known, since an index is
better than none. A ``_pm`` is rebuilt from the Parquet file beside it, unless it only repeats an error of that file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from pqassay.checks.asking import is_broken
from pqassay.checks.commands import argument, command_line, embed_command, index_command, strip_command
from pqassay.checks.idx1.blob import EmbeddedIndex
from pqassay.checks.pm.pair import FilePair
from pqassay.checks.pm.table import Table
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, overlaps
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory import entries as directory
from pqassay_spec.grammar.thrift import is_text
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.schema.leaf_columns import is_string
from pqassay_spec.pm import grammar as pm

Remedy = Callable[[FileUnderTest], str]
"""The function that makes the command for a file; its result is empty if no command helps.

It raises like a check if it lacks information.
"""

ATTACHED = {"bloom filter": "--bloom-filters", "column index": "--page-index", "offset index": "--page-index"}
"""Structures that do not affect rows, with the option of `pqassay strip` that removes them."""


OF_COLUMNS = frozenset(("--bloom-filters", "--page-index", "--statistics", "--encoding-stats"))
OF_ROW_GROUPS = OF_COLUMNS - {"--page-index"} | {"--row-group-hints", "--sorting-columns"}
"""Options of `pqassay strip` that can be limited to columns (first) and to row groups.

Readers fail if only some row groups have indexes (PIX-003).
"""

MOST_ROW_GROUPS = 8
"""The number of row groups that a command names; with more, the command applies to all row groups."""


def remedy(
    file: FileUnderTest, rule_id: str, column: str | None = None, row_groups: Collection[int | None] = ()
) -> str | None:
    """The command that repairs a file in which a rule is broken; ``None`` if there is none.

    It is limited to the column and the row groups, if these are known.
    """
    known = REMEDIES.get(rule_id) or REMEDIES.get(rule_id.rpartition("-")[0], nothing)
    try:
        command = known(file)
        if not command.startswith(strip_command(file)):
            return command or None
        options = {word for word in command.split() if word.startswith("--")}
        places: list[str] = []
        if column is not None and options <= OF_COLUMNS:
            places += ["--column", column]
        numbers = [number for number in row_groups if number is not None]
        if options <= OF_ROW_GROUPS and len(numbers) == len(row_groups) <= MOST_ROW_GROUPS:
            every = range(len(file.metadata.row_groups))
            places += [f"--row-group={number}" for number in sorted(numbers) if set(numbers) != set(every)]
        return f"{command} {command_line(*places)}".rstrip() if places else command
    except (FormatError, NotApplicable, NotChecked):
        return None  # the command needs information that cannot be read


def nothing(_: FileUnderTest) -> str:
    """No command: the claim is true or cannot be removed, or only rewriting the file helps."""
    return ""


def strip(*options: str) -> Remedy:
    """The command that removes the items that the options name."""
    return lambda file: strip_command(file, *options)


# ------------------------------------------------------------------------------------------------ footer and body


def _without_keys(is_broken: Callable[[str, str | None, int], bool]) -> Remedy:
    """The command that removes pairs for which the condition holds, given key, value, and number of occurrences of the key."""

    def command(file: FileUnderTest) -> str:
        times = Counter(pair.key for pair in file.key_values)
        pairs = [pair for pair in file.key_values if is_broken(pair.key, pair.value, times[pair.key])]
        keys = list(dict.fromkeys(pair.key for pair in pairs))
        if not keys:
            return ""
        return strip_command(file, *(part for key in keys for part in ("--key", key)))

    return command


def _without_structures(options_of: Callable[[FileUnderTest], Iterator[str]]) -> Remedy:
    """The command that removes structures by their options; no command if an option is empty, since rows depend on the structure."""

    def command(file: FileUnderTest) -> str:
        options = set(options_of(file))
        return strip_command(file, *sorted(options)) if options and all(options) else ""

    return command


def _outside(file: FileUnderTest) -> Iterator[str]:
    for given in (*file.offsets, *file.ranges):
        if not file.in_body(given):
            yield ATTACHED.get(given.kind, "")


def _overlapping(file: FileUnderTest) -> Iterator[str]:
    for both in overlaps(file.ranges_inside):
        yield from {ATTACHED[given.kind] for given in both if given.kind in ATTACHED} or ("",)


def _without_orders(file: FileUnderTest) -> str:
    """The command that removes the column orders, together with every bound in these orders."""
    orders = ["--column-orders"] if file.metadata.column_orders is not None else []
    return strip_command(file, "--statistics", "--page-index", *orders)


# ---------------------------------------------------------------------------------------------------------- IDX1


def _new_index(file: FileUnderTest) -> str:
    """The command that rebuilds the index, or removes it if the column is unknown."""
    column = _known_column(file)
    return strip_command(file, "--idx1") if column is None else embed_command(file, column)


def _known_column(file: FileUnderTest) -> str | None:
    """The column that the user or a well-formed companion record names, if an index can describe it."""
    try:
        name = file.options.idx1_column or ".".join(file.part(EmbeddedIndex).companion.column)
        found = [leaf for leaf in file.leaves if leaf.is_called(name)]
    except (FormatError, NotApplicable, NotChecked):
        return None
    fits = len(found) == 1 and is_string(found[0]) and not found[0].max_repetition_level
    return name if fits else None


def _unless_named(file: FileUnderTest) -> str:
    """The command that removes an index whose column does not exist; no command if the user named the column, since the name may be wrong."""
    return "" if file.options.idx1_column is not None else strip_command(file, "--idx1")


def _without_displaced(file: FileUnderTest) -> str:
    """The command that removes the index and all structures after the blob, if the writer did not count the bytes of the blob.

    Their offsets are too small by the length of the blob, so the first of them seems to begin where the blob begins. The displaced
    structures are lost, but not the pages.
    """
    index = file.part(EmbeddedIndex)
    blob = index.blob
    if not any(other.start == blob.start for other in index.overlapping(blob.start, blob.end)):
        return strip_command(file, "--idx1")
    behind = {ATTACHED.get(other.kind) for other in file.ranges if other.start >= blob.start}
    return strip_command(
        file, "--idx1", *(option for option in dict.fromkeys(ATTACHED.values()) if option in behind)
    )


def _without_encoding_stats(file: FileUnderTest) -> str:
    """The command that removes the counts of pages; no command without counts, since then the mandatory list of encodings is wrong."""
    chunks = (chunk.meta_data for group in file.metadata.row_groups for chunk in group.columns)
    counted = any(facts is not None and facts.encoding_stats for facts in chunks)
    return strip_command(file, "--encoding-stats") if counted else ""


# ----------------------------------------------------------------------------------------------------------- _pm


def _new_pm(file: FileUnderTest) -> str:
    """The command that rebuilds ``_pm``. Raises `FormatError` or `NotChecked` if there is no Parquet file with a readable footer."""
    if not isinstance(file.data.source, FileSource):
        return ""
    _ = file.data.metadata
    options = ["--history"] if _has_history(file) else []
    if Path(file.source.name).name != pm.FILE_NAME:
        options += ["--output", argument(file.source.name)]
    return command_line("pqassay", "pm", "generate", argument(file.data.source.name), *options)


def _new_pm_if_it_differs(file: FileUnderTest) -> str:
    """The command that rebuilds ``_pm``; no command if ``_pm`` agrees with the Parquet file, since a new one would repeat its error."""
    for rule in COMPARED:
        if is_broken(file, rule):
            return _new_pm(file)
    return ""


def _new_pm_if_pinned(file: FileUnderTest) -> str:
    """The command that rebuilds ``_pm``, if ``_txn`` pins the current Parquet file."""
    return _new_pm(file) if file.part(Table).partition.parquet_file_size == file.data.source.size else ""


def _has_history(file: FileUnderTest) -> bool:
    """Whether readers may look for snapshots older than the newest."""
    try:
        return bool(file.part(FilePair).newest.fields.prev_parquet_meta_file_size)
    except FormatError:
        return False


COMPARED = tuple(f"PM-{number}" for number in range(102, 127))
"""Rules that show whether ``_pm`` differs from the Parquet file."""


# ------------------------------------------------------------------------------------------------------ the table


def _each(rules: str, command: Remedy) -> dict[str, Remedy]:
    """One command for several rules, which are written as ``"STA 001 002"``."""
    prefix, *numbers = rules.split()
    return dict.fromkeys((f"{prefix}-{number}" for number in numbers), command)


REMEDIES: dict[str, Remedy] = {
    # Hints in the footer that repeat other fields or the pages.
    **_each("PQF 020 021 031 133", strip("--row-group-hints")),
    **_each("PQF 030 075 132", strip("--sorting-columns")),
    "PQF-061": strip("--encoding-stats"),
    **_each("STA 058 059", _without_encoding_stats),
    "PQF-006": _without_keys(lambda key, _value, times: times > 1 and key != directory.KEY),
    "PQF-007": _without_keys(
        lambda key, value, _: not is_text(key) or (value is not None and not is_text(value))
    ),
    "PQF-010": _without_keys(lambda _key, value, _: value is None),
    "PQF-008": _without_structures(_outside),
    "PQF-009": _without_structures(_overlapping),
    "STA": strip("--statistics"),
    # True and useful to their reader, or in page headers, which cannot be removed.
    **_each("STA 011 030 031 050 052 053 054 055 056 057 062 074", nothing),
    **_each("STA 001 002 003 004", _without_orders),
    "PIX": strip("--page-index"),
    **_each("PIX 003 027 036 044 061", nothing),
    "BLM": strip("--bloom-filters"),
    **_each("BLM 006 008 010", nothing),
    "IDX1": _new_index,
    # IDX1 cannot hold the values of the column.
    **_each("IDX1 013 015", strip("--idx1")),
    "IDX1-018": _unless_named,
    "IDX1-009": _without_displaced,
    "IDX1-020": strip("--key", idx1.COMPANION_KEY),
    **_each("IDX1 031 032", strip("--key", idx1.LENGTH_KEY)),
    # Each index by itself, see `pqassay.checks.directory.commands`; an unreadable directory is removed.
    **_each("DIR 001 002 003 004 005 006", strip("--key", directory.KEY)),
    "DIR-016": lambda file: index_command(file, "refresh"),
    "PM": _new_pm,
    # A sound file may break these, because of later revisions or an append that is not published yet.
    **_each("PM 005 006 016 030 101", nothing),
    # The rows or the key of the Parquet file break these: only rewriting it can repair them.
    **_each("PM 036 075 121 144 149", nothing),
    # Information that only the database has, or has lost.
    **_each("PM 150 152", nothing),
    "PM-151": _new_pm_if_pinned,
    # Numbers copied from the Parquet file, where they may already be wrong.
    **_each("PM 034 035 043 054 056 057 058 060 062 063 066 070 072 074 077 080 081", _new_pm_if_it_differs),
    **_each("PM 140 141 142 143 145", _new_pm_if_it_differs),
}
"""The commands by rule id, or by family prefix for rules without their own entry."""
