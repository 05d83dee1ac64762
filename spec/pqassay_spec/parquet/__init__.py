"""Parquet: its declarations in the order of ``parquet.thrift``, and its algorithms in plain Python.

Contents: the structs (`thrift`), the framing of a file (`file`), the schema and its types (`schema`), copies of the schema by other
software (`schema_copies`), and encodings and levels (`encoding`). It also has the normative algorithms for orders, the search in a
page index, and bloom filters.  They are slow and readable; tests show that the fast ones elsewhere agree with them.
"""
