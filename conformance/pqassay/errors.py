"""Errors in the use of the judge, as opposed to errors in the judged files."""

from __future__ import annotations


class UsageError(ValueError):
    """The caller asked for something that does not exist: no path, an unknown tier, a pattern without a rule.

    The message may have several lines, one for each mistake.
    """
