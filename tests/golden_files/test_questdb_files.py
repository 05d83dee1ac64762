"""The golden files of QuestDB: Arrow, which knows nothing of this project, reads from the Parquet files what ``_pm`` says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from each import each
from places import GOLDEN_FILES
from pqassay.literals.predicate import columns_of, keeps

FOLDERS = {path.parent.name: path.parent for path in sorted(GOLDEN_FILES.glob("interop/questdb-*/*/_pm"))}


def expectation(name: str) -> dict[str, Any]:
    expect: dict[str, Any] = json.loads((FOLDERS[name] / "case.json").read_text())["expect"]
    return expect


def as_it_was(name: str, size: int) -> pq.ParquetFile:
    """The Parquet file of a case when it had a given size: later writes only append."""
    return pq.ParquetFile(pa.BufferReader((FOLDERS[name] / "data.parquet").read_bytes()[:size]))


def snapshots(name: str) -> Iterator[tuple[dict[str, Any], pq.ParquetFile]]:
    """The values of all snapshots, each with its Parquet file."""
    expect = expectation(name)
    older = [asked["value"] for asked in expect.get("snapshots", []) if asked["answer"] == "accept"]
    for value in [expect["value"], *older]:
        size = value["parquet_footer_offset"] + value["parquet_footer_length"] + 8
        yield value, as_it_was(name, size)


CODECS = ["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"]


@each("name", FOLDERS)
def test_a_snapshot_says_what_arrow_reads_from_its_parquet_file(name: str) -> None:
    for value, parquet in snapshots(name):
        metadata = parquet.metadata
        assert value["parquet_footer_length"] == metadata.serialized_size
        leaves = [parquet.schema.column(position) for position in range(metadata.num_columns)]
        assert [
            (leaf.name, leaf.physical_type, leaf.max_repetition_level, leaf.max_definition_level)
            for leaf in leaves
        ] == [
            (one["name"], one["physical_type"], one["max_rep_level"], one["max_def_level"])
            for one in value["columns"]
        ]
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        assert [group.num_rows for group in groups] == [group["num_rows"] for group in value["row_groups"]]
        for group, said in zip(groups, value["row_groups"], strict=True):
            chunks = [group.column(position) for position in range(group.num_columns)]
            assert [
                (
                    chunk.num_values,
                    chunk.total_compressed_size,
                    chunk.dictionary_page_offset or chunk.data_page_offset,
                )
                for chunk in chunks
            ] == [(one["num_values"], one["length"], one["offset"]) for one in said["chunks"]]
            counts = [chunk.statistics.null_count if chunk.statistics else None for chunk in chunks]
            assert counts == [one["null_count"] for one in said["chunks"]]
            codecs = [chunk.compression.replace("LZ4", "LZ4_RAW") for chunk in chunks]
            assert codecs == [CODECS[one["codec"]] for one in said["chunks"]]


def test_the_newest_snapshot_is_that_of_the_whole_file() -> None:
    for name, folder in FOLDERS.items():
        value = expectation(name)["value"]
        size = value["parquet_footer_offset"] + value["parquet_footer_length"] + 8
        assert (folder / "data.parquet").stat().st_size == size


def cells(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows, with values as predicates write them."""
    columns: dict[str, list[Any]] = {}
    for name in table.column_names:
        column: Any = table.column(name).combine_chunks()
        kind = column.type
        if isinstance(kind, pa.BaseExtensionType):
            column = column.storage
        elif pa.types.is_timestamp(kind):
            column = column.cast(pa.int64())
        values = column.to_pylist()
        if pa.types.is_decimal(kind):
            values = [None if value is None else int(value.scaleb(kind.scale)) for value in values]
        columns[name] = values
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(columns, row, strict=True))


ASKED = [(name, asked) for name in FOLDERS for asked in expectation(name).get("prune", [])]


@each(("name", "asked"), ASKED)
def test_prune_must_keep_exactly_the_row_groups_in_which_arrow_finds_rows(
    name: str, asked: dict[str, Any]
) -> None:
    size = asked.get("parquet_file_size", (FOLDERS[name] / "data.parquet").stat().st_size)
    parquet = as_it_was(name, size)
    columns = sorted(columns_of(asked["predicate"]))
    found = [
        number
        for number in range(parquet.num_row_groups)
        if any(
            keeps(asked["predicate"], row) for row in cells(parquet.read_row_group(number, columns=columns))
        )
    ]

    assert found == asked["must_keep"]
