"""Pins: short texts that identify the answer of a driver; equal answers have equal pins.

Expectations contain pins, so that a known failure does not hide another one.  A pin contains no messages and
no version numbers, because these change without other changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from pqassay.literals.rows import digest
from pqassay_suite.drivers.driver import NoAnswer, Reply
from pqassay_suite.drivers.protocol import Reject, Unsupported
from pqassay_suite.judging.row_answers import rows_of

CHARACTERS = 16
"""Characters of a digest in a pin."""


def pin_of(reply: Reply, rules: Sequence[str] = ()) -> str:
    """The pin of an answer.

    Args:
        reply: The reply: rows are identified by their digest, a refusal by its class, an invalid answer by the reason.
        rules: Rules that are broken in the file that the driver wrote.

    Returns:
        ``rows 8fd0a3…``, ``refusal ArrowInvalid``, ``crashed`` and so on.
    """
    if isinstance(reply, NoAnswer):
        return reply.outcome
    if isinstance(reply, Reject):
        return f"refusal {(reply.raised or '').partition(':')[0]}".strip()
    if isinstance(reply, Unsupported):
        return "unsupported"
    if rules:
        return f"breaks {', '.join(sorted(rules))}"
    if reply.digest is not None:
        return f"rows {reply.digest[:CHARACTERS]}"
    rows = rows_of(reply)
    if rows is not None:
        return f"rows {digest(rows)[:CHARACTERS]}"
    others = {name: getattr(reply, name, None) for name in ("value", "row_groups", "ranges")}
    if not any(others.values()):
        return reply.answer
    return f"value {_digest(json.dumps(others, sort_keys=True, default=vars))}"


def pin_of_queries(wrong: Iterable[tuple[object, str]], asked: int) -> str:
    """The pin of a scan: the queries that failed, and their answers.

    Args:
        wrong: For each of these queries, its predicate and columns, and the pin of its answer.
        asked: The number of queries.
    """
    told = sorted(json.dumps(one, sort_keys=True) for one in wrong)
    return f"{len(told)} of {asked} queries {_digest(json.dumps(told))}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:CHARACTERS]
