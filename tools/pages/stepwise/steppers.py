"""Steppers, which show one state of an algorithm after another: ``<!-- stepper: pm-chain -->``.

Every state is computed from the bytes of a golden file, by the library that the chapters describe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from pages.markup import Link
from pages.page import shared_site
from pages.stepwise import bloom_steps, page_steps, pm_steps, scan_steps
from pages.stepwise.steps import address, counted

STEPPERS: Mapping[str, Callable[[Link], Mapping[str, Any]]] = {
    "pm-chain": pm_steps.context,
    "page-search": page_steps.context,
    "bloom": bloom_steps.context,
    "scan-waterfall": scan_steps.context,
}
"""The function that returns each stepper's template values; ``source`` is a line of Markdown about the source of the drawing."""


def lines(name: str, link: Link) -> Iterator[str]:
    """Yield a stepper. Raises `KeyError` for an unknown name."""
    told = STEPPERS[name](link)
    own = {"address": partial(address, link), "counted": counted}
    yield from ("", shared_site().render(f"{name}.html", "spec/index.html", **own, **told).strip(), "")
    yield from (told["source"], "")
