"""Generated parts of the site for readers of files: the rules that a decision to skip rests on, and mistakes in documents.

    <!-- relied on: PIX-050,PIX-051 -->     these rules, with what breaking each of them could do
    <!-- errata: page-index -->        mistakes in a document of ``docs/data/errata.toml``, each with what shows it
    <!-- errata: pm -->                the table of the chapter on ``_pm``, with its links as seen from another page

A comment that looks like one of these and names nothing fails the build. See `site_hooks` for the other comments.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mkdocs.exceptions import PluginError
from site_markdown import Link, rule_link, table

from pqassay_spec.rules import catalogue

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent

ERRATA = ROOT / "docs" / "data" / "errata.toml"
"""Mistakes in documents."""

PM_CHAPTER = ROOT / "spec" / "chapters" / "pm.md"

CONTRADICTIONS = "## Where the document contradicts itself or real files"
"""The section of that chapter with the table."""

PLACEHOLDER = re.compile(r"^<!-- (?P<what>relied on|errata): (?P<name>\S+) -->$", re.MULTILINE)


class Mistake(NamedTuple):
    """A mistake in a document.

    Attributes:
        place: Where it stands.
        says: What the document says there.
        right: What is so instead.
        golden: Id of the golden case that shows it.
        test: The test that shows it, as pytest calls it.
    """

    place: str
    says: str
    right: str
    golden: str
    test: str


class Document(NamedTuple):
    """A document with mistakes: its title, where it can be read, and they."""

    title: str
    address: str
    mistakes: Sequence[Mistake]


def documents() -> dict[str, Document]:
    """The documents of ``errata.toml``, by the names that pages call them."""
    read = tomllib.loads(ERRATA.read_text(encoding="utf-8"))
    return {
        name: Document(one["title"], one["address"], [Mistake(**mistake) for mistake in one["mistake"]])
        for name, one in read.items()
    }


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Replace the placeholders of a page. MkDocs calls this."""
    here = page.file.src_uri

    def link(target: str, anchor: str) -> str:
        path = "" if target == here else posixpath.relpath(target, posixpath.dirname(here) or ".")
        return f"{path}#{anchor}"

    def replacement(found: re.Match[str]) -> str:
        try:
            return "\n".join(generated(found["what"], found["name"], link))
        except LookupError as error:
            raise PluginError(f"{here}: {found[0]}: {error}") from error

    return PLACEHOLDER.sub(replacement, markdown)


def generated(what: str, name: str, link: Link) -> Iterator[str]:
    """Yield the Markdown lines that stand for a placeholder."""
    if what == "relied on":
        yield from relied_on(name.split(","), link)
    elif name == "pm":
        yield from contradictions(link)
    else:
        yield from errata(documents()[name], link)


def relied_on(ids: Sequence[str], link: Link) -> Iterator[str]:
    """Yield a table of rules that have to be kept for a decision to be right."""
    rows = (
        (rule_link(rule.id, link), rule.sentence, rule.could)
        for rule in (catalogue.rules()[rule_id] for rule_id in ids)
    )
    yield from table(("Relies on", "What has to be true", "If it is not, there could be"), rows)


def errata(document: Document, link: Link) -> Iterator[str]:
    """Yield the mistakes of a document, each with the golden file and the test that show it."""
    yield f"[{document.title}]({document.address})"
    rows = (
        (mistake.place, mistake.says, mistake.right, _shown_by(mistake, link))
        for mistake in document.mistakes
    )
    yield from table(("Place", "It says", "It is so", "Shown by"), rows)


def _shown_by(mistake: Mistake, link: Link) -> str:
    family, _, _ = mistake.golden.partition("/")
    page = link(f"golden_files/{family}.md", mistake.golden.replace("/", "-"))
    path, _, name = mistake.test.partition("::")
    return f"[`{mistake.golden}`]({page})<br><small>`{path}`: {name.removeprefix('test_').replace('_', ' ')}</small>"


def contradictions(link: Link) -> Iterator[str]:
    """Yield the table of the chapter on ``_pm``. Raises `LookupError` if the chapter has none."""
    _, found, rest = PM_CHAPTER.read_text(encoding="utf-8").partition(CONTRADICTIONS)
    rows = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("|")]
    if not found or not rows:
        raise LookupError(f"{PM_CHAPTER.name} has no table in a section {CONTRADICTIONS[3:]}")
    yield from (
        "",
        *(re.sub(r"\]\(#([^)]+)\)", lambda to: f"]({link('spec/pm.md', to[1])})", row) for row in rows),
        "",
    )
