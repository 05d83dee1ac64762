"""Comparison of rows: as multisets, as canonical text, and by digest."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections import Counter
from collections.abc import Iterable, Sequence

from pqassay_spec.base.strict_json import EXACT_INTEGERS
from pqassay_spec.golden.literals import (
    Date,
    Decimal,
    List,
    Map,
    Struct,
    Time,
    Timestamp,
    Value,
    read_value,
    write_value,
)


def canonical_row(row: Sequence[Value]) -> str:
    r"""One row as text, equal only for equal rows: JSON in ASCII without spaces, floats by their bits.

    >>> canonical_row(["é", None, -0.0, 1])
    '["\\u00e9",null,{"float":"8000000000000000"},1]'
    """
    return json.dumps([_canonical(value) for value in row], separators=(",", ":"))


def _canonical(value: Value) -> object:
    if isinstance(value, float):
        bits: bytes = struct.pack(">d", math.nan if math.isnan(value) else value)
        return {"float": bits.hex()}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, int) and abs(value) > EXACT_INTEGERS:
        return {"int": str(value)}
    match value:
        case List():
            return {"list": [_canonical(read_value(item)) for item in value.list]}
        case Struct():
            return {
                "struct": {name: _canonical(read_value(value.struct[name])) for name in sorted(value.struct)}
            }
        case Map():
            return {"map": [[_canonical(read_value(one)) for one in pair] for pair in value.map]}
        case Decimal() | Date() | Time() | Timestamp():
            return vars(value)
        case _:
            return value


def multiset(rows: Iterable[Sequence[Value]]) -> Counter[str]:
    """The rows as a multiset: how often each canonical row occurs."""
    return Counter(canonical_row(row) for row in rows)


def digest(rows: Iterable[Sequence[Value]]) -> str:
    """The SHA-256 digest of the sorted canonical rows, each ended by a line feed."""
    text = "".join(f"{row}\n" for row in sorted(canonical_row(row) for row in rows))
    return hashlib.sha256(text.encode()).hexdigest()


def rows_difference(expected: Iterable[Sequence[Value]], actual: Iterable[Sequence[Value]]) -> str:
    """Missing and superfluous rows, in one line; empty if both have the same rows.

    >>> rows_difference([["a"], ["b"]], [["a"], ["a"]])
    '1 row missing: ["b"]; 1 row too many: ["a"]'
    """
    rows: dict[str, Sequence[Value]] = {}
    wanted, found = _counted(expected, rows), _counted(actual, rows)
    parts: list[str] = []
    for words, rest in (("missing", wanted - found), ("too many", found - wanted)):
        if rest:
            count = rest.total()
            first = [_shown(rows[text]) for text in sorted(rest)[:3]]
            told = ", ".join(row if len(row) <= 80 else f"{row[:79]}…" for row in first)
            more = ", …" if len(rest) > 3 else ""
            parts.append(f"{count} row{'' if count == 1 else 's'} {words}: {told}{more}")
    return "; ".join(parts)


def _counted(rows: Iterable[Sequence[Value]], by_text: dict[str, Sequence[Value]]) -> Counter[str]:
    """The `multiset`; also stores a row for each canonical text."""
    count: Counter[str] = Counter()
    for row in rows:
        text = canonical_row(row)
        count[text] += 1
        by_text.setdefault(text, row)
    return count


def _shown(row: Sequence[Value]) -> str:
    """A row in the form of the protocol."""
    return json.dumps([write_value(value) for value in row], default=vars, ensure_ascii=False)
