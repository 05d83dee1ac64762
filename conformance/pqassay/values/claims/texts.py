"""Text among byte arrays: which values are UTF-8, which are JSON, and which have the frame of a BSON document.

Arrow checks the UTF-8 of all values of an array at once, as one text: that is right if no value begins within a character.
JSON is parsed by Python's scanner, many values in one call.  Each two values have a word between them that no
value can know, so that none can borrow a bracket or a comma from its neighbour: the values are JSON if and only if the list
of them is JSON, and the word is every other entry of it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.claims.wording import named
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.hashes import buffer_of
from pqassay_spec.parquet.schema.logical_values import SHORTEST_BSON

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

AT_ONCE = 1 << 16
"""Values in which a wrong one is looked for."""

JSON_AT_ONCE = 1 << 18
"""Bytes of JSON that are parsed together, one value at least: what the parser makes of them takes many times as many."""

WIDEST_JSON = 4 << 20
"""Bytes of the longest value that is parsed."""

MOST_JSON = 64 << 20
"""Bytes of JSON that are parsed in one column chunk: about a second of work."""

_WORD = secrets.token_hex(8)
_BETWEEN: Any = pa.scalar(f',"{_WORD}",'.encode(), pa.large_binary())

HIGH, CONTINUED, MARK = 0x80, 0x80, 0xC0
"""The bit of all bytes of characters beyond ASCII; and how their bytes behind the first begin, under a mask."""


class Wrong(NamedTuple):
    """Values that are not of the form that is looked for: the place of the first, and how many there are."""

    place: int
    total: int


def wrong_values(decoded: ChunkValues, wrong: Callable[[Any], Flags | None]) -> Wrong | None:
    """The values that are not of some form, ``None`` without.

    Args:
        decoded: The values, byte arrays.
        wrong: Those of an array that are not; ``None`` if all are.
    """
    values = decoded.values
    if pa.types.is_dictionary(values.type):
        of_entries = wrong(values.dictionary)
        # An entry that nothing refers to is no value.
        mask = None if of_entries is None else of_entries[values.indices.to_numpy()]
    else:
        mask = _wrong_of(_pieces(values), wrong)
    return Wrong(int(mask.argmax()), int(np.count_nonzero(mask))) if mask is not None and mask.any() else None


def _pieces(values: Any) -> list[Any]:
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]


def _wrong_of(pieces: list[Any], wrong: Callable[[Any], Flags | None]) -> Flags | None:
    masks = [wrong(piece) for piece in pieces]
    if all(mask is None for mask in masks):
        return None
    filled = [
        np.zeros(len(piece), np.bool_) if mask is None else mask
        for piece, mask in zip(pieces, masks, strict=True)
    ]
    return np.concatenate(filled)


class _Bytes(NamedTuple):
    """The bytes of an array: all of them, and where each value begins, and behind them where the last one ends."""

    raw: NDArray[np.uint8]
    ends: Ints


def bytes_of(array: Any) -> _Bytes:
    """The bytes of an array of binary, and where each value begins and ends among them."""
    array = array.cast(pa.large_binary())
    ends = buffer_of(array, 1, np.int64)[array.offset : array.offset + len(array) + 1]
    if not len(array):
        return _Bytes(np.zeros(0, np.uint8), np.zeros(1, np.int64))
    return _Bytes(buffer_of(array, 2, np.uint8)[ends[0] : ends[-1]], ends - ends[0])


# ------------------------------------------------------------------------------------------------------- UTF-8


def no_utf8(array: Any) -> Flags | None:
    """The values that are not UTF-8, bool; ``None`` if all are."""
    if _is_utf8(bytes_of(array)):
        return None
    return np.concatenate([_no_utf8(array.slice(start, AT_ONCE)) for start in range(0, len(array), AT_ONCE)])


def _is_utf8(found: _Bytes) -> bool:
    raw, ends = found
    whole = len(raw) // 8 * 8
    highs = np.bitwise_or.reduce(raw[:whole].view(np.uint64), initial=np.uint64(0)) & np.uint64(
        0x0101010101010101 * HIGH
    )
    if not highs and not (raw[whole:] & HIGH).any():
        return True
    begins = ends[:-1][np.diff(ends) > 0]
    if ((raw[begins] & MARK) == CONTINUED).any():
        return False
    offsets: Any = np.array([0, len(raw)], np.int64)
    content: Any = np.ascontiguousarray(raw)
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(content)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _no_utf8(array: Any) -> Flags:
    """The values that are not UTF-8, found one by one where one is not."""
    mask = np.zeros(len(array), np.bool_)
    if not _is_utf8(bytes_of(array)):
        for place, raw in enumerate(array.cast(pa.large_binary()).to_pylist()):
            try:
                raw.decode()
            except UnicodeDecodeError:
                mask[place] = True
    return mask


# -------------------------------------------------------------------------------------------------------- JSON


@dataclass
class JsonFaults:
    """The values of a chunk that are no JSON, or no JSON to the letter.

    Attributes:
        broken: The place of a value that is none, if there is one.
        lenient: The place of a value with NaN or an infinity, which lenient parsers read, if there is one before that.
        problem: Why not all values were parsed, if so.
    """

    broken: int | None = None
    lenient: int | None = None
    problem: NotChecked | None = None


def json_faults(decoded: ChunkValues) -> JsonFaults:
    """Look for the first values that are no JSON; all are UTF-8."""
    values = decoded.values
    if not pa.types.is_dictionary(values.type):
        return _faults(decoded, _pieces(values))
    indices = values.indices.to_numpy()
    used = np.zeros(len(values.dictionary), np.bool_)
    used[indices] = True
    numbers = np.flatnonzero(used)
    faults = _faults(decoded, [values.dictionary.take(pa.array(numbers))])
    if faults.broken is not None:
        faults.broken = int((indices == numbers[faults.broken]).argmax())
    if faults.lenient is not None:
        faults.lenient = int((indices == numbers[faults.lenient]).argmax())
    return faults


def _faults(decoded: ChunkValues, pieces: list[Any]) -> JsonFaults:
    of = named(decoded.chunk)
    faults, before, size = JsonFaults(), 0, 0
    for piece in pieces:
        ends, start = bytes_of(piece).ends, 0
        while start < len(piece):
            behind = int(np.searchsorted(ends, ends[start] + JSON_AT_ONCE, "right")) - 1
            behind = min(max(behind, start + 1), len(piece))
            taken = int(ends[behind] - ends[start])
            size += taken
            if taken > WIDEST_JSON:
                faults.problem = NotChecked(
                    f"{of} holds a JSON value of {taken} bytes; pqassay parses up to {WIDEST_JSON >> 20} MiB",
                    "tool",
                )
            elif size > MOST_JSON:
                faults.problem = NotChecked(
                    f"{of} holds more JSON than the {MOST_JSON >> 20} MiB that pqassay parses", "tool"
                )
            else:
                _look(piece.slice(start, behind - start), before + start, faults)
            if faults.broken is not None or faults.problem is not None:
                return faults
            start = behind
        before += len(piece)
    return faults


def _look(array: Any, start: int, faults: JsonFaults) -> None:
    """Note the first faults among values that are parsed together; ``start`` is the place of the first one."""
    try:
        is_sound, is_lenient = _parsed(array)
        if not is_sound:
            broken = _first(array, lambda part: not _parsed(part)[0])
            faults.broken = start + broken
            array = array.slice(0, broken)
            is_lenient = is_lenient and _parsed(array)[1]
        if is_lenient and faults.lenient is None:
            faults.lenient = start + _first(array, lambda part: _parsed(part)[1])
    except RecursionError:
        faults.problem = NotChecked("a JSON value is nested more deeply than pqassay parses", "tool")


def _first(array: Any, is_wrong: Callable[[Any], bool]) -> int:
    """The place of the first wrong value, by halves: one is."""
    low, high = 0, len(array)
    while high - low > 1:
        middle = (low + high) // 2
        if is_wrong(array.slice(low, middle - low)):
            high = middle
        else:
            low = middle
    return low


def _parsed(array: Any) -> tuple[bool, bool]:
    """Whether values are JSON, each by itself, and whether they hold what only lenient parsers know.

    Raises:
        RecursionError: They are nested more deeply than the parser follows.
    """
    constants: list[str] = []
    offsets: Any = pa.array([0, len(array)], pa.int64())
    listed = pa.LargeListArray.from_arrays(offsets, array.cast(pa.large_binary()))
    joined: Any = pc.binary_join(listed, _BETWEEN)
    text = joined[0].as_py().decode()
    try:
        # Of integers only the digits count: to make numbers of very long ones takes time, or is refused.
        values = json.loads(f"[{text}]", parse_int=len, parse_constant=constants.append)
    except ValueError:
        return False, bool(constants)
    is_sound = len(values) == max(2 * len(array) - 1, 0) and all(word == _WORD for word in values[1::2])
    return is_sound, bool(constants)


# -------------------------------------------------------------------------------------------------------- BSON


def no_bson(array: Any) -> Flags | None:
    """The values without the frame of a BSON document, bool; ``None`` if all have it. What is in them is not looked at."""
    raw, ends = bytes_of(array)
    lengths = np.diff(ends)
    wrong = lengths < SHORTEST_BSON
    framed = np.flatnonzero(~wrong)
    begins = ends[:-1][framed]
    said = sum(raw[begins + place].astype(np.int64) << 8 * place for place in range(4))
    wrong[framed] = (said != lengths[framed]) | (raw[ends[1:][framed] - 1] != 0)
    return wrong if wrong.any() else None
