"""Damage to good files, whatever their form: all that is fed them says what is wrong, and nothing hangs or swells.

A module per form subclasses `Damaged`, names good files and what reads them, and inherits the tests.  The grammar suggests what
can be wrong with each field; besides, bytes are damaged at random.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import secrets
import sys
import tracemalloc
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pqassay.report.model import FileReport, Outcome
from pqassay_spec.base.errors import FormatError
from pqassay_spec.mutation.mutations import FormName, Inapplicable, Mutation, mutate
from pqassay_spec.mutation.possible import mutations_of

HOSTILE_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 63, (1 << 64) - 1)

SHARE = 1 if os.environ.get("PQASSAY_DAMAGES") == "all" else 216
"""One of this number of random damages is tried; all of them by `make damages`."""

SUGGESTED = 1 if SHARE == 1 else 12
"""The first suggestion of the grammar for fields of one kind is looked at, and after it one of this number; all by `make damages`."""

KINDS = 1 if SHARE == 1 else 3
"""One of this number of kinds of fields is damaged as the grammar suggests, others each time; all by `make damages`."""

EXAMPLES = 1 if SHARE == 1 else 6
"""One of this number of golden files is looked at; all by `make damages`."""

FEWER = 2 * EXAMPLES - 1
"""One of this number of examples of a property is drawn, others each time; all by `make damages`."""

LEAST = 6
"""Examples of a property that are drawn in any case."""

INDEX = re.compile(r"\[\d+\]")
"""A number in a list, in a path."""

TOGETHER = 100 if SHARE == 1 else 25
"""Files that are made from one seed of hypothesis: to draw a seed takes as long as to read a file."""


def tries(count: int, **others: Any) -> settings:
    """How many examples of a property are drawn: all by `make damages`, and one of `FEWER` otherwise, others each time."""
    return settings(max_examples=max(count // FEWER, min(count, LEAST)), deadline=None, **others)


def turns(rows: Sequence[tuple[Any, ...]], ways: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of a table of tests, each with the one of some ways whose turn it is; with all of them by `make damages`."""
    return [
        (*row, *way)
        for number, row in enumerate(rows)
        for way in (ways if EXAMPLES == 1 else [ways[number % len(ways)]])
    ]


