"""What stands for a value while it is not known which one: rules are asked about it as about a value, to learn what they ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class StandIn:
    """Stands for a value of many structs that are alike; see `pqassay.under_test.unknown`."""

    __slots__ = ()

    def result(self, function: Callable[..., Any], *before: Any) -> Any:
        """The result of a pure function that takes ``before`` and many values, of which this is one, and returns what it makes of each."""
        raise NotImplementedError
