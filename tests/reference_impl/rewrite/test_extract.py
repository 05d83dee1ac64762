from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idx1_files import Idx1File, companion, parquet, table
from places import INTEROP
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.extract import extract, extract_file
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1.blob import Layout
from verdicts import rules_of

NATIONS = ("Côte d'Ivoire", "Peru", "Singapore", "日本")


def extracted(file: Idx1File):  # type: ignore[no-untyped-def]  # noqa: ANN201 - inferred
    return extract(BytesSource(file.build()))


def test_published_layout() -> None:
    found = extracted(Idx1File())

    assert (Layout.PUBLISHED, NATIONS, NATIONS, ()) == (
        found.layout,
        found.values,
        found.published,
        found.lost,
    )


@pytest.mark.parametrize(
    ("payload", "values", "published", "lost"),
    [
        (b"a\n", ("a", ""), ("a",), ("",)),
        (b"a\r\nb", ("a\r", "b"), ("a", "b"), ("a\r",)),
        (b"\na", ("", "a"), ("", "a"), ()),
        (b"\r\n", ("\r", ""), ("",), ("\r",)),
        (b"", ("",), (), ("",)),
    ],
)
def test_losses_are_told(
    payload: bytes, values: tuple[str, ...], published: tuple[str, ...], lost: tuple[str, ...]
) -> None:
    found = extracted(Idx1File(payload=payload))

    assert (values, published, lost) == (found.values, found.published, found.lost)


def test_an_empty_payload_over_no_rows_is_the_empty_set() -> None:
    assert () == extracted(Idx1File(data=parquet(table([])), payload=b"")).values


def test_drafts_are_read_and_named() -> None:
    offset = Idx1File().build().index(idx1.MAGIC)
    keys = [(idx1.KEY, str(offset + 8)), (idx1.LENGTH_KEY, "36")]
    first = extracted(Idx1File(magic=b"", length=0, keys=keys))
    second = extracted(Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.LENGTH_KEY, "36")]))

    assert (Layout.DRAFT_G0, NATIONS, None) == (first.layout, first.values, first.published)
    assert (Layout.DRAFT_G1, NATIONS, NATIONS) == (second.layout, second.values, second.published)


@pytest.mark.parametrize(
    ("changes", "mistrust"),
    [
        ({}, ""),
        ({"crc32": 1}, "its crc32 is 1, the blob's is "),
        ({"row_count": 5}, "its row_count is 5, but the file has 6 rows"),
        ({"offset": 9}, "its offset is 9"),
        ({"length": 9}, "its length is 9"),
        ({"value_count": 9}, "its value_count is 9"),
        ({"column": ("year",)}, "year is not a string column with one value a row"),
        ({"column": ("nope",)}, "nope is not a string column with one value a row"),
        ({"lossless": False}, "it says that values were lost"),
    ],
)
def test_a_companion_record_counts_only_if_it_fits(changes: dict[str, Any], mistrust: str) -> None:
    keys = [(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, companion(**changes))]
    found = extracted(Idx1File(keys=keys))

    assert found.mistrust.startswith(mistrust)
    assert (found.companion is None) == bool(mistrust)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (Idx1File(payload=None, keys=[]), "the file has no IDX1 index"),
        (Idx1File(keys=[(idx1.KEY, "x")]), "is not a decimal number"),
        (Idx1File(magic=b"IDX2"), "the bytes at the offset are b'IDX2'"),
        (Idx1File(length=1 << 63), "a payload of 9223372036854775808 bytes"),
        (Idx1File(payload=b"\xff"), "is not UTF-8"),
        (Idx1File(keys=[(idx1.KEY, "99999")]), "lie outside"),
    ],
)
def test_what_cannot_be_read_is_a_format_error(file: Idx1File, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        extracted(file)


def test_the_published_reading_of_foreign_files_is_theirs() -> None:
    import json

    paths = sorted(INTEROP.glob("datafusion-*/*/case.json"))
    cases = {path: json.loads(path.read_text()) for path in paths}
    indexed = {path: record for path, record in cases.items() if record["family"] == "IDX1"}
    for case, record in indexed.items():
        found = extract(BytesSource((case.parent / record["input"]["file"]).read_bytes()))

        assert record["expect"]["value"]["values"] == list(found.published or ())
        assert record["expect"]["value"]["offset"] == found.offset
    assert 3 == len(indexed)


def test_a_column_is_chosen_by_its_position_not_by_a_prefix_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"s": [{"x": {"y": "another"}}], "s.x": ["right"]}), path)
    embed_file(path, "s.x")

    assert ("right",) == extract_file(path).values
    assert [] == rules_of(path)


def test_an_index_of_nulls_has_no_values(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(parquet(table([None, None])))
    embed_file(path, "nation")
    found = extract_file(path)

    assert ((), ()) == (found.values, found.lost)
