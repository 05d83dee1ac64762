"""Where the extension of a footer begins."""

from __future__ import annotations

from places import GOLDEN_FILES
from pqassay_reference.rewrite.footer_splice import with_extension
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory.placement import EXTENSION_UUID, extension_start
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet.extension_fields import FIELD, long_form
from pqassay_spec.parquet.file import read_framing


def footer() -> bytes:
    source = BytesSource((GOLDEN_FILES / "dir/sets-inline/data.parquet").read_bytes())
    framing = read_framing(source)
    return source.read(framing.footer_start, framing.footer_length)


def test_the_area_begins_behind_the_uuid_even_if_a_blob_looks_like_the_field() -> None:
    lookalike = long_form(FIELD, WireType.BINARY) + b"\x10" + EXTENSION_UUID
    encoded = with_extension(footer(), EXTENSION_UUID + b"blob" + lookalike)

    assert encoded.index(b"blob") == extension_start(encoded)


def test_there_is_no_area_in_a_footer_that_cannot_be_walked_or_has_another_extension() -> None:
    encoded = with_extension(footer(), bytes(16) + EXTENSION_UUID)

    assert [None, None, None] == [extension_start(data) for data in (footer(), encoded, encoded[:40])]
