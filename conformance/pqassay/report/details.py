"""Details of a finding beside its sentence, as labels and values, alike in every format."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any, cast

from pqassay.report.model import Finding, Position, members

RENDERED = frozenset(
    (
        "rule",
        "level",
        "verdict",
        "effect",
        "path",
        "count",
        "at",
        "message",
        "column",
        "remedy",
        "hexdump",
        "known",
        "explanation",
    )
)
"""Members of a finding that have a place of their own in every format; others follow as they are."""


def details(finding: Finding) -> list[tuple[str, str]]:
    """Labels and values, in the order in which they are shown."""
    rows = [("found", finding.message)]
    if finding.column is not None:
        rows.append(("column", finding.column))
    first = finding.at[0]
    rows.append(("at", place(first)))
    if first.expected:
        rows.append(("expected", first.expected))
    if first.actual:
        rows.append(("actual", first.actual))
    if finding.explanation:
        rows.append(("known", finding.explanation))
    if finding.remedy:
        rows.append(("remedy", finding.remedy))
    rows.append(("more", f"pqassay explain {finding.rule}"))
    return rows


def place(position: Position) -> str:
    """A position in words: its field and, unless the thing is absent, its bytes."""
    if position.offset < 0:
        return position.field
    length = f", {position.length} bytes" if position.length > 1 else ""
    return f"{position.field}, offset {position.offset}{length}"


def further(finding: Finding) -> dict[str, list[str]]:
    """Members that have no place of their own, by name, each as lines: what a later version adds is not lost."""
    found = {name: list(_lines(value)) for name, value in further_members(finding).items()}
    if finding.proof is not None:
        from pqassay.report.proof_text import plain_lines  # noqa: PLC0415 - rich, and few reports have proofs

        found["proof"] = plain_lines(finding.proof)
    return found


def further_members(finding: Finding) -> dict[str, Any]:
    """The same as they stand in the JSON."""
    names = [field.name for field in dataclasses.fields(finding) if field.name not in RENDERED]
    if not names:
        return {}
    written = members(finding)
    return {name: written[name] for name in names if name in written}


def _lines(value: Any, indent: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            if isinstance(member, (dict, list)):
                yield f"{indent}{key}:"
                yield from _lines(member, f"{indent}  ")
            else:
                yield f"{indent}{key}: {_plain(member)}"
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            if isinstance(item, dict):  # a row of a table
                row = cast("dict[str, Any]", item)
                yield indent + ", ".join(f"{key} {_plain(member)}" for key, member in row.items())
            else:
                yield f"{indent}{_plain(item)}"
    else:
        yield f"{indent}{_plain(value)}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
