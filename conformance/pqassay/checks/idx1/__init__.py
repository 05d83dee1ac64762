"""Checks of the embedded index of distinct values (IDX1).

The sentences of the rules are in ``pqassay_spec/rules/idx1.toml``, the chapter is ``spec/chapters/idx1.md``.  This room imports
no other family's room.
"""

UNREAD = "no engine here reads an IDX1 index; programs that read it lose the values that it lacks"
"""Why no query can show the effect of a finding."""
