"""Judging answers about ``_pm``: its logical value, and the operations that exist only for ``_pm``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Container, Iterator
from dataclasses import replace
from typing import NamedTuple, cast

from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.case import PlanExpectation, PruneExpectation, SnapshotExpectation
from pqassay_spec.golden.literals import LongInteger, ValueNotReadableError, read_value
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import header as pm_header
from pqassay_suite.drivers.protocol import Accept, Answer, IgnoredIndex
from pqassay_suite.judging.bench import RIGHT, Asking, Bench, Judgement, expects

SHOWN = 120
"""Characters of a value that a judgement shows."""

# --------------------------------------------------------------------------------------------------- values


NOTHING = object()
"""The wanted value if there must not be one."""


class PmDifference(NamedTuple):
    """The first member in which two values differ: its path, the wanted value, the actual value."""

    path: str
    wanted: object
    found: object


NEEDED_OF_A_SNAPSHOT = frozenset(
    (
        "parquet_footer_offset",
        "parquet_footer_length",
        "unused_bytes",
        "previous_sizes",
        "row_groups",
        "num_rows",
    )
)
"""Members that distinguish snapshots, and that every answer about one has."""


def judged_value(
    wanted: object,
    actual: object,
    words: str = "",
    needed: Container[str] | None = None,
    *,
    is_closed: bool = False,
) -> Judgement:
    """Compare a logical value with the right one. Members that are null may be absent.

    Args:
        wanted: The right value.
        actual: The actual value.
        words: Prefix of the message about a difference.
        needed: Members that must be present, while others may be absent; by default, all are needed.
        is_closed: Whether members that the right value lacks are differences; otherwise, they are ignored.
    """
    difference = next(differences(wanted, actual, needed=needed, is_closed=is_closed), None)
    if difference is None:
        return RIGHT
    path = difference.path or "value"
    if difference.wanted is NOTHING:
        found = f"{path}: {_shown(difference.found)}"
        return Judgement(False, f"{words}{path} is not expected", "absent", found, difference=path)
    return Judgement(
        False,
        f"{words}wrong {path}",
        f"{path}: {_shown(difference.wanted)}",
        f"{path}: {_shown(difference.found)}",
        difference=path,
    )


def differences(
    wanted: object,
    actual: object,
    path: str = "",
    needed: Container[str] | None = None,
    *,
    is_closed: bool = False,
) -> Iterator[PmDifference]:
    """Yield the differences of two values, member by member; see `judged_value`."""
    wanted, actual = _untagged(wanted), _untagged(actual)
    difference, same = PmDifference(path, wanted, actual), type(wanted) is type(actual) and wanted == actual
    if isinstance(wanted, dict) and isinstance(actual, dict):
        members = cast("dict[str, object]", actual)
        for name, member in cast("dict[str, object]", wanted).items():
            if name in members or needed is None or name in needed:
                below = f"{path}.{name}" if path else name
                yield from differences(member, members.get(name), below, needed, is_closed=is_closed)
        for name in members if is_closed else ():
            if name not in wanted and members[name] is not None:
                yield PmDifference(f"{path}.{name}" if path else name, NOTHING, members[name])
    elif isinstance(wanted, list) and isinstance(actual, list):
        items, others = cast("list[object]", wanted), cast("list[object]", actual)
        for number, (item, other) in enumerate(zip(items, others, strict=False)):
            yield from differences(item, other, f"{path}[{number}]", needed, is_closed=is_closed)
        if len(items) != len(others):
            yield PmDifference(f"length of {path}", len(items), len(others))
    elif not same:
        yield difference


def _untagged(value: object) -> object:
    """The value inside a tag; anything else unchanged."""
    if not isinstance(value, dict):
        return value
    members = cast("dict[str, object]", value)
    tag, text = next(iter(members.items()), ("", None))
    if len(members) != 1 or not isinstance(text, str):
        return members
    try:
        if tag == "int":
            return read_value(LongInteger(text))
        return bytes.fromhex(text) if tag == "bytes" else members
    except ValueError:
        return members


def _shown(value: object) -> str:
    text = f"bytes {value.hex(' ')}" if isinstance(value, bytes) else json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


# ----------------------------------------------------------------------------------------------- operations


def _judge_snapshot(bench: Bench, expected: SnapshotExpectation, answer: Answer) -> Judgement:
    judged = expects(expected.answer, answer, bench.accidents)
    if judged is None and isinstance(answer, Accept):
        judged = judged_value(expected.value, answer.value or {}, needed=NEEDED_OF_A_SNAPSHOT)
    return _about(f"Parquet file of {_number(expected.parquet_file_size)} bytes", judged or RIGHT)


def _row_group_count(bench: Bench, parquet_file_size: int | LongInteger | None) -> int | None:
    """Number of row groups of the requested snapshot; ``None`` if the file is damaged."""
    wanted = None if parquet_file_size is None else _number(parquet_file_size)
    source = BytesSource(bench.golden.content())  # a driver may have written into its copy
    with contextlib.suppress(FormatError):
        size = pm_header.read_committed_size(source)
        for snapshot in pm_file.walk(source, pm_header.read_header(source, size), size):
            if wanted in (None, snapshot.fields.parquet_file_size):
                return snapshot.fields.row_group_count
    return None


def _judged_row_groups(bench: Bench, expected: PruneExpectation, answer: Answer) -> Judgement:
    judged = expects(expected.answer, answer, bench.accidents)
    if judged is not None or not isinstance(answer, Accept | IgnoredIndex):
        return judged or RIGHT
    kept = answer.row_groups or []
    right = f"{expected.must_keep} at least, {expected.kept} at most"
    if lost := sorted(set(expected.must_keep) - set(kept)):
        return Judgement(False, f"rows are lost: row group {lost[0]} is left out", right, str(kept))
    if len(set(kept)) != len(kept):
        return Judgement(False, "a row group is named twice", right, str(kept))
    count = _row_group_count(bench, expected.parquet_file_size)
    if kept and count is not None and not 0 <= min(kept) <= max(kept) < count:
        beyond = min(kept) if min(kept) < 0 else max(kept)
        return Judgement(False, f"there is no row group {beyond}, of {count}", right, str(kept))
    strange = sorted(set(kept) - set(expected.kept))
    if strange and not isinstance(answer, IgnoredIndex):
        return Judgement(False, f"row group {strange[0]} is kept", right, str(kept))
    return RIGHT


def _judge_plan(bench: Bench, expected: PlanExpectation, answer: Answer) -> Judgement:
    judged = expects(expected.answer, answer, bench.accidents)
    if judged is None and isinstance(answer, Accept):
        wanted = [[_number(part) for part in given] for given in expected.ranges or ()]
        found = [[_number(part) for part in given] for given in answer.ranges or ()]
        judged = judged_value({"ranges": wanted}, {"ranges": found})
    return _about(f"columns {', '.join(expected.columns)}", judged or RIGHT)


def _number(written: int | LongInteger) -> int | str:
    """A whole number, or the text if it is not a number."""
    try:
        found = read_value(written)
    except ValueNotReadableError as error:
        return str(error)
    return found if isinstance(found, int) else str(found)


def _about(what: str, judged: Judgement) -> Judgement:
    """A judgement that names its request among those of the case."""
    if judged.right:
        return judged
    return replace(judged, reason=f"{judged.reason} ({what})")


ASKING = (
    Asking(
        "snapshot", lambda _, expected: {"parquet_file_size": expected.parquet_file_size}, _judge_snapshot
    ),
    Asking(
        "prune",
        lambda _, expected: {
            "predicate": expected.predicate,
            "parquet_file_size": expected.parquet_file_size,
        },
        lambda bench, expected, answer: _about(
            json.dumps(expected.predicate), _judged_row_groups(bench, expected, answer)
        ),
    ),
    Asking(
        "plan",
        lambda _, expected: {
            "columns": expected.columns,
            "row_groups": expected.row_groups,
            "parquet_file_size": expected.parquet_file_size,
        },
        _judge_plan,
    ),
)
