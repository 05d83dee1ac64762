"""The kinds of generated pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pages.cases import case_pages, museum_pages
from pages.files import checker, downloads
from pages.implementations import implementation_pages, status_page
from pages.page import File, Page, Site
from pages.rules import rule_list, rule_pages
from pages.tables import table_pages

PAGES: Sequence[Callable[[Site], Iterator[Page]]] = (
    implementation_pages.pages,
    rule_pages.pages,
    case_pages.pages,
    table_pages.pages,
    museum_pages.pages,
)
"""The ``pages`` functions of modules that make pages."""

FILES: Sequence[Callable[[Site], Iterator[File]]] = (
    case_pages.files,
    table_pages.files,
    downloads.files,
    checker.files,
    implementation_pages.files,
    rule_list.files,
    status_page.files,
)
"""The ``files`` functions of modules with downloads."""
