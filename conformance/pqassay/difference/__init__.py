"""The difference of two files, by fields and not by offsets.

Contents: the fields of a file by path (`fields`), the changes of each field (`comparing`), the classes of the
result (`model`), its text (`text`) and the rows of bytes in it (`marks`).  Excluded: a parser; all fields
come from `pqassay.dump`.

How it works. Both files are dumped, and the fields of the same path are compared. A field with the same value is unchanged or *moved*. An
offset that still leads to the field of the same path *follows*: it changed only because something else moved. A structure that only one
file has is one change. List elements are named by position, so all elements after an inserted one are compared with their neighbors.
"""

from __future__ import annotations

from pqassay.difference.comparing import MOST_FIELDS, TooManyFields, difference
from pqassay.difference.model import Change, Difference, Place

__all__ = ["MOST_FIELDS", "Change", "Difference", "Place", "TooManyFields", "difference"]
