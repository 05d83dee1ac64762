"""Checks of QuestDB's metadata file ``_pm`` (PM).

The sentences of the rules are in ``pqassay_spec/rules/pm.toml``, the chapter is ``spec/chapters/pm.md``.  This room imports
no other family's room.
"""

UNREAD = "only QuestDB reads a _pm file"
"""Why no query can show the effect of a finding."""
