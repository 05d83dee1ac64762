"""Reading with engines in a process of its own: an engine that ends its process ends no test run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from engines import Query, Rows, engine

Read = dict[tuple[str, Path, Query], Rows | str]
"""By engine, file and query the rows, or the error as text."""


def read_in_a_worker(queries: Mapping[str, Mapping[Path, Sequence[Query]]]) -> Read:
    """Ask engines, by name, for the queries on each of their files.

    Raises:
        BrokenProcessPool: An engine ended the process.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_read, {name: dict(asked) for name, asked in queries.items()}).result()


def _read(queries: Mapping[str, Mapping[Path, Sequence[Query]]]) -> Read:
    found: Read = {}
    for name, asked in queries.items():
        reader = engine(name)
        for path, ones in asked.items():
            for (_, query), answer in reader.read_all([path], ones).items():
                found[name, path, query] = repr(answer) if isinstance(answer, Exception) else answer
    return found
