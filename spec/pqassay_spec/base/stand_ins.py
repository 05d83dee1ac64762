"""A substitute for an unknown value: rules are tested on it like on a value, to record their comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class StandIn:
    """Stands for a value of many structs that are alike; see `pqassay.under_test.unknown`."""

    __slots__ = ()

    def result(self, function: Callable[..., Any], *before: Any) -> Any:
        """The result of a pure function that takes ``before`` and many values including this one, and returns a result for each."""
        raise NotImplementedError
