"""Writes a report in any of the formats, whether it was just made or read again, of a check or of a run."""

from __future__ import annotations

from typing import TextIO

from pqassay.report.formats import FormatName
from pqassay.report.model import Report
from pqassay.report.run_model import RunReport


def write_report(
    report: Report | RunReport, format_name: FormatName, stream: TextIO, site: str | None = None
) -> None:
    """Write a report. Each renderer is loaded only where it is wanted.

    Args:
        report: The report.
        format_name: As what.
        stream: Where to.
        site: Address of the site with the rules' pages, for formats that link to them.
    """
    # ruff: noqa: PLC0415
    match format_name:
        case FormatName.JSON:
            stream.write(f"{report.to_json()}\n")
        case FormatName.TEXT:
            if isinstance(report, Report):
                from pqassay.report import text

                text.render(report, stream)
            else:
                from pqassay.report import run_text

                run_text.render(report, stream)
        case FormatName.JUNIT:
            from pqassay.report import junit

            junit.render(report, stream)
        case FormatName.SARIF:
            from pqassay.report import sarif

            sarif.render(report, stream, site)
        case FormatName.MARKDOWN:
            from pqassay.report import markdown

            markdown.render(report, stream)
        case FormatName.HTML:
            from pqassay.report import html

            html.render(report, stream, site)
