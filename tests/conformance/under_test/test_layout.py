"""What is read off a footer in one pass is what its ranges say one by one."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow.parquet as pq

from damage import EXAMPLES
from places import GOLDEN_FILES
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Options
from pqassay.under_test.layout import Layout
from pqassay.under_test.schemas.known_schemas import schema_of
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, FileSource
from pqassay_spec.parquet.file import ByteRange
from written_files import ROW_GROUP, table


def layout(file: FileUnderTest) -> Layout | None:
    try:
        return file.layout
    except (FormatError, NotApplicable, NotChecked):
        return None


def is_stray(file: FileUnderTest, given: ByteRange) -> bool:
    return not file.in_body(given)


def test_a_layout_has_the_ranges_of_the_footer_none_of_which_is_stray_or_overlaps() -> None:
    laid_out: list[Path] = []
    for path in sorted(GOLDEN_FILES.glob("**/data.parquet"))[::EXAMPLES]:
        with FileSource(path) as source:
            file = FileUnderTest(source, Options("index"))
            found = layout(file)
            if found is None:
                continue
            laid_out.append(path)
            ranges = sorted(
                (*r, kind) for kind, extents in found.kinds.items() for r in zip(*extents, strict=True)
            )
            assert [(r.start, r.end, r.row_group, r.kind) for r in file.ranges] == ranges, path
            assert not [given for given in (*file.offsets, *file.ranges) if is_stray(file, given)], path
            assert all(one.end <= two.start for one, two in zip(file.ranges, file.ranges[1:], strict=False))
            assert (found.count > 0) is bool(file.offsets), path

    assert len(laid_out) > 300 // EXAMPLES


def written() -> bytes:
    """A file by pyarrow, with statistics and page index, in several row groups."""
    buffer = io.BytesIO()
    pq.write_table(table(), buffer, row_group_size=ROW_GROUP, write_page_index=True)
    return buffer.getvalue()


def test_files_with_one_schema_share_it() -> None:
    one, other = (FileUnderTest(BytesSource(written()), Options("index")) for _ in range(2))

    assert one.metadata is not other.metadata
    assert one.metadata.schema is other.metadata.schema
    assert one.schema is other.schema
    assert one.schema is schema_of(one.metadata)
