"""Parts of a check from other packages, loaded by name on demand: the judge does not import them."""

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
"""The places of ``--history``, ``--metrics``, ``--since last``, ``--reuse``, and former options of ``pqassay check``."""


def loaded(name: str) -> Any:
    """The object at one of `PLACES`."""
    return pkgutil.resolve_name(PLACES[name])
