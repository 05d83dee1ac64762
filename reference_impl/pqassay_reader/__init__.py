"""The reader: it uses the guarantees of the chapters about a file, and may be fast.

Contents: conditions (`condition`), selection of rows by claims about chunks and pages (`pages`), the scan of
a file in rungs (`query`), a folder of files with their indexes (`lake`), aggregates from metadata (`answer`),
blobs of indexes as arrays (`directory`), the driver's checks of IDX1 and ``_pm`` (`lint`), and commands.

Excluded: bytes of structures, which `pqassay_reference` reads and writes; the judge.  The reference does not
import this package.

How a scan works: a condition is parsed once (`condition.text`).  The footer, index directory or ``_pm`` of
each file gives facts (`query.facts`). Each rung uses one kind of facts to find the row groups or rows that
may still match (`pages.row_selection`, `pages.excluding`). The rest is fetched in few requests
(`query.fetching`), decoded by pyarrow and filtered by the condition itself.  A missing, stale or damaged index is
ignored, with its reason: a rung only excludes rows if it can prove that they do not match.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pqassay_reader.lake.indexed_dataset import open_indexed
    from pqassay_reader.query.scan import scan

__all__ = ["open_indexed", "scan"]


def __getattr__(name: str) -> Any:
    """Load the functions of this package on first use, because they need pyarrow."""
    if name == "scan":
        from pqassay_reader.query.scan import scan  # noqa: PLC0415 - see above

        return scan
    if name == "open_indexed":
        from pqassay_reader.lake.indexed_dataset import open_indexed  # noqa: PLC0415 - see above

        return open_indexed
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
