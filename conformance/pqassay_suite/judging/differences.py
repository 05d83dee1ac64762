"""The difference between right rows and returned rows, in words that are equal for files with the same defect.

These words have no names and no values, only the kind of a column and the kind of its difference.  If that is
not specific, as with a wrong number, the feature of the file is added: the damaged field, or the encodings
and types.
"""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pqassay.literals.rows import canonical_row
from pqassay.report.run.outcomes import Operation
from pqassay_spec.golden.literals import (
    Date,
    Decimal,
    List,
    Map,
    Struct,
    Time,
    Timestamp,
    Value,
    Written,
    read_value,
)
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.cases.file_facts import facts_of
from pqassay_suite.drivers.protocol import Answer, Reject
from pqassay_suite.judging.bench import Judgement
from pqassay_suite.judging.causes import blanked, refusal_of

MOST_PAIRED = 200
"""Most rows that are compared with each other; more rows are compared in their order."""

OTHER_VALUE = "another value"

_UNITS = (10**3, 10**6, 10**9)
"""Nanoseconds of the units of times, without the smallest unit."""

LENGTHS = ("cut", "longer")
"""Differences that two unrelated values may have."""

Row = Sequence[Value]


@dataclass(frozen=True)
class Difference:
    """The difference between two values or sets of rows.

    Attributes:
        words: The kind of the column and of its difference: ``null instead of list``.
        is_telling: Whether that identifies a defect; otherwise, a feature of the file is needed.
    """

    words: str
    is_telling: bool = True


@dataclass(frozen=True)
class Selection:
    """The rows of a file from which a query selects.

    Attributes:
        rows: All rows, with the columns of the query.
        compared: For each row, the values that the predicate compares.
        by_row: These values by the canonical row.
    """

    rows: Sequence[Row] = ()
    compared: Sequence[Row] = ()
    by_row: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])

    def __post_init__(self) -> None:
        for row, compared in zip(self.rows, self.compared, strict=True):
            self.by_row.setdefault(canonical_row(row), []).append(compared)


def difference_of_rows(
    wanted: Sequence[Row], found: Sequence[Row], chosen: Selection | None = None
) -> Difference:
    """The main difference between two multisets of rows.

    >>> difference_of_rows([[1, "a"], [2, "b"]], [[1, "a"], [2, b"b"]]).words
    'bytes instead of text'
    >>> difference_of_rows([[1]], [[1], [2]]).words
    'rows too many'

    Args:
        wanted: The right rows.
        found: The returned rows.
        chosen: All rows of the file: wrong rows among these were selected wrongly, not read wrongly.
    """
    missing, extra = _unmatched(wanted, found)
    known = chosen.by_row if chosen is not None else {}
    strange = [(place, row) for place, row in extra if canonical_row(row) not in known]
    if wanted and any(len(row) != len(wanted[0]) for _, row in extra):
        return Difference("other columns")
    same_count = len(wanted) == len(found)
    if pairs := _paired(missing, strange, same_count):
        return _most_frequent([one for pair in pairs for one in _of_rows(*pair)])
    if same_count:  # rows of the file may still replace others, if a value shows it
        pairs = _paired(missing, extra, same_count)
        kind = _most_frequent([one for pair in pairs for one in _of_rows(*pair)] or [Difference("", False)])
        if kind.is_telling and not kind.words.endswith(LENGTHS):
            return kind
    words = [*["rows missing"] * bool(missing), *["rows too many"] * bool(extra)]
    special = _special([row for _, row in (*missing, *extra)], known)
    return Difference(" and ".join(words) + (f" where {special}" if special else ""), bool(special))


def _unmatched(
    wanted: Sequence[Row], found: Sequence[Row]
) -> tuple[list[tuple[int, Row]], list[tuple[int, Row]]]:
    """The rows that only one side has, with their positions, for each side."""

    def rest(rows: Sequence[Row], others: Sequence[Row]) -> list[tuple[int, Row]]:
        there = Counter(canonical_row(row) for row in others)
        left: list[tuple[int, Row]] = []
        for place, row in enumerate(rows):
            text = canonical_row(row)
            if there[text]:
                there[text] -= 1
            else:
                left.append((place, row))
        return left

    return rest(wanted, found), rest(found, wanted)


