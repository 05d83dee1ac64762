"""Additions of other packages to a check, found by name on demand: the judge does not import them."""

from __future__ import annotations

import pkgutil
from typing import Any

PLACES = {
    "recording": "pqassay_lake.cli.recording:recording",
    "since_last_run": "pqassay_lake.cli.recording:since_last_run",
    "keeping_a_table": "pqassay_lake.running:carried_out",
    "sampling": "pqassay_lake.cli.sample:sampling",
    "estimating": "pqassay_lake.cli.estimate:estimated",
}
"""For ``--history`` and ``--metrics``, ``--since last``, ``--reuse``, and what was an option of ``pqassay check``."""


def loaded(name: str) -> Any:
    """The object at one of `PLACES`."""
    return pkgutil.resolve_name(PLACES[name])
