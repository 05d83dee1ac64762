"""Partition columns as Spark finds them in the names of folders: ``sales/year=2024/nation=Per%C3%BA/...``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

NULL = "__HIVE_DEFAULT_PARTITION__"
"""The name of the folder of nulls."""


def partition_of(name: str) -> dict[str, str | None]:
    """The columns and values in the folders of a file's path; ``None`` is null.

    A percent sign stands for one character, also beyond ASCII: Spark writes it so, and reads it so.

    >>> partition_of("year=2024/c=a%2Fb/part-0.parquet")
    {'year': '2024', 'c': 'a/b'}
    """
    pairs = [folder.partition("=") for folder in name.split("/")[:-1] if "=" in folder]
    return {
        unescaped(key): None if value == NULL else unescaped(value)
        for key, _, value in pairs
        if key and value
    }


def unescaped(text: str) -> str:
    """The text that a name of a folder stands for."""
    return re.sub("%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), text)


def is_hidden(name: str) -> bool:
    """True if Spark passes over a file or folder of this name."""
    if name.startswith(("_common_metadata", "_metadata")):
        return True  # listed by Spark, but not for its rows
    return (name.startswith("_") and "=" not in name) or name.startswith(".") or name.endswith("._COPYING_")


GREATEST_INTEGER = (1 << 31) - 1
GREATEST_LONG = (1 << 63) - 1


def kind_of_values(values: Iterable[str | None]) -> str | None:
    """The type that Spark gives a partition column with these values.

    Returns:
        ``int``, ``bigint``, ``date``, ``string`` or ``void``; ``None`` where values look like numbers or times that
        Spark reads in a way of its own.
    """
    kinds = {_kind(value) for value in values if value is not None}
    if not kinds:
        return "void"
    if "string" in kinds:
        return "string"
    if "other" in kinds:
        return None
    if kinds <= {"int", "bigint"}:
        return "bigint" if "bigint" in kinds else "int"
    return "date" if kinds == {"date"} else "string"


def _kind(value: str) -> str:
    if re.fullmatch("[+-]?[0-9]+", value):
        number = int(value) if len(value) < 30 else None
        if number is not None and -GREATEST_INTEGER - 1 <= number <= GREATEST_INTEGER:
            return "int"
        return "bigint" if number is not None and -GREATEST_LONG - 1 <= number <= GREATEST_LONG else "other"
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        try:
            date.fromisoformat(value)
        except ValueError:
            return "string"
        return "date"
    # What Java may take for a number or a time: 1.5, 1e3, 1d, NaN, -Infinity, 2024-01-01 00:00:00.
    looks_special = re.match(r"\s*[+-]?\s*[0-9.]", value) or value.strip().lstrip("+-") in ("NaN", "Infinity")
    return "other" if looks_special else "string"
