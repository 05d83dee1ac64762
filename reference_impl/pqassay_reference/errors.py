"""Errors of the reference: refused requests, undecodable pages, and the file that an error is about."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from pqassay_spec.base.errors import FormatError


class Undecodable(Exception):  # noqa: N818 - says what it is about
    """The pages of a column cannot be decoded. The message has the column and the decoder's message."""


class Lacking(Undecodable):
    """The format allows such pages, but the decoder reads them wrongly."""


class Refused(Exception):  # noqa: N818 - a refusal is an answer, not a failure
    """The request is clear and the file may be valid, but the result would be wrong.

    The message names the value, column or place, and what to do instead if that is known.
    """


@contextmanager
def about(file: str) -> Generator[None]:
    """Add the name of the file to every format error that lacks it."""
    try:
        yield
    except FormatError as error:
        error.within(file=file)
        raise
