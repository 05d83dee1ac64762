"""Checks of statistics of column chunks and pages, and the orders of columns (STA).

The sentences of the rules are in ``pqassay_spec/rules/statistics.toml``, the chapter is ``spec/chapters/statistics.md``.  This room imports
no other family's room.
"""
