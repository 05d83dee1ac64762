"""Independent readers that say which rows a file holds: drivers that come with pqassay, and are not the one under test.

What two of them read alike, in code that they do not share, is taken for the truth.  Nobody decides by majority: where two read
other rows, it is not known which are right.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pqassay.literals.rows import digest, rows_difference
from pqassay.suite import protocol
from pqassay.suite.bench import described
from pqassay.suite.driver import DriverUnderTest, NoAnswer, Settings
from pqassay.suite.file_facts import FileFacts
from pqassay.suite.implementations import Implementation, implementation
from pqassay.suite.process import Limits
from pqassay.suite.protocol import Accept, HelloAnswer
from pqassay.suite.row_answers import counted, rows_of
from pqassay_spec.golden.literals import Value

READERS = ("pyarrow", "duckdb", "polars", "datafusion")
"""Drivers that are asked which rows are right, in this order: each has a decoder of its own, and starts at once."""

ENOUGH = 2
"""Readers that have to agree."""

LIMITS = Limits(seconds=20)
"""Limits of reading one file."""

INSTALL = "pip install 'pqassay[engines]' brings DuckDB, Polars and DataFusion"


class TooFewReadersError(Exception):
    """There are no two independent readers beside the one under test. The message says what to install."""


@dataclass(frozen=True)
class Confirmed:
    """What readers said about a file.

    Attributes:
        rows: The answer that holds the rows on which two agree; ``None`` where there is none.
        said: What each reader said that was asked, by name and version.
    """

    rows: Accept | None = None
    said: dict[str, str] = field(default_factory=dict[str, str])


class Reader:
    """One reader: a driver that comes with pqassay."""

    def __init__(self, driver: Implementation) -> None:
        self.decoder = driver.decoder
        self._driver = DriverUnderTest(Settings(driver.argv, LIMITS, shipped=driver.name))
        greeting = self._driver.hello()
        self.greeting = greeting if isinstance(greeting, HelloAnswer) else None

    @property
    def name(self) -> str:
        """Its name and version."""
        return "" if self.greeting is None else f"{self.greeting.name} {self.greeting.version}"

    def read(self, file: Path, facts: FileFacts) -> Accept | str:
        """Its answer with all rows of a file; or, in words, why there is none."""
        capabilities = () if self.greeting is None else self.greeting.capabilities
        if lacking := protocol.missing_capability("read", "PQF", [], facts.needs, capabilities):
            return f"does not know {lacking}"
        request = protocol.ReadRequest(protocol.PROTOCOL, "read", str(file), list(facts.names))
        answer = self._driver.ask(request, file.parent)
        if isinstance(answer, NoAnswer):
            return f"{answer.outcome}: {answer.reason}"
        if isinstance(answer, Accept) and answer.rows is not None:
            return answer
        return " ".join(described(answer).replace(f"{file.parent}/", "").split())

    def close(self) -> None:
        """End its processes."""
        self._driver.close()


class SecondReaders:
    """The readers of a run.

    Args:
        readers: At least two, with decoders of their own.
    """

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers

    @property
    def names(self) -> list[str]:
        """Their names and versions."""
        return [reader.name for reader in self._readers]

    def confirmed(self, file: Path, facts: FileFacts) -> Confirmed:
        """What they say about a file; nobody is asked any more once two have given rows.

        Args:
            file: A copy of it, in a folder of its own.
            facts: What it takes to read it, and its columns.
        """
        if not facts.names:
            return Confirmed()
        said: dict[str, str] = {}
        first: tuple[str, list[list[Value]]] | None = None
        for reader in self._readers:
            answer = reader.read(file, facts)
            rows = None if isinstance(answer, str) else rows_of(answer)
            if isinstance(answer, str) or rows is None:
                said[reader.name] = str(answer)
                continue
            said[reader.name] = counted(len(rows))
            if first is None:
                first = reader.name, rows
                continue
            if digest(first[1]) == digest(rows):
                return Confirmed(answer, said)
            said[reader.name] = f"other rows than {first[0]}: {rows_difference(first[1], rows)}"
            break
        return Confirmed(None, said)

    def close(self) -> None:
        """End their processes."""
        for reader in self._readers:
            reader.close()


def second_readers(
    decoder: str | None,
    hello: str | None,
    *,
    names: Sequence[str] = READERS,
    find: Callable[[str], Implementation] = implementation,
) -> SecondReaders:
    """The readers that are here, and are not the one under test.

    Args:
        decoder: Whose code the driver under test decodes files with, as far as that is known.
        hello: What it calls itself.
        names: The drivers to choose among.
        find: Finds a driver by its name.

    Raises:
        TooFewReadersError: See there.
    """
    taken: set[str] = {decoder} if decoder else set()
    chosen: list[Reader] = []
    lacking: list[str] = []
    try:
        for name in names:
            known = find(name)
            if known.decoder in taken or _are_one(known, hello):
                continue
            if known.missing or not known.is_built:
                lacking.append(known.title)
                continue
            reader = Reader(known)
            if reader.greeting is None:
                reader.close()
                lacking.append(known.title)
                continue
            chosen.append(reader)
            taken.add(known.decoder)
    except BaseException:
        _close(chosen)
        raise
    if len(chosen) < ENOUGH:
        _close(chosen)
        raise TooFewReadersError(_too_few([reader.name for reader in chosen], lacking))
    return SecondReaders(chosen)


def _are_one(known: Implementation, hello: str | None) -> bool:
    """Whether a driver under test is, by its name, this library."""
    return hello is not None and hello.casefold() in (known.name.casefold(), known.title.casefold())


def _too_few(names: Sequence[str], lacking: Collection[str]) -> str:
    there = f"there is only {names[0]}" if names else "there is none"
    missing = f" ({', '.join(lacking)} cannot be asked)" if lacking else ""
    return (
        "which rows are right is known where two independent readers agree, beside the one under test; "
        f"{there}{missing}: {INSTALL}"
    )


def _close(readers: Sequence[Reader]) -> None:
    for reader in readers:
        reader.close()
