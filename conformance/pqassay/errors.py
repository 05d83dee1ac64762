"""Errors of the judge itself, as opposed to those of the files that it judges."""

from __future__ import annotations


class UsageError(ValueError):
    """The caller asked for something that does not exist: no path, an unknown tier, a pattern without a rule.

    The message may have several lines, one for each thing that is wrong.
    """
