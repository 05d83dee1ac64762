"""Steppers, which show one state of an algorithm after another: ``<!-- stepper: pm-chain -->``.

Every state is computed from the bytes of a golden file, by the library that the chapters describe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pages.markup import Link
from pages.stepwise import bloom_steps, page_steps, pm_steps, scan_steps
from pages.stepwise.steps import Stepper

STEPPERS: Mapping[str, Callable[[Link], Stepper]] = {
    "pm-chain": pm_steps.stepper,
    "page-search": page_steps.stepper,
    "bloom": bloom_steps.stepper,
    "scan-waterfall": scan_steps.stepper,
}
"""What makes each stepper."""


def lines(name: str, link: Link) -> Iterator[str]:
    """Yield a stepper. Raises `KeyError` where there is none of this name."""
    stepper = STEPPERS[name](link)
    yield from ("", stepper.html(), "", stepper.source, "")
