"""Observations about a driver: the severity, and the common causes of its failures."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from pqassay.report.run.model import Result
from pqassay.report.run.outcomes import TELLING, UNMET, Operation, Outcome
from pqassay_spec.golden.case import Case

Fault = Literal["wrong", "refused", "declined", "accepted", "crashed", "accident", "protocol", "unfulfilled"]
"""The problems of an answer: what it says, that it is a refusal (``declined``: on purpose), that it is not an answer, that there is none, or that
a wish is not met."""

_SEVERITIES: Mapping[Fault, tuple[int, int]] = {
    "wrong": (1, 4),
    "crashed": (2, 5),
    "refused": (3, 3),
    "declined": (3, 8),
    "accident": (3, 6),
    "accepted": (3, 7),
    "protocol": (2, 5),
    "unfulfilled": (UNMET, UNMET),
}
"""How grave each is about a valid file, and about a damaged one."""

MISTAKES = frozenset(
    {
        *("IndexOutOfBoundsException", "ArrayIndexOutOfBoundsException", "StringIndexOutOfBoundsException"),
        *("NullPointerException", "ClassCastException", "NoSuchElementException", "ArithmeticException"),
        *("NegativeArraySizeException", "BufferUnderflowException", "BufferOverflowException"),
        *("TypeError", "RangeError", "ReferenceError", "SyntaxError"),
        *("IndexError", "KeyError", "AttributeError", "NameError", "UnboundLocalError", "ZeroDivisionError"),
        *("AssertionError", "StopIteration", "OverflowError"),
    }
)
"""Classes of exceptions that show a mistake in the program that raised them, where a driver does not declare which do not."""


@dataclass(frozen=True)
class Accidents:
    """Which exceptions a library does not raise on purpose.

    Attributes:
        raises: Patterns of the classes that it does raise on purpose, as its driver declares them; ``None`` if it does not.
    """

    raises: Sequence[str] | None = None

    def include(self, raised: str | None) -> bool:
        """Whether an exception of this class is an accident.

        >>> Accidents().include("java.util.NoSuchElementException")
        True
        >>> Accidents(("org.acme.*", "KeyError")).include("KeyError")
        False
        >>> Accidents(("org.acme.*", "KeyError")).include("java.io.IOException")
        True
        """
        if raised is None:
            return False
        name = re.split(r"[.:$]", raised)[-1]
        if self.raises is None:
            return name in MISTAKES
        return not any(fnmatchcase(raised, pattern) or name == pattern for pattern in self.raises)


ACCIDENTS = Accidents()
"""What is an accident where nothing is declared."""

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|-?[0-9]+")
_FOLDERS = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:)?/(?:[^\s/:\"']+/)+")
"""Folders of absolute paths; what a slash within a name parts, as ``github.com/owner/module.Function``, is not a folder, and nor is
the host of an address."""

_FRAME = re.compile(r"^\s*(?:at )?([\w.$/<>*()-]+)\(|\b([\w./-]+\.(?:go|rs|java|js|mjs|py|cc|cpp)):")

MOST_CHARACTERS = 160


def severity(case: Case, fault: Fault) -> int:
    """How grave a fault about a case is, see `pqassay.report.run.model.SEVERITIES`."""
    return _SEVERITIES[fault][case.kind != "valid"]


def without_folders(text: str) -> str:
    """A text in which absolute paths are the names of their files: the folders are those of one machine, or of one run.

    >>> without_folders("cannot open '/tmp/x/data.parquet', see https://example.org/help/open")
    "cannot open 'data.parquet', see https://example.org/help/open"
    """
    return _FOLDERS.sub("", text)


def blanked(text: str, names: Collection[str] = ()) -> str:
    """A message without numbers, folders and names of columns, which differ between failures of one cause.

    >>> blanked("page 3 at offset 0x1f of /tmp/x/data.parquet")
    'page # at offset # of data.parquet'
    >>> blanked("example.org/owner/reader.Kind.Value")
    'example.org/owner/reader.Kind.Value'
    >>> blanked("no column 'a', size of metal", ["a", "metal", "size"])
    "no column '…', size of …"
    """
    text = without_folders(" ".join(text.split()))
    if names:
        either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        text = re.sub(f"(?<=['\"`])(?:{either})(?=['\"`])", "…", text)
        own = [re.escape(name) for name in names if len(name) > 2 and name not in WORDS]
        if own:
            text = re.sub(rf"(?<!\w)(?:{'|'.join(own)})(?!\w)", "…", text)
    return _NUMBER.sub("#", text)[:MOST_CHARACTERS]


WORDS = frozenset(
    {
        *("count", "counts", "flag", "key", "level", "levels", "list", "map", "name", "number", "numbers"),
        *("place", "size", "text", "time", "type", "value", "values"),
    }
)
"""Names of columns that messages have for other things as well."""


def cause_of(
    operation: Operation,
    outcome: Outcome,
    reason: str,
    *,
    actual: str | None,
    stderr: str | None,
    names: Collection[str] = (),
    differs: str = "",
) -> str:
    """The common parts of results of one cause.

    A crash is identified by the line that reports it and the first frame below, a refusal by its class and
    message, and wrong rows by their difference, whatever the question and structure.

    Args:
        operation: What was asked.
        outcome: Its outcome.
        reason: Why, in one line.
        actual: The actual answer.
        stderr: What the driver wrote there.
        names: Names of the columns of the file.
        differs: How what came differs, see `pqassay_suite.judging.differences`.
    """
    if outcome == "crashed":
        return f"crash: {_crash(stderr or '', names) or blanked(reason, names)}"
    if outcome == "unstable":
        return f"unstable: {differs or blanked(reason, names)}"
    if outcome == "protocol error":
        return f"protocol: {blanked(reason, names)}"
    if differs:
        return differs
    if actual is not None and actual.startswith("reject"):
        return refusal_of(None, actual.partition(": ")[2], names)
    return f"{operation}: {blanked(reason, names)}"


def with_shared_causes(results: Sequence[Result]) -> list[Result]:
    """The results, of which scans have the cause of `read` that select wrong rows of a file whose rows are read wrongly.

    A value that is read wrongly is not found, or found elsewhere; a selection of which more is known keeps its cause.
    """
    read = {one.case: one.cause for one in results if one.operation == "read" and one.outcome == "failed"}
    return [
        replace(one, cause=read[one.case])
        if one.operation == "scan" and one.case in read and _SELECTS.match(one.cause or "")
        else one
        for one in results
    ]


_SELECTS = re.compile(r"wrong rows: rows (missing|too many)(?!.* where )(?!.*, (by|of) the )")
"""Causes of rows that are selected wrongly, without an index as well, of which no more is known."""


def refusal_of(raised: str | None, message: str, names: Collection[str]) -> str:
    """The common parts of refusals of one cause: the class of the exception, if the driver names it, and the message."""
    return f"refusal: {': '.join(filter(None, (raised, blanked(message, names))))}"


def _crash(stderr: str, names: Collection[str]) -> str:
    lines = stderr.splitlines()
    place = next((number for number, line in enumerate(lines) if TELLING.search(line)), None)
    if place is None:
        return blanked(lines[0], names) if lines else ""
    message = lines[place]
    if message.endswith(":") and place + 1 < len(
        lines
    ):  # a panic of Rust says where, and what in the next line
        place += 1
        message = f"{message} {lines[place].strip()}"
    frame = next((match for line in lines[place + 1 :] if (match := _FRAME.search(line))), None)
    words = blanked(message, names)
    return f"{words} in {blanked(frame[1] or frame[2])}" if frame else words
