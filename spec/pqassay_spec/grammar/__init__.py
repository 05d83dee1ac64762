"""The grammar language: how structures are declared, and everything that is derived from a declaration.

Contents: the compact Thrift protocol as tables of fields (``thrift*``), flat records, and derivations from
any declaration: the trace, the hexdump, field paths and field tables.

Excluded: concrete formats.  Declarations are in the rooms `parquet`, `idx1` and `pm`.
"""
