"""How an Iceberg manifest means what it says of values: of all rows of a file, deleted ones included."""

from __future__ import annotations

from pqassay_tables.values.table_claims import TableRules

RULES = TableRules(bounds="ICE-040", nulls="ICE-041", nans="ICE-042", partition="ICE-043")
"""The rules about values."""
