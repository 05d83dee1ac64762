"""Checks of tables: a room for each format, found by the name of its family; what both share is beside them.

How a check is written is said in `pqassay.checks`.  Excluded: numpy and pyarrow; code that needs them is in
`pqassay_tables.values`. Formats never import each other.
"""
