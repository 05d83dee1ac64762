"""The runs of a history, and the comparison of a run's findings with earlier runs.

A history may be larger than memory. So only a 64-bit hash of each finding is kept, and only for the compared runs. With ten million
findings, one of 400,000 histories has two findings with the same hash; then one of the two may not be reported as new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from pqassay.errors import UsageError
from pqassay_lake.history.stores import History, NoRunError, Selection

Keys = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

RUN_COLUMNS = (
    "run",
    "at",
    "scope",
    "partial",
    "exit_code",
    "files",
    "nonconformant",
    "errored",
)

KEY_COLUMNS = ("path", "rule", "column")
"""The columns that identify a finding."""

FLAG_COLUMNS = ("counts", "known", "not_failing")
"""The other columns of `RunFindings`."""


@dataclass(frozen=True)
class RunFindings:
    """The findings of a run, as arrays.

    Attributes:
        keys: A hash of file, rule and column for each finding.
        counts: Whether each makes a file nonconformant, unless a baseline lists it.
        known: Whether a baseline lists each.
        not_failing: Whether each does not fail the check only because its rule is newer than the pinned release.
    """

    keys: Keys
    counts: Flags
    known: Flags
    not_failing: Flags


@dataclass(frozen=True)
class Compared:
    """The comparison of a run's findings with earlier runs.

    Attributes:
        keys: The distinct keys of its findings, sorted.
        is_new: By key, whether no earlier run had it, back to the last run that judged the whole scope.
        first: By key, the position of the first run that had it.
    """

    keys: Keys
    is_new: Flags
    first: npt.NDArray[np.int64]

    def at(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The positions of some keys among the keys of the run."""
        return np.searchsorted(self.keys, keys)


class Past:
    """The runs of a history, the newest first.

    Raises:
        UsageError: There is no history, or it cannot be read.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self.runs = runs_of(history)
        if not self.runs:
            raise NoRunError("there is no run in this history")

    def number(self, run: str | None) -> int:
        """The position of the run whose id begins with a text; without a text, of the newest run."""
        if run is None:
            return 0
        found = [number for number, one in enumerate(self.runs) if one["run"].startswith(run)]
        if len(found) != 1:
            what = "there is no run" if not found else f"{len(found)} runs begin with"
            raise UsageError(f"{what} {run}; `pqassay history` lists them")
        return found[0]

    def before(self, number: int) -> range:
        """The runs before a run, back to the last one that judged the whole scope."""
        scope = self.runs[number]["scope"]
        for earlier in range(number + 1, len(self.runs)):
            if self.runs[earlier]["scope"] == scope and not self.runs[earlier]["partial"]:
                return range(number + 1, earlier + 1)
        return range(number + 1, len(self.runs))

    def findings(self, numbers: Iterable[int]) -> dict[int, RunFindings]:
        """The findings of some runs, by position of the run."""
        parts: dict[int, list[RunFindings]] = {number: [] for number in numbers}
        for number, batch in self._findings(FLAG_COLUMNS, list(parts)):
            parts[number].append(
                RunFindings(keys_of(batch), *(flags_of(batch, name) for name in FLAG_COLUMNS))
            )
        return {number: _joined(of_run) for number, of_run in parts.items()}

    def compared(self, number: int, findings: RunFindings) -> Compared:
        """The comparison of a run's findings with all earlier runs."""
        keys = np.unique(findings.keys)
        is_new, first = np.ones(len(keys), np.bool_), np.full(len(keys), number, np.int64)
        recent = self.before(number)
        if len(keys):
            for earlier, batch in self._findings((), range(number + 1, len(self.runs))):
                theirs = keys_of(batch)
                at = np.searchsorted(keys, theirs)
                at = at[keys[np.minimum(at, len(keys) - 1)] == theirs] if len(at) else at
                first[at] = np.maximum(first[at], earlier)
                if earlier in recent:
                    is_new[at] = False
        return Compared(keys, is_new, first)

    def rows(self, number: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the findings of a run in batches; the identifying columns are included."""
        return (batch for _, batch in self._findings(columns, [number]))

    def judged(self, number: int) -> dict[str, int]:
        """The number of judged files of each writer in a run."""
        selection = Selection(("writer", "files"), ("writer",), [self.runs[number]["run"]])
        rows = (row for batch in self._history.batches(selection) for row in batch.to_pylist())
        return {row["writer"]: row["files"] for row in rows}

    def _findings(
        self, columns: Sequence[str], numbers: Sequence[int]
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield the findings of some runs in batches, run by run, each with the position of its run."""
        if not numbers:
            return
        names = {self.runs[number]["run"]: number for number in numbers}
        selection = Selection([*dict.fromkeys(["run", *KEY_COLUMNS, *columns])], ("finding",), list(names))
        for batch in self._history.batches(selection):
            runs = pc.unique(batch.column("run")).to_pylist()
            for run in runs:
                of_run = batch if len(runs) == 1 else batch.filter(pc.field("run") == run)
                yield names[run], of_run


def runs_of(history: History) -> list[dict[str, Any]]:
    """The rows of runs, the newest first."""
    batches = history.batches(Selection(RUN_COLUMNS, ("run",)))
    rows: list[dict[str, Any]] = [row for batch in batches for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: (row["at"], row["run"]), reverse=True)


def new_among(findings: RunFindings, earlier: Sequence[RunFindings]) -> Flags:
    """For each finding, whether no earlier run had it."""
    is_new = np.ones(len(findings.keys), np.bool_)
    for run in earlier:
        is_new &= ~np.isin(findings.keys, run.keys)
    return is_new


def keys_of(batch: pa.RecordBatch) -> Keys:
    """A hash of the identifying columns of each finding."""
    path, rule, column = (batch.column(name) for name in KEY_COLUMNS)
    join: Any = pc.binary_join_element_wise  # the type stub does not allow text
    # A column without a name differs from a missing column.
    named = pc.fill_null(join("=", column, ""), "")
    return hashes_of(join(path, rule, named, "\0"))


def hashes_of(texts: Any) -> Keys:
    """A hash of each text of an array."""
    content = texts.cast(pa.binary()).to_pylist()
    return np.fromiter(map(xxhash.xxh3_64_intdigest, content), np.uint64, len(content))


def flags_of(batch: pa.RecordBatch, name: str) -> Flags:
    """A boolean column, in which null is false."""
    values: Any = pc.fill_null(batch.column(name), pa.scalar(False))
    return np.asarray(values.to_numpy(zero_copy_only=False), np.bool_)


def time_of(run: Mapping[str, Any]) -> str:
    """The start of a run, as text."""
    return f"{run['at']:%Y-%m-%d %H:%M:%S}"


def _joined(parts: Sequence[RunFindings]) -> RunFindings:
    if not parts:
        return RunFindings(np.empty(0, np.uint64), *(np.empty(0, np.bool_) for _ in FLAG_COLUMNS))
    return RunFindings(
        np.concatenate([one.keys for one in parts]),
        *(np.concatenate([getattr(one, name) for one in parts]) for name in FLAG_COLUMNS),
    )
