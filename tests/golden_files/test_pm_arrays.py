"""Every golden ``_pm`` that can be opened: the fast readings say what the grammar says, of every snapshot."""

from __future__ import annotations

from pathlib import Path

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


def test_grammar_records_and_arrays_say_the_same_of_every_golden_file_that_can_be_opened() -> None:
    readers = {path: opened(path) for path in FILES}
    for path in FILES:
        for reader in readers[path]:
            require_the_same(reader, path.read_bytes())

    closed = [path for path in FILES if not readers[path]]
    assert len(closed) < len(FILES) / 4
    assert all('"kind": "invalid"' in path.with_name("case.json").read_text() for path in closed)
