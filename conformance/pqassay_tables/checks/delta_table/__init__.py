"""Checks of Delta tables (DLT): the log, what it says about files, and that compared with the files themselves.

The sentences of the rules are in ``pqassay_spec/rules/delta_table.toml``, the chapter is ``spec/chapters/delta_table.md``.  Rules of tier
``meta`` are asked about a table, those of deeper tiers about each of its data files, which has its claims beside it.  What a table
format has in common with others is in `pqassay_tables.checks.table_claims`.  This room imports no other family's room.
"""
