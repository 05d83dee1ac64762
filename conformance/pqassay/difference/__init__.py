"""The difference of two files, by fields and not by offsets.

Contents: the fields of a file by path (`fields`), the changes of each field (`comparing`), the classes of the
result (`model`), its text (`text`) and the rows of bytes in it (`marks`).  Excluded: a parser; all fields
come from `pqassay.dump`.

How it works.  Both files are dumped, and the fields of the same path are compared.  A field whose value is the same is at most *moved*.
An offset that leads to the field of the same path as before *follows*: it changed because something else did.  A structure that only one
file has is one change.  An element of a list is named by its position, so that after an inserted one all others are compared with another.
"""

from __future__ import annotations

from pqassay.difference.comparing import MOST_FIELDS, TooManyFields, difference
from pqassay.difference.model import Change, Difference, Place

__all__ = ["MOST_FIELDS", "Change", "Difference", "Place", "TooManyFields", "difference"]
