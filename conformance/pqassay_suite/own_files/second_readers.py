"""Independent readers of the rows of a file: shipped drivers other than the one under test.

If two of them agree and share no code, their rows count as right.  There is no majority vote: if two readers return
different rows, the right ones are unknown.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pqassay.literals.rows import digest
from pqassay_spec.base.installing import install
from pqassay_spec.golden.literals import Value
from pqassay_suite.cases.file_facts import FileFacts
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.capabilities import missing_capability
from pqassay_suite.drivers.driver import DriverUnderTest, NoAnswer, Settings
from pqassay_suite.drivers.implementations import Implementation, implementation
from pqassay_suite.drivers.process import TOO_LARGE, Limits
from pqassay_suite.drivers.protocol import Accept, HelloAnswer
from pqassay_suite.judging.bench import described
from pqassay_suite.judging.row_answers import counted, narrowed, rows_of

READERS = ("pyarrow", "duckdb", "polars", "datafusion")
"""Drivers that determine the right rows, in this order: each has its own decoder, and starts quickly."""

ENOUGH = 2
"""Number of readers that have to agree."""

LIMITS = Limits(seconds=20)
"""Limits of reading one file."""

INSTALL = f"{install('engines')} brings DuckDB, Polars and DataFusion"


class TooFewReadersError(Exception):
    """There are fewer than two independent readers in addition to the one under test. The message says what to install."""


@dataclass(frozen=True)
class Confirmed:
    """The answers of readers about a file.

    Attributes:
        rows: The answer with the rows that two readers agree on; ``None`` if there is none.
        said: The answer of each reader, by name and version.
        too_large: Whether an answer with its rows exceeded the size limit of answers.
    """

    rows: Accept | None = None
    said: dict[str, str] = field(default_factory=dict[str, str])
    too_large: bool = False


class Reader:
    """One reader: a shipped driver, which is greeted before its first request."""

    def __init__(self, driver: Implementation) -> None:
        self._title = driver.title
        self._driver = DriverUnderTest(Settings(driver.argv, LIMITS, shipped=driver.name))
        self._greeting: HelloAnswer | NoAnswer | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Its name, with its version after the greeting."""
        known = self._greeting
        return f"{known.name} {known.version}" if isinstance(known, HelloAnswer) else self._title

    @property
    def was_asked(self) -> bool:
        """Whether it was asked about a file."""
        return self._greeting is not None

    def _greeted(self) -> HelloAnswer | NoAnswer:
        with self._lock:
            if self._greeting is None:
                self._greeting = self._driver.hello()
            return self._greeting

    def read(self, file: Path, facts: FileFacts) -> Accept | str:
        """Its answer with all rows of a file; or the reason, in words, why there is none."""
        greeting = self._greeted()
        if isinstance(greeting, NoAnswer):
            return f"does not answer hello: {greeting.reason}"
        if lacking := missing_capability("read", "PQF", [], facts.needs, greeting.capabilities):
            return f"does not know {lacking}"
        request = protocol.ReadRequest(protocol.PROTOCOL, "read", str(file), list(facts.names))
        answer = self._driver.ask(request, file.parent)
        if isinstance(answer, NoAnswer):
            return f"{answer.outcome}: {answer.reason}"
        if isinstance(answer, Accept) and answer.rows is not None:
            return answer
        return " ".join(described(answer).replace(f"{file.parent}/", "").split())

    def stop(self) -> None:
        """End its processes, and do not start new ones."""
        self._driver.launcher.stop()

    def close(self) -> None:
        """End its processes, and forget them."""
        self._driver.close()


class SecondReaders:
    """The readers of a run.

    Args:
        readers: At least two, each with its own decoder.
    """

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers

    @property
    def names(self) -> list[str]:
        """Names and versions of the readers that were asked."""
        return [reader.name for reader in self._readers if reader.was_asked]

    def confirmed(self, file: Path, facts: FileFacts) -> Confirmed:
        """Their answers about a file; after two readers have returned the same rows, no others are asked.

        Args:
            file: A copy of it, in its own folder.
            facts: The capabilities that it needs, and its columns.
        """
        if not facts.names:
            return Confirmed()
        reasons: dict[str, str] = {}
        first: tuple[str, list[list[Value]]] | None = None
        for reader in self._readers:
            answer = reader.read(file, facts)
            rows = None if isinstance(answer, str) else rows_of(answer)
            if isinstance(answer, str) or rows is None:
                reasons[reader.name] = str(answer)
                if TOO_LARGE in reasons[reader.name]:
                    return Confirmed(None, reasons, too_large=True)
                continue
            reasons[reader.name] = counted(len(rows))
            if first is None:
                first = reader.name, rows
                continue
            if digest(first[1]) == digest(rows):
                return Confirmed(answer, reasons)
            columns, difference = narrowed(facts.names, first[1], rows)
            where = f" in {columns}" if columns else ""
            reasons[reader.name] = f"other rows than {first[0]}{where}: {difference}"
            break
        return Confirmed(None, reasons)

    def stop(self) -> None:
        """End their processes, and do not start new ones."""
        for reader in self._readers:
            reader.stop()

    def close(self) -> None:
        """End their processes, and forget them."""
        for reader in self._readers:
            reader.close()


def second_readers(decoder: str | None, hello: str | None) -> SecondReaders:
    """The installed readers, without the one under test.

    Args:
        decoder: The library that the driver under test decodes files with, if known.
        hello: The name of the driver under test.

    Raises:
        TooFewReadersError: There are fewer than two.
    """
    taken = {decoder}
    chosen: list[Implementation] = []
    lacking: list[str] = []
    for known in map(implementation, READERS):
        is_under_test = hello is not None and hello.casefold() in (
            known.name.casefold(),
            known.title.casefold(),
        )
        if known.decoder in taken or is_under_test:
            continue
        if known.missing or not known.is_built:
            lacking.append(known.title)
            continue
        chosen.append(known)
        taken.add(known.decoder)
    if len(chosen) < ENOUGH:
        raise TooFewReadersError(_too_few([known.title for known in chosen], lacking))
    return SecondReaders([Reader(known) for known in chosen])


def _too_few(names: Sequence[str], lacking: Collection[str]) -> str:
    there = f"there is only {names[0]}" if names else "there is none"
    missing = f" ({', '.join(lacking)} not installed)" if lacking else ""
    return (
        "the expected rows need two independent readers besides the one under test; "
        f"{there}{missing}: {INSTALL}"
    )
