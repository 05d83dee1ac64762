"""The reader: it profits from what the chapters promise about a file, and may be fast.

Contents: conditions (`condition`), the rows that claims about chunks and pages leave to be read (`pages`), the scan of a
file in rungs (`query`), a folder of files with their indexes (`lake`), aggregates by metadata alone (`answer`), blobs of indexes as arrays
(`directory`), what the driver finds wrong with an IDX1 index or a ``_pm`` (`lint`), and the commands of these.

Excluded: the bytes of any structure, which `pqassay_reference` reads and writes; the judge.  The reference does not know
that this package exists.

How a scan works: a condition is parsed once (`condition.text`).  For each file its footer, index directory or ``_pm`` gives facts
(`query.facts`); each rung asks one kind of them which row groups or rows may still match (`pages.row_selection`, `pages.excluding`); what
is left is fetched in few requests (`query.fetching`), decoded by pyarrow and filtered by the condition itself.  An index that is
missing, stale or damaged is set aside with its reason: rows are lost by nothing that a rung could not prove.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pqassay_reader.lake.indexed_dataset import open_indexed
    from pqassay_reader.query.scan import scan

__all__ = ["open_indexed", "scan"]


def __getattr__(name: str) -> Any:
    """The functions of this package, loaded when they are first asked for: they need pyarrow."""
    if name == "scan":
        from pqassay_reader.query.scan import scan  # noqa: PLC0415 - see above

        return scan
    if name == "open_indexed":
        from pqassay_reader.lake.indexed_dataset import open_indexed  # noqa: PLC0415 - see above

        return open_indexed
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
