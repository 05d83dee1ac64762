"""Building the site, and searching it, for the tests that look at it."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path

from pages.frame import api_pages
from pages.page import Site, case_page, rule_page

import processes
from browser import Tab
from damage import SUGGESTED
from places import ROOT
from pqassay_spec.rules.catalogue import families

IMPORT_ROOTS = [str(ROOT / room) for room in ("spec", "reference_impl", "conformance", "pipeline")]


def build(folder: Path) -> processes.Completed[str]:
    """Build the site into ``folder``, with the content of the pages that are shown."""
    path = os.pathsep.join([*IMPORT_ROOTS, os.environ.get("PYTHONPATH", "")])
    # The banner of the theme about its own future would look like a warning.
    environment = {**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"}
    environment["PQASSAY_SITE_PAGES"] = "" if SUGGESTED == 1 else " ".join(shown())
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    return processes.run(
        command, stdout=processes.PIPE, stderr=processes.STDOUT, text=True, cwd=ROOT, env=environment
    )


NAMED = (
    *("rules/dlt-005.html", "rules/sta-041.html", "cases/blm-zeroed.html", "cases/ice-maximum-lowered.html"),
    "reference/pqassay.errors.html",
    *("cases/pqf-plain.html", "cases/sta-max-too-small.html", "cases/sta-upper-bound-cut-not-raised.html"),
)
"""The pages that tests name."""


@functools.cache
def shown() -> frozenset[str]:
    """The generated pages whose content is built.

    All by `make damages`; otherwise those that tests name, and of the pages of one kind the first, and after it one of a number.
    """
    seen: Counter[Hashable] = Counter()
    pages = set(NAMED)
    for kind, page in kinds():
        if seen[kind] % SUGGESTED == 0:
            pages.add(page)
        seen[kind] += 1
    return frozenset(pages)


def kinds() -> Iterator[tuple[Hashable, str]]:
    """The pages of golden files, tables, rules and modules, each with its kind."""
    site = Site()
    for case in (*site.cases.values(), *site.tables.values()):
        yield (case["family"], case["kind"], case.get("mutation", {}).get("op")), case_page(case["id"])
    for family in families():
        for rule in family.rules:
            yield (family.prefix, rule.role, rule.could), rule_page(rule.id)
    for path, _ in api_pages.module_pages():
        yield path.partition(".")[0], f"{path.removesuffix('.md')}.html"


WITHOUT_SEARCH = "window.Worker = class extends EventTarget { postMessage() {} terminate() {} };"
"""A script with which a page begins whose search is not used: that of each page indexes the whole site, which takes a second."""

RESULTS = (
    """[...document.querySelectorAll(".md-search-result__list a")].map((link) => link.getAttribute("href"))"""
)


def searched(tab: Tab, words: str) -> list[str]:
    """The addresses within the site that a search for words gives, the best first; a section behind its page."""
    # The theme answers a query that differs from the one before: an empty one comes between.
    for query, has_answer in (("", "!"), (words, "")):
        tab.evaluate(
            f"""(() => {{
              document.querySelector("#__search").checked = true;
              document.querySelector("#__search").dispatchEvent(new Event("change"));
              const query = document.querySelector("[data-md-component=search-query]");
              query.value = {json.dumps(query)};
              query.dispatchEvent(new Event("focus"));
              query.dispatchEvent(new KeyboardEvent("keyup"));
            }})()"""
        )
        tab.wait(f"{has_answer}document.querySelector('.md-search-result__item')")
    root = tab.evaluate("location.href").rpartition("/")[0] + "/"
    return [re.sub(r"\?[^#]*", "", link.removeprefix(root)) for link in tab.evaluate(RESULTS)]
