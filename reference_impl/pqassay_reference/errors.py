"""What the reference refuses to do, and why."""

from __future__ import annotations


class Undecodable(Exception):  # noqa: N818 - says what it is about
    """The pages of a column cannot be decoded. The message names the column and what the decoder said."""


class Refused(Exception):  # noqa: N818 - a refusal is an answer, not a failure
    """The request is clear and the file may be fine, but doing it would produce something wrong.

    The message names the value, column or place, and what to do instead where there is something.
    """
