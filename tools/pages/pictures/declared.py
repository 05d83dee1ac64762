"""Lookup of structures and enums of the specification by their dotted names in chapters."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def declared(name: str) -> Any:
    """The object with a dotted name below ``pqassay_spec``. Raises `ImportError` or `AttributeError` if there is none."""
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(f"pqassay_spec.{module}"), attribute)
