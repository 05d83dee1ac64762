"""Distinct sets are read where they can spare more bytes than they have; counted in bytes and requests of a real file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pqassay_reader.query.explained.waterfall import waterfall
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import Scan, scan
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_spec.directory.codes import Granularity, IndexType

ROWS, GROUPS = 20_000, 5
TAIL = 8 << 10


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unique keys, sorted in ``u`` and not in ``v``, and few in ``few``; with sets of all, of which the first two are as long as their columns."""
    path = tmp_path_factory.mktemp("sets") / "keys.parquet"
    random = np.random.default_rng(0)
    columns = {
        "u": np.arange(ROWS),
        "v": random.permutation(ROWS) + 10**12,
        "few": np.tile([0, 10], ROWS // 2),
        "text": pa.array([f"row {number}" for number in random.integers(0, 1 << 40, ROWS).tolist()]),
    }
    pq.write_table(pa.table(columns), path, row_group_size=ROWS // GROUPS, write_page_index=True)
    requests = [
        Request(IndexType.DISTINCT_SET, ((name,),), Granularity.ROW_GROUP) for name in ("u", "v", "few")
    ]
    add_indexes(path, requests)
    return path


@pytest.fixture(autouse=True)
def forget() -> None:
    """No file is known from a scan before."""
    KEPT_FACTS.clear()


def metadata_read(found: Scan) -> dict[str, int]:
    """Bytes of metadata by the rung for which they were read."""
    return {step.name: step.left.metadata for step in waterfall(found) if step.left.metadata}


@pytest.mark.parametrize(
    ("condition", "rows"), [("u = 7777", 1), ("v = 1000000007777", 1), ("u = 7777 OR v = 1000000000001", 2)]
)
def test_sets_that_are_longer_than_what_they_may_spare_are_not_read(
    condition: str, rows: int, path: Path
) -> None:
    found = scan(path, condition, ["u"])

    assert rows == found.to_table().num_rows
    assert "distinct sets" not in found.counters.used
    assert found.counters.metadata.length <= 2 * TAIL
    assert found.counters.metadata.requests <= 2


def test_a_set_that_spares_more_than_it_takes_is_read_alone(path: Path) -> None:
    found = scan(path, "few = 3")

    assert 0 == found.to_table().num_rows
    assert {"distinct sets"} <= found.counters.used
    assert 0 == found.counters.data.length
    assert metadata_read(found).get(Rung.SETS, 0) < 1000


def test_what_is_read_of_metadata_is_counted_once(path: Path) -> None:
    for condition in ("few = 4", "u < 100 AND few = 4", "u IS NULL", None):
        found = scan(path, condition, ["text"])
        found.to_table()
        assert found.counters.metadata.length == sum(metadata_read(found).values())


def test_all_rows_are_read_without_any_index(path: Path) -> None:
    found = scan(path, None, ["u", "v", "few", "text"])

    assert ROWS == found.to_table().num_rows
    assert {Rung.METADATA: found.counters.metadata.length} == metadata_read(found)
    assert (1, TAIL) == (found.counters.metadata.requests, found.counters.metadata.length)
    assert found.counters.data.length == sum(
        chunk.total_compressed_size
        for group in map(pq.read_metadata(path).row_group, range(GROUPS))
        for chunk in map(group.column, range(4))
    )
