"""The bytes of golden files for pictures."""

from __future__ import annotations

from collections.abc import Sequence

from pages.places import GOLDEN_FILES
from pqassay.dump import dump
from pqassay_spec.base.sources import FileSource
from pqassay_spec.grammar.trace import Leaf

DATA = "data.parquet"


def raw(case: str, name: str = DATA) -> bytes:
    """A file of a golden case."""
    return (GOLDEN_FILES / case / name).read_bytes()


def leaves(case: str) -> Sequence[Leaf]:
    """The leaves of all bytes in the Parquet file of a golden case, in order.

    Raises:
        ValueError: The file cannot be read.
    """
    found: list[Leaf] = []
    with FileSource(GOLDEN_FILES / case / DATA) as source:
        errors = dump(source, found.extend)
    if errors:
        raise ValueError(f"{case}: {errors[0]}")
    return found
