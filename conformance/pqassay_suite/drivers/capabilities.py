"""Capabilities: the ones that a driver declares, and the ones that a question needs."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from pqassay.report.run.outcomes import Operation

NULL_LISTS = "nested.null-lists"
"""The capability to distinguish a null list or map from an empty one."""

HAD_UNLESS_LACKED = frozenset({NULL_LISTS})
"""Capabilities that a driver has unless it declares that it lacks them."""

NOT_FOR_SCANS = frozenset({"idx1.companion"})
"""Capabilities that a scan does not need, because it may ignore the index."""


def missing_capability(
    operation: Operation,
    family: str,
    requires: Collection[str],
    needs: Collection[str],
    capabilities: Collection[str],
    lacks: Collection[str] = (),
) -> str:
    """The missing capability for an operation on a case; empty if none is missing.

    A capability is a name with dots, and implies its prefixes.

    >>> missing_capability("scan", "IDX1", ["idx1"], [], ["idx1.decode"])
    'idx1.scan'
    >>> missing_capability("read", "PQF", [], ["nested", "nested.null-lists"], ["read", "nested"], ["nested.null-lists"])
    'nested.null-lists'
    >>> missing_capability("read", "IDX1", ["idx1"], ["type.date"], ["read", "type.date"])
    ''

    Args:
        operation: The operation of the request.
        family: The case's family.
        requires: The capabilities that its manifest requires.
        needs: The capabilities that the types, codecs and orders of its file need.
        capabilities: The declared capabilities.
        lacks: The capabilities that it declares as missing. A missing name includes all names that begin with it.
    """
    declared = _implied(tuple(capabilities))
    if operation == "read":  # any reader of Parquet, even without support for the family
        needed = ["read"]
    else:
        needed = [name for name in requires if operation != "scan" or name not in NOT_FOR_SCANS]
        needed.append(f"{family.lower()}.{operation}")
    # A reader ignores an order that it does not know: only reading the index itself needs it.
    needed += [name for name in needs if operation == "decode" or not name.startswith("order.")]
    return next(
        (
            name
            for name in needed
            if _implied((name,)) & set(lacks) or (name not in declared and name not in HAD_UNLESS_LACKED)
        ),
        "",
    )


@lru_cache(maxsize=16)
def _implied(capabilities: tuple[str, ...]) -> frozenset[str]:
    """Capabilities with all their prefixes; cached, because a driver declares the same for every case."""
    return frozenset(
        ".".join(parts[:length])
        for parts in (name.split(".") for name in capabilities)
        for length in range(1, len(parts) + 1)
    )
