"""The words for results of a run: operations, outcomes, and observed severities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

TELLING = re.compile(r"panic|fatal error|Exception|Error:|^\w*Error$|\bpanicked at\b|^SIG|signal ", re.ASCII)
"""A pattern for lines that explain why a program ended, in any programming language."""

Operation = Literal["read", "decode", "lint", "encode", "update", "scan", "snapshot", "prune", "plan"]
"""Operations on cases, in the order in which a run requests them."""

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
"""The outcome of one operation on one case.

``crashed``: a signal, the time limit, or an exit status other than 0 and 3; never a refusal. ``refused by accident``: a refusal is right,
but the caller received an exception that no library raises on purpose. ``protocol error``: the answer is missing or malformed.
``unstable``: the answer is wrong or missing, but right when a fresh process is asked. ``inherited``: the answers are wrong in the same way
as for the valid parent, where they count. ``no credit``: the driver answers a negative case correctly but its valid parent wrongly, so the
answer proves nothing. ``exposed``: the rows are the effect of a well-formed lie, for which no reader is blamed. ``unsupported``: the
library reports that it lacks a needed feature.
"""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

UNSCORED: frozenset[Outcome] = frozenset({"exposed", "unsupported"})
"""Outcomes that are neither right nor wrong."""

GOOD: frozenset[Outcome] = frozenset({"passed", "inherited", *UNSCORED})
"""Outcomes without an error that counts here."""

NEITHER: frozenset[Outcome] = GOOD - {"passed"}
"""Outcomes without an error, which prove nothing."""

BROKEN: frozenset[Outcome] = frozenset({"crashed", "protocol error"})
"""Outcomes in which the driver did not answer."""

UNMET = 9
"""The severity for a written file that is valid but not as requested; only writers have it."""

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
"""Severities by number, the most severe first. They describe the driver's behavior, not the possible effect of the rule."""

WRONG_ROWS = frozenset({1, 4})
"""Severities of answers with wrong rows."""

WRITER_SEVERITIES: dict[int, str] = {
    1: "writes a wrong file",
    2: "crashes while writing",
    3: "refuses to write",
}
"""Severities with another meaning for writers than for readers."""

FOREIGN = ("IDX1", "DIR")
"""Families of indexes that Parquet does not define. A reader that does not know them ignores their bytes."""

PAST_FOREIGN: tuple[Operation, ...] = ("read", "scan")
"""Operations that a reader can do if it ignores the index."""

WRITING: tuple[Operation, ...] = ("encode", "update")
"""Operations of writers."""

UNCLASSED = max(SEVERITIES) + 1
"""The rank of failures without a severity in an order by severity."""

Blame = Literal["by the index", "of the filter", "without it too"]
"""Whether an answer that is wrong with the index is right without it.

``of the filter``: it is, but the driver does not declare that the library can switch the index off. So the filter without index may belong
to the driver, or to another part of the library.
"""

ExposureVerdict = Literal["right", "rows lost", "wrong rows", "refused", "crashed", "unsupported"]
"""The effect of a well-formed lie on a reader."""


def severity_name(severity: int | None) -> str:
    """The observed severity in words; empty for none, and the number if it is from another version."""
    return "" if severity is None else SEVERITIES.get(severity, f"severity {severity}")


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """The count of each outcome, in the order of `Outcome`; outcomes that do not occur are omitted."""
    return {outcome: outcomes.count(outcome) for outcome in OUTCOMES if outcome in outcomes}
