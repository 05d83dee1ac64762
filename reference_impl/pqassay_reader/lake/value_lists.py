"""Lists of values as indexes hold them, line feeds between, split for many files at once and without a step for each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pqassay_spec.idx1.blob import SEPARATOR


def split_values(texts: Sequence[str | None]) -> tuple[Any, npt.NDArray[np.int64]]:
    r"""Split texts at line feeds; ``None`` has no values.

    Returns:
        The values of all of them as an Arrow array, and where those of each begin and the last ones end.

    >>> values, starts = split_values(["a\nb", "", None, "c"])
    >>> values.to_pylist(), starts.tolist()
    (['a', 'b', '', 'c'], [0, 2, 3, 3, 4])
    """
    counts = [0 if text is None else text.count(SEPARATOR) + 1 for text in texts]
    there = [text for text in texts if text is not None]
    whole = pa.array([SEPARATOR.join(there)] if there else [], pa.large_string())
    lists = cast("Any", pc.split_pattern(whole, pattern=SEPARATOR))
    return lists.flatten(), np.cumsum([0, *counts], dtype=np.int64)


def with_repeats(texts: Sequence[str]) -> list[int]:
    r"""The places of the texts in which a value occurs twice.

    Most are in ascending order, as writers put them, which is seen at once; only others are looked at one by one.

    >>> with_repeats(["a\nb", "b\na", "a\nb\na", "c\nc"])
    [2, 3]
    """
    values, starts = split_values(texts)
    ascends = np.ones(len(values), np.bool_)  # for each value whether it is greater than the one before
    if len(values):
        ascends[1:] = pc.less(values[:-1], values[1:]).to_numpy(zero_copy_only=False)
        ascends[starts[:-1]] = True  # the first of each
    suspects = np.unique(np.searchsorted(starts, np.flatnonzero(~ascends), side="right") - 1)
    return [number for number in cast("list[int]", suspects.tolist()) if not is_distinct(texts[number])]


def is_distinct(text: str) -> bool:
    """Whether no value occurs twice in a text."""
    values = text.split(SEPARATOR)
    return len(set(values)) == len(values)
