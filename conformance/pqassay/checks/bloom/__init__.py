"""Checks of bloom filters of column chunks (BLM).

The sentences of the rules are in ``pqassay_spec/rules/bloom.toml``, the chapter is ``spec/chapters/bloom.md``.  This room imports
no other family's room.
"""
