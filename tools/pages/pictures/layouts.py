"""Pictures of structures, drawn from their declarations: ``<!-- layout: pm.grammar.ColumnDescriptor -->``.

Each field is a box as wide as its bytes and a link to its row in the table of fields (``<!-- fields: … -->``), which is on the same page.
``parquet.file`` and ``parquet.bloom`` are drawn from golden files instead, since Thrift and the footer decide the sizes of their parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from pages.markup import Link
from pages.pictures import file_map, filter_layout
from pages.pictures.byte_drawing import drawn
from pages.pictures.byte_layout import fields_of, layout, slug
from pages.pictures.declared import declared

WHOLE = {"parquet.file": file_map.lines, "parquet.bloom": filter_layout.lines}
"""Pictures that are drawn from golden files."""


def lines(name: str, link: Link) -> Iterator[str]:
    """Yield the picture of a structure.

    Raises:
        AttributeError, ImportError: The structure does not exist.
        TypeError: The structure has no fields with a place.
    """
    if name in WHOLE:
        yield from WHOLE[name](link)
        return
    fields = fields_of(declared(name), slug(name))
    picture = drawn(layout(fields), f"The bytes of {title(name)}")
    yield from ("", picture.html("layout"), "")


def title(name: str) -> str:
    """The name of a structure in words.

    >>> title("pm.grammar.ColumnDescriptor"), title("idx1.blob.BLOB")
    ('column descriptor', 'blob')
    """
    own = name.rpartition(".")[2]
    if own.isupper():
        return own.lower().replace("_", " ")
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in own).strip()
