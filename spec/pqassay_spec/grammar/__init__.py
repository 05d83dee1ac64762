"""The grammar language: how structures are declared, and all that follows from a declaration.

Contents: the compact Thrift protocol as tables of fields (``thrift*``), flat records, and what is derived from any
declaration: the trace, the hexdump, field paths and field tables.

Excluded: a concrete format.  Declarations are in the rooms `parquet`, `idx1` and `pm`.
"""
