"""Parquet: its declarations in the order of ``parquet.thrift``, and its algorithms in plain Python.

What lives here: the structs (`thrift`), the framing of a file (`file`), schema and types, and the normative algorithms for orders, levels,
encodings, the search in a page index, and bloom filters.  They are slow and readable; fast ones elsewhere are tested equal to them.
"""
