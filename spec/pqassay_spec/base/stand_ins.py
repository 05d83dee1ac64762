"""What stands for a value while it is not known which one: rules are asked about it as about a value, to learn what they ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class StandIn:
    """Stands for a value of many structs that are alike; see `pqassay.under_test.unknown`."""

    __slots__ = ()

    def result(
        self, function: Callable[..., Any], *before: Any, many: Callable[..., Sequence[Any]] | None = None
    ) -> Any:
        """The result of a pure function whose last argument is this value.

        Args:
            function: The function.
            before: Its other arguments.
            many: Returns the results for a sequence of values, faster than one by one.
        """
        raise NotImplementedError
