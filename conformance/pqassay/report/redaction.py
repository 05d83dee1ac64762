"""Reports without values: the conclusions of a check about data, without the data.

Values in messages, expectations and queries are replaced by type, length and a digest, and byte dumps are omitted. Digests are salted:
without the salt, values cannot be guessed, and with the same salt, two runs can be compared. Names of files and columns, places, counts of
rows and remedies stay.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from dataclasses import replace
from functools import partial

from pqassay.report.model import FileReport, Finding, Position, Proof, Report, Untested
from pqassay_spec.rules.catalogue import rules

SALT_VARIABLE = "PQASSAY_SALT"
"""The environment variable with the salt."""

DIGITS = 12
"""The number of hexadecimal digits of a digest."""

FILES_NAMED = 3
"""The number of a table's files that a message names."""

_HIDDEN = re.compile(rf"<\w+ of \d+ characters?, #[0-9a-f]{{{DIGITS}}}>")

_QUOTED = re.compile(
    r"(?<!\w)[bru]?(?:'(?:\\.|[^'\\])*(?:'|$)|\"(?:\\.|[^\"\\])*(?:\"|$))|\b(?:[0-9a-f]{2} ){3,}[0-9a-f]{2}\b"
)
"""A pattern for the parts of messages that come from a file: quoted text and bytes, even if truncated, and rows of bytes."""

_LEAD = re.compile(
    r"(?:(?:not|no|at|least|most|less|more|than|up|to|before|after|from|by|the|a|an|all|only) )+"
)

_KINDS = (
    ("number", re.compile(r"[-+]?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")),
    ("moment", re.compile(r"[-+]?\d{4,}-\d\d-\d\d.*|\d\d:\d\d.*")),
    ("bytes", re.compile(r"b['\"].*|0x[0-9a-fA-F]+|(?:[0-9a-fA-F]{2} ?)+", re.DOTALL)),
)


def salt_of(chosen: str | None) -> str:
    """The chosen salt, else the salt of the environment, else a random salt for this run."""
    return chosen or os.environ.get(SALT_VARIABLE) or secrets.token_hex(16)


def without_values(report: Report, salt: str | None = None) -> Report:
    """The report without values. A report that is already without values stays the same.

    Args:
        report: The report.
        salt: The salt of the digests; see `salt_of`.
    """
    key = salt_of(salt).encode("utf-8", "surrogateescape")
    coverages = {
        name: replace(
            coverage,
            not_checked={
                rule: Untested(
                    why.obstacle,
                    masked(why.reason, key),
                    tuple(masked(each, key) for each in why.further),
                )
                for rule, why in coverage.not_checked.items()
            },
        )
        for name, coverage in report.coverages.items()
    }
    return replace(report, coverages=coverages, files=[_file(file, key) for file in report.files])


def hidden(text: str, key: bytes) -> str:
    """The type, length and digest of a text; words before it, such as *at least*, stay.

    >>> hidden("at least 107", b"salt")
    'at least <number of 3 characters, #5100a35bc07f>'
    """
    lead = match[0] if (match := _LEAD.match(text)) else ""
    value = text[len(lead) :]
    if not value or _HIDDEN.fullmatch(value):
        return text
    kind = next((name for name, form in _KINDS if form.fullmatch(value)), "text")
    digest = hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:DIGITS]
    return f"{lead}<{kind} of {len(value)} character{'s' * (len(value) != 1)}, #{digest}>"


def masked(text: str, key: bytes) -> str:
    """A message with its quoted parts hidden."""
    return _QUOTED.sub(lambda match: hidden(match[0], key), text)


def _file(file: FileReport, key: bytes) -> FileReport:
    if not (file.findings or file.gaps or file.notes or file.error):
        return file
    return replace(
        file,
        findings=[_finding(finding, key) for finding in file.findings],
        error=None if file.error is None else masked(file.error, key),
        notes=[masked(note, key) for note in file.notes],
        gaps=[replace(gap, reason=masked(gap.reason, key)) for gap in file.gaps],
    )


def _is_about_structure(rule_id: str) -> bool:
    """Whether a rule is about the structure of a file, so that its messages contain values only in quotes."""
    rule = rules().get(rule_id)
    if rule is None or not rule_id.startswith("PQF-") or rule.tier not in ("footer", "index", "pages"):
        return False
    return "key_value_metadata" not in rule.field


def _finding(finding: Finding, key: bytes) -> Finding:
    if _is_about_structure(finding.rule):
        hide, message = partial(masked, key=key), masked(finding.message, key)
    else:
        rule = rules().get(finding.rule)
        files = f"{', '.join(finding.files[:FILES_NAMED])}: " if finding.files else ""
        hide, message = partial(hidden, key=key), files + ("" if rule is None else rule.sentence)
    return replace(
        finding,
        message=message,
        at=[_position(position, hide, key) for position in finding.at],
        hexdump=[],
        shape="",
        proof=None if finding.proof is None else _proof(finding.proof, key),
    )


def _position(position: Position, hide: partial[str], key: bytes) -> Position:
    return replace(
        position,
        field=masked(position.field, key),
        expected=hide(position.expected),
        actual=hide(position.actual),
    )


def _proof(proof: Proof, key: bytes) -> Proof:
    """A proof with hidden values; numbers of rows stay."""
    return replace(
        proof,
        query=None if proof.query is None else hidden(proof.query, key),
        predicate=None,
        engines=[
            replace(answer, error=None if answer.error is None else hidden(answer.error, key), reproduce=None)
            for answer in proof.engines
        ],
        reason=None if proof.reason is None else masked(proof.reason, key),
    )
