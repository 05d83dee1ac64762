"""The judge: checks Parquet files of any writer against the specification.

>>> import pqassay
>>> report = pqassay.check(b"not a Parquet file at all")
>>> report
<Report: 1 file, 0 conformant, 1 nonconformant, 0 errored>
>>> report.files[0].findings[0].message
'the file is text, not a Parquet file'
"""

from __future__ import annotations

from pqassay_spec import __version__

TYPE_CHECKING = (
    False  # of typing, which takes longer to load than everything else that runs before Ctrl-C is handled
)

if TYPE_CHECKING:
    from typing import Any

    from pqassay.errors import UsageError
    from pqassay.judge.checker import check
    from pqassay.report.model import Finding, Report

__all__ = ["Finding", "Report", "UsageError", "__version__", "check"]


def __dir__() -> list[str]:
    """The public names, including those that are not imported yet."""
    return __all__


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
