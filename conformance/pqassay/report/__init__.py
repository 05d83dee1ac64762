"""Reports: their classes, and every format in which they are written and read.

Contents: the model of the report of a check (`model`) and of a run (`run.model`), whose JSON Schemas are derived from
the classes, a renderer for each format, reading a report again, and comparing two.

Excluded: judging files.  A renderer only uses a report and a stream, so a report that was read from JSON is
rendered exactly like a new one.  This room imports only the specification, and rendering libraries where they
are used.  Public names are those below.
"""

from __future__ import annotations

from pqassay.report.baseline_state import BaselineState, StaleEntry
from pqassay.report.model import (
    Coverage,
    EngineAnswer,
    FileReport,
    Finding,
    Ignored,
    Position,
    Proof,
    Report,
    Summary,
)

__all__ = [
    "BaselineState",
    "Coverage",
    "EngineAnswer",
    "FileReport",
    "Finding",
    "Ignored",
    "Position",
    "Proof",
    "Report",
    "StaleEntry",
    "Summary",
]
