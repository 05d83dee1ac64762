"""Type changes of columns, as recorded in a column's metadata.

>>> is_widened("integer", "long"), is_widened("date", "timestamp"), is_widened("decimal(5,1)", "decimal(8,3)")
(True, False, True)
>>> is_widened("short", "decimal(10,0)"), is_widened("decimal(10,0)", "decimal(10,0)")
(True, False)

Source: the Delta protocol, "Type Widening" and "Type Change Metadata".
"""

from __future__ import annotations

import re
from typing import Any

from pqassay_tables.metadata.delta.actions import object_of
from pqassay_tables.metadata.delta.schema import DeltaColumn

INTEGERS = ("byte", "short", "integer", "long")
LEAST_DIGITS = {"byte": 10, "short": 10, "integer": 10, "long": 20}
"""The least number of integer digits of a decimal to which integers of each type may be widened."""

_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)", re.ASCII)


def is_widened(old: str, new: str) -> bool:
    """Whether a type may be widened to another."""
    if old in INTEGERS and new in INTEGERS:
        return INTEGERS.index(old) < INTEGERS.index(new)
    if (old, new) in (("float", "double"), ("date", "timestamp_ntz")):
        return True
    if new == "double":
        return old in INTEGERS[:3]
    wide = _DECIMAL.fullmatch(new)
    if wide is None:
        return False
    precision, scale = int(wide[1]), int(wide[2])
    narrow = _DECIMAL.fullmatch(old)
    digits, places = (int(narrow[1]), int(narrow[2])) if narrow else (LEAST_DIGITS.get(old, 99), 0)
    is_wider = precision - digits >= scale - places >= 0
    return is_wider and not (narrow and (precision, scale) == (digits, places))


def wrong_change(column: DeltaColumn) -> str | None:
    """The problem in the recorded type changes of a column; ``None`` if there is none."""
    changes: Any = column.changes
    if not isinstance(changes, list):
        return "is not a list"
    last: dict[str, str] = {}
    for given in changes:
        change = object_of(given)
        old, new, path = change.get("fromType"), change.get("toType"), change.get("fieldPath", "")
        if not isinstance(old, str) or not isinstance(new, str) or not isinstance(path, str):
            return "has a change without two types"
        if not is_widened(old, new):
            return f"has a change from {old} to {new}"
        if _name(last.get(path, old)) != _name(old):
            return f"has a change from {old}, but the previous change leads to {last[path]}"
        last[path] = new
    if "" in last and _name(last[""]) != _name(column.type):
        return f"ends at {last['']}, but the type is {column.type}"
    return None


def _name(kind: str) -> str:
    return kind.replace(" ", "")
