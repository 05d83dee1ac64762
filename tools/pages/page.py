"""Generated pages, and the data that all generators share."""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from pages.implementations.answers import MEANINGS, SIGNS, Answer, answers
from pages.implementations.results import Results, todays
from pages.markup import literal, row
from pages.tables import engine_answers, golden_tables
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.golden.table_case import TABLE_MANIFEST
from pqassay_spec.rules import catalogue

TEMPLATES = Path(__file__).resolve().parent / "templates"


class Page(NamedTuple):
    """A page within the frame of the index page of its folder.

    Attributes:
        path: Its path in the site, such as ``rules/sta-041.html``; its folder has an index page.
        title: Its title, as text.
        summary: A sentence about it, as text, for its description and for search results.
        body: Its content as HTML, with its heading; links are relative to its folder.
        words: Additional text for the search.
        boost: The factor of its rank in the search; 1 is normal.
    """

    path: str
    title: str
    summary: str
    body: str
    words: str = ""
    boost: float = 1.0


@dataclass(frozen=True)
class File:
    """A download.

    Attributes:
        path: Its path in the site, such as ``data/rules.json``.
        content: Its bytes, or a file with them.
    """

    path: str
    content: bytes | Path


class Site:
    """The data that the generators of one build share; everything is read once.

    Attributes:
        address: The public address of the site, with a slash at the end; empty if unknown.
        repository: The address of the repository; empty if unknown.
    """

    def __init__(self, address: str = "", repository: str = "", pages: str = "") -> None:
        """Begin a build. ``pages`` lists the generated pages that get their content, separated by spaces; if empty, all do."""
        self.address = address
        self.repository = repository
        self._pages = frozenset(pages.split())

    def shows(self, path: str) -> bool:
        """Whether a generated page gets its content in this build, instead of only its title and frame."""
        return not self._pages or path in self._pages

    @cached_property
    def cases(self) -> Mapping[str, dict[str, Any]]:
        """The manifest of each golden case by id, sorted by id."""
        return golden_tables.manifests(MANIFEST)

    @cached_property
    def tables(self) -> Mapping[str, dict[str, Any]]:
        """The manifest of each golden table by id, sorted by id."""
        return golden_tables.manifests(TABLE_MANIFEST)

    @cached_property
    def made_from(self) -> Mapping[str, Sequence[str]]:
        """The descendants of each golden case or table, by id."""
        found: dict[str, list[str]] = {}
        for one in (*self.cases.values(), *self.tables.values()):
            found.setdefault(one.get("parent", ""), []).append(one["id"])
        return found

    @cached_property
    def breaking(self) -> Mapping[str, Sequence[dict[str, Any]]]:
        """The golden cases that break each rule, by its id."""
        cases: dict[str, list[dict[str, Any]]] = {}
        for case in self.cases.values():
            for rule in set(case["expect"]["check"]["rules"]):
                cases.setdefault(rule, []).append(case)
        return cases

    @cached_property
    def trials(self) -> Sequence[engine_answers.Trial]:
        """The behavior of engines on false claims of golden tables."""
        return engine_answers.measured()

    @cached_property
    def results(self) -> Results:
        """The results of implementations."""
        return todays()

    @cached_property
    def answers(self) -> Mapping[str, Mapping[str, Sequence[Answer]]]:
        """The answers of the newest version of each implementation about each asked case, by the names of both."""
        return {kept.name: answers(kept) for kept in self.results.newest}

    def render(self, template: str, path: str, **data: Any) -> str:
        """Render a template of ``templates`` for the page at ``path``, with links relative to it.

        Templates can use the links ``url(path)``, ``rule_link(id)`` and ``case(id)``, the paths of pages and files of cases and
        implementations, and the filter ``inline`` for a text with code between backticks.
        """
        return self._templates.get_template(template).render(_links(path), **data)

    @cached_property
    def _templates(self) -> jinja2.Environment:
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=jinja2.select_autoescape(("html", "svg")),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= {
            "inline": inline,
            "row": row,
            "heads": lambda cells: f"{row(cells)}\n{row(['---'] * len(cells))}",
            "literal": literal,
            "json": partial(json.dumps, ensure_ascii=False),
        }
        environment.globals.update(
            signs={**SIGNS, **engine_answers.SIGNS},
            meanings={**MEANINGS, **engine_answers.MEANINGS},
            file_signs=list(SIGNS),
            table_signs=engine_answers.LEGEND,
            case_page=case_page,
            case_file=case_file,
            implementation_page=implementation_page,
        )
        return environment


