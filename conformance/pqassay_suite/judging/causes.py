"""What was observed of a driver: how grave it is, and what its failures have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from pqassay.report.run.model import Operation, Outcome
from pqassay_spec.golden.case import Case
from pqassay_suite.drivers.excerpt import TELLING

Fault = Literal["wrong", "refused", "declined", "accepted", "crashed", "accident", "protocol"]
"""What is wrong with an answer: what it says, that it is a refusal (``declined``: on purpose), that it is none, that there is none."""

_OF_VALID: Mapping[Fault, int] = {
    "wrong": 1,
    "crashed": 2,
    "refused": 3,
    "declined": 3,
    "accident": 3,
    "protocol": 2,
}
_OF_DAMAGED: Mapping[Fault, int] = {
    "wrong": 4,
    "crashed": 5,
    "accident": 6,
    "accepted": 7,
    "refused": 3,
    "declined": 8,
    "protocol": 5,
}

ACCIDENTS = frozenset(
    {
        *("IndexOutOfBoundsException", "ArrayIndexOutOfBoundsException", "StringIndexOutOfBoundsException"),
        *("NullPointerException", "ClassCastException", "NoSuchElementException", "ArithmeticException"),
        *("NegativeArraySizeException", "BufferUnderflowException", "BufferOverflowException"),
        *("TypeError", "RangeError", "ReferenceError", "SyntaxError"),
        *("IndexError", "KeyError", "AttributeError", "NameError", "UnboundLocalError", "ZeroDivisionError"),
        *("AssertionError", "StopIteration", "OverflowError"),
    }
)
"""Classes of exceptions that tell of a mistake in the program that raised them, whatever it was given."""

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|-?[0-9]+")
_FOLDERS = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:)?/(?:[^\s/:\"']+/)+")
"""Folders of absolute paths; what a slash within a name parts, as ``github.com/owner/module.Function``, is no folder, and nor is
the host of an address."""

_FRAME = re.compile(r"^\s*(?:at )?([\w.$/<>*()-]+)\(|\b([\w./-]+\.(?:go|rs|java|js|mjs|py|cc|cpp)):")

MOST_CHARACTERS = 160


def severity(case: Case, fault: Fault) -> int:
    """How grave a fault about a case is, see `pqassay.report.run.model.SEVERITIES`."""
    of = _OF_VALID if case.kind == "valid" else _OF_DAMAGED
    return of.get(fault, 3)


def is_accident(raised: str | None) -> bool:
    """Whether an exception of this class is one that no library raises on purpose.

    >>> is_accident("java.util.NoSuchElementException"), is_accident("org.apache.parquet.io.ParquetDecodingException")
    (True, False)
    """
    return raised is not None and re.split(r"[.:$]", raised)[-1] in ACCIDENTS


def without_folders(text: str) -> str:
    """A text in which absolute paths are the names of their files: the folders are those of one machine, or of one run.

    >>> without_folders("cannot open '/tmp/x/data.parquet', see https://example.org/help/open")
    "cannot open 'data.parquet', see https://example.org/help/open"
    """
    return _FOLDERS.sub("", text)


def blanked(text: str) -> str:
    """A message without its numbers and folders, in which two failures of one cause differ.

    >>> blanked("page 3 at offset 0x1f of /tmp/x/data.parquet")
    'page # at offset # of data.parquet'
    >>> blanked("example.org/owner/reader.Kind.Value")
    'example.org/owner/reader.Kind.Value'
    """
    return _NUMBER.sub("#", without_folders(" ".join(text.split())))[:MOST_CHARACTERS]


def cause_of(
    operation: Operation,
    outcome: Outcome,
    reason: str,
    *,
    actual: str | None,
    stderr: str | None,
    family: str,
) -> str:
    """What results of one cause have in common.

    A crash is known by the line that tells of it and the first frame below, a refusal by its message, wrong rows by what was
    asked of which structure.
    """
    if outcome == "crashed":
        return f"crash: {_crash(stderr or '') or blanked(reason)}"
    if outcome == "unstable":
        return f"unstable: {blanked(reason)}"
    if outcome == "protocol error":
        return f"protocol: {blanked(reason)}"
    if actual is not None and actual.startswith("reject"):
        return f"refusal: {blanked(actual.partition(': ')[2])}"
    return f"{operation} of {family}: {blanked(reason)}"


def _crash(stderr: str) -> str:
    lines = stderr.splitlines()
    place = next((number for number, line in enumerate(lines) if TELLING.search(line)), None)
    if place is None:
        return blanked(lines[0]) if lines else ""
    frame = next((found for line in lines[place + 1 :] if (found := _FRAME.search(line))), None)
    told = blanked(lines[place])
    return f"{told} in {blanked(frame[1] or frame[2])}" if frame else told
