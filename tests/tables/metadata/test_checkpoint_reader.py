"""A checkpoint that pyarrow does not survive costs its table a verdict, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
import processes
from places import GOLDEN_FILES
from pqassay_spec.base.errors import Unsupported
from pqassay_tables.metadata.delta import checkpoint_reader
from pqassay_tables.metadata.delta.checkpoint_reader import BrokenCheckpointError, batches

LAKE = GOLDEN_FILES / "interop/spark-4.1.4/delta-partitions/table"
CHECKPOINT = LAKE / f"_delta_log/{1:020}.checkpoint.parquet"

FRAGILE = """
import os, threading
import pyarrow as pa
import pyarrow.parquet as pq

class Fragile(pq.ParquetFile):
    def __init__(self, source, **options):
        data = source.read_buffer().to_pybytes()
        source.seek(0)
        if b"aborts" in data:
            os.abort()
        if b"swells" in data:
            pa.allocate_buffer(1 << 40)
        if b"hangs" in data:
            os.read(os.pipe()[0], 1)
        super().__init__(source, **options)

pq.ParquetFile = Fragile
"""
"""Makes pyarrow do to any file what it does to some damaged ones."""


@pytest.fixture
def fragile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that reads has a pyarrow that aborts and hangs at files that hold these words."""
    (tmp_path / "sitecustomize.py").write_text(FRAGILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(checkpoint_reader, "SECONDS", 2)
    checkpoint_reader._reader.close()


def rows(data: bytes) -> int:
    return sum(batch.num_rows for batch in batches("c.parquet", data))


@pytest.mark.usefixtures("fragile")
def test_a_file_that_aborts_or_hangs_pyarrow_is_not_read_and_the_next_one_is() -> None:
    sound = CHECKPOINT.read_bytes()

    assert 5 == rows(sound)
    with pytest.raises(Unsupported, match=r"c.parquet: the process that read it was ended by SIGABRT"):
        rows(b"aborts" + sound)
    assert 5 == rows(sound)
    with pytest.raises(Unsupported, match=r"c.parquet: reading it took too long"):
        rows(b"hangs" + sound)
    assert 5 == rows(sound)
    with pytest.raises(Unsupported, match=r"c.parquet takes more than the memory limit for reading it"):
        rows(b"swells" + sound)
    assert 5 == rows(sound)


@pytest.mark.usefixtures("fragile")
def test_the_other_tables_of_a_folder_are_judged(tmp_path: Path) -> None:
    for name in ("deadly", "sound"):
        shutil.copytree(LAKE, tmp_path / name)
    deadly = tmp_path / "deadly" / CHECKPOINT.relative_to(LAKE)
    deadly.write_bytes(b"aborts" + CHECKPOINT.read_bytes())

    report = pqassay.check([tmp_path / "deadly", tmp_path / "sound"])

    tables = {
        Path(file.path).name: (file.outcome, file.error) for file in report.files if file.kind == "delta"
    }
    checkpoint = CHECKPOINT.relative_to(LAKE)
    assert {
        "deadly": ("errored", f"{checkpoint}: the process that read it was ended by SIGABRT"),
        "sound": ("conformant", None),
    } == tables
    assert 3 == sum(file.kind == "parquet" for file in report.files)


def test_a_broken_file_and_one_that_is_not_parquet_say_what_pyarrow_says() -> None:
    with pytest.raises(BrokenCheckpointError, match="magic bytes"):
        rows(b"PAR1 not Parquet PAR2")


def test_columns_that_are_no_actions_are_not_read() -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"add": [1, 2], "mine": ["x", "y"]}), sink)

    (batch,) = batches("c.parquet", sink.getvalue().to_pybytes())

    assert ["add"] == batch.schema.names


def test_a_process_that_was_forked_starts_a_reader_of_its_own() -> None:
    sound = CHECKPOINT.read_bytes()
    assert 5 == rows(sound)
    first = checkpoint_reader.reading_process()

    pid = os.fork()
    if not pid:
        fine = rows(sound) == 5 and checkpoint_reader.reading_process() != first
        checkpoint_reader._reader.close()
        os._exit(0 if fine else 1)

    assert 0 == processes.exit_code(pid)
    assert 5 == rows(sound)
    assert first == checkpoint_reader.reading_process()
