"""Output of rows by a command: as a table, as one JSON object per line, or as a Parquet file.

Only a part of the rows is in memory at a time.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pqassay_reference.cli.errors import fail
from pqassay_reference.cli.tables import PrintedTable, aligned_lines, show
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS = 40
"""Default number of rows in a table on a terminal."""

DRAWN_ROWS = 1000
"""Most rows of an aligned table; the columns of a longer table are aligned by these rows."""

GROUP_BYTES = 64 << 20
"""Bytes of rows in Arrow that fill a row group of a Parquet file."""


class Form(StrEnum):
    """Output forms of rows."""

    TABLE = "table"
    JSON = "json"
    PARQUET = "parquet"


SUFFIXES = {".json": Form.JSON, ".jsonl": Form.JSON, ".ndjson": Form.JSON, ".parquet": Form.PARQUET}
"""Endings of file names, with the form that they select."""


def form_of(chosen: Form | None, output: Path | None) -> Form:
    """The form of the rows: the chosen form, or the form of the file name."""
    if chosen is Form.PARQUET and output is None:
        fail("--format parquet needs --output FILE", 2)
    if chosen is not None or output is None:
        return chosen or Form.TABLE
    return SUFFIXES.get(output.suffix.lower(), Form.TABLE)


def write_rows(
    batches: Iterable[pa.Table | pa.RecordBatch], schema: pa.Schema, form: Form, output: Path | None
) -> None:
    """Write rows to a file, which is replaced as a whole, or to stdout.

    Args:
        batches: The rows.
        schema: Their columns.
        form: The form; Parquet needs a file.
        output: The file; ``None`` for stdout.

    Raises:
        OSError: The file cannot be written.
    """
    if form is Form.PARQUET and output is not None:
        _write_parquet(batches, schema, output)
        return
    with text_sink(output) as sink:
        if form is Form.JSON:
            sink.writelines(f"{json_line(row)}\n" for row in _rows(batches))
        else:
            _write_table(_rows(batches), schema.names, sink, drawn=output is None)


@contextlib.contextmanager
def text_sink(output: Path | None) -> Generator[TextIO]:
    """The output for text: a file that is replaced as a whole, or stdout."""
    if output is None:
        yield sys.stdout
        sys.stdout.flush()  # what is said on stderr comes after the rows
        return
    import io

    from pqassay_spec.base.sources import replaced_file

    with replaced_file(output) as file:
        text = io.TextIOWrapper(file, encoding="utf-8")
        yield text
        text.detach()  # flushes, and leaves the file to who opened it


def _rows(batches: Iterable[pa.Table | pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        for start in range(0, len(batch), DRAWN_ROWS):
            yield from _python_rows(batch.slice(start, DRAWN_ROWS))


def _python_rows(batch: Any) -> list[dict[str, Any]]:
    """Rows as Python values; timestamps that Python cannot represent, such as nanoseconds, are Arrow's text."""
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except (ValueError, OverflowError):
        import pyarrow as pa

        columns = [
            column.cast(pa.string()) if pa.types.is_temporal(column.type) else column
            for column in batch.columns
        ]
        rows = pa.table(columns, batch.schema.names).to_pylist()
    return rows


# ------------------------------------------------------------------------------------------------------------- JSON


def json_line(row: dict[str, Any]) -> str:
    r"""A row as a JSON object on one line.

    >>> json_line({"n": float("nan"), "raw": b"P"})
    '{"n": "NaN", "raw": "x\'50\'"}'
    """
    try:
        return json.dumps(row, default=_text, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(row), default=_text, ensure_ascii=False)


def _finite(value: Any) -> Any:
    """A value with texts instead of NaN and the infinities, which JSON does not have."""
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case dict():
            return {name: _finite(one) for name, one in value.items()}
        case list() | tuple():
            return [_finite(one) for one in value]
        case _:
            return value


def _text(value: Any) -> str:
    """The text for a value that JSON cannot represent."""
    return f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)


# ------------------------------------------------------------------------------------------------- table and Parquet


def _write_table(rows: Iterator[dict[str, Any]], names: Sequence[str], sink: TextIO, *, drawn: bool) -> None:
    cells = ([_cell(value) for value in row.values()] for row in rows)
    first = list(islice(cells, DRAWN_ROWS))
    more = next(cells, None)
    if drawn and more is None:
        show(PrintedTable("", names, first))
        return
    every = chain([names], first, [] if more is None else [more], cells)
    sink.writelines(f"{line}\n" for line in aligned_lines(every, DRAWN_ROWS))


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return printable(_text(value))


def _write_parquet(batches: Iterable[pa.Table | pa.RecordBatch], schema: pa.Schema, output: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pqassay_spec.base.sources import replaced_file

    tables: list[Any] = []
    size = 0
    with replaced_file(output) as file, pq.ParquetWriter(file, schema) as writer:
        for batch in batches:
            tables.append(batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch]))
            size += batch.nbytes
            if size >= GROUP_BYTES:
                writer.write_table(pa.concat_tables(tables))
                tables, size = [], 0
        if tables:
            writer.write_table(pa.concat_tables(tables))


__all__ = ["MOST_ROWS", "Form", "json_line", "text_sink", "write_rows"]
