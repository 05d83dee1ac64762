"""Checks of Delta tables (DLT): the log, and its claims about files compared with the files.

The sentences of the rules are in ``pqassay_spec/rules/delta_table.toml``, the chapter is ``spec/chapters/delta_table.md``. Rules of tier
``meta`` are tested on a table, rules of deeper tiers on each of its data files with the table's claims. Code that table formats share is in
`pqassay_tables.checks.table_claims`. This room imports no other family's room.
"""
