"""Checks of tables: a package for each format, named like its family, and shared modules beside them.

`pqassay.checks` describes how a check is written. Excluded: numpy and pyarrow; code that needs them is in `pqassay_tables.values`. Formats
never import each other.
"""
