"""Checks of the index directory (DIR): the key, its entries, their blobs, and their claims about the values.

The sentences of the rules are in ``pqassay_spec/rules/directory.toml``, the chapter is
``spec/chapters/directory.md``.  Entries of unknown types or versions are not checked. A stale or replaced
entry has one finding and is not checked further.  This room imports no other family's room.
"""

UNREAD = "no engine here reads an index directory; programs that read it lose the rows that it excludes, and return its wrong sums"
"""Why no query can show the effect of a finding."""
