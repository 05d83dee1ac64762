"""Checks of the index directory (DIR): the key, its entries, their blobs, and what these say about the values.

The sentences of the rules are in ``pqassay_spec/rules/directory.toml``, the chapter is ``spec/chapters/directory.md``.  Entries of
types or versions that are not known here are not checked; of a stale entry, and of one that another one replaces, one finding says
so, and nothing more is asked.  This room imports no other family's room.
"""

UNREAD = "no engine here reads an index directory; programs that read it lose the rows that it excludes, and return its wrong sums"
"""Why no query shows what a finding does."""
