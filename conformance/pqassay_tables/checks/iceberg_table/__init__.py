"""Checks of Iceberg tables (ICE): the metadata, what they say about files, and that compared with the files themselves.

The sentences of the rules are in ``pqassay_spec/rules/iceberg_table.toml``, the chapter is ``spec/chapters/iceberg_table.md``.  What a
table format has in common with others is in `pqassay_tables.checks.table_claims`.  This room imports no other family's room.
"""
