"""The part of a run's result about a user's own files: the basis of each verdict, and the failing features.

The expected rows of such files are the rows on which two independent readers agree; see `pqassay_suite.own_files.collection`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pqassay.report.model import Ignored

MOST_TOLD = 8
"""The number of files without known rows that are listed individually."""

RowsKnown = Literal["agreed", "unspecified"]
"""Whether two readers agreed about the rows; without agreement, only a crash is wrong."""


@dataclass(frozen=True)
class FileAsked:
    """A user's file about which the driver was asked.

    Attributes:
        case: Its path below the folder, which is the id of its case.
        judged: The outcome of ``pqassay check`` on it.
        rows: Whether its rows are known.
        readers: The answer of each reader about its rows, by name.
        tags: The features that it uses.
    """

    case: str
    judged: str
    rows: RowsKnown
    readers: dict[str, str] = field(default_factory=dict[str, str])
    tags: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class FeatureCount:
    """The outcomes of files with a feature.

    Attributes:
        feature: Its name.
        asked: The number of files with it.
        passed: The number of these files with a right answer.
        failed: The number of these files with a wrong answer or no answer.
        unsupported: The number of these files that need a capability which the library does not declare.
    """

    feature: str
    asked: int
    passed: int
    failed: int
    unsupported: int = 0


@dataclass(frozen=True)
class Collection:
    """The user's own files about which the driver was asked.

    Attributes:
        readers: The readers that determined the right rows: names and versions.
        files: The files, in the order of their paths.
        left_out: Files that were found but not used.
        features: Features of files with failures; features that always failed come first.
    """

    readers: list[str]
    files: list[FileAsked]
    left_out: list[Ignored] = field(default_factory=list[Ignored])
    features: list[FeatureCount] = field(default_factory=list[FeatureCount])

    @property
    def tags(self) -> dict[str, list[str]]:
        """The features of each file, by its case."""
        return {file.case: file.tags for file in self.files}

    @property
    def uncertain(self) -> list[FileAsked]:
        """The files whose right rows are unknown."""
        return [file for file in self.files if file.rows == "unspecified"]


def features(
    tags: Mapping[str, Sequence[str]],
    passed: Iterable[str],
    failed: Iterable[str],
    unsupported: Iterable[str] = (),
) -> list[FeatureCount]:
    """The features of files with failures; features that always failed come first.

    >>> features({"a": ["codec.lz4", "page.v1"], "b": ["page.v1"]}, passed=["b"], failed=["a"])[0]
    FeatureCount(feature='codec.lz4', asked=1, passed=0, failed=1, unsupported=0)

    Args:
        tags: The features of each file.
        passed: Files with right answers.
        failed: Files with wrong answers.
        unsupported: Files that need a capability which the library lacks.
    """
    counts = [
        Counter(tag for case in cases for tag in tags.get(case, ()))
        for cases in (passed, failed, unsupported)
    ]
    right, wrong, missing = counts
    found = [
        FeatureCount(name, right[name] + wrong[name] + missing[name], right[name], wrong[name], missing[name])
        for name in wrong | missing
    ]
    return sorted(found, key=lambda one: (one.passed / one.asked, -one.asked, one.feature))


def suspects(tags: Mapping[str, Sequence[str]], failed: Sequence[str], passed: Iterable[str]) -> list[str]:
    """The features that all failed files have and no passed file has.

    >>> suspects({"a": ["codec.lz4", "page.v1"], "b": ["page.v1"]}, ["a"], ["b"])
    ['codec.lz4']
    """
    if not failed:
        return []
    fine = {tag for case in passed for tag in tags.get(case, ())}
    return sorted(
        tag
        for tag in tags.get(failed[0], ())
        if tag not in fine and all(tag in tags.get(case, ()) for case in failed)
    )


def left_out_lines(left_out: Sequence[Ignored]) -> list[str]:
    """Lines about files that were not used, one for each reason."""
    return [
        f"{entry.count} left out, {entry.reason}: {', '.join(entry.examples)}{', …' if entry.count > len(entry.examples) else ''}"
        for entry in left_out
    ]


def lines(collection: Collection) -> list[str]:
    """Lines about the basis of the verdicts, and about files that were not used."""
    known, uncertain = len(collection.files) - len(collection.uncertain), collection.uncertain
    texts = [
        f"expected rows of {known} of {len(collection.files)} files: two of {', '.join(collection.readers)} read the same"
    ]
    if uncertain:
        texts.append(f"expected rows of {len(uncertain)} are not known; only a crash counts as wrong there:")
    for file in uncertain[:MOST_TOLD]:
        said = (
            "; ".join(f"{name}: {words}" for name, words in file.readers.items())
            or "its columns are not known"
        )
        texts.append(f"  {file.case} ({file.judged}): {said}")
    if len(uncertain) > MOST_TOLD:
        texts.append(f"  … and {len(uncertain) - MOST_TOLD} more")
    return texts + left_out_lines(collection.left_out)


def feature_rows(collection: Collection) -> list[tuple[str, ...]]:
    """The features of failed files as a table, its header first; empty if nothing failed."""
    counts = ("failed", "unsupported", "passed")
    shown = [
        name for name in counts if any(getattr(one, name) for one in collection.features) or name == "passed"
    ]
    rows = [
        (one.feature, *(str(getattr(one, name)) for name in shown), str(one.asked))
        for one in collection.features
    ]
    return [("feature", *shown, "files"), *rows] if rows else []
