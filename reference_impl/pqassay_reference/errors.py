"""Errors of the reference: what it refuses to do and cannot decode, and the file that an error is about."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from pqassay_spec.base.errors import FormatError


class Undecodable(Exception):  # noqa: N818 - says what it is about
    """The pages of a column cannot be decoded. The message names the column and what the decoder said."""


class Lacking(Undecodable):
    """The format has such pages, and the decoder does not read them rightly."""


class Refused(Exception):  # noqa: N818 - a refusal is an answer, not a failure
    """The request is clear and the file may be fine, but doing it would produce something wrong.

    The message names the value, column or place, and what to do instead where there is something.
    """


@contextmanager
def about(file: str) -> Generator[None]:
    """Say in every format error which file it was, unless the error knows."""
    try:
        yield
    except FormatError as error:
        error.within(file=file)
        raise
