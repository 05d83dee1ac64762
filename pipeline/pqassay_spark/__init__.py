"""The pipeline on Apache Spark: write Parquet files, index them, check them, query them.

Contents: everything that needs Spark.  It may use the specification, the reference and the
judge; no other package may use it.  Importing it does not start Java or import ``pyspark``: only the functions
that need them do.
"""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to load than all else before Ctrl-C is taken care of

if TYPE_CHECKING:
    from typing import Any

    from pqassay_spark.query.pruned_scan import read as read

__all__ = ["read"]


def __getattr__(name: str) -> Any:
    """Import `read` on demand, because its module needs Spark."""
    if name == "read":
        from pqassay_spark.query.pruned_scan import read  # noqa: PLC0415 - see above

        return read
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
