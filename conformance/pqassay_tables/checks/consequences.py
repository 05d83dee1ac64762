"""Findings about tables that say again what another finding says; see `pqassay.checks.consequences`."""

from __future__ import annotations

from collections.abc import Mapping

CONSEQUENCES: Mapping[str, tuple[str, ...]] = {
    # A claim of a table is false: the values say more than the footer does.
    "ICE-064": ("ICE-063",),
    "ICE-031": ("ICE-041",),
    "ICE-032": ("ICE-040", "STA-040", "STA-041", "STA-042"),
    "DLT-024": ("DLT-028",),
    "DLT-025": ("DLT-027", "STA-040", "STA-041", "STA-042"),
}
"""Rules, each with those beside which it is left out."""
