"""Limit of the size of an index: a reader loads all of it for any decision, so a larger one is not useful."""

from __future__ import annotations

from dataclasses import dataclass

from pqassay_reference.errors import Refused

DEFAULT_LIMIT = 16 << 20
"""Greatest size of a blob in bytes, before compression."""


@dataclass(frozen=True)
class SizeLimit:
    """The greatest size of a blob, and the message about larger ones.

    Attributes:
        most: The limit in bytes.
        columns: The described columns, for the message.
    """

    most: int
    columns: str

    def require(self, size: int) -> None:
        """Raise `Refused` if a blob is larger; called while it grows, so it never takes much more memory."""
        if size > self.most:
            raise Refused(
                f"the index of {self.columns} takes more than {self.most} bytes; such columns are not worth one, "
                "or raise the limit with --max-bytes, or list fewer values with --most"
            )
