"""Reference and judge on the same ``_pm`` files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import pqassay
from places import INTEROP
from pqassay_reader.lint.pm import lint_file
from pqassay_spec.base.errors import FormatError
from pqassay_spec.mutation.mutations import Mutation, mutate

QUESTDB = INTEROP / "questdb-9.4.3"


@pytest.mark.parametrize(
    ("name", "field", "number", "verdict"),
    [
        # Whether there is a size in the slot follows from the bit for it alone.
        ("bloom", "blocks[0].column_chunks[0].stat_flags", 0xBE, None),
        ("bloom", "blocks[0].column_chunks[0].stat_flags", 0xB8, "PM-065"),
        # A null count that only the Parquet file has is a loss; so is a distinct count that only _pm has no contradiction.
        ("bloom", "blocks[0].column_chunks[0].stat_flags", 0x3F, None),
        ("bloom", "blocks[0].column_chunks[0].stat_flags", 0xFF, None),
        # The snapshot before describes the beginning of a Parquet file that has been extended since.
        ("o3-chain-2", "snapshots[0].footer.parquet_footer_offset", 1 << 40, "PM-100"),
    ],
)
def test_reference_and_judge_are_of_one_opinion(
    name: str, field: str, number: int, verdict: str | None, tmp_path: Path
) -> None:
    folder = shutil.copytree(QUESTDB / name, tmp_path / name, copy_function=shutil.copyfile)
    path = folder / "_pm"
    path.write_bytes(mutate(path.read_bytes(), Mutation("set", field, number), "pm"))

    found: str | None = None
    try:
        lint_file(path)
    except FormatError as error:
        found = error.rule
    failed = {finding.rule for finding in pqassay.check(path).files[0].findings if finding.verdict == "FAIL"}
    assert verdict == found
    assert {verdict} - {None} == failed
