"""What chapters name: structures and enums of the specification, by their dotted names."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def declared(name: str) -> Any:
    """What a dotted name means below ``pqassay_spec``. Raises `ImportError` or `AttributeError` where it means nothing."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(f"pqassay_spec.{module}"), attribute)
