"""The formats of a report by name, available without loading the renderers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class FormatName(StrEnum):
    """Formats of a report."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    HTML = "html"
    MARKDOWN = "markdown"


OF_RUNS = (FormatName.TEXT, FormatName.JSON, FormatName.JUNIT, FormatName.HTML)
"""Formats for the result of a run."""

COMPARED = (FormatName.TEXT, FormatName.JSON, FormatName.MARKDOWN)
"""Formats for the comparison of two reports."""

ABREAST = (FormatName.TEXT, FormatName.JSON, FormatName.HTML)
"""Formats for several results side by side."""

LINKED = (FormatName.SARIF, FormatName.HTML)
"""Formats with links to the rules' pages."""

SHARED = (FormatName.SARIF,)
"""Formats for services with a large audience: they omit values by default."""

FORMAT_HELP = "Format: text, json, junit, sarif, html, markdown. Default: by the name of --output, else text."

RUN_FORMAT_HELP = "Print as text, json, junit or html. Default: by the name of --output, else text."

SUFFIXES = {
    ".json": FormatName.JSON,
    ".xml": FormatName.JUNIT,
    ".sarif": FormatName.SARIF,
    ".html": FormatName.HTML,
    ".htm": FormatName.HTML,
    ".md": FormatName.MARKDOWN,
}
"""The format for each file extension of reports."""


def format_of(chosen: str | None, output: Path | None) -> FormatName:
    """The format of a report: the chosen format, else the format of the file's extension."""
    if chosen is not None or output is None:
        return FormatName(chosen or FormatName.TEXT)
    return SUFFIXES.get(output.suffix.lower(), FormatName.TEXT)
