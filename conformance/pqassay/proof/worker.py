"""The work of the processes behind a proof: finding queries and true rows, and running an engine's programs.

Broken pages and the engines that read them may crash, so both stay out of the reporting process.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pqassay.proof.candidates import candidates
from pqassay.proof.queries import NoQuery, Query, is_of_count, number_of, true_rows
from pqassay.proof.true_values import TrueValues
from pqassay.report.model import Finding
from pqassay.under_test.file import FileUnderTest, NotChecked, Options
from pqassay.values.decoding.physical import first_line
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource

MOST_SAID = 200
"""The number of characters of a Java error that are kept."""

JAVA_HAS_ENDED = 70
"""The exit status of a process without its Java process. Spark ends Java on errors such as a lack of memory."""

MOST_DENSE = 1 << 40
"""The limit of row codes; above it, codes are renumbered so that they fit in 64-bit integers."""


# ----------------------------------------------------------------------------------------------- queries and truth


@dataclass(frozen=True)
class Planned:
    """A query with the paths of its true rows and of a healthy copy.

    Attributes:
        query: The query.
        rows: The number of true rows.
        truth: The file with these rows, an Arrow IPC file.
        healthy: A Parquet file with all rows of the columns and no claims about them.
    """

    query: Query
    rows: int
    truth: Path
    healthy: Path


@dataclass(frozen=True)
class QueryPlan:
    """Queries for the findings of a file.

    Attributes:
        queries: The queries, without duplicates.
        of_findings: For each finding, the positions of its queries, or the reason why there are none.
    """

    queries: list[Planned]
    of_findings: list[list[int] | str]


def plan(path: str, findings: Sequence[Finding], folder: Path) -> QueryPlan:
    """Find the queries for some findings of a file, and write their true rows into a folder."""
    queries: dict[Query, int] = {}
    queries_planned: list[Planned] = []
    of_findings: list[list[int] | str] = []
    with FileSource(path) as source:
        values = TrueValues(FileUnderTest(source, Options("values")))
        for finding in findings:
            numbers: list[int] = []
            try:
                for query in candidates(finding, values):
                    if query not in queries:
                        queries[query] = len(queries_planned)
                        queries_planned.append(planned(query, values, folder, len(queries_planned)))
                    numbers.append(queries[query])
                of_findings.append(numbers or "no value can show the difference in a query")
            except NoQuery as reason:
                of_findings.append(str(reason))
            # A value beyond the range of its type does not fit in any library.
            except (NotChecked, FormatError, pa.ArrowException, OverflowError) as reason:
                of_findings.append(f"the true rows are unknown: {reason}")
    return QueryPlan(queries_planned, of_findings)


def planned(query: Query, values: TrueValues, folder: Path, number: int) -> Planned:
    """A numbered query, with its true rows and a healthy copy in a folder. Raises `NotChecked`."""
    table = values.table(query.used)
    truth = folder / f"truth-{number}.arrow"
    rows = write_truth(query, values, truth)
    used = {column.name for column in query.used}
    ordinals = [str(ordinal) for ordinal, leaf in enumerate(values.file.leaves) if leaf.name in used]
    healthy = folder / f"healthy-{'-'.join(ordinals)}.parquet"
    if not healthy.exists():
        pq.write_table(_as_given(table, values), healthy, write_statistics=False)
    return Planned(query, rows, truth, healthy)


def write_truth(query: Query, values: TrueValues, path: Path) -> int:
    """Write the true rows of a query as an Arrow IPC file; return their number. Raises `NotChecked`."""
    rows = true_rows(query, values.table(query.used))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
        writer.write_table(rows)
    return len(rows)


def _as_given(table: pa.Table, values: TrueValues) -> pa.Table:
    """The values converted to the file's own Arrow types, if they fit."""
    with contextlib.suppress(pa.ArrowException, OSError, ValueError):
        schema = pq.read_schema(values.file.source.name)
        for place, name in enumerate(table.column_names):
            table = table.set_column(place, name, table.column(name).cast(schema.field(name).type))
    return table


# ---------------------------------------------------------------------------------------------------- an engine


@dataclass(frozen=True)
class ProofAnswer:
    """Answer of an engine to a query.

    Attributes:
        rows, lost, wrong: The number of returned rows, of true rows that are missing, and of returned rows
            that are not true.
        wrong_row: The first row that is not true, if its values are Python literals without imports.
        error: The reason why there are no rows.
        has_panicked: Whether the error was a crash instead of one of the engine's own errors.
        is_incomparable: Whether returned values do not fit the type of the column.
    """

    rows: int = 0
    lost: int = 0
    wrong: int = 0
    wrong_row: tuple[Any, ...] | None = None
    error: str = ""
    has_panicked: bool = False
    is_incomparable: bool = False


@functools.cache
def _quiet() -> None:
    """Discard the output of engines, which would appear in the middle of a report."""
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)


