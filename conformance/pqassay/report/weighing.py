"""Values or metadata: which of the two is more likely wrong if they contradict each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Side = Literal["values", "either", "metadata"]
"""The side that is more likely wrong; ``either`` if the evidence does not decide."""

SIDES: tuple[Side, ...] = get_args(Side)
"""All sides; first the side that is most expensive to overlook."""

VERDICTS_ON: dict[Side, str] = {
    "values": "pages damaged, metadata true",
    "either": "undecided: pages or metadata",
    "metadata": "metadata false, values true",
}
"""The conclusion for each side, in words."""


@dataclass(frozen=True)
class Weighing:
    """The side that is more likely wrong, and the reasons.

    Attributes:
        wrong: The side.
        reasons: The reasons, the strongest first; if nothing decides, the reasons for both sides.
    """

    wrong: Side
    reasons: list[str]

    @property
    def sentence(self) -> str:
        """The weighing in words.

        >>> Weighing("values", ["the CRC of page 0 is wrong"]).sentence
        'pages damaged, metadata true: the CRC of page 0 is wrong'
        """
        return f"{VERDICTS_ON[self.wrong]}: {'; '.join(self.reasons)}"


def worst(weighings: Iterable[Weighing]) -> Weighing | None:
    """The weighing that is most expensive to overlook; ``None`` if there are none."""
    return min(weighings, key=lambda weighing: SIDES.index(weighing.wrong), default=None)
