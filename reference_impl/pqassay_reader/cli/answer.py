"""The command ``pqassay answer``: a question about whole files, answered from their index directories if they are enough."""

from __future__ import annotations

import csv
import json
from collections.abc import Generator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from pqassay_reader.cli.many_files import progress_bar, reported_files
from pqassay_reader.cli.rows_output import Form, json_line, text_sink, write_rows
from pqassay_reference.cli.tables import counted
from pqassay_spec.base.help_pages import epilog, example
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay_reader.answer.answerer import Answer, Answerer, Effort

EXAMPLE = epilog(
    "`pqassay answer sales \"SELECT AVG(sales_amount) FROM t WHERE nation = 'Singapore' GROUP BY year\"`",
    '`pqassay answer sales "SELECT nation, SUM(sales_amount) FROM t GROUP BY nation ORDER BY 2 DESC LIMIT 3"`',
    '`pqassay answer sales "SELECT APPROX_COUNT_DISTINCT(customer), APPROX_QUANTILE(sales_amount, 0.95) FROM t"`',
    codes="0 answered, 1 cannot be answered, 2 usage",
)

SHOWN = 3
"""Number of ignored entries that are named."""


class AnswerForm(StrEnum):
    """Forms of the printed answer."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@example(EXAMPLE)
def answer(
    path: Annotated[
        str,
        typer.Argument(metavar="PATH", help="Parquet file, folder of files, or URI (s3://, gs://, …)."),
    ],
    question: Annotated[
        str,
        typer.Argument(
            metavar="SQL",
            help="SELECT of aggregates; WHERE, GROUP BY, ORDER BY and LIMIT are optional.",
        ),
    ],
    output_format: Annotated[
        AnswerForm,
        typer.Option(
            "--format", metavar="FORMAT", help="Print as table, csv or json (one object with all details)."
        ),
    ] = AnswerForm.TABLE,
) -> None:
    """Answer a SQL question from zone sums; read rows if needed.

    Aggregates are COUNT, SUM, AVG, MIN, MAX, APPROX_COUNT_DISTINCT(x) and APPROX_QUANTILE(x, 0.5). The
    approximate ones need fresh sketches and come with bounds. FROM takes any name. stderr shows the bounds, how
    many files gave the answer, and what was read.
    """
    opened, result = _answered(path, question)
    if output_format is AnswerForm.JSON:
        typer.echo(json.dumps(_record(path, question, opened, result), indent=2, ensure_ascii=False))
        return
    if output_format is AnswerForm.CSV:
        with text_sink(None) as sink:
            writer = csv.writer(sink, lineterminator="\n")
            writer.writerow(result.table.column_names)
            columns: list[Any] = [column.to_pylist() for column in result.table.columns]
            writer.writerows(zip(*columns, strict=True))
    else:
        write_rows([result.table], result.table.schema, Form.TABLE, None)
    for estimate in result.estimates:
        typer.echo(printable(estimate.line), err=True)
    for line in effort_lines(result.effort):
        typer.echo(line, err=True)
    for line in opened.aside[:SHOWN]:
        typer.echo(printable(f"warning: left aside: {line}"), err=True)
    if len(opened.aside) > SHOWN:
        typer.echo(
            f"warning: and {counted(len(opened.aside) - SHOWN, 'more index entry')} left aside", err=True
        )


def _answered(path: str, question: str) -> tuple[Answerer, Answer]:
    """Open the files and ask the question; errors end the command with one line."""
    with reported_files(path):
        from pqassay_reader.answer.answerer import Answerer
        from pqassay_reader.answer.question import parse_question

        asked = parse_question(question)  # before files are opened for nothing
        with progress_bar("footers") as progress:
            opened = Answerer.open(path, progress=progress)
        return opened, opened.ask(asked)


def effort_lines(effort: Effort) -> Generator[str]:
    """The effort, as lines of text."""
    files, groups = counted(effort.files, "file"), counted(effort.row_groups, "row group")
    yield (
        f"{files}: {effort.files_from_metadata:,} answered from metadata, {effort.files_skipped:,} without a matching row, "
        f"{effort.files_read:,} read"
    )
    yield (
        f"{groups}: {effort.row_groups_from_metadata:,} answered from metadata, {effort.row_groups_skipped:,} without a matching row, "
        f"{effort.row_groups_read:,} read"
    )
    yield f"read {counted(effort.metadata_bytes, 'byte')} of metadata and {counted(effort.data_bytes, 'byte')} of data"


def _record(path: str, question: str, opened: Answerer, result: Answer) -> dict[str, Any]:
    rows: list[dict[str, Any]] = result.table.to_pylist()
    names, columns = result.table.column_names, cast("list[Any]", result.table.columns)
    return {
        "path": path,
        "question": question,
        "rows": [json.loads(json_line(row)) for row in rows],
        "types": {name: str(column.type) for name, column in zip(names, columns, strict=True)},
        "estimates": [json.loads(json_line(one.record())) for one in result.estimates],
        "effort": result.effort.record(),
        "aside": opened.aside,
    }


__all__ = ["EXAMPLE", "answer"]
