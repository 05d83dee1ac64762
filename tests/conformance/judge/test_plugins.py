"""Plug-ins are found by the names of their rooms, and the judge works without them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import pqassay
import processes
from places import GOLDEN_FILES
from pqassay import plugins
from pqassay.proof.engines import NAMES
from pqassay.proof.table_proof import proof_of
from pqassay.stores.formats import formats, resolved

ALONE = """
import sys
sys.modules["pqassay_tables"] = None  # as if it were not installed
import json, pqassay
reports = [pqassay.check(path, tier=tier) for path, tier in json.load(sys.stdin)]
loaded = [name for name in sys.modules if name.startswith("pqassay_tables.")]
json.dump([[[file.path, file.outcome, [one.rule for one in file.findings]] for file in report.files] for report in reports] + [loaded], sys.stdout)
"""


def judged_alone(*asked: tuple[Path, str]) -> list[list[list[object]]]:
    """The outcome and the rules that are broken of each file of some targets, and what was imported of tables, in a judge without plug-ins."""
    given = json.dumps([(str(path), tier) for path, tier in asked])
    done = processes.run(
        [sys.executable, "-c", ALONE], input=given, text=True, stdout=processes.PIPE, check=True
    )
    found: list[list[list[object]]] = json.loads(done.stdout)
    return found


def test_without_a_plug_in_files_are_judged_as_before_and_tables_are_folders_of_files() -> None:
    broken, table = GOLDEN_FILES / "blm/zeroed", GOLDEN_FILES / "dlt/maximum-lowered/table"
    expected = [
        [[file.path, file.outcome, [one.rule for one in file.findings]] for file in report.files]
        for report in (pqassay.check(broken, tier="values"), pqassay.check(table, as_files=True))
    ]

    assert [*expected, []] == judged_alone((broken, "values"), (table, "values"))


def test_a_room_is_that_of_the_judge_or_of_a_plug_in() -> None:
    assert ["pqassay.dump.pm"] == [room.__name__ for room in plugins.rooms("dump.pm")]
    assert ["pqassay_tables.dump.avro"] == [room.__name__ for room in plugins.rooms("dump.avro")]
    assert ["pqassay.values", "pqassay_tables.values"] == [room.__name__ for room in plugins.rooms("values")]
    assert [] == list(plugins.rooms("dump.nothing"))


def test_a_folder_without_code_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "left_behind"
    (package / "checks" / "__pycache__").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(plugins, "packages", lambda: ("left_behind",))

    assert [] == list(plugins.rooms("checks"))


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_format_names_what_there_is(kind: str) -> None:
    found = formats()[kind]

    assert resolved(found.reader)
    names = dict.fromkeys(engine.name for engine in proof_of(kind).engines(""))
    assert list(found.engines) == [name for name in names if name not in NAMES]
    assert all(list(plugins.rooms(f"dump.{name}")) for name in found.words)
