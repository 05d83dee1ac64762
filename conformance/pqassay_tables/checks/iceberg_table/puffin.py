"""Checks of the footers of Puffin files against the deletion vectors in them, tier ``footer``.

Some readers find a vector by the manifest, and others by the footer of its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pqassay.checks import rule
from pqassay.under_test.file import Broken, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_spec.table import deletion_vector as grammar
from pqassay_spec.table.json_places import find
from pqassay_spec.table.puffin import CARDINALITY, REFERENCED_DATA_FILE
from pqassay_spec.table.puffin import VECTOR as VECTOR_TYPE
from pqassay_tables.checks.iceberg_table.vectors import REMEDY, VECTOR
from pqassay_tables.metadata.iceberg.puffin_footer import RULE, Blob, PuffinFooter
from pqassay_tables.under_test.states import footer_of
from pqassay_tables.under_test.table import bytes_field, raised_field

if TYPE_CHECKING:
    from pqassay_tables.values.deletion_vector import DeletionVector


def _footer(one: DeletionVector) -> PuffinFooter:
    """The footer of the file that contains a vector. Raises `Malformed`, ICE-070, and `NotChecked`."""
    stored, table = one.stored, one.file.table
    if table is None or stored.size != one.claims.length:
        raise Broken("ICE-035")  # its place is unknown
    try:
        return footer_of(table, one.name)
    except OSError as error:
        reason = f"{one.name} cannot be read: {error.strerror or error}"
        raise NotChecked(reason, "file", judgeable=False) from None


def _wrong(
    one: DeletionVector, footer: PuffinFooter, path: tuple[str, ...], said: str, expected: str, actual: str
) -> Violation:
    """The violation in the JSON of a footer, at the bytes of a member, or of the whole footer if the member is missing."""
    start, end = find(footer.text, path) or (0, len(footer.text))
    name = ".".join(("puffin", *path)).replace(".[", "[")
    field = bytes_field(one.file, one.name, f"{one.name}.{name}", footer.start + start, end - start)
    return Violation(said, field, expected, actual[:80], remedy=REMEDY)


@rule("ICE-070", of=VECTOR)
def footers_can_be_read(one: DeletionVector) -> Iterator[Violation]:
    """Readers that find vectors by the footer can no longer read the data file."""
    try:
        _ = _footer(one)
    except Malformed as error:
        if error.rule != RULE:
            raise
        field = raised_field(one.file, error)
        yield Violation(error.reason, field, error.expected, error.actual, remedy=REMEDY)


def _blob(one: DeletionVector, footer: PuffinFooter) -> Blob | None:
    found = footer.blobs.get(one.claims.offset)
    length = grammar.SIZE_SIZE + one.claims.length + grammar.CHECKSUM_SIZE
    is_right = found is not None and (found.type, found.length, found.codec) == (VECTOR_TYPE, length, None)
    return found if is_right else None


@rule("ICE-071", of=VECTOR)
def footers_list_the_vector(one: DeletionVector) -> Iterator[Violation]:
    """Readers that use the footer take other bytes for the vector, or find none: other rows are deleted."""
    footer = _footer(one)
    if _blob(one, footer) is not None:
        return
    offset, length = one.claims.offset, grammar.SIZE_SIZE + one.claims.length + grammar.CHECKSUM_SIZE
    there = footer.blobs.get(offset)
    expected = f"a blob {VECTOR_TYPE} of {length} bytes at {offset}"
    if there is None:
        message = f"the footer of {one.name} lists no blob at {offset}, but the manifest has a deletion vector there"
        actual = f"blobs at {', '.join(map(str, sorted(footer.blobs)[:8])) or 'no place'}"
        yield _wrong(one, footer, ("blobs",), message, expected, actual)
        return
    codec = "" if there.codec is None else f", compressed by {there.codec}"
    actual = f"a blob {there.type[:40]} of {there.length} bytes{codec}"
    message = (
        f"the footer of {one.name} lists {actual} at {offset}, but the manifest has a "
        f"deletion vector of {length} bytes"
    )
    name = "type" if there.type != VECTOR_TYPE else "length" if there.length != length else "compression-codec"  # fmt: skip
    yield _wrong(one, footer, ("blobs", f"[{there.number}]", name), message, expected, actual)


@rule("ICE-072", of=VECTOR)
def footers_describe_the_vector(one: DeletionVector) -> Iterator[Violation]:
    """Readers that use the footer delete rows of another file, or count other rows."""
    footer, count = _footer(one), one.bitmap.count
    blob = _blob(one, footer)
    if blob is None:
        raise Broken("ICE-071")
    for name, expected in ((REFERENCED_DATA_FILE, one.claims.of), (CARDINALITY, str(count))):
        given = blob.properties.get(name)
        if given != expected:
            said = (
                f"the footer of {one.name} gives {given} as the {name} of the deletion "
                f"vector at {one.claims.offset}, but it is {expected}"
            )
            path = ("blobs", f"[{blob.number}]", "properties", name)
            yield _wrong(one, footer, path, said, expected, str(given))
