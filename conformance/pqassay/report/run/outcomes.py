"""The words of the results of a run: operations, outcomes, and how grave what was observed is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

TELLING = re.compile(r"panic|fatal error|Exception|Error:|^\w*Error$|\bpanicked at\b|^SIG|signal ", re.ASCII)
"""What is in a line that tells why a program ended, in whichever language it was written."""

Operation = Literal["read", "decode", "lint", "encode", "update", "scan", "snapshot", "prune", "plan"]
"""Operations on cases, in the order in which a run asks for them."""

Outcome = Literal[
    "passed",
    "failed",
    "crashed",
    "refused by accident",
    "protocol error",
    "unstable",
    "inherited",
    "no credit",
    "exposed",
    "unsupported",
]
"""Outcome of one operation on one case.

``crashed``: a signal, the time limit, or an exit status other than 0 and 3; never a refusal.  ``refused by accident``: a refusal
was right, but what reached the caller is an exception that no library raises on purpose.  ``protocol error``: the answer is
missing or malformed.  ``unstable``: the answer is wrong, or there is none, and right when a fresh process is asked.  ``inherited``: the answers are wrong, and equally wrong about the valid parent, where they count.  ``no
credit``: a negative case was answered rightly by a driver that answers its valid parent wrongly, so the answer proves nothing.
``exposed``: the rows are those that a well-formed lie makes of the file, for which no reader is blamed.  ``unsupported``: the library does
not have what the case takes, and says so.
"""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

UNSCORED: frozenset[Outcome] = frozenset({"exposed", "unsupported"})
"""Outcomes that are neither right nor wrong."""

GOOD: frozenset[Outcome] = frozenset({"passed", "inherited", *UNSCORED})
"""Outcomes with which nothing is wrong that is not counted elsewhere."""

NEITHER: frozenset[Outcome] = GOOD - {"passed"}
"""Outcomes with which nothing is wrong, and nothing was shown to be right."""

BROKEN: frozenset[Outcome] = frozenset({"crashed", "protocol error"})
"""Outcomes in which the driver gave no answer."""

UNMET = 9
"""The severity that writers alone have, of a file that is right and not as wished."""

SEVERITIES: dict[int, str] = {
    1: "wrong rows from a valid file",
    2: "crash on a valid file",
    3: "refusal of a file that must be read",
    4: "wrong rows from a damaged file",
    5: "crash on a damaged file",
    6: "refusal by accident",
    7: "accepts a file that must be refused",
    8: "refusal of an odd but legal file",
    UNMET: "writes a file that differs from the request",
}
"""The observation, the gravest first. It is about what the driver did, not about what the rule could do."""

WRITER_SEVERITIES: dict[int, str] = {
    1: "writes a wrong file",
    2: "crashes while writing",
    3: "refuses to write",
}
"""The observation of a writer, where it is something else than of a reader."""

FOREIGN = ("IDX1", "DIR")
"""Families whose indexes are bytes that Parquet does not define. A reader that does not know them reads past them."""

PAST_FOREIGN: tuple[Operation, ...] = ("read", "scan")
"""Operations that a reader can do if it ignores the index."""

WRITING: tuple[Operation, ...] = ("encode", "update")
"""Operations of writers."""

UNCLASSED = max(SEVERITIES) + 1
"""Where what is wrong, and has no severity, is placed in an order by severity."""

Blame = Literal["by the index", "of the filter", "without it too"]
"""Whether an answer that is wrong with the index is right without it. ``of the filter``: it is, but the driver does not declare that the
library can switch the index off, so that what filters without it may be the driver, or another part of the library."""

ExposureVerdict = Literal["right", "rows lost", "wrong rows", "refused", "crashed", "unsupported"]
"""The effect of a well-formed lie on a reader."""


def severity_name(severity: int | None) -> str:
    """The observed severity in words; empty for none, and the number if another version wrote it."""
    return "" if severity is None else SEVERITIES.get(severity, f"severity {severity}")


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Count of each outcome, in the order of `Outcome`, without those that do not occur."""
    return {outcome: outcomes.count(outcome) for outcome in OUTCOMES if outcome in outcomes}
