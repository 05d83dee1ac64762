"""Inspection of a written file: the judge's findings on it, and its rows, or the logical value of a ``_pm``.

The file comes from a stranger's program, and decoding it happens in a process of its own:
``python -m pqassay.suite.written_file``.  What that process finds out is a `WrittenFile`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from pqassay.judge.checker import check
from pqassay.literals.predicate import literal
from pqassay_spec.base.sources import FileSource
from pqassay_spec.golden.literals import Value, write_value
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.reading import read_value
from pqassay_spec.pm.value_json import to_json as to_json_value


@dataclass(frozen=True)
class WrittenFile:
    """Findings on a written file, and its content.

    Attributes:
        outcome: ``conformant``, ``nonconformant`` or ``errored``.
        failures: Id and message of every rule that it breaks with verdict FAIL.
        checked: Ids of the rules that were tested.
        error: Why it could not be judged or read.
        rows: Its rows, the columns in the order asked for.
        value: The logical value of a ``_pm``.
    """

    outcome: str
    failures: list[tuple[str, str]]
    checked: list[str]
    error: str
    rows: list[list[Value]]
    value: dict[str, Any] | None = None


def inspect(path: str, options: dict[str, str], columns: Sequence[str]) -> WrittenFile:
    """Check a file at tier ``values``, and read columns of it with pyarrow, or what it says if it is a ``_pm``."""
    report = check(path, tier="values", **cast("Any", options))
    (file,) = report.files
    coverage = report.coverages[file.coverage]
    failures = [(found.rule, found.message) for found in file.findings if found.verdict == "FAIL"]
    rows: list[list[Value]] = []
    value, error = None, file.error or ""
    if failures or error:
        pass
    elif file.kind == "pm":
        value = read_pm(path)
    else:
        import pyarrow as pa  # noqa: PLC0415 - only for a file that is in order
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            # From memory and without threads: one that still lets go of a Python object when this process ends aborts it.
            with pq.ParquetFile(pa.BufferReader(Path(path).read_bytes())) as parquet:
                rows = read_rows(parquet.read(use_threads=False), columns)
        except (pa.ArrowException, OSError, ValueError, TypeError) as problem:
            error = f"its rows cannot be read: {' '.join(str(problem).split())}"
    return WrittenFile(file.outcome, failures, coverage.checked, error, rows, value)


def read_pm(path: str) -> dict[str, Any]:
    """The logical value of a ``_pm``, its newest snapshot.

    Raises:
        FormatError: It cannot be read.
    """
    with FileSource(path) as source:
        size = pm_header.read_committed_size(source)
        header = pm_header.read_header(source, size)
        return to_json_value(read_value(source, header, pm_file.read_snapshot(source, header, size)))


def read_rows(table: Any, columns: Sequence[str]) -> list[list[Value]]:
    """The rows of an Arrow table as Python values.

    Raises:
        ValueError: The columns are not those.
        TypeError: A value is of no type that the protocol has.
    """
    if sorted(table.column_names) != sorted(columns):
        raise ValueError(f"its columns are {', '.join(sorted(table.column_names))}")
    values = [table.column(name).to_pylist() for name in columns]
    rows = [list(row) for row in zip(*values, strict=True)]
    for row in rows:
        for value in row:
            if isinstance(value, bool) or not isinstance(value, (type(None), int, float, str, bytes)):
                raise TypeError(f"{value!r:.60} is no value of the protocol")
    return rows


def to_json(found: WrittenFile) -> str:
    """For the way between two processes."""
    members = asdict(found)
    members["rows"] = [[write_value(value) for value in row] for row in found.rows]
    return json.dumps(members, default=vars)


def from_json(text: bytes) -> WrittenFile:
    """The inverse of `to_json`."""
    members = json.loads(text)
    failures = [(rule, message) for rule, message in members.pop("failures")]
    rows = [[literal(value) for value in row] for row in members.pop("rows")]
    return WrittenFile(failures=failures, rows=rows, **members)


def command(path: Path, options: dict[str, str], columns: Sequence[str], output: Path) -> list[str]:
    """The command that inspects a file and writes what it finds as JSON."""
    request = json.dumps({"path": str(path), "options": options, "columns": list(columns)})
    return [sys.executable, "-m", "pqassay.suite.written_file", request, str(output)]


def environment() -> dict[str, str]:
    """Variables with which the command finds this package."""
    return {"PYTHONPATH": os.pathsep.join(folder for folder in sys.path if folder)}


def main() -> None:
    """Inspect one file; see `command`."""
    request = json.loads(sys.argv[1])
    found = inspect(request["path"], request["options"], request["columns"])
    Path(sys.argv[2]).write_text(to_json(found))


if __name__ == "__main__":
    main()
