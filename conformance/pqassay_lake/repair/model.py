"""The repair plan: the affected files, and the steps that repair them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay_spec.rules.catalogue import Effect, Tier
from pqassay_spec.table.layout import TableKind

SCHEMA_VERSION = 1

Dialect = Literal["spark", "delta", "iceberg"]
"""The dialect: ``spark`` for Spark SQL of both table formats, and commands for files outside tables; else for one format."""

CATALOG = "lake"
"""The default catalog of an Iceberg table, in which it has the name of its folder."""

BY_HAND = "by hand"
"""The name of a step without a statement."""


@dataclass(frozen=True)
class Quarantined:
    """A file that should not be trusted until it is repaired.

    Attributes:
        path: The name of the file in the report.
        rules: The rules broken in it, or in its table's claims about it.
        could: The worst possible effect on readers.
        repair: The step that repairs it.
        table: Its table; empty if it has none.
        created_by: The software that wrote it, according to its footer.
        owner: Its writer, according to the table.
    """

    path: str
    rules: list[str]
    could: Effect
    repair: str
    table: str = ""
    created_by: str | None = None
    owner: str | None = None


@dataclass(frozen=True)
class PlannedTable:
    """A table with files to repair.

    Attributes:
        path: The name of the table in the report.
        kind: Its format.
        moment: The version or snapshot that the plan is based on; ``None`` if it could not be read.
        name: Its name in statements.
    """

    path: str
    kind: TableKind
    moment: int | None
    name: str


@dataclass(frozen=True)
class Step:
    """One kind of repair, with the files or the table to repair.

    Attributes:
        repair: Its name.
        rules: The rules that it repairs.
        files: The number of affected files; 0 if the table itself is affected.
        table: The table; empty for files outside tables.
        statements: The statements to run, in this order; empty if you have to decide.
        notes: Remarks to read before.
    """

    repair: str
    rules: list[str]
    files: int
    table: str = ""
    statements: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Plan:
    """A repair plan.

    Attributes:
        report: The source report.
        tier: The tier of the check.
        dialect: The dialect of the statements.
        tables: The tables with files to repair.
        files: The quarantine list.
        steps: The repairs, grouped by table and kind.
    """

    schema_version: int
    kind: Literal["repair plan"]
    pqassay: str
    report: str
    tier: Tier
    dialect: Dialect
    tables: list[PlannedTable]
    files: list[Quarantined]
    steps: list[Step]


def json_schema() -> dict[str, Any]:
    """JSON Schema of a plan, derived from the classes."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only this needs it

    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(Plan).json_schema()}
