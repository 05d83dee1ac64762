"""Writing of reports in any format, for checks and runs, whether new or read from JSON."""

from __future__ import annotations

import importlib
from typing import TextIO

from pqassay.report.formats import LINKED, SHARED, FormatName
from pqassay.report.model import Report
from pqassay.report.redaction import without_values
from pqassay.report.run.model import RunReport
from pqassay.report.side_by_side.model import SideBySide


def write_report(
    report: Report | RunReport,
    format_name: FormatName,
    stream: TextIO,
    site: str | None = None,
    *,
    salt: str | None = None,
    values: bool | None = None,
    verbose: bool = False,
) -> None:
    """Write a report. The renderer is the module of `renderers` with the name of the format, loaded on use.

    Args:
        report: The report.
        format_name: The format; for the result of a run, one of `OF_RUNS`.
        stream: The output stream.
        site: Address of the site with the rules' pages, for formats that link to them.
        salt: The salt of the digests that replace values.
        values: Whether values of the files are shown; by default in all formats but `SHARED`.
        verbose: Whether text has every detail.
    """
    is_shown = format_name not in SHARED if values is None else values
    if isinstance(report, Report) and not is_shown:
        report = without_values(report, salt)
    if format_name is FormatName.JSON:
        stream.write(f"{report.to_json()}\n")
        return
    is_text = format_name is FormatName.TEXT
    renderer = importlib.import_module(
        "pqassay.report.run.text"
        if is_text and isinstance(report, RunReport)
        else f"pqassay.report.renderers.{format_name}"
    )
    options = {"verbose": verbose} if is_text else {"site": site} if format_name in LINKED else {}
    renderer.render(report, stream, **options)


def write_side_by_side(shown: SideBySide, format_name: FormatName, stream: TextIO) -> None:
    """Write several results side by side, in one of the formats `ABREAST`."""
    if format_name is FormatName.JSON:
        stream.write(f"{shown.to_json()}\n")
        return
    importlib.import_module(f"pqassay.report.side_by_side.{format_name}").render(shown, stream)
