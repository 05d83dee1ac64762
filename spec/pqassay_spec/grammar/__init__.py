"""The grammar language: how structures are declared, and all that follows from a declaration.

What lives here: the compact Thrift protocol as tables of fields (``thrift*``), flat records, and what is derived from any
declaration: the trace, the hexdump, field paths and field tables.

What never comes in: a concrete format.  Declarations are in the rooms `parquet`, `idx1` and `pm`.
"""
