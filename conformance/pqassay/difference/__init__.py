"""The difference of two files, by fields and not by offsets.

What lives here: the fields of a file as a tree (`tree`), which element of a list is which in the other file (`alignment`), what became of
each field (`comparing`), which bytes are not those of the same field (`changed_bytes`), the classes in which that is told (`model`) and its text (`text`).  What never comes in: a parser; all
fields come from `pqassay.dump`.

How it works.  Both files are traced, and the leaves of each make a tree by their paths.  The trees are walked together from the root.
Elements of lists are paired by what names them (a key, a column, a schema element), else by their content, so that an inserted row group
leaves the others where they are; a column chunk's pages and indexes follow its record in the footer.  A field whose value is the same is
at most *moved*.  An offset that leads to the same structure as before, or a length that is still that of its structure, *follows*:
it changed since something else did.  Where one of the files cannot be read, its bytes are compared with the fields of the other.
"""

from __future__ import annotations

from pqassay.difference.comparing import MOST_FIELDS, TooManyFields, difference
from pqassay.difference.model import Change, Difference, Place

__all__ = ["MOST_FIELDS", "Change", "Difference", "Place", "TooManyFields", "difference"]
