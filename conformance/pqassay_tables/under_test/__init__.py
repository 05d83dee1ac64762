"""Tables under test: their metadata entry by entry, and their claims about the columns of a data file.

Contents: a view of each format of tables, the bounds of all entries by columns, and claims in the form of the data
file's columns.

Excluded: reading of metadata; `pqassay_tables.metadata` does that.
"""
