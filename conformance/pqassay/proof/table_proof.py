"""The interface of a table format for queries of engines; see `pqassay.stores.formats`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from pqassay.proof.engines import Engine
from pqassay.proof.worker import QueryPlan
from pqassay.report.model import Finding
from pqassay.stores.formats import formats, resolved
from pqassay.stores.table_files import TableAt


@dataclass(frozen=True)
class TableCopy:
    """A copy of a table for engines that open its files where its metadata say that they are.

    Attributes:
        made: Makes the copy in a temporary folder, which it gives. It raises `pqassay.proof.engines.Unwritable`.
        place: The folder in which `command` makes it.
        command: A program and its arguments that make the copy.
    """

    made: Callable[[], AbstractContextManager[str]]
    place: str
    command: Sequence[str]


class TableProof(Protocol):
    """The interface of a table format for engines that read its tables."""

    def engines(self, spark_packages: str) -> tuple[Engine, ...]:
        """The engines that read tables of the format, Spark with some packages."""
        ...

    def plan(self, table: TableAt, path: str, findings: Sequence[Finding], folder: Path) -> QueryPlan:
        """Find the queries for what a table says falsely of one of its files, or of itself, and write their true rows into a folder."""
        ...

    def copy(self, table: str) -> TableCopy | None:
        """How to copy a table that is not where its metadata say; ``None`` of one that is. Raises `Unwritable`."""
        ...


def proof_of(kind: str) -> TableProof:
    """What a format answers, by its kind. Raises `KeyError` if no plug-in has it."""
    return cast("TableProof", resolved(formats()[kind].proof))
