"""Pictures of structures, drawn from their declarations: ``<!-- layout: pm.grammar.ColumnDescriptor -->``.

Each field is a box as wide as its bytes and a link to its row in the table of fields (``<!-- fields: … -->``), which is on the same page.
``parquet.file`` and ``parquet.bloom`` are drawn from golden files instead, since Thrift and the footer decide the sizes of their parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from pages import file_map, filter_layout
from pages.byte_drawing import drawn
from pages.byte_layout import fields_of, layout, slug
from pages.markup import Link

WHOLE = {"parquet.file": file_map.lines, "parquet.bloom": filter_layout.lines}
"""Pictures that are drawn from golden files."""


def lines(name: str, link: Link) -> Iterator[str]:
    """Yield the picture of a structure.

    Raises:
        AttributeError, ImportError: There is no such structure.
        TypeError: It has no fields with a place.
    """
    if name in WHOLE:
        yield from WHOLE[name](link)
        return
    module, _, attribute = name.rpartition(".")
    structure = getattr(import_module(f"pqassay_spec.{module}"), attribute)
    fields = fields_of(structure, slug(name))
    title = attribute if attribute.isupper() else _words(attribute)
    picture = drawn(layout(fields), f"The bytes of {title}")
    yield from ("", picture.html("layout"), "")


def _words(name: str) -> str:
    """The name of a class as words.

    >>> _words("ColumnDescriptor")
    'column descriptor'
    """
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
