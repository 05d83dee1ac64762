"""The commands that repair a file in which a rule is broken: one table, by rule, or by family where all its rules have the same.

False metadata are removed: without a page index, a bloom filter, statistics or a hint, readers return the
same rows, only more slowly.  The command is limited to the column and the row groups of the finding.  An IDX1
index is better than none, so where the column is known it is made again.  A ``_pm`` is made again from the
Parquet file beside it, unless it only repeats what that file itself has wrong.
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
"""Makes the command from the file; empty if none helps. Raises like a check where the file does not say what it needs."""

ATTACHED = {"bloom filter": "--bloom-filters", "column index": "--page-index", "offset index": "--page-index"}
"""Structures without which the rows are the same, and the option of `pqassay strip` that removes them."""


OF_COLUMNS = frozenset(("--bloom-filters", "--page-index", "--statistics", "--encoding-stats"))
OF_ROW_GROUPS = OF_COLUMNS - {"--page-index"} | {"--row-group-hints", "--sorting-columns"}
"""Options of `pqassay strip` that are limited to some columns, and to some row groups. Readers fail on indexes in some row groups alone (PIX-003)."""

MOST_ROW_GROUPS = 8
"""Row groups that a command names; of more, it is about all."""


def remedy(
    file: FileUnderTest, rule_id: str, column: str | None = None, row_groups: Collection[int | None] = ()
) -> str | None:
    """The command that repairs a file in which a rule is broken, in a column and row groups as far as these are known; ``None`` without one."""
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
        return None  # what a command would have to know cannot be read


def nothing(_: FileUnderTest) -> str:
    """No command: the claim is true, cannot be removed, or can only be repaired by rewriting the file."""
    return ""


def strip(*options: str) -> Remedy:
    """Remove what the options name."""
    return lambda file: strip_command(file, *options)


# ------------------------------------------------------------------------------------------------ footer and body


def _without_keys(is_broken: Callable[[str, str | None, int], bool]) -> Remedy:
    """Remove the keys of pairs of which the condition holds, given key, value, and how often the key occurs."""

    def command(file: FileUnderTest) -> str:
        times = Counter(pair.key for pair in file.key_values)
        pairs = [pair for pair in file.key_values if is_broken(pair.key, pair.value, times[pair.key])]
        keys = list(dict.fromkeys(pair.key for pair in pairs))
        if not keys:
            return ""
        return strip_command(file, *(part for key in keys for part in ("--key", key)))

    return command


def _without_structures(options_of: Callable[[FileUnderTest], Iterator[str]]) -> Remedy:
    """Remove structures by their options; where one of them is empty, the rows need what is broken."""

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
    """With the orders of columns goes every bound that is in their order."""
    orders = ["--column-orders"] if file.metadata.column_orders is not None else []
    return strip_command(file, "--statistics", "--page-index", *orders)


# ---------------------------------------------------------------------------------------------------------- IDX1


def _new_index(file: FileUnderTest) -> str:
    """Make the index again, or remove it where the column is not known."""
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
    """Remove an index whose column is not there; where the user named the column, the mistake may be theirs."""
    return "" if file.options.idx1_column is not None else strip_command(file, "--idx1")


def _without_displaced(file: FileUnderTest) -> str:
    """Remove the index, and structures that were written after the blob by a writer that did not count its bytes.

    All of their offsets are too small by the length of the blob, so that the first of them is said to begin where
    the blob begins.  What was displaced like that is lost; the pages themselves are not.
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
    """Remove the counts of pages. Where there are none, the list of encodings is wrong, which every chunk must have."""
    chunks = (chunk.meta_data for group in file.metadata.row_groups for chunk in group.columns)
    counted = any(facts is not None and facts.encoding_stats for facts in chunks)
    return strip_command(file, "--encoding-stats") if counted else ""


# ----------------------------------------------------------------------------------------------------------- _pm


def _new_pm(file: FileUnderTest) -> str:
    """Make ``_pm`` again. Raises `FormatError` or `NotChecked` if there is no Parquet file, or its footer cannot be read."""
    if not isinstance(file.data.source, FileSource):
        return ""
    _ = file.data.metadata
    options = ["--history"] if _has_history(file) else []
    if Path(file.source.name).name != pm.FILE_NAME:
        options += ["--output", argument(file.source.name)]
    return command_line("pqassay", "pm", "generate", argument(file.data.source.name), *options)


def _new_pm_if_it_differs(file: FileUnderTest) -> str:
    """Make ``_pm`` again unless it says what the Parquet file says: a new one would repeat what is wrong there."""
    for rule in COMPARED:
        if is_broken(file, rule):
            return _new_pm(file)
    return ""


def _new_pm_if_pinned(file: FileUnderTest) -> str:
    """Make ``_pm`` again where ``_txn`` pins the Parquet file as it is."""
    return _new_pm(file) if file.part(Table).partition.parquet_file_size == file.data.source.size else ""


def _has_history(file: FileUnderTest) -> bool:
    """Whether readers may look for snapshots before the newest."""
    try:
        return bool(file.part(FilePair).newest.fields.prev_parquet_meta_file_size)
    except FormatError:
        return False


COMPARED = tuple(f"PM-{number}" for number in range(102, 127))
"""Rules that say whether ``_pm`` differs from the Parquet file."""


# ------------------------------------------------------------------------------------------------------ the table


def _each(rules: str, command: Remedy) -> dict[str, Remedy]:
    """The same for several rules: ``"STA 001 002"``."""
    prefix, *numbers = rules.split()
    return dict.fromkeys((f"{prefix}-{number}" for number in numbers), command)


REMEDIES: dict[str, Remedy] = {
    # Hints of the footer that other fields or the pages give as well.
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
    # True, and of use to their reader; or in the headers of pages, which stay where they are.
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
    # Each index by itself, see `pqassay.checks.directory.commands`; a directory that cannot be read goes.
    **_each("DIR 001 002 003 004 005 006", strip("--key", directory.KEY)),
    "DIR-016": lambda file: index_command(file, "refresh"),
    "PM": _new_pm,
    # A sound file may break these: later revisions, an append that is not published yet.
    **_each("PM 005 006 016 030 101", nothing),
    # The Parquet file breaks these by its rows or its key: only rewriting it can repair them.
    **_each("PM 036 075 121 144 149", nothing),
    # What the database alone can say, or has lost.
    **_each("PM 150 152", nothing),
    "PM-151": _new_pm_if_pinned,
    # Numbers that come from the Parquet file, which may be wrong there already.
    **_each("PM 034 035 043 054 056 057 058 060 062 063 066 070 072 074 077 080 081", _new_pm_if_it_differs),
    **_each("PM 140 141 142 143 145", _new_pm_if_it_differs),
}
"""By the id of a rule, or the prefix of its family for the rules without an entry of their own."""
