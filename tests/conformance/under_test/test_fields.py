"""Fields of files: how they are printed, and where their bytes are."""

from __future__ import annotations

import pytest

from places import GOLDEN_FILES
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.fields import NOWHERE, Field, in_footer, named
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import BytesSource

DATA = (GOLDEN_FILES / "pix/ordered-three-ways/data.parquet").read_bytes()


@pytest.fixture
def file() -> FileUnderTest:
    return FileUnderTest(BytesSource(DATA), Options("pages"))


@pytest.fixture
def chunk(file: FileUnderTest) -> ColumnChunkUnderTest:
    return file.part(ColumnChunks).all[0]


def bytes_of(field: Field) -> bytes:
    offset, length = field.place()
    return DATA[offset : offset + length]


def test_a_field_is_printed_as_the_grammar_spells_it(chunk: ColumnChunkUnderTest) -> None:
    page, fields = chunk.data_pages[0], chunk.fields
    of = "row_groups[0].columns[0]"

    assert f"footer.{of}.meta_data.statistics.min_value" == str(fields.statistics / "min_value")
    assert f"{of}.column_index.null_pages[1]" == str((fields.column_index / "null_pages")[1])
    assert f"{of}.offset_index.page_locations[1]" == str(fields.offset_index / "page_locations[1]" / "")
    assert f"{of}.pages[{page.number}].header.crc" == str(fields.page(page) / "crc")
    assert f"{of}.bloom_filter.bitset" == str(fields.bitset)


def test_a_field_leads_to_its_bytes(file: FileUnderTest, chunk: ColumnChunkUnderTest) -> None:
    first = chunk.column_index.min_values[0]
    page, body = chunk.data_pages[0], chunk.fields.body(chunk.data_pages[0])

    assert first == bytes_of(chunk.fields.column_index / "min_values[0]")[-len(first) :]
    assert file.footer == bytes_of(in_footer(file))
    assert (page.body_start, page.header.compressed_page_size) == body.place()


def test_of_what_is_not_there_the_nearest_thing_is_shown(
    file: FileUnderTest, chunk: ColumnChunkUnderTest
) -> None:
    whole = bytes_of(chunk.fields.column_index)

    assert chunk.column_index_bytes == whole == bytes_of(chunk.fields.column_index / "nan_counts[7]")
    assert file.footer == bytes_of(chunk.fields.listed / "crypto_metadata")
    assert NOWHERE == chunk.fields.bitset.place()


def test_of_a_file_without_a_footer_nothing_is_found() -> None:
    file = FileUnderTest(BytesSource(b"PAR1PAR1"), Options("pages"))

    assert NOWHERE == in_footer(file, "num_rows").place()


def test_the_specification_names_fields_of_the_footer_alone(file: FileUnderTest) -> None:
    assert in_footer(file, "schema[1].name") == named(file, "footer.schema[1].name")
    assert in_footer(file) == named(file, "footer")
    assert [None, None] == [named(file, path) for path in ("idx1.payload", "footers.x")]
