"""Tables are read once in a check, and nothing of them outlives it."""

from __future__ import annotations

import gc
import shutil
import weakref
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import pqassay
from places import GOLDEN_FILES, INTEROP
from pqassay.judge.checker import planned
from pqassay.judge.workers import WorkerLimits, judged
from pqassay.report.model import BROKEN
from pqassay.stores.table_files import TableAt
from pqassay.tables.kept import kept_states
from pqassay_tables.under_test import states
from wicked_judges import counting_reads

DELTA = GOLDEN_FILES / "dlt/plain/table"
ICEBERG = INTEROP / "spark-4.1.4/iceberg-position-deletes/table"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Any]]:
    """Every state of a table that is read."""
    found: list[weakref.ref[Any]] = []

    def watch(name: str) -> None:
        reading = getattr(states, name)

        def watched(*args: Any) -> Any:
            state = reading(*args)
            found.append(weakref.ref(state))
            return state

        monkeypatch.setattr(states, name, watched)

    for name in ("read_state", "read_iceberg", "DeleteScope"):
        watch(name)
    return found


@pytest.mark.parametrize(("table", "kept"), [(DELTA, 1), (ICEBERG, 2)], ids=["delta", "iceberg"])
def test_a_table_is_read_once_in_a_check_and_forgotten_at_its_end(
    table: Path, kept: int, read: list[weakref.ref[Any]]
) -> None:
    report = pqassay.check(table, tier="values")
    gc.collect()
    assert ["conformant"] * len(report.files) == [file.outcome for file in report.files]
    assert [None] * kept == [state() for state in read]
    _ = pqassay.check(table, tier="values")
    assert 2 * kept == len(read)


@pytest.mark.parametrize(
    ("table", "newest"),
    [(DELTA, "_delta_log/00000000000000000000.json"), (ICEBERG, "metadata/v12.gz.metadata.json")],
    ids=["delta", "iceberg"],
)
def test_a_table_that_changed_between_two_checks_is_read_again(
    table: Path, newest: str, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(table, tmp_path / "table"))

    def outcome() -> str:
        return pqassay.check(copy, tier="meta").files[0].outcome

    before = outcome()
    (copy / newest).write_bytes(b"{")
    assert "conformant" == before
    assert outcome() in BROKEN


def test_a_check_within_another_one_reads_tables_for_itself(read: list[weakref.ref[Any]]) -> None:
    table = TableAt("delta", str(DELTA), str(DELTA))
    with kept_states():
        first = states.delta_state(table)
        _ = pqassay.check(DELTA, tier="meta")
        assert (first, 2) == (states.delta_state(table), len(read))
    _ = states.delta_state(table)
    _ = states.delta_state(table)  # outside of any check, nothing is kept
    assert 4 == len(read)


def test_a_worker_process_reads_a_table_once_for_itself_and_for_its_files() -> None:
    plan = planned(ICEBERG, tier="values")
    with closing(judged(plan.targets, plan.settings, WorkerLimits(1), judge=counting_reads)) as results:
        has_read = [report.notes[-1] != "0" for report, _ in results]
    assert 1 < sum(target.name.endswith("-deletes.parquet") for target in plan.targets)
    assert [True] + [False] * (len(plan.targets) - 1) == has_read
