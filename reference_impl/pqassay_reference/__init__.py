"""The reference implementation: the smallest honest reader and writer of what the specification describes.

It exists to be read next to the chapters, to produce golden files, and to give implementers something to
compare with.  It never imports the judge, nor the judge it: a judge that used the reference would make the
reference's mistakes the law.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pqassay_reference.query.scan import scan

__all__ = ["scan"]


def __getattr__(name: str) -> Any:
    """The scan, loaded when it is first asked for: it needs pyarrow, which most of this package does without."""
    if name == "scan":
        from pqassay_reference.query.scan import scan  # noqa: PLC0415 - see above

        return scan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
