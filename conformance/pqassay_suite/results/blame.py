"""Find the feature of a file that makes a reader fail: the whole difference to files that the reader can read.

A file has many features, and most of them are unrelated to its failure. Each failure is narrowed down:

1. *Columns*: the result names the columns with wrong values. If it names none, as with a refusal, each column of the file may be the
   cause, except columns whose equal is read elsewhere. A feature is only to blame if all these columns agree on it.
2. *Pairs*: a feature is suspected if the reader reads a column that has all other features of the failing column. Varieties of the
   feature may be absent too: a column that is not a BYTE_ARRAY is not a STRING either.
3. *Values*: if a column with equal features is read elsewhere, the values make the difference. Then only the type of the column
   is suspected, because encodings and codecs do not depend on the values.
4. *The narrowest*: a variety is blamed before its general feature; otherwise, the feature whose cases fail most often is blamed.

If there is no such pair, no feature is blamed, and the case shows nothing about the features of the columns that may have failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pqassay.report.run.model import Result
from pqassay.report.run.outcomes import UNMET
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.results.columns import Column

Tags = frozenset[str]

MATTERS: Mapping[str, tuple[str, ...]] = {
    "physical": ("physical.", "logical.", "type."),
    "logical": ("physical.", "logical.", "type.", "nested"),
    "encoding": ("encoding.",),
}
"""For the prefix of a feature's tag, the prefixes of related tags; other tags accompany it in golden files by accident."""


@dataclass(frozen=True)
class Failure:
    """A file that was not read.

    Attributes:
        case: Id of its case.
        columns: The columns that may have failed.
        others: The columns that were read.
        is_named: Whether the result names the columns.
    """

    case: str
    columns: tuple[Column, ...]
    others: tuple[Column, ...] = ()
    is_named: bool = False

    def may_be_about(self, tags: Tags) -> bool:
        """Whether a column that may have failed has these features."""
        return any(tags <= column.tags for column in self.columns)


def failure_of(result: Result, columns: Mapping[str, Column]) -> Failure:
    """The failing and working columns of a file, according to a result."""
    words = result.first_difference or ""
    names = words.removeprefix("columns ").removeprefix("column ").split(", ")
    if words.startswith("column") and columns.keys() >= set(names):
        named = tuple(columns[name] for name in names)
        others = tuple(column for name, column in columns.items() if name not in names)
        return Failure(result.case, named, others, is_named=True)
    return Failure(result.case, tuple(columns.values()), is_named=len(columns) == 1)


@dataclass(frozen=True)
class Kind:
    """The features that accompany a feature in golden files.

    Attributes:
        tags: Its own tags.
        always: The tags of every column with it.
        kindred: Related tags that every column with it has, or that no column without it has: for example, a type and its varieties.
    """

    tags: Tags
    always: Tags
    kindred: Tags


def kinds(features: Mapping[str, Tags], columns: Iterable[Column]) -> dict[str, Kind]:
    """The features that accompany each feature in these columns."""
    known = [column.tags for column in columns]
    kinds_by_feature: dict[str, Kind] = {}
    for name, tags in features.items():
        having = [other for other in known if tags <= other]
        without = [other for other in known if not tags <= other]
        always = frozenset.intersection(*having) if having else tags
        near = always | (Tags().union(*having) - Tags().union(*without))
        prefixes = MATTERS.get(min(tags).partition(".")[0], ())
        kinds_by_feature[name] = Kind(tags, always, tags | {tag for tag in near if tag.startswith(prefixes)})
    return kinds_by_feature


def writers_blamed(
    cases: Sequence[str],
    wrong: Mapping[str, Result],
    writers: Sequence[GoldenCase],
    wish: str,
    rules: Sequence[str],
) -> list[str]:
    """The cases of writers with a feature as a wish that fail because of it.

    For comparison, the same table is also written without a wish: if that fails in the same way, the table is the
    cause. If a file breaks rules of the feature's own families, the feature is the cause in any case.  A
    requested structure is not to blame if the writer names another one. It is also not to blame if a right
    file lacks it but other files have it: writers omit filters that they consider useless.

    Args:
        cases: Ids of the cases.
        wrong: The failures, by case.
        writers: All cases of writers.
        wish: The name of the wish.
        rules: The families of rules about the feature.
    """
    by_id = {golden.case.id: golden for golden in writers}
    plain = {_table(golden): golden.case.id for golden in writers if not _wishes(golden)}
    is_met = any(case not in wrong for case in cases)
    found: list[str] = []
    for case in cases:
        result = wrong.get(case)
        if result is None or (result.severity == UNMET and is_met):
            continue
        golden = by_id[case]
        own = any(
            rule.partition("-")[0] in rules for rule in result.rules or () if result.outcome == "failed"
        )
        words = f"{result.reason} {result.actual or ''}"
        other = any(name in words for name in _wishes(golden) if name != wish) and wish not in words
        alike = wrong.get(plain.get(_table(golden), ""))
        same = alike is not None and (alike.outcome, alike.cause) == (result.outcome, result.cause)
        if own or not (same or other):
            found.append(case)
    return found


def _wishes(golden: GoldenCase) -> set[str]:
    """The names of the wishes of a case."""
    return {name for name, value in vars(golden.wishes).items() if value not in (None, False)}


def _table(golden: GoldenCase) -> str:
    """The name of the table of a writer's case."""
    return golden.case.id.rpartition("/")[0]


class Judge:
    """Compares suspected features with the columns that were read.

    Args:
        failures: The files that were not read.
        passed: The columns of each file that was read, by its case.
        known: The features, by their ids.
    """

    def __init__(
        self,
        failures: Sequence[Failure],
        passed: Mapping[str, Sequence[Column]],
        known: Mapping[str, Kind],
    ) -> None:
        self.kinds = known
        self.read = {column.tags for columns in passed.values() for column in columns}
        self.read.update(column.tags for failure in failures for column in failure.others)
        self.shares: dict[str, float] = {}
        for name, kind in known.items():
            failing = sum(failure.may_be_about(kind.tags) for failure in failures)
            reading = sum(any(kind.tags <= column.tags for column in columns) for columns in passed.values())
            self.shares[name] = failing / max(failing + reading, 1)

    def culprits(self, failure: Failure) -> set[str]:
        """The ids of the features to blame for a failure; may be empty."""
        if failure.is_named:
            return set().union(*(self.of_column(column) for column in failure.columns))
        columns = [column for column in failure.columns if not self.is_read(column)]
        return set.intersection(*(self.of_column(column) for column in columns)) if columns else set()

    def is_read(self, column: Column) -> bool:
        """Whether a column with all these features is read."""
        return any(column.tags <= other for other in self.read)

    def of_column(self, column: Column) -> set[str]:
        """The features to blame for a failing column."""
        only_values = self.is_read(column)
        missing = {column.tags - other for other in self.read}
        suspects = {
            name
            for name, kind in self.kinds.items()
            if kind.tags <= (column.outer if only_values else column.tags)
            and any(kind.tags & lacks and lacks <= kind.kindred for lacks in missing)
        }
        narrowest = {name for name in suspects if not any(self.is_variety(other, name) for other in suspects)}
        most = max((self.shares[name] for name in narrowest), default=0)
        return {name for name in narrowest if self.shares[name] == most}

    def is_variety(self, name: str, of: str) -> bool:
        """Whether all columns with a feature have another one, but not the other way round."""
        kind, wider = self.kinds[name], self.kinds[of]
        return wider.tags <= kind.always and not kind.tags <= wider.always
