"""Checks of the footer, the schema, byte ranges and pages of a Parquet file (PQF).

The sentences of the rules are in ``pqassay_spec/rules/parquet_file.toml``, the chapter is ``spec/chapters/parquet_file.md``.  This room imports
no other family's room.
"""
