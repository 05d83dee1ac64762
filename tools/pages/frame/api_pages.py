"""The Python reference, a page for each module.

The page of a package, such as ``docs/reference/pqassay.md``, lists modules with the directive of mkdocstrings. Here each module becomes a
separate page, and the list becomes links, since one page for a whole package would have megabytes.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

from pages.places import ROOT

REFERENCE = ROOT / "docs" / "reference"

DIRECTIVE = re.compile(r"^::: (?P<module>\S+)\n(?P<options>(?:    .*\n?)*)", re.MULTILINE)

HEAD = """---
title: {module}
search:
  exclude: true
---

"""
"""The beginning of each page, which has the name of its module. It excludes the page from the search, to keep the search small."""


def module_pages() -> Iterator[tuple[str, str]]:
    """Yield the page of every module in a package's page: its path below the folder of documents, and its Markdown."""
    for package in sorted(REFERENCE.glob("*.md")):
        for found in DIRECTIVE.finditer(package.read_text(encoding="utf-8")):
            back = f'<nav class="crumbs" aria-label="Breadcrumb" markdown="span">[Python reference](index.md) / [{package.stem}]({package.name})</nav>'
            head = HEAD.format(module=found["module"])
            yield f"reference/{found['module']}.md", f"{head}{back}\n\n# {found['module']}\n\n{found[0]}"


def linked(markdown: str) -> str:
    """The page of a package with links instead of directives, each with the first sentence of the module."""

    def link(match: re.Match[str]) -> str:
        module = match["module"]
        return f"- [`{module}`]({module}.md): {first_sentence(module)}\n"

    return DIRECTIVE.sub(link, markdown)


def first_sentence(module: str) -> str:
    """The first paragraph of a module's docstring, without importing it.

    Raises:
        ValueError: The module does not exist, or has no docstring.
    """
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise ValueError(f"no module {module}")
    text = ast.get_docstring(ast.parse(Path(found.origin).read_text(encoding="utf-8")))
    if not text:
        raise ValueError(f"{module} has no docstring")
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
