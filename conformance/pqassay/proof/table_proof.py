"""The interface of a table format for queries by engines; see `pqassay.stores.formats`."""

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
    """A copy of a table, for engines that open its files at the paths in its metadata.

    Attributes:
        made: Makes the copy in a temporary folder, and returns the folder. It raises `pqassay.proof.engines.Unwritable`.
        place: The folder where `command` makes the copy.
        command: A program and its arguments that make the copy.
    """

    made: Callable[[], AbstractContextManager[str]]
    place: str
    command: Sequence[str]


class TableProof(Protocol):
    """The interface that a table format implements for engines that read its tables."""

    def engines(self, spark_packages: str) -> tuple[Engine, ...]:
        """The engines that read tables of the format; Spark with the given packages."""
        ...

    def plan(self, table: TableAt, path: str, findings: Sequence[Finding], folder: Path) -> QueryPlan:
        """Find queries for false claims of a table, about one of its files or itself, and write their true rows into a folder."""
        ...

    def copy(self, table: str) -> TableCopy | None:
        """How to copy a table that is not at the place in its metadata; ``None`` if it is. Raises `Unwritable`."""
        ...


def proof_of(kind: str) -> TableProof:
    """The `TableProof` of a format, by its kind. Raises `KeyError` if no plug-in has it."""
    return cast("TableProof", resolved(formats()[kind].proof))
