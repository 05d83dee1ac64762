"""Writes a report in any of the formats, whether it was just made or read again, of a check or of a run."""

from __future__ import annotations

from typing import TextIO

from pqassay.report import Report
from pqassay.report_formats import FormatName
from pqassay.results import RunReport


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
                from pqassay import render_text

                render_text.render(report, stream)
            else:
                from pqassay import render_run

                render_run.render(report, stream)
        case FormatName.JUNIT:
            from pqassay import render_junit

            render_junit.render(report, stream)
        case FormatName.SARIF:
            from pqassay import render_sarif

            render_sarif.render(report, stream, site)
        case FormatName.MARKDOWN:
            from pqassay import render_markdown

            render_markdown.render(report, stream)
        case FormatName.HTML:
            from pqassay import render_html

            render_html.render(report, stream, site)
