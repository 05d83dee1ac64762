"""Checks of Iceberg tables (ICE): the metadata, and their claims about files compared with the files.

The sentences of the rules are in ``pqassay_spec/rules/iceberg_table.toml``, the chapter is ``spec/chapters/iceberg_table.md``. Code that
table formats share is in `pqassay_tables.checks.table_claims`. This room imports no other family's room.
"""
