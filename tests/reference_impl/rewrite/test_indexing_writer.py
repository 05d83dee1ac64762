"""The writer that indexes what it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from idx1_files import companion, table
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.embed import IndexingWriter
from pqassay_spec.idx1 import blob as idx1


def rules_of(target: Any, **options: Any) -> set[str]:
    return {finding.rule for finding in pqassay.check(target, **options).files[0].findings}


def test_rows_that_the_writer_refused_are_not_indexed(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    with IndexingWriter(path, table().schema, "nation") as writer:
        writer.write(table())
        with pytest.raises(Refused, match="schema"):
            writer.write(pa.table({"zz": ["bad"]}))

    assert set() == rules_of(path)


def test_a_flavor_that_renames_the_column_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    data = pa.table({"a b": ["x"]})
    with IndexingWriter(path, data.schema, "a b", flavor="spark") as writer:
        writer.write(data)

    assert set() == rules_of(path)


def test_keys_of_an_older_index_in_a_schema_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    schema = table().schema.with_metadata({idx1.COMPANION_KEY: companion(), idx1.KEY: "4", "other": "kept"})
    with IndexingWriter(path, schema, "nation", companion=False) as writer:
        writer.write(table())
    keys = list(pq.ParquetFile(path).metadata.metadata or {})

    assert set() == rules_of(path)
    assert 1 == keys.count(b"distinct_index_offset")
    assert b"other" in keys
