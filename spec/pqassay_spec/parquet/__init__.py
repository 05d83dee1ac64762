"""Parquet: its declarations in the order of ``parquet.thrift``, and its algorithms in plain Python.

Contents: the structs (`thrift`), the framing of a file (`file`), the schema and its types (`schema`), copies of it that other software keeps
(`schema_copies`), encodings and levels (`encoding`), and the normative algorithms for orders, the search in a page index, and bloom filters.  They are slow and readable; fast ones elsewhere are tested equal to them.
"""
