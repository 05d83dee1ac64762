"""The formats of a report, by name, so that a command line can offer them without loading what writes them."""

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
"""Formats of a result of a run."""

COMPARED = (FormatName.TEXT, FormatName.JSON, FormatName.MARKDOWN)
"""Formats in which two reports are compared."""

ABREAST = (FormatName.TEXT, FormatName.JSON, FormatName.HTML)
"""Formats in which several results are put side by side."""

LINKED = (FormatName.SARIF, FormatName.HTML)
"""Formats that link to the rules' pages."""

SHARED = (FormatName.SARIF,)
"""Formats for services that many people see: they show no values unless asked to."""

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
"""Names of files that say in which format a report is."""


def format_of(chosen: str | None, output: Path | None) -> FormatName:
    """The format of a report: the chosen one, else the one of the file's name."""
    if chosen is not None or output is None:
        return FormatName(chosen or FormatName.TEXT)
    return SUFFIXES.get(output.suffix.lower(), FormatName.TEXT)
