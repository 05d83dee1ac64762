"""The trace of a ``_pm`` file: header, blocks, footers."""

from __future__ import annotations

from pqassay.dump.forms import Sink
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.pm.trace import trace_pm


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    problems: list[FormatError] = []
    for batch in trace_pm(source, problems):
        sink(batch)
    return problems
