"""Text in byte arrays: the values that are not UTF-8, not JSON, or not framed as BSON.

Arrow checks the UTF-8 of all values of an array at once; if this fails, each value is checked. JSON is parsed by Python's scanner.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pqassay.under_test.file import NotChecked
from pqassay.values.claims.wording import named
from pqassay.values.decoding.chunk_values import ChunkValues
from pqassay.values.decoding.hashes import buffer_of
from pqassay_spec.parquet.schema.logical_values import SHORTEST_BSON

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

AT_ONCE = 1 << 16
"""The number of values that are searched together for a wrong one."""

WIDEST_JSON = 4 << 20
"""The size in bytes of the longest value that is parsed."""

MOST_JSON = 64 << 20
"""The number of bytes of JSON that are parsed in one column chunk: about a second of work."""


class Wrong(NamedTuple):
    """Values of a wrong form: the place of the first, and their number."""

    place: int
    total: int


def wrong_values(decoded: ChunkValues, wrong: Callable[[Any], Flags | None]) -> Wrong | None:
    """The values of a wrong form; ``None`` if all are right.

    Args:
        decoded: The values, byte arrays.
        wrong: Returns the mask of wrong values of an array; ``None`` if all are right.
    """
    values = decoded.values
    if pa.types.is_dictionary(values.type):
        of_entries = wrong(values.dictionary)
        # An unused entry is not a value.
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
    """The bytes of an array: all of them, and the start of each value, followed by the end of the last value."""

    raw: NDArray[np.uint8]
    ends: Ints


def bytes_of(array: Any) -> _Bytes:
    """The bytes of a binary array, with the start and the end of each value."""
    array = array.cast(pa.large_binary())
    ends = buffer_of(array, 1, np.int64)[array.offset : array.offset + len(array) + 1]
    if not len(array):
        return _Bytes(np.zeros(0, np.uint8), np.zeros(1, np.int64))
    return _Bytes(buffer_of(array, 2, np.uint8)[ends[0] : ends[-1]], ends - ends[0])


# ------------------------------------------------------------------------------------------------------- UTF-8


def no_utf8(array: Any) -> Flags | None:
    """A bool mask of the values that are not UTF-8; ``None`` if all are UTF-8."""
    if _is_utf8(array):
        return None
    return np.concatenate([_no_utf8(array.slice(start, AT_ONCE)) for start in range(0, len(array), AT_ONCE)])


def _is_utf8(array: Any) -> bool:
    try:
        array.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def _no_utf8(array: Any) -> Flags:
    """A bool mask of the values that are not UTF-8, checked one by one."""
    mask = np.zeros(len(array), np.bool_)
    if not _is_utf8(array):
        for place, raw in enumerate(array.cast(pa.large_binary()).to_pylist()):
            try:
                raw.decode()
            except UnicodeDecodeError:
                mask[place] = True
    return mask


# -------------------------------------------------------------------------------------------------------- JSON


@dataclass
class JsonFaults:
    """The values of a chunk that are not JSON, or not strict JSON.

    Attributes:
        broken: The place of the first value that is not JSON, if any.
        lenient: The place of the first value with NaN or an infinity, which lenient parsers read, if it comes before ``broken``.
        problem: Why not all values were parsed, if so.
    """

    broken: int | None = None
    lenient: int | None = None
    problem: NotChecked | None = None


def json_faults(decoded: ChunkValues) -> JsonFaults:
    """Look for the first values that are not JSON; all values are UTF-8."""
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
    faults, size, constants = JsonFaults(), 0, list[str]()
    # Integers are only scanned for digits, since converting very long ones is slow or refused.
    decoder = json.JSONDecoder(parse_int=len, parse_constant=constants.append)
    for place, value in enumerate(chain.from_iterable(pieces)):
        raw: bytes = value.as_py()
        size += len(raw)
        if len(raw) > WIDEST_JSON:
            said = f"a JSON value of {len(raw)} bytes; pqassay parses up to {WIDEST_JSON >> 20} MiB"
            faults.problem = NotChecked(f"{of} holds {said}", "tool")
        elif size > MOST_JSON:
            said = f"more JSON than the {MOST_JSON >> 20} MiB that pqassay parses"
            faults.problem = NotChecked(f"{of} holds {said}", "tool")
        else:
            try:
                decoder.decode(raw.decode())
            except ValueError:
                faults.broken = place
            except RecursionError:
                faults.problem = NotChecked("a JSON value is nested more deeply than pqassay parses", "tool")
        if faults.broken is not None or faults.problem is not None:
            break
        if constants and faults.lenient is None:
            faults.lenient = place
    return faults


# -------------------------------------------------------------------------------------------------------- BSON


def no_bson(array: Any) -> Flags | None:
    """A bool mask of the values without the frame of a BSON document; ``None`` if all have it. Contents are not checked."""
    raw, ends = bytes_of(array)
    lengths = np.diff(ends)
    wrong = lengths < SHORTEST_BSON
    framed = np.flatnonzero(~wrong)
    begins = ends[:-1][framed]
    said = sum(raw[begins + place].astype(np.int64) << 8 * place for place in range(4))
    wrong[framed] = (said != lengths[framed]) | (raw[ends[1:][framed] - 1] != 0)
    return wrong if wrong.any() else None
