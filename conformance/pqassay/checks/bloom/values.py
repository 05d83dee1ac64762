"""Checks of bloom filters against the values of their chunks, tier ``values``."""

from __future__ import annotations

from pqassay.checks.by_values import by_audit


@by_audit("BLM-020", "claims.chunk_audit._BloomClaims._judge_bloom_filter")
def every_value_is_held() -> None:
    """A reader skips the row group when it looks for the value."""


@by_audit("BLM-021", "claims.chunk_audit._BloomClaims._judge_bloom_filter")
def zeros_and_nan_are_held_by_their_bytes() -> None:
    """A reader hashes what it looks for as it would be stored."""
