"""Inspection of a written file: the judge's findings on it, and its rows, or the logical value of a ``_pm``.

The file comes from an untrusted program, so it is decoded in a separate process, one for all files of a run:
``python -m pqassay_suite.drivers.written_file --serve``.  The result of that process is a `WrittenFile`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO, cast

from pqassay.judge.checker import check
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import FileSource
from pqassay_spec.golden.literals import Written, write_value
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.reading import read_value as read_pm_value
from pqassay_spec.pm.value_json import to_json as to_json_value
from pqassay_suite.drivers.arrow_values import rows_of
from pqassay_suite.drivers.fulfilled import unfulfilled
from pqassay_suite.drivers.protocol import Wishes, adapter


@dataclass(frozen=True)
class WrittenFile:
    """Findings on a written file, and its content.

    Attributes:
        outcome: ``conformant``, ``untrue``, ``nonconformant`` or ``errored``.
        failures: Id and message of every rule that it breaks with verdict FAIL.
        checked: Ids of the rules that were tested.
        error: Why it could not be judged or read.
        rows: Its rows, with the columns in the requested order.
        value: The logical value of a ``_pm``.
        unfulfilled: Wishes that it does not fulfill.
        warnings: Id and message of every rule with verdict WARN.
    """

    outcome: str
    failures: list[tuple[str, str]]
    checked: list[str]
    error: str
    rows: list[list[Written]]
    value: dict[str, Any] | None = None
    unfulfilled: list[str] = field(default_factory=list[str])
    warnings: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True)
class Inspection:
    """The input of an inspection: a file, options of the check, the columns of its rows, and the requested structure."""

    path: str
    options: dict[str, str]
    columns: list[str]
    wishes: Wishes | None = None


def inspect(wanted: Inspection) -> WrittenFile:
    """Check a file at tier ``values``, and read columns of it with pyarrow, or the content of a ``_pm``."""
    path = wanted.path
    report = check(path, tier="values", crc=True, **cast("Any", wanted.options))
    (file,) = report.files
    coverage = report.coverages[file.coverage]
    failures, warnings = (
        [(found.rule, found.message) for found in file.findings if found.verdict == verdict]
        for verdict in ("FAIL", "WARN")
    )
    rows: list[list[Written]] = []
    value, error = None, file.error or ""
    missed: list[str] = []
    if file.kind == "pm":
        value = None if failures or error else read_pm(path)
    elif error:
        pass
    else:
        import pyarrow as pa  # noqa: PLC0415 - only for a Parquet file
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            # From memory and without threads: a thread that still releases a Python object when this process exits would abort it.
            with pq.ParquetFile(pa.BufferReader(Path(path).read_bytes())) as parquet:
                table = parquet.read(use_threads=False)
            rows = [[write_value(value) for value in row] for row in rows_of(table, wanted.columns)]
            if wanted.wishes is not None:
                with FileSource(path) as source:
                    missed = list(unfulfilled(FileUnderTest(source, Options("pages")), wanted.wishes))
        except (pa.ArrowException, OSError, ValueError, TypeError) as problem:
            error = f"its rows cannot be read: {' '.join(str(problem).split())}"
    return WrittenFile(file.outcome, failures, coverage.checked, error, rows, value, missed, warnings)


def read_pm(path: str) -> dict[str, Any]:
    """The logical value of a ``_pm``, its newest snapshot.

    Raises:
        FormatError: It cannot be read.
    """
    with FileSource(path) as source:
        size = pm_header.read_committed_size(source)
        header = pm_header.read_header(source, size)
        return to_json_value(read_pm_value(source, header, pm_file.read_snapshot(source, header, size)))


def serve(requests: Iterable[str], answers: TextIO) -> None:
    """Inspect one file for each request line, an `Inspection` as JSON."""
    for line in requests:
        found = inspect(adapter(Inspection).validate_json(line))
        print(json.dumps(asdict(found)), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
