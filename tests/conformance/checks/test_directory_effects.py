"""What is wrong with an entry is one finding, with what it could do: in text and JSON, at each tier that can tell, of every type and granularity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay_reference.directory import embedding
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.described_data import OpenFile
from pqassay_reference.directory.making.entry import MadeIndex, Request, make_index
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.entries import KEY
from pqassay_spec.parquet.file import read_footer, read_framing

TIERS = ("footer", "index", "pages", "values")

CASES = [
    ("sum-off-by-one", "values", ("DIR-037", "FAIL", "wrong rows")),
    ("sum-off-by-a-bit", "values", ("DIR-037", "FAIL", "wrong rows")),
    ("value-missing", "values", ("DIR-026", "FAIL", "rows lost")),
    ("idx1-value-missing", "values", ("DIR-045", "FAIL", "rows lost")),
    ("nulls-denied", "values", ("DIR-027", "FAIL", "rows lost")),
    ("nulls-claimed", "values", ("DIR-028", "WARN", "pruning lost")),
    ("content", "pages", ("DIR-017", "FAIL", "rows lost")),
    ("checksum", "footer", ("DIR-004", "FAIL", "pruning lost")),
    ("shape", "footer", ("DIR-016", "WARN", "pruning lost")),
    ("row-count", "footer", ("DIR-016", "WARN", "pruning lost")),
]
"""Files, the first tier that tells, and what it tells."""


@pytest.mark.parametrize("tier", ["index", "values"])
@pytest.mark.parametrize(("name", "first", "expected"), CASES)
def test_a_false_entry_is_one_finding_from_the_first_tier_on_that_tells(
    name: str, first: str, expected: tuple[str, str, str], tier: Any
) -> None:
    report = pqassay.check(GOLDEN_FILES / "dir" / name / "data.parquet", tier=tier)
    tells = TIERS.index(tier) >= TIERS.index(first)
    rule, verdict, _ = expected
    (file,), (coverage,) = report.files, report.coverages.values()

    assert ([expected] if tells else []) == [(one.rule, one.verdict, one.could) for one in file.findings]
    assert (tells and verdict == "FAIL") == report.exit_code
    assert tells is (rule in coverage.checked)


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("sets-of-pages", []),
        ("extension-taken-by-another", ["the content of the extension of footer is not judged"]),
    ],
)
def test_blobs_in_the_extension_are_judged_and_those_of_others_are_not(name: str, notes: list[str]) -> None:
    (file,) = pqassay.check(GOLDEN_FILES / "dir" / name / "data.parquet", tier="values").files
    assert notes == file.notes


# ------------------------------------------------------------------------------ entries of every type and granularity

ROWS = 60
COLUMNS: dict[str, list[Any]] = {
    "nation": [["Fiji", "Peru", "Mali"][row % 3] for row in range(ROWS)],
    "units": [row % 7 for row in range(ROWS)],
    "price": [float(row % 5) for row in range(ROWS)],
}

FALSE: dict[str, list[Any]] = {
    "nation": [*COLUMNS["nation"][:34], "Chad", *COLUMNS["nation"][35:]],
    "units": [*COLUMNS["units"][:33], 4, *COLUMNS["units"][34:]],  # for 5: between the bounds
    "price": [*COLUMNS["price"][:34], 9.0, *COLUMNS["price"][35:]],
}
"""The same with another value in the second row group, of the same length."""


def requests() -> dict[str, tuple[Request, tuple[str, str, str]]]:
    """Entries, and what is found where they were made of the false values."""
    nation, units, price = ("nation",), ("units",), ("price",)
    every = {
        "set": (IndexType.DISTINCT_SET, (nation,), tuple(Granularity), ("DIR-026", "FAIL", "rows lost")),
        "sum": (IndexType.ZONE_SUMS, (units,), tuple(Granularity), ("DIR-037", "FAIL", "wrong rows")),
        "keyed": (
            IndexType.ZONE_SUMS,
            (nation, units),
            (Granularity.FILE, Granularity.ROW_GROUP),
            ("DIR-037", "FAIL", "wrong rows"),
        ),
        "kll": (IndexType.KLL, (price,), tuple(Granularity), ("DIR-043", "FAIL", "wrong rows")),
        "idx1": (IndexType.IDX1, (nation,), (Granularity.FILE,), ("DIR-045", "FAIL", "rows lost")),
    }
    return {
        f"{name} of {granularity.name}": (Request(kind, columns, granularity), expected)
        for name, (kind, columns, granularities, expected) in every.items()
        for granularity in granularities
    }


REQUESTS = requests()


def written(path: Path, columns: dict[str, list[Any]], **options: Any) -> Path:
    """A file of three row groups, of whose footer the values leave no trace."""
    plain: dict[str, Any] = {"use_dictionary": False, "write_statistics": False, "compression": "none"}
    pages: dict[str, Any] = {"write_page_index": True, "data_page_size": 60, "write_batch_size": 5}
    pq.write_table(pa.table(columns), path, row_group_size=20, **{**plain, **pages, **options})
    return path


def needs_library(name: str) -> None:
    if name.startswith("kll"):
        pytest.importorskip("datasketches", reason="sketches take the extra `sketches`")


@pytest.mark.parametrize("name", REQUESTS)
def test_an_entry_that_was_made_of_other_values_is_one_finding(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_library(name)
    request, expected = REQUESTS[name]
    # What is made of the true values says that they are other ones, and is right in all else: its digest, its lengths and its checksum.
    column = request.columns[-1][0]
    altered = COLUMNS | {column: FALSE[column]}
    path, other = written(tmp_path / "a.parquet", altered), written(tmp_path / "b.parquet", COLUMNS)
    false = embedded(other, request)

    def lying(opened: Any, asked: Request, *, writer: str) -> MadeIndex:
        true = make_index(opened, asked, writer=writer)
        head = false.entry.head.changed(shape=true.entry.head.shape, content=true.entry.head.content)
        return MadeIndex(type(true.entry)(head, true.entry.columns, writer, false.entry.inline), false.stored)

    monkeypatch.setattr(embedding, "make_index", lying)
    add_indexes(path, [request])

    assert judged(path, "pages") == []
    assert [expected] == judged(path, "values")


def embedded(path: Path, request: Request) -> MadeIndex:
    """An index of a file, which is not written."""
    with FileSource(path) as source:
        framing = read_framing(source)
        opened = OpenFile(source, framing, read_footer(source, framing)[0])
        return make_index(opened, request)


def judged(path: Path, tier: Any) -> list[tuple[str, str, str]]:
    """The findings about indexes."""
    (file,) = pqassay.check(path, tier=tier).files
    return [
        (one.rule, str(one.verdict), str(one.could))
        for one in file.findings
        if one.rule.startswith(("DIR", "IDX1"))
    ]


def test_every_entry_of_a_file_that_was_written_anew_is_one_finding_by_its_footer(tmp_path: Path) -> None:
    pytest.importorskip("datasketches", reason="sketches take the extra `sketches`")
    path = written(tmp_path / "a.parquet", COLUMNS)
    asked = [request for request, _ in REQUESTS.values() if request.type != IndexType.IDX1]
    inline = [Request(one.type, one.columns, one.granularity, Placement.INLINE) for one in asked]
    hll = [Request(IndexType.HLL, (("nation",),), each, Placement.INLINE) for each in Granularity]
    add_indexes(path, [*inline, *hll])
    assert [] == judged(path, "values")

    key = {KEY.encode(): (pq.read_metadata(path).metadata or {})[KEY.encode()]}
    table = pq.read_table(path).sort_by([("units", "ascending")]).replace_schema_metadata(key)
    pq.write_table(table, path, row_group_size=20, write_page_index=True)

    # Findings of one rule about one column are one, with a count.
    for tier in ("footer", "values"):
        assert {("DIR-016", "WARN", "pruning lost")} == set(judged(path, tier))
        (file,) = pqassay.check(path, tier=tier).files
        assert len([*inline, *hll]) == sum(one.count for one in file.findings)
