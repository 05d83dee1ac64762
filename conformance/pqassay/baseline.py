"""Known findings, which do not count: the public name of `pqassay.judge.baseline`."""

from __future__ import annotations

from pqassay.judge.baseline import Baseline

__all__ = ["Baseline"]