def answers(asked: Sequence[tuple[str, Path]]) -> list[ProofAnswer]:
    """Run programs of an engine, each with the file of its true rows."""
    _quiet()
    folder = Path.cwd()
    found: list[ProofAnswer] = []
    for program, truth in asked:
        found.append(_answer(program, truth))
        os.chdir(
            folder
        )  # programs may change the current folder, and paths in other programs are relative to it
    return found


def _answer(program: str, truth: Path) -> ProofAnswer:
    """Run a program, and compare its rows with the true rows."""
    names: dict[str, Any] = {}
    try:
        exec(program, names)  # noqa: S102 - a program of ours, which is also what the report shows
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of Rust is not an Exception
        if isinstance(error, ConnectionRefusedError) or type(error).__name__ == "Py4JNetworkError":
            os._exit(JAVA_HAS_ENDED)  # after this, no query would be answered
        panicked = not isinstance(error, Exception) or isinstance(error, MemoryError)
        return ProofAnswer(error=_said(error), has_panicked=panicked)
    with pa.OSFile(str(truth), "rb") as file:
        wanted = pa.ipc.open_file(file).read_all()
    try:
        return compared(wanted, _table(names["result"]))
    except Exception as error:  # noqa: BLE001 - the engine did answer, with who knows what
        return ProofAnswer(error=f"the rows cannot be compared: {_said(error)}", is_incomparable=True)


def _said(error: BaseException) -> str:
    """An engine's error as one line."""
    if (thrown := getattr(error, "java_exception", None)) is not None:
        # Py4J's text has object numbers; the innermost Java exception has the cause.
        while (cause := thrown.getCause()) is not None:
            thrown = cause
        name = thrown.getClass().getSimpleName()
        text = str(thrown.getMessage() or "").strip().splitlines()
        return f"{name}: {text[0][:MOST_SAID]}" if text else name
    return f"{type(error).__name__}: {first_line(error)}"


def _table(result: Any) -> pa.Table:
    if isinstance(result, pa.Table):
        return result
    if hasattr(result, "to_arrow"):
        table: pa.Table = result.to_arrow()
        return table
    return pa.Table.from_pandas(result, preserve_index=False)


def compared(truth: pa.Table, returned: pa.Table) -> ProofAnswer:
    """Compare rows regardless of their order, or compare counts."""
    if is_of_count(truth):
        said, true = int(returned.column(0)[0].as_py()), number_of(truth)
        return ProofAnswer(said, max(true - said, 0), max(said - true, 0))
    codes = np.zeros(len(truth) + len(returned), np.int64)
    for name in truth.column_names:
        kind: Any = truth.schema.field(name).type
        both: Any = pa.chunked_array(
            [*truth.column(name).chunks, *_in_type(returned.column(name), kind).chunks], kind
        )
        codes = _combined(codes, _codes(both))
    distinct, codes = np.unique(codes, return_inverse=True)
    wanted = np.bincount(codes[: len(truth)], minlength=len(distinct))
    given = np.bincount(codes[len(truth) :], minlength=len(distinct))
    wrong = np.maximum(given - wanted, 0)
    return ProofAnswer(
        rows=len(returned),
        lost=int(np.maximum(wanted - given, 0).sum()),
        wrong=int(wrong.sum()),
        wrong_row=_row(returned, int(np.argmax(wrong[codes[len(truth) :]] > 0))) if wrong.any() else None,
    )


def _in_type(values: Any, kind: Any) -> Any:
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if isinstance(values.type, pa.BaseExtensionType):
        stored: Any = values.type.storage_type
        values = pa.chunked_array([piece.storage for piece in values.chunks], stored)
    if pa.types.is_large_binary(kind) and pa.types.is_fixed_size_binary(values.type):
        values = values.cast(pa.binary())
    return values.cast(kind)


def _codes(values: Any) -> NDArray[np.int64]:
    """A number for each value, equal for equal values; nulls also have a number."""
    if pa.types.is_floating(values.type):
        values = pc.add(values, 0.0)  # both zeros are equal
    encoded = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(encoded, pa.ChunkedArray):
        encoded = pa.concat_arrays(encoded.chunks)
    found: NDArray[np.int64] = (
        encoded.dictionary_encode(null_encoding="encode").indices.to_numpy().astype(np.int64)
    )
    return found


def _combined(codes: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    size = int(more.max(initial=0)) + 1
    if int(codes.max(initial=0)) * size >= MOST_DENSE:
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return codes * size + more


def _row(table: pa.Table, place: int) -> tuple[Any, ...] | None:
    row = tuple(table.column(name)[place].as_py() for name in table.column_names)
    plain = all(value is None or type(value) in (bool, int, float, str, bytes) for value in row)
    return row if plain and all(value == value for value in row) else None  # noqa: PLR0124 - NaN equals nothing
