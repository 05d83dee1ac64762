"""``_pm`` against ``_txn`` in the folder of the table, as QuestDB lays both out."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pqassay
from places import GOLDEN_FILES, INTEROP
from pqassay.cli.main import app
from pqassay.report.model import FileReport
from pqassay_reference.pm.generate import generate_file
from pqassay_reference.pm.storage import FileStorage
from pqassay_reference.pm.txn import commit
from pqassay_spec.pm.txn import PARQUET_BIT, Partition, Txn, TxnRecord

CHAIN = INTEROP / "questdb-9.4.3"
DAY = 86_400_000_000
FIRST = 1_704_067_200_000_000
"""The first of January 2024, in microseconds."""


def table(root: Path, *partitions: Partition, days: int = 2) -> Path:
    """A table of some days, whose ``_txn`` names some partitions; returns the folder of the first day."""
    for day in range(days):
        shutil.copytree(CHAIN / "o3-chain-5", root / f"2024-01-0{day + 1}.6")
    (root / "_txn").touch()
    with FileStorage(root / "_txn") as storage:
        record = TxnRecord.read(bytes(TxnRecord.size))
        for number in (1, 2):
            commit(storage, Txn(record.changed(txn=number), b"", partitions))
    return root / "2024-01-01.6"


def partition(size: int, day: int = 0, *, name_txn: int = 6, is_parquet: bool = True) -> Partition:
    return Partition(FIRST + day * DAY, PARQUET_BIT * is_parquet | 95, name_txn, size)


def reports(root: Path) -> dict[str, FileReport]:
    """What a check says about each ``_pm``, by its folder."""
    report = pqassay.check(root, tier="index", only=("PM-15*",))
    return {Path(file.path).parent.name: file for file in report.files if file.kind == "pm"}


def rules(root: Path) -> dict[str, list[str]]:
    return {folder: [each.rule for each in file.findings] for folder, file in reports(root).items()}


def test_each_folder_is_compared_with_its_own_partition(tmp_path: Path) -> None:
    table(tmp_path, partition(5405), partition(5406, 1))

    assert {"2024-01-01.6": [], "2024-01-02.6": ["PM-151"]} == rules(tmp_path)
    (finding,) = reports(tmp_path)["2024-01-02.6"].findings
    assert (str(tmp_path / "_txn"), "5406") == (finding.at[0].file, finding.at[0].actual)
    raw = (tmp_path / "_txn").read_bytes()
    place = finding.at[0]
    assert 5406 == int.from_bytes(raw[place.offset : place.offset + place.length], "little")


@pytest.mark.parametrize(
    "other", [partition(7, name_txn=5), partition(7, 3), partition(-1, is_parquet=False)]
)
def test_a_folder_that_no_reader_opens_is_not_judged(other: Partition, tmp_path: Path) -> None:
    table(tmp_path, other, days=1)

    assert {"2024-01-01.6": []} == rules(tmp_path)
    report = pqassay.check(tmp_path, tier="index", only=("PM-15*",))
    checked = {rule for coverage in report.coverages.values() for rule in coverage.checked}
    assert {"PM-150"} == checked


def test_a_parquet_file_from_before_the_transaction_is_reported(tmp_path: Path) -> None:
    folder = table(tmp_path, partition(15374), days=1)
    shutil.copy(CHAIN / "o3-chain-4" / "data.parquet", folder)

    assert {folder.name: ["PM-152"]} == rules(tmp_path)


@pytest.mark.parametrize("size", [3, 40, 300])
def test_a_torn_transaction_is_one_finding(size: int, tmp_path: Path) -> None:
    folder = table(tmp_path, partition(15374), days=1)
    txn = tmp_path / "_txn"
    txn.write_bytes(txn.read_bytes()[:size])

    assert {folder.name: ["PM-150"]} == rules(tmp_path)


def test_the_command_for_a_snapshot_that_is_not_pinned_repairs_the_pair(tmp_path: Path) -> None:
    folder = table(tmp_path, partition(15374), days=1)
    shutil.copy(CHAIN / "o3-chain-4" / "_pm", folder)
    (finding,) = reports(tmp_path)[folder.name].findings

    assert ("PM-151", True) == (finding.rule, finding.remedy is not None)
    assert 0 == CliRunner().invoke(app, shlex.split(finding.remedy or "")[1:]).exit_code
    assert {folder.name: []} == rules(tmp_path)


def test_what_a_report_says_to_do_about_a_pair_with_a_column_top_makes_it_conform(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    shutil.copytree(GOLDEN_FILES / "pm/column-top-in-the-key", folder)
    alone = pqassay.check(folder, tier="values")
    pm = folder / "_pm"
    raw = bytearray(pm.read_bytes())
    raw[-20] ^= 1  # in the footer: the checksum is wrong
    pm.write_bytes(raw)
    broken = pqassay.check(folder, tier="values")
    commands = dict.fromkeys(
        finding.remedy for file in broken.files for finding in file.findings if finding.remedy
    )
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert 0 == done.exit_code, done.stderr
    after = pqassay.check(folder, tier="values")

    # The key is what QuestDB writes; no command changes it, and INFO asks for nothing.
    assert [("PM-149", None)] == [(each.rule, each.remedy) for file in alone.files for each in file.findings]
    assert commands
    assert {"conformant"} == {file.outcome for file in after.files} != {file.outcome for file in broken.files}
    assert ["PM-149"] == [each.rule for file in after.files for each in file.findings]
    generate_file(folder / "data.parquet")
    assert ["PM-149"] == [each.rule for file in pqassay.check(folder).files for each in file.findings]
