"""Engines in a process of their own: one that ends its process, or hangs in it, does neither to the tests."""

from __future__ import annotations

import faulthandler
import multiprocessing
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

import processes
from engines import WHOLE, Answers, Engine, Query, Rows, engine

Read = dict[tuple[str, Path, Query], Rows | str]
"""By engine, file and query the rows, or the error as text."""


class EngineDiedError(Exception):
    """The engine ended its process."""


class Worker:
    """A process that asks engines about one file at a time; one that an engine ends is followed by another.

    Args:
        limit: Seconds that an engine may take for a file.
    """

    def __init__(self, limit: float = processes.PATIENCE) -> None:
        self.limit = limit
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()  # upon which the process ends
        self._process.join(self.limit)
        if processes.alive(self.pid):
            processes.end(self.pid)
            raise processes.HungError(f"the process of the engines had not ended after {self.limit:g} s")

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process.pid is not None
        return self._process.pid

    def ask(self, name: str, path: Path, queries: Sequence[Query]) -> Answers:
        """What an engine answers about a file.

        Raises:
            EngineDiedError: It ended the process.
            HungError: It did not answer; the process was ended, and what its threads did is in the standard error.
        """
        try:
            self._connection.send((name, path, queries))
            if self._connection.poll(self.limit):
                answers: Answers = self._connection.recv()
                return answers
        except (EOFError, OSError):
            self._connection.close()
            self._process.join(self.limit)
            self._start()
            raise EngineDiedError(f"{name} ended its process over {path}") from None
        processes.end(self.pid)
        raise processes.HungError(f"{name} had not answered about {path} after {self.limit:g} s")

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_answer, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()


def _answer(connection: Connection) -> None:
    """Answer until no more questions come."""
    faulthandler.enable()
    while True:
        try:
            name, path, queries = connection.recv()
        except EOFError:
            return
        answers = engine(name).read_all([path], queries)
        # as plain errors, since not every error survives the way to another process
        connection.send(
            {
                asked: RuntimeError(f"{answer} {answer!r}") if isinstance(answer, Exception) else answer
                for asked, answer in answers.items()
            }
        )


class ElsewhereEngine(Engine):
    """The engine of a name, in a process for all its files."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._worker = Worker()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._worker.__exit__(*details)

    def read(self, path: Path, query: Query = WHOLE) -> Rows:
        answer = self.read_all([path], [query])[path, query]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def read_all(self, paths: Sequence[Path], queries: Sequence[Query]) -> Answers:
        answers: Answers = {}
        for path in paths:
            try:
                answers |= self._worker.ask(self.name, path, queries)
            except EngineDiedError as error:
                answers |= dict.fromkeys(((path, query) for query in queries), error)
        return answers


def read_in_a_worker(queries: Mapping[str, Mapping[Path, Sequence[Query]]]) -> Read:
    """Ask engines, by name, for the queries on each of their files.

    Raises:
        EngineDiedError: An engine ended the process.
        HungError: One did not answer.
    """
    with Worker() as worker:
        return {
            (name, path, query): str(answer) if isinstance(answer, Exception) else answer
            for name, asked in queries.items()
            for path, some in asked.items()
            for (_, query), answer in worker.ask(name, path, some).items()
        }
