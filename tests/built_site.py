"""Building the site, and searching it, for the tests that look at it."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import processes
from browser import Tab
from places import ROOT

IMPORT_ROOTS = [str(ROOT / room) for room in ("spec", "reference_impl", "conformance", "pipeline")]


def build(folder: Path, config: Path = ROOT / "mkdocs.yml") -> processes.Completed[str]:
    """Build the site into ``folder``."""
    path = os.pathsep.join([*IMPORT_ROOTS, os.environ.get("PYTHONPATH", "")])
    # The banner of the theme about its own future would look like a warning.
    environment = {**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(folder)]
    return processes.run(
        command, stdout=processes.PIPE, stderr=processes.STDOUT, text=True, cwd=ROOT, env=environment
    )


WITHOUT_SEARCH = "window.Worker = class extends EventTarget { postMessage() {} terminate() {} };"
"""A script with which a page begins whose search nobody asks: that of each page indexes the whole site, which takes a second."""

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
