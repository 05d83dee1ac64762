"""A repair plan: files that are concerned, and the steps that repair them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay_spec.rules.catalogue import Effect, Tier
from pqassay_spec.table.layout import TableKind

SCHEMA_VERSION = 1

Dialect = Literal["spark", "delta", "iceberg"]
"""``spark``: SQL of Spark for tables of both formats, and commands for files of no table; else the statements for one format."""

CATALOG = "lake"
"""The catalog in which an Iceberg table is called as its folder, unless someone names another one."""

BY_HAND = "by hand"
"""The name of the step for which there is no statement."""


@dataclass(frozen=True)
class Quarantined:
    """A file that should not be trusted until it is repaired.

    Attributes:
        path: The file, as the report names it.
        rules: The rules that are broken in it, or in what its table says about it.
        could: The worst that readers can meet.
        repair: The step that repairs it.
        table: The table to which it belongs; empty without one.
        created_by: The software that wrote it, as its footer says.
        owner: Its writer, as the table says.
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
        path: The table, as the report names it.
        kind: Its format.
        moment: The version or snapshot at which the plan looked at it; ``None`` where it could not be read.
        name: Its name in statements.
    """

    path: str
    kind: TableKind
    moment: int | None
    name: str


@dataclass(frozen=True)
class Step:
    """One way to repair something, and what it is applied to.

    Attributes:
        repair: Its name.
        rules: The rules that it repairs.
        files: How many files it concerns; 0 if it concerns the table itself.
        table: The table; empty for files of no table.
        statements: The statements to run, in this order; none if you have to decide.
        notes: What to know before.
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
        report: The report that it was made of.
        tier: How deep the files were looked at.
        dialect: For whom statements are written.
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
