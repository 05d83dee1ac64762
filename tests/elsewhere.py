"""An engine in a process of its own, which it may end without ending the tests."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Self

from engines import WHOLE, Answers, Engine, Query, Rows, engine


class EngineDiedError(Exception):
    """The engine ended its process."""


def answers_of(name: str, paths: Sequence[Path], queries: Sequence[Query]) -> Answers:
    """What an engine answers; errors as plain ones, since not every error survives the way to another process."""
    found = engine(name).read_all(paths, queries)
    return {
        asked: RuntimeError(f"{answer} {answer!r}") if isinstance(answer, Exception) else answer
        for asked, answer in found.items()
    }


class ElsewhereEngine(Engine):
    """The engine of a name, in one process for all its files; one that it ends is followed by another."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._pool = self._started()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        answer = self.read_all([path], [query])[path, query]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def read_all(self, paths: Sequence[Path], queries: Sequence[Query]) -> Answers:
        try:
            return self._pool.submit(answers_of, self.name, paths, queries).result()
        except BrokenProcessPool:
            self._pool = self._started()
            return {(path, query): EngineDiedError(self.name) for path in paths for query in queries}

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
