"""Asks axe-core what keeps somebody from using a page: who reads with ears, by keyboard, in the dark or with tired eyes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

from npm_package import AXE, PackageMissingError

from browser import Tab, do_without

GRAVE = ("serious", "critical")
"""The impacts of which a page has none."""

ALIKE = 6
"""Siblings of one tag and class that are looked at: rows, items and tables behind them are like them, and there may be hundreds."""

BY_COLOUR = ("color-contrast", "link-in-text-block")
"""The rules of axe whose outcome depends on the colours."""

SHORTEN = f"""
for (const parent of document.querySelectorAll("main, main *")) {{
  const seen = new Map();
  for (const child of [...parent.children]) {{
    const kind = `${{child.tagName}}.${{child.getAttribute("class")}}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (seen.get(kind) > {ALIKE}) child.remove();
  }}
}}
"""


@cache
def script() -> str:
    """The program itself; where it is neither kept nor available, the test is skipped, and fails with ``CI=true``."""
    try:
        return AXE.files(["axe.min.js"])["axe.min.js"].decode()
    except PackageMissingError as error:
        do_without(f"there is no {AXE}: {error}")


def shorten(tab: Tab) -> None:
    """Leave the first of siblings that are alike."""
    tab.evaluate(f"(() => {{{SHORTEN}}})()")


def grave(tab: Tab, rules: Sequence[str] = ()) -> list[str]:
    """What is seriously wrong with a page that is open and comes to rest, each with where and why.

    Args:
        tab: The page.
        rules: The rules of axe to apply; by default all.
    """
    options = {"resultTypes": ["violations"], "elementRef": False}
    if rules:
        options["runOnly"] = list(rules)
    tab.settle()
    tab.evaluate(f"if (!window.axe) {{ {script()} }}")
    found = tab.evaluate(f"axe.run(document, {json.dumps(options)})")["violations"]
    return [
        f"{one['id']}: {node['html'][:120]} {node['failureSummary']}"
        for one in found
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]
