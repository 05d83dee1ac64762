"""The reading of JSON reports of ``pqassay check`` and of ``pqassay suite run``.

A report that was read renders like the one that was written: every renderer only uses these classes.
"""

from __future__ import annotations

import json
from typing import Any, cast

from pqassay.errors import UsageError
from pqassay.report import model as checks
from pqassay.report.model import Report
from pqassay.report.run import model as runs
from pqassay.report.run.model import RunReport

KINDS: dict[str, tuple[type[Any], int]] = {
    "check": (Report, checks.SCHEMA_VERSION),
    "run": (RunReport, runs.SCHEMA_VERSION),
}
"""The class of each kind of report, and the schema version that this package reads."""

PROBLEMS_SHOWN = 3


def parse(content: bytes, name: str) -> Report | RunReport:
    """Parse a report from JSON.

    Args:
        content: The bytes.
        name: The name of the file in messages.

    Raises:
        UsageError: The content is not a report, or has another version; the message names file and member.
    """
    kind = _kind(content, name)
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - only this needs it

    adapter: TypeAdapter[Any] = TypeAdapter(KINDS[kind][0])
    try:
        report = adapter.validate_json(content, strict=True)
    except ValidationError as error:
        shown = [
            f"{_member(problem['loc'])}: {problem['msg']}" for problem in error.errors()[:PROBLEMS_SHOWN]
        ]
        more = error.error_count() - len(shown)
        rest = f"; and {more} more" if more else ""
        raise UsageError(f"{name}: not a pqassay report of kind {kind}: {'; '.join(shown)}{rest}") from None
    if isinstance(report, Report):
        _require_consistent(report, name)
    return cast("Report | RunReport", report)


HOW_TO_WRITE = "write a report with --format json --output FILE"
"""The advice for a file that is not a report."""


def _kind(content: bytes, name: str) -> str:
    """The kind of report, ``check`` or ``run``. Raises `UsageError` for another version."""
    try:
        top = json.loads(content)
    except (UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name}: not valid JSON: {error}; {HOW_TO_WRITE}") from None
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{name}: not valid JSON: {error.msg} (line {error.lineno}, offset {error.pos}); {HOW_TO_WRITE}"
        ) from None
    head = cast("dict[str, Any]", top) if isinstance(top, dict) else {}
    kind, version = head.get("kind"), head.get("schema_version")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(
            f'{name}: not a report: its member kind is neither "check" nor "run"; '
            "write one with --format json --output FILE"
        )
    if version != KINDS[kind][1] or isinstance(version, bool):
        raise UsageError(
            f"{name}: schema_version is {version!r}, and this version of pqassay reads {KINDS[kind][1]}; "
            f"the report was written by pqassay {head.get('pqassay')!r}"
        )
    return kind


def _member(location: tuple[int | str, ...]) -> str:
    """The path of a member, such as ``files[3].findings[0].rule``."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return path.removeprefix(".") or "the whole"


def _require_consistent(report: Report, name: str) -> None:
    for number, file in enumerate(report.files):
        if file.coverage not in report.coverages:
            raise UsageError(f"{name}: files[{number}].coverage: there is no {file.coverage!r} in coverages")
        for place, finding in enumerate(file.findings):
            if not finding.at:
                raise UsageError(
                    f"{name}: files[{number}].findings[{place}].at: at least one place is needed"
                )
    for number, entry in enumerate(report.ignored):
        if not entry.examples:
            raise UsageError(f"{name}: ignored[{number}].examples: at least one is needed")
