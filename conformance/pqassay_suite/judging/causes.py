"""The failures of a driver: their severity, and the causes that they share."""

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
"""The kind of error of an answer: wrong content, a refusal (``declined``: on purpose), an invalid answer, no answer, or an
unfulfilled wish."""

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
"""The severity of each, for a valid file and for a damaged one."""

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
"""Classes of exceptions that show a bug in the program that raised them; used if a driver does not declare its own."""


@dataclass(frozen=True)
class Accidents:
    """The exceptions that a library does not raise on purpose.

    Attributes:
        raises: Patterns of the classes that it raises on purpose, as declared by its driver; ``None`` without a declaration.
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
"""The accidents if the driver declares nothing."""

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|-?[0-9]+")
_FOLDERS = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:)?/(?:[^\s/:\"']+/)+")
"""Folders of absolute paths; the parts of a name with slashes, such as ``github.com/owner/module.Function``, or the host of a URL
are not folders."""

_FRAME = re.compile(r"^\s*(?:at )?([\w.$/<>*()-]+)\(|\b([\w./-]+\.(?:go|rs|java|js|mjs|py|cc|cpp)):")

MOST_CHARACTERS = 160


def severity(case: Case, fault: Fault) -> int:
    """The severity of a fault about a case, see `pqassay.report.run.model.SEVERITIES`."""
    return _SEVERITIES[fault][case.kind != "valid"]


def without_folders(text: str) -> str:
    """A text in which absolute paths are shortened to file names, because their folders depend on the machine or run.

    >>> without_folders("cannot open '/tmp/x/data.parquet', see https://example.org/help/open")
    "cannot open 'data.parquet', see https://example.org/help/open"
    """
    return _FOLDERS.sub("", text)


def blanked(text: str, names: Collection[str] = ()) -> str:
    """A message without numbers, folders and names of columns, which differ between failures with one cause.

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
"""Names of columns that also have other meanings in messages."""


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
    """A text that is the same for results with one cause.

    A crash is identified by the line that reports it and the first frame below, and a refusal by its class and
    message. Wrong rows are identified by their difference, for every question and structure.

    Args:
        operation: The operation of the request.
        outcome: Its outcome.
        reason: The reason in one line.
        actual: The actual answer.
        stderr: The stderr of the driver.
        names: Names of the columns of the file.
        differs: The difference of the answer, see `pqassay_suite.judging.differences`.
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
    """The results; if a file is read wrongly, scans that select wrong rows of it get the cause of `read`.

    A value that is read wrongly is not selected, or selected elsewhere. A selection with a more specific cause keeps it.
    """
    read = {one.case: one.cause for one in results if one.operation == "read" and one.outcome == "failed"}
    return [
        replace(one, cause=read[one.case])
        if one.operation == "scan" and one.case in read and _SELECTS.match(one.cause or "")
        else one
        for one in results
    ]


_SELECTS = re.compile(r"wrong rows: rows (missing|too many)(?!.* where )(?!.*, (by|of) the )")
"""Causes of wrong selections, also without an index, that are not specific."""


def refusal_of(raised: str | None, message: str, names: Collection[str]) -> str:
    """A text that is the same for refusals with one cause: the class of the exception, if the driver names it, and the message."""
    return f"refusal: {': '.join(filter(None, (raised, blanked(message, names))))}"


def _crash(stderr: str, names: Collection[str]) -> str:
    lines = stderr.splitlines()
    place = next((number for number, line in enumerate(lines) if TELLING.search(line)), None)
    if place is None:
        return blanked(lines[0], names) if lines else ""
    message = lines[place]
    if message.endswith(":") and place + 1 < len(
        lines
    ):  # a panic of Rust gives the place, and the message in the next line
        place += 1
        message = f"{message} {lines[place].strip()}"
    frame = next((match for line in lines[place + 1 :] if (match := _FRAME.search(line))), None)
    words = blanked(message, names)
    return f"{words} in {blanked(frame[1] or frame[2])}" if frame else words
