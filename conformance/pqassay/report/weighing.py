"""Values or metadata: which of the two is likelier to be wrong where they contradict each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Side = Literal["values", "either", "metadata"]
"""What is likelier to be wrong; ``either`` if nothing decides."""

SIDES: tuple[Side, ...] = get_args(Side)
"""All sides, first the one that costs most to overlook."""

VERDICTS_ON: dict[Side, str] = {
    "values": "pages damaged, metadata true",
    "either": "undecided: pages or metadata",
    "metadata": "metadata false, values true",
}
"""What is likelier to be so, for each side."""


@dataclass(frozen=True)
class Weighing:
    """Which side is likelier to be wrong, and why.

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
    """The weighing that costs most to overlook, ``None`` without any."""
    return min(weighings, key=lambda weighing: SIDES.index(weighing.wrong), default=None)
