"""Judging answers about the index directory: the entries that a reader can use, and the content of their parts.

Entries may come in any order.  Ignored entries and their reasons are not requested: if a case allows ``either``, a
missing entry is not an error, but a wrong entry is.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from pqassay.literals.rows import canonical_row
from pqassay_spec.directory.codes import IndexType
from pqassay_spec.golden.case import Case
from pqassay_suite.drivers.protocol import IndexWish, Wishes
from pqassay_suite.judging.bench import RIGHT, Judgement
from pqassay_suite.judging.pm_answers import judged_value

Key = tuple[str, str, str]
"""Type, granularity and columns of an entry; the columns as JSON."""

KEY_MEMBERS = ("type", "granularity", "columns")


def judged_entries(wanted: Mapping[str, Any], value: Mapping[str, Any], *, may_lack: bool) -> Judgement:
    """Compare the entries of an answer with the usable ones.

    Args:
        wanted: The right value: ``entries``, each with ``type``, ``granularity``, ``columns`` and ``parts``.
        value: The value of the answer. Other members are ignored.
        may_lack: Whether entries may be absent.
    """
    here, there = _by_key(wanted), _by_key(value)
    if isinstance(there, str):
        return Judgement(False, "no entries", "a list `entries`, each with its key once", there)
    assert not isinstance(here, str)
    for key in sorted(there.keys() - here.keys()):
        return Judgement(
            False, "an entry that has to be ignored", f"{len(here)} entries", f"also {_named(key)}"
        )
    for key in sorted(here.keys() - there.keys()) if not may_lack else ():
        return Judgement(
            False,
            "an entry is missing",
            _named(key),
            f"{len(there)} entries without it",
            difference="entries",
        )
    for key in sorted(here.keys() & there.keys()):
        right, given = ({"parts": _comparable(one[key].get("parts"), key[0])} for one in (here, there))
        judged = judged_value(right, given)
        if not judged.right:
            return replace(judged, reason=f"{judged.reason} of {_named(key)}")
    return RIGHT


def _by_key(value: Mapping[str, Any]) -> dict[Key, dict[str, Any]] | str:
    """Entries by their keys; a description of the value if it is not a list of entries with different keys."""
    entries = value.get("entries")
    if not isinstance(entries, list):
        return f"members {sorted(value)}"
    entries_by_key: dict[Key, dict[str, Any]] = {}
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not all(name in entry for name in KEY_MEMBERS):
            return f"entries[{number}] without {', '.join(KEY_MEMBERS)}"
        members = cast("dict[str, Any]", entry)
        key = str(members["type"]), str(members["granularity"]), json.dumps(members["columns"])
        if key in entries_by_key:
            return f"{_named(key)} twice"
        entries_by_key[key] = members
    return entries_by_key


def _named(key: Key) -> str:
    return f"{key[0]} by {key[1]} of {key[2]}"


def _comparable(parts: Any, kind: str) -> Any:
    """Parts in a comparable form: floats as their bits, and the values of IDX1, which are unordered, sorted."""
    if kind == IndexType.IDX1.name and isinstance(parts, list):
        parts = [
            {**part, "values": sorted(part["values"], key=json.dumps)}
            if isinstance(part, dict) and isinstance(part.get("values"), list)
            else part
            for part in parts
        ]
    return _with_bits(parts)


def _with_bits(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_bits(one) for one in value]
    if not isinstance(value, dict):
        return value
    members = cast("dict[str, Any]", value)
    with contextlib.suppress(TypeError, ValueError):
        if list(members) == ["float"]:
            return json.loads(canonical_row([float(members["float"])]))[0]
    return {name: _with_bits(one) for name, one in members.items()}


def index_wishes(case: Case, wishes: Wishes | None) -> Wishes:
    """The wishes for a writer of a case: its own wishes, and the indexes in its value."""
    entries = (case.expect.value or {}).get("entries", ())
    indexes = [IndexWish(*(entry[name] for name in KEY_MEMBERS)) for entry in entries]
    return replace(wishes or Wishes(), indexes=indexes)
