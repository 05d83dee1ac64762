"""The formats of a report, by name, so that a command line can offer them without loading what writes them."""

from __future__ import annotations

from enum import StrEnum


class FormatName(StrEnum):
    """Formats of a report."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    HTML = "html"
    MARKDOWN = "markdown"


COMPARED = (FormatName.TEXT, FormatName.JSON, FormatName.MARKDOWN)
"""Formats in which two reports are compared."""

ABREAST = (FormatName.TEXT, FormatName.JSON, FormatName.MARKDOWN, FormatName.HTML)
"""Formats in which several results are put side by side."""

LINKED = (FormatName.SARIF, FormatName.HTML)
"""Formats that link to the rules' pages."""

FORMAT_HELP = "How to print the report: text (default), json, junit, sarif, html or markdown."
