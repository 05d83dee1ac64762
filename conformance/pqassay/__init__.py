"""The judge: checks Parquet files against the specification, whoever wrote them.

>>> import pqassay
>>> report = pqassay.check(b"no Parquet file at all")
>>> report.files[0].outcome, [finding.rule for finding in report.files[0].findings]
('nonconformant', ['PQF-001', 'PQF-002'])
"""

from __future__ import annotations

from pqassay_spec import __version__

TYPE_CHECKING = False  # of typing, which takes longer to load than all else before Ctrl-C is taken care of

if TYPE_CHECKING:
    from typing import Any

    from pqassay.errors import UsageError
    from pqassay.judge.checker import check
    from pqassay.report.model import Finding, Report

__all__ = ["Finding", "Report", "UsageError", "__version__", "check"]


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``pqassay --help`` need not load the grammar."""
    if name == "check":
        from pqassay.judge.checker import check  # noqa: PLC0415 - see above

        return check
    if name == "UsageError":
        from pqassay.errors import UsageError  # noqa: PLC0415 - see above

        return UsageError
    if name in ("Finding", "Report"):
        from pqassay.report import model  # noqa: PLC0415 - see above

        return getattr(model, name)
    raise AttributeError(name)