@cache
def shared_site() -> Site:
    """The shared site of a build, with addresses and pages from the same environment variables as `mkdocs.yml`."""
    return Site(*(os.environ.get(f"PQASSAY_{name}", "") for name in ("SITE_URL", "REPOSITORY", "SITE_PAGES")))


def rule_page(rule_id: str) -> str:
    """The path of a rule's page in the site."""
    return f"rules/{rule_id.lower()}.html"


def case_page(case_id: str) -> str:
    """The path of a golden case's page in the site."""
    return f"cases/{case_id.replace('/', '-')}.html"


def case_boost(case_id: str) -> float:
    """The search rank factor of a golden case's page: among ids with the same words, shorter ones are more likely meant.

    >>> case_boost("sta/max-too-small"), case_boost("sta/deprecated-max-too-small"), case_boost("interop/polars-2.1.0/flat")
    (1.5, 1.4, 1.0)
    """
    words = re.split(r"[/_.-]", case_id)
    return 1.0 if words[0] == "interop" else round(1 + 2 / len(words), 2)


def case_file(case_id: str, name: str) -> str:
    """The path of a golden case's file in the site."""
    return f"cases/files/{case_id}/{name}"


def implementation_page(name: str) -> str:
    """The path of an implementation's page in the site."""
    return f"implementations/{name}.html"


def relative(target: str, here: str) -> str:
    """The address of a page or file, with or without an anchor, relative to the page at ``here``."""
    path, mark, anchor = target.partition("#")
    if path == here and mark:
        return f"#{anchor}"
    return f"{_way(path, posixpath.dirname(here) or '.')}{mark}{anchor}"


@cache
def _way(path: str, folder: str) -> str:
    return posixpath.relpath(path, folder)


def _links(here: str) -> Mapping[str, Callable[..., Any]]:
    def url(target: str) -> str:
        return relative(target, here)

    def rule(rule_id: str) -> Markup:
        title = catalogue.rules()[rule_id].sentence
        return Markup('<a href="{}" title="{}">{}</a>').format(url(rule_page(rule_id)), title, rule_id)

    def case(case_id: str) -> Markup:
        return Markup('<a href="{}"><code>{}</code></a>').format(url(case_page(case_id)), case_id)

    return {"url": url, "rule_link": rule, "case": case}


def inline(text: str) -> Markup:
    """A text as HTML: text between backticks as code, and Markdown links and addresses as links.

    >>> inline("at most `a < b`, see [this](x.html)")
    Markup('at most <code>a &lt; b</code>, see <a href="x.html">this</a>')
    """
    return Markup("").join(_inline(text))


_MARKS = re.compile(
    r"`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)\s]+)\)|(https?://[^\s()]+[^\s().,;:])"
)


def _inline(text: str) -> Iterator[Markup]:
    last = 0
    for match in _MARKS.finditer(text):
        yield Markup(html.escape(text[last : match.start()], quote=False))
        code, strong, emphasis, linked, address, plain = match.groups()
        if code is not None:
            yield Markup("<code>{}</code>").format(code)
        elif strong is not None:
            yield Markup("<strong>{}</strong>").format(strong)
        elif emphasis is not None:
            yield Markup("<em>{}</em>").format(emphasis)
        elif linked is not None:
            yield Markup('<a href="{}">{}</a>').format(address, inline(linked))
        else:
            yield Markup('<a href="{}">{}</a>').format(plain, plain)
        last = match.end()
    yield Markup(html.escape(text[last:], quote=False))
