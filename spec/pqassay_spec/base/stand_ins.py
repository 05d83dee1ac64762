"""A substitute for an unknown value: rules are run on it as on a value, to record their comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class StandIn:
    """A substitute for one value of many similar structs; see `pqassay.under_test.unknown`."""

    __slots__ = ()

    def result(self, function: Callable[..., Any], *before: Any) -> Any:
        """The results of a pure function for many values, including this object; ``before`` are the arguments before the values."""
        raise NotImplementedError