class Damaged(ABC):
    """Tests of one form of files.

    Attributes:
        form: The form, as the grammar of mutations calls it.
        files: Good files.
        drawn: Files that are damaged at random by `make damages`.
        stacked: Files with two mutations, and some with damaged bytes besides.
        least: Damaged files of all tests of `make damages` together.
    """

    form: ClassVar[FormName] = "parquet"
    files: ClassVar[Mapping[str, bytes]]
    drawn: ClassVar[int]
    stacked: ClassVar[int]
    least: ClassVar[int] = 20_000

    _read: ClassVar[set[bytes]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._read = set()

    @abstractmethod
    def read(self, data: bytes) -> None:
        """Feed bytes to everything that reads them: whatever else than a `FormatError` comes out fails the test."""

    @abstractmethod
    def read_good(self, data: bytes) -> None:
        """Make sure that nothing finds anything wrong with a good file."""

    @abstractmethod
    def damaged(self, chance: Random) -> bytes:
        """A good file that is damaged at random."""

    @classmethod
    def possible(cls, name: str) -> Sequence[Mutation]:
        """What the grammar suggests to do to a file."""
        return list(mutations_of(cls.files[name], cls.form))

    @classmethod
    def tried(cls) -> Iterator[tuple[str, Mutation]]:
        """What of that is tried, and on which file: each operator once on some kinds of fields, whatever their numbers in lists."""
        seen: dict[tuple[str, bool, str], int] = {}
        turn = secrets.randbelow(KINDS)
        for name in cls.files:
            for mutation in cls.possible(name):
                kind = (mutation.op, mutation.raw, INDEX.sub("[]", mutation.path))
                is_first = kind not in seen
                number = seen.setdefault(kind, len(seen))
                if SHARE == 1 or (is_first and number % KINDS == turn):
                    yield name, mutation

    @classmethod
    def mutated(cls, name: str, mutation: Mutation) -> bytes:
        """A file after a mutation."""
        return mutate(cls.files[name], mutation, cls.form)

    def read_noted(self, data: bytes) -> None:
        """Read bytes, unless the same were read before; an error shows them."""
        if data in self._read:
            return
        self._read.add(data)
        try:
            self.read(data)
        except Exception as error:
            error.add_note(f"the file: {data.hex()}")
            raise

    def test_the_files_that_are_damaged_are_good(self) -> None:
        for data in self.files.values():
            self.read_good(data)

    def test_whatever_the_grammar_suggests_is_said_to_be_wrong(self) -> None:
        with bounded_residence(max(map(len, self.files.values()))):
            for name, mutation in self.tried():
                with contextlib.suppress(Inapplicable):
                    self.read_noted(self.mutated(name, mutation))

    def test_whatever_bytes_are_damaged_is_said_to_be_wrong(self) -> None:
        with bounded_residence(max(map(len, self.files.values()))):
            self._drawn(self.drawn, self.damaged)

    def test_whatever_two_mutations_do_is_said_to_be_wrong(self) -> None:
        possible = {name: self.possible(name) for name in sorted(self.files)}

        def stacked(chance: Random) -> bytes:
            name = chance.choice(sorted(self.files))
            data = self.files[name]
            for _ in range(2):
                with contextlib.suppress(Inapplicable, FormatError):
                    data = mutate(data, chance.choice(possible[name]), self.form)
            return scattered(data, chance, chance.randint(0, 1))

        self._drawn(self.stacked, stacked)

    def test_there_are_enough_damaged_files(self) -> None:
        suggested = sum(len(self.possible(name)) for name in self.files)

        assert suggested + self.drawn + self.stacked >= self.least

    def _drawn(self, count: int, make: Callable[[Random], bytes]) -> None:
        @settings(
            max_examples=-(-count // (TOGETHER * SHARE)),
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
        @given(st.integers(0, (1 << 64) - 1))
        def read(seed: int) -> None:
            chance = Random(seed)
            for _ in range(TOGETHER):
                self.read_noted(make(chance))

        read()


def scattered(data: bytes, chance: Random, times: int, place_in: Callable[[], int] | None = None) -> bytes:
    """Bytes after some of them were set, removed, inserted, repeated or cut off, anywhere or where ``place_in`` says."""
    changed = bytearray(data)
    for _ in range(times):
        last = max(len(changed) - 1, 0)
        place = min(place_in(), last) if place_in else chance.randint(0, last)
        kind = chance.choice(["set", "number", "remove", "insert", "repeat", "cut"])
        if kind == "set":
            changed[place : place + 1] = chance.randbytes(chance.randint(1, 4))
        elif kind == "number":
            width = chance.choice([1, 2, 4, 8])
            number = chance.choice([*HOSTILE_NUMBERS, len(changed), place]) % (1 << (8 * width))
            place -= place % width if chance.random() < 0.5 else 0
            changed[place : place + width] = number.to_bytes(width, "little")
        elif kind == "remove":
            del changed[place : place + chance.randint(1, 16)]
        elif kind == "insert":
            changed[place:place] = chance.randbytes(chance.randint(1, 16))
        elif kind == "repeat":
            changed[place:place] = changed[place : place + chance.randint(1, 64)]
        else:
            del changed[place:]
    return bytes(changed)


def require_report(file: FileReport) -> None:
    """A report is good if it says what is wrong with the file, and nothing of what is wrong with this program."""
    assert file.outcome in get_args(Outcome)
    assert "mistake in pqassay" not in (file.error or "")
    for finding in file.findings:
        assert len(finding.message) < 1_000
        assert "\n" not in finding.message


# ------------------------------------------------------------------------------------------------------ memory

ALLOWANCE = 64 << 20
"""Bytes that a file may take in memory beyond 64 times its size."""


def resident() -> int:
    """The greatest resident size of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@contextlib.contextmanager
def bounded_residence(size: int) -> Iterator[None]:
    """Fail if this process grows by more than files of a size may cost."""
    before = resident()
    yield
    assert resident() - before < 64 * size + ALLOWANCE


@contextlib.contextmanager
def bounded_memory(size: int) -> Iterator[None]:
    """Fail if more is allocated than a file of a size may cost."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * size + ALLOWANCE
