"""Checks of the column index and the offset index (PIX).

The sentences of the rules are in ``pqassay_spec/rules/page_index.toml``, the chapter is ``spec/chapters/page_index.md``.  This room imports
no other family's room.
"""
