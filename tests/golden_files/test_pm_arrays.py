"""Every golden ``_pm`` that can be opened: the fast readings say what the grammar says, of every snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest

from pm_arrays import require_the_same
from pqassay_reference.errors import Refused
from pqassay_reference.pm.read import PmReader
from pqassay_spec.base.errors import FormatError
from pqassay_spec.pm import grammar as pm
from pqassay_suite.cases.case import golden_folder

FILES = sorted(golden_folder().rglob(pm.FILE_NAME))


def opened(path: Path) -> list[PmReader]:
    """A reader for each snapshot; for none where the file cannot be read as far as its blocks."""
    try:
        newest = PmReader.from_bytes(path.read_bytes())
        sizes = dict.fromkeys(snapshot.fields.parquet_file_size for snapshot in newest.snapshots())
        readers = [newest.snapshot(size) for size in sizes]
        for reader in readers:
            for number in range(reader.row_group_count):
                reader.block(number)
    except (FormatError, Refused):
        return []
    return readers


READERS = {path: opened(path) for path in FILES}


@pytest.mark.parametrize("path", [path for path in FILES if READERS[path]], ids=lambda path: path.parent.name)
def test_grammar_records_and_arrays_say_the_same_of_a_golden_file(path: Path) -> None:
    for reader in READERS[path]:
        require_the_same(reader, path.read_bytes())


def test_most_golden_files_can_be_opened_and_all_valid_ones() -> None:
    closed = {path.parent.name for path in FILES if not READERS[path]}

    assert len(closed) < len(FILES) / 4
    assert all(
        '"kind": "invalid"' in (path.parent / "case.json").read_text() for path in FILES if not READERS[path]
    )
