"""What is replaced when a ``_pm`` file is generated or migrated, and what is left alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from places import INTEROP
from pqassay.cli.main import app
from pqassay_reference.errors import Refused
from pqassay_reference.pm import write
from pqassay_reference.pm.generate import generate_file

QUESTDB = INTEROP / "questdb-9.4.3"


def test_an_encrypted_parquet_file_is_not_overwritten(tmp_path: Path) -> None:
    data, encrypted = tmp_path / "data.parquet", tmp_path / "secret.parquet"
    pq.write_table(pa.table({"a": [1]}), data)
    encrypted.write_bytes(b"PARE" + bytes(100) + b"PARE")

    with pytest.raises(Refused, match="is a Parquet file, which _pm would replace"):
        generate_file(data, encrypted)
    assert b"PARE" + bytes(100) + b"PARE" == encrypted.read_bytes()


def test_snapshots_that_are_lost_with_the_file_that_is_replaced_are_named(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    shutil.copy(QUESTDB / "o3-chain-5" / "data.parquet", data)
    _, whole = generate_file(data, history=True, path="encode")
    assert ((), 6) == (whole.lost, whole.snapshots)

    result = CliRunner().invoke(app, ["pm", "generate", str(data)])
    assert (0, True) == (result.exit_code, "had 5 more snapshots" in result.stderr)
    assert ((), 6) == (generate_file(data, history=True)[1].lost, whole.snapshots)
    assert write.value_size(whole.value) not in generate_file(data)[1].lost