def _paired(
    missing: Sequence[tuple[int, Row]], extra: Sequence[tuple[int, Row]], same_count: bool
) -> list[tuple[Row, Row]]:
    """Pairs of a missing row and the returned row in its place: at the same position, or the row that shares most values."""
    if same_count and [place for place, _ in missing] == [place for place, _ in extra]:
        return [(lost, found) for (_, lost), (_, found) in zip(missing, extra, strict=True)]
    left, pairs = deque(row for _, row in extra[:MOST_PAIRED]), list[tuple[Row, Row]]()
    for _, lost in missing[:MOST_PAIRED]:
        if not left:
            break
        best = max(left, key=lambda found: _alike(lost, found))  # the first of those that are equally alike
        if len(lost) == 1 or _alike(lost, best):
            left.remove(best)
            pairs.append((lost, best))
    return pairs


def _alike(wanted: Row, found: Row) -> int:
    return sum(_is_same(one, other) for one, other in zip(wanted, found, strict=True))


def _is_same(wanted: Value, found: Value) -> bool:
    return canonical_row([wanted]) == canonical_row([found])


def _of_rows(wanted: Row, found: Row) -> Iterator[Difference]:
    for one, other in zip(wanted, found, strict=True):
        if not _is_same(one, other):
            yield difference_of_values(one, other)


def _most_frequent(differences: Sequence[Difference]) -> Difference:
    """The most specific of several differences, then the most frequent, then the first by its words."""
    counts = Counter(differences)
    return min(counts, key=lambda one: (not one.is_telling, -counts[one], one.words))


def _special(rows: Sequence[Row], known: Mapping[str, list[Row]]) -> str:
    """The special value that all wrongly selected rows have in common, among the values that the query compares."""
    compared = [known.get(canonical_row(row), []) for row in rows]
    for words, is_special in _SPECIAL.items():
        if compared and all(any(is_special(value) for values in one for value in values) for one in compared):
            return words
    return ""


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


_SPECIAL: Mapping[str, Callable[[Value], bool]] = {
    "a float is NaN": _is_nan,
    "a float is zero": lambda value: isinstance(value, float) and value == 0,
    "a value is null": lambda value: value is None,
    "a value is a struct": lambda value: isinstance(value, Struct),
}

_NAMES: Sequence[tuple[type, str]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "float"),
    (str, "text"),
    (bytes, "bytes"),
    *((kind, kind.__name__.lower()) for kind in (Decimal, Date, Time, Timestamp, List, Struct, Map)),
)


def name_of(value: Value) -> str:
    """The kind of a value.

    >>> name_of(None), name_of(True), name_of(List([]))
    ('null', 'boolean', 'list')
    """
    return next((name for kind, name in _NAMES if isinstance(value, kind)), "null")


def difference_of_values(wanted: Value, found: Value) -> Difference:
    """The difference between two different values.

    >>> difference_of_values(List([1]), None).words
    'null instead of list'
    >>> difference_of_values(Struct({"x": List([1, "a"])}), Struct({"x": List([1, None])})).words
    'in a list in a struct: null instead of text'
    """
    name, other = name_of(wanted), name_of(found)
    if name != other:
        empty = "empty " * (found in (List([]), Map([])))
        return Difference(f"{empty}{other} instead of {name}")
    if isinstance(wanted, List) and isinstance(found, List):
        return _inside("list", wanted.list, found.list, "elements")
    if isinstance(wanted, Map) and isinstance(found, Map):
        parts, others = ([part for pair in one.map for part in pair] for one in (wanted, found))
        return _inside("map", parts, others, "entries")
    if isinstance(wanted, Struct) and isinstance(found, Struct):
        if set(wanted.struct) != set(found.struct):
            return Difference("struct with other members")
        names = sorted(wanted.struct)
        return _inside(
            "struct", [wanted.struct[one] for one in names], [found.struct[one] for one in names], ""
        )
    words = next((words for words, holds in _OF_LEAVES.items() if holds(wanted, found)), OTHER_VALUE)
    return Difference(f"{name}: {words}", words != OTHER_VALUE)


def _inside(name: str, wanted: Sequence[Written], found: Sequence[Written], parts: str) -> Difference:
    if len(wanted) != len(found):
        return Difference(f"{name} with {'fewer' if len(found) < len(wanted) else 'more'} {parts}")
    both = ((read_value(one), read_value(other)) for one, other in zip(wanted, found, strict=True))
    inner = _most_frequent([difference_of_values(*pair) for pair in both if not _is_same(*pair)])
    inside, colon, words = inner.words.partition(": ")
    if not inside.startswith("in a "):
        return Difference(f"in a {name}: {inner.words}", inner.is_telling)
    return Difference(f"{inside} in a {name}{colon}{words}", inner.is_telling)


def _is_of_another_sign(wanted: Value, found: Value) -> bool:
    return (
        type(wanted) is int
        and type(found) is int
        and abs(wanted - found) in {1 << width for width in (8, 16, 32, 64)}
    )


