"""Parquet files that were updated, made by hand: each footer is appended, and data that looks like one is between."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idx1_files import edited
from places import INTEROP
from pqassay_reference.errors import Refused
from pqassay_reference.pm.generate import Generated, generate
from pqassay_reference.pm.history import MOST_ATTEMPTS
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.parquet.file import MAGIC, read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue

CHAIN = INTEROP / "questdb-9.4.3" / "o3-chain-5"


def questdb_key(unused: int) -> str:
    return json.dumps(
        {"version": 1, "schema": [{"column_type": 18, "column_top": 0}], "unused_bytes": unused}
    )


def first_file(values: list[bytes], unused: int, **options: Any) -> bytes:
    """A Parquet file with a column of bytes, stored as they are."""
    buffer = io.BytesIO()
    plain: dict[str, Any] = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(pa.table({"b": pa.array(values, pa.binary())}), buffer, **(plain | options))

    def with_key(metadata: FileMetaData) -> None:
        metadata.key_value_metadata = [KeyValue(key="questdb", value=questdb_key(unused))]

    return edited(buffer.getvalue(), with_key)


def updated(
    raw: bytes,
    unused: int,
    edit: Callable[[FileMetaData], object] = lambda _: None,
    *,
    like: bytes | None = None,
) -> bytes:
    """A Parquet file with another footer behind it, made from its own or from that of the file ``like``."""
    source = BytesSource(raw if like is None else like)
    metadata, _ = read_footer(source, read_framing(source))
    metadata.key_value_metadata = [KeyValue(key="questdb", value=questdb_key(unused))]
    edit(metadata)
    footer = bytes(grammar(FileMetaData).build(metadata))
    return raw + footer + len(footer).to_bytes(4, "little") + MAGIC


def without_row_groups(metadata: FileMetaData) -> None:
    metadata.row_groups = []
    metadata.num_rows = 0


def made(raw: bytes) -> Generated:
    return generate(BytesSource(raw), history=True)


def sizes(done: Generated) -> list[int]:
    """Sizes of the Parquet file at the snapshots, oldest first."""
    snapshots = PmReader.from_bytes(done.raw).snapshots()
    return [snapshot.fields.parquet_file_size for snapshot in reversed(snapshots)]


def test_each_footer_becomes_a_snapshot() -> None:
    first = first_file([b"x"], 0)
    second = updated(first, 40)
    third = updated(second, 90, without_row_groups)
    done = made(third)

    assert [len(first), len(second), len(third)] == sizes(done)
    assert [0, 1, 1] == [len(snapshot.blocks) for snapshot in PmReader.from_bytes(done.raw).snapshots()]


def test_before_the_first_footer_nothing_is_looked_for() -> None:
    first = updated(first_file([b"x"], 0), 0)  # two footers, though nothing was ever replaced

    assert [len(first)] == sizes(made(first))
    assert [len(first), len(updated(first, 30))] == sizes(made(updated(first, 30)))


def test_a_parquet_file_that_is_a_value_is_no_footer() -> None:
    inner = first_file([b"x"], 5)
    outer = first_file([inner, inner], 9)

    assert 2 == outer.count(inner)
    assert [len(outer)] == sizes(made(outer))


def test_a_parquet_file_that_is_a_value_of_a_replaced_row_group_is_no_footer() -> None:
    inner = first_file([b"x"], 5)
    outer = first_file([inner], 50)
    newest = updated(outer, 100, without_row_groups)

    assert [len(outer), len(newest)] == sizes(made(newest))


def other_name(metadata: FileMetaData) -> None:
    metadata.schema[1].name = "c"


def other_key(metadata: FileMetaData) -> None:
    assert metadata.key_value_metadata is not None
    metadata.key_value_metadata[0].value = questdb_key(40).replace("18", "26")


def no_key(metadata: FileMetaData) -> None:
    metadata.key_value_metadata = None


def beyond_itself(metadata: FileMetaData) -> None:
    facts = metadata.row_groups[0].columns[0].meta_data
    assert facts is not None
    facts.total_compressed_size = 1 << 20


@pytest.mark.parametrize("edit", [other_name, other_key, no_key, beyond_itself])
def test_footers_that_no_update_leads_from_are_no_history(edit: Callable[[FileMetaData], object]) -> None:
    first = first_file([b"x"], 90)

    assert 2 == made(updated(updated(first, 40), 80, like=first)).snapshots
    assert 1 == made(updated(updated(first, 40, edit), 80, like=first)).snapshots


@pytest.mark.parametrize("unused", [80, 81])
def test_unused_bytes_become_more_with_each_update(unused: int) -> None:
    assert 1 == made(updated(first_file([b"x"], unused), 80)).snapshots
    assert 2 == made(updated(first_file([b"x"], 79), 80)).snapshots


def without_filter(metadata: FileMetaData) -> None:
    facts = metadata.row_groups[0].columns[0].meta_data
    assert facts is not None
    assert facts.bloom_filter_offset
    facts.bloom_filter_offset = facts.bloom_filter_length = None


def test_bloom_filters_stay_those_of_the_columns_that_had_one_first() -> None:
    file = first_file([b"x", b"y"], 90, bloom_filter_options={"b": {"ndv": 10, "fpp": 0.1}})
    late = updated(updated(file, 0, without_filter), 30, like=file)
    early = updated(updated(file, 0), 30, without_filter, like=file)
    always = updated(updated(file, 0), 30, like=file)
    found = [made(raw) for raw in (late, early, always)]

    assert [2, 2, 2] == [done.snapshots for done in found]
    assert [(), (0,), (0,)] == [done.value.bloom_columns for done in found]
    assert [False, False, True] == [done.value.row_groups[0].chunks[0].bloom is not None for done in found]


def padded(padding: bytes) -> BytesSource:
    """A file of QuestDB's with other bytes in front of its last footer; all offsets are as they were."""
    raw = (CHAIN / "data.parquet").read_bytes()
    start = read_framing(BytesSource(raw)).footer_start
    return BytesSource(raw[:start] + padding + raw[start:])


def test_bytes_that_look_like_footers_are_passed_over() -> None:
    assert 6 == generate(padded(MAGIC * 100), history=True).snapshots


def test_a_file_full_of_magics_is_refused() -> None:
    with pytest.raises(
        Refused, match="more than 10000 places look like earlier footers; leave out --history"
    ):
        generate(padded(MAGIC * (MOST_ATTEMPTS + 1)), history=True)


def test_footers_that_would_take_long_to_read_are_refused() -> None:
    long = (13_000).to_bytes(4, "little") + MAGIC

    with pytest.raises(Refused, match="longer than the file; leave out --history"):
        generate(padded(long * 100), history=True)
