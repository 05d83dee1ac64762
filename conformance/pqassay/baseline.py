"""The public name of `pqassay.judge.baseline`: known findings, which do not count."""

from __future__ import annotations

from pqassay.judge.baseline import Baseline

__all__ = ["Baseline"]