def _moments(wanted: Value, found: Value) -> tuple[int, int] | None:
    if isinstance(wanted, Timestamp) and isinstance(found, Timestamp):
        return int(wanted.timestamp), int(found.timestamp)
    if isinstance(wanted, Time) and isinstance(found, Time):
        return int(wanted.time), int(found.time)
    return None


def _is_less_precise(wanted: Value, found: Value) -> bool:
    moments = _moments(wanted, found)
    return moments is not None and any(moments[0] // unit * unit == moments[1] for unit in _UNITS)


def _is_of_another_unit(wanted: Value, found: Value) -> bool:
    moments = _moments(wanted, found)
    return moments is not None and any(
        moments[0] * unit == moments[1] or moments[1] * unit == moments[0] for unit in _UNITS
    )


def _is_of_another_scale(wanted: Value, found: Value) -> bool:
    if not (isinstance(wanted, Decimal) and isinstance(found, Decimal)):
        return False
    digits = [re.sub(r"^(-?)0+(?=\d)", r"\1", one.decimal.replace(".", "")) for one in (wanted, found)]
    return digits[0] == digits[1] or float(wanted.decimal) == float(found.decimal)


def _is_cut(wanted: Value, found: Value) -> bool:
    if isinstance(wanted, str) and isinstance(found, str):
        return wanted.startswith(found)
    return isinstance(wanted, bytes) and isinstance(found, bytes) and wanted.startswith(found)


_OF_LEAVES: Mapping[str, Callable[[Value, Value], bool]] = {
    "NaN for a number": lambda _, found: _is_nan(found),
    "a number for NaN": lambda wanted, _: _is_nan(wanted),
    "another sign of zero": lambda wanted, found: wanted == found == 0,
    "another sign": _is_of_another_sign,
    "less precise": _is_less_precise,
    "another unit": _is_of_another_unit,
    "another scale": _is_of_another_scale,
    "cut": _is_cut,
    "longer": lambda wanted, found: _is_cut(found, wanted),
}
"""Differences of two values of one kind that identify a defect; the first that is true is used."""

COMMON = frozenset({"encoding.plain", "encoding.rle", "encoding.rle-dictionary", "encoding.plain-dictionary"})
"""Encodings that most files have."""

TELLING_TAGS = ("encoding.", "encrypted.", "levels.", "nested", "page.v2", "physical.int96", "type.")


def feature_of(golden: GoldenCase) -> str:
    """The special feature of a case's file: the damaged field, or features that few files use; empty if there is none."""
    mutation = golden.case.mutation
    if mutation is not None:
        return re.sub(r"\[\d+\]", "", mutation.path).removeprefix("footer.")
    return ", ".join(tag for tag in _tags_of(golden) if tag.startswith(TELLING_TAGS) and tag not in COMMON)


def _tags_of(golden: GoldenCase) -> tuple[str, ...]:
    """The features of a case's file; cached, because a wrong reader often fails many queries about it."""
    if golden.known_facts is not None:
        return golden.known_facts.tags
    sha256 = golden.case.input.sha256
    if sha256 not in _TAGS:
        _TAGS[sha256] = facts_of(golden.content()).tags
    return _TAGS[sha256]


_TAGS: dict[str, tuple[str, ...]] = {}
"""The features of files, by digest."""


def cause_words(difference: Difference, golden: GoldenCase) -> str:
    """The words of a difference, with the feature of the file if they are not specific."""
    feature = "" if difference.is_telling else feature_of(golden)
    return f"{difference.words} ({feature})" if feature else difference.words


def names_of(golden: GoldenCase) -> frozenset[str]:
    """The names of the columns of a case's file, and of the members of its structs."""
    columns = rows.columns if (rows := golden.rows or (golden.parent and golden.parent.rows)) else []
    members = (name for column in columns for name in re.findall(r"(\w+):", column.type))
    return frozenset({*(column.name for column in columns), *members} - {""})


def cause_of_answer(golden: GoldenCase, operation: Operation, judged: Judgement, reply: Answer) -> str:
    """The difference between a wrong answer and the right one, in words without names and values."""
    if judged.cause:
        return judged.cause
    if isinstance(reply, Reject) and judged.fault in ("refused", "declined", "accident"):
        return refusal_of(reply.raised, reply.message, names_of(golden))
    if judged.fault == "accepted":
        return f"accepted: {feature_of(golden)}"
    path = re.sub(r"\[\d+\]", "", judged.difference)
    return " ".join(filter(None, (f"{operation}: {blanked(judged.reason, names_of(golden))}", path)))
