"""The errors that bytes can cause, and whose fault each error is.

There is one base class with two kinds.  ``Malformed`` is the file's fault: the bytes break the format.
``Unsupported`` is ours: the bytes may be valid, but this implementation does not read them.  Code that parses
bytes raises no other error; `boundary` converts the exceptions of ``construct`` and of Python's own decoders.
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from contextlib import contextmanager


class FormatError(Exception):
    """A structure could not be read.

    Attributes:
        reason: What is wrong, in one sentence without the place.
        rule: Id of the rule that the bytes break, if one is known (``"PQF-004"``).
        field: Path of the field in the grammar (``"footer.row_groups[3].columns"``), if known.
        offset: Position in the file in bytes, if known.
        length: How many bytes there are wrong, 0 if unknown.
        expected: What should be there, for people.
        actual: What is there, for people.
        remedy: What to do, if that is known.
        file: Name of the file, if known.
    """

    def __init__(
        self,
        reason: str,
        *,
        rule: str | None = None,
        field: str | None = None,
        offset: int | None = None,
        length: int = 0,
        expected: str = "",
        actual: str = "",
        remedy: str = "",
        file: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule
        self.field = field
        self.offset = offset
        self.length = length
        self.expected = expected
        self.actual = actual
        self.remedy = remedy
        self.file = file

    def __str__(self) -> str:
        where = [self.file or ""]
        where.append(f"offset {self.offset}" if self.offset is not None else "")
        where.append(self.field or "")
        place = ", ".join(part for part in where if part)
        rule = f" [{self.rule}]" if self.rule else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{place}: {self.reason}{remedy}{rule}" if place else f"{self.reason}{remedy}{rule}"

    def within(
        self,
        *,
        rule: str | None = None,
        field: str | None = None,
        offset: int | None = None,
        file: str | None = None,
    ) -> FormatError:
        """Fill in details that are not set yet; details that are set stay. Returns the same error."""
        self.rule = self.rule or rule
        self.field = self.field or field
        self.offset = self.offset if self.offset is not None else offset
        self.file = self.file or file
        return self


class Malformed(FormatError):  # noqa: N818 - says whose fault it is, and reads well in "raises Malformed"
    """The bytes break the format: the file's fault."""


class Unsupported(FormatError):  # noqa: N818 - as above
    """The bytes may be valid, but this implementation does not read them: our limit, not the file's fault."""


class Truncated(Malformed):
    """The bytes end before the structure does."""


@contextmanager
def boundary(
    *,
    rule: str | None = None,
    field: str | None = None,
    offset: int | None = None,
) -> Generator[None]:
    """Convert foreign exceptions to `Malformed`, around a single parse of untrusted bytes.

    A `FormatError` from inside gets the given place and passes.  Other errors of ``construct`` become `Malformed`,
    and so do errors of Python's integer, index, struct and text decoding on bad bytes.
    """
    from construct import ConstructError  # noqa: PLC0415 - errors stay importable at start-up without construct

    try:
        yield
    except FormatError as error:
        error.within(rule=rule, field=field, offset=offset)
        raise
    except (ConstructError, struct.error, ValueError, OverflowError, IndexError, EOFError) as error:
        text = str(error)
        if isinstance(error, ConstructError) and error.path is not None:
            text = text.partition("\n")[2]  # construct's first line is its own path, which repeats every name
        reason = " ".join(text.split()) or type(error).__name__
        raise Malformed(reason, rule=rule, field=field, offset=offset) from error
