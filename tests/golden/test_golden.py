"""The golden generator: the same bytes every time, and no other files touched."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES
from pqassay_golden import generator, tables
from pqassay_golden.__main__ import app
from pqassay_golden.discovery import modules
from pqassay_golden.generator import TABLES, write_golden_files
from pqassay_golden.recipes import Made, input_of
from pqassay_reference.errors import Refused
from pqassay_spec.golden.case import GENERATOR, MANIFEST, Case, CheckExpectation, Expect, Provenance
from pqassay_spec.golden.table_case import TABLE_MANIFEST
from pqassay_spec.rules.catalogue import families

pytestmark = pytest.mark.slow

TABLE_COUNT = 10


def test_the_cases_of_a_module_are_of_the_family_that_it_or_its_room_is_named_after() -> None:
    prefixes = {family.module: family.prefix.lower() for family in families()}
    misplaced: list[str] = []
    subjects: set[str] = set()
    for module in modules():
        subject = module.__name__.removeprefix("pqassay_golden.").partition(".")[0]
        recipes = list(chain.from_iterable(getattr(module, name, ()) for name in TABLES))
        if recipes and subject != "museum":  # it shows defects of all families
            subjects.add(subject)
            misplaced += [recipe.id for recipe in recipes if recipe.id.partition("/")[0] != prefixes[subject]]

    assert [] == misplaced
    assert len(subjects) > 6


@pytest.fixture
def one_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the generator know the cases of IDX1 alone, which come and go as those of every family."""
    recipes = tuple(recipe for recipe in generator.cases() if recipe.id.startswith("idx1/"))
    monkeypatch.setattr(generator, "cases", lambda: recipes)


def few_cases(folder: Path) -> Path:
    """Copy the golden files of IDX1, and those of one other software."""
    for name in ("idx1", "interop/datafusion-55.2"):
        shutil.copytree(GOLDEN_FILES / name, folder / name)
    return folder


@pytest.fixture
def few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the generator know the first tables alone."""
    some = list(islice(tables.golden_tables(), TABLE_COUNT))
    monkeypatch.setattr(tables, "golden_tables", lambda: some)


@pytest.mark.usefixtures("one_family")
def test_what_changed_is_mended_what_is_gone_is_removed_and_foreign_cases_stay(tmp_path: Path) -> None:
    folder = few_cases(tmp_path / "golden_files")
    (folder / "idx1/plain/data.parquet").write_bytes(b"damaged")
    old = shutil.copytree(folder / "idx1/one-value", folder / "idx1/of-yesterday") / "case.json"
    old.write_text(old.read_text().replace('"idx1/one-value"', '"idx1/of-yesterday"'))
    shutil.copytree(folder / "idx1/one-value", folder / "idx1/a-copy")
    foreign = folder / "interop/datafusion-55.2/two-values/case.json"
    foreign.write_text(edited := foreign.read_text().replace("two", "2"))

    compared = write_golden_files(folder, dry_run=True)
    assert (["idx1/plain"], ["idx1/of-yesterday"]) == (compared.changed, compared.removed)
    assert b"damaged" == (folder / "idx1/plain/data.parquet").read_bytes()

    assert compared == write_golden_files(folder)
    assert ([], []) == write_golden_files(folder)[::2]
    assert not (folder / "idx1/of-yesterday").exists()
    assert (folder / "idx1/a-copy/case.json").exists()  # it is not what it says it is, so it is not ours
    assert edited == foreign.read_text()


@pytest.mark.usefixtures("one_family")
def test_what_somebody_put_beside_a_case_stays(tmp_path: Path) -> None:
    folder = few_cases(tmp_path / "golden_files")
    old = shutil.copytree(folder / "idx1/plain", folder / "idx1/old")
    case = (old / "case.json").read_text().replace('"idx1/plain"', '"idx1/old"')
    (old / "case.json").write_text(case)
    (old / "notes.txt").write_text("mine")

    assert ["idx1/old"] == write_golden_files(folder).removed
    assert ["notes.txt"] == [path.name for path in old.iterdir()]


@dataclass(frozen=True)
class Pair:
    """A case of one file, or of two."""

    id: str
    beside: dict[str, bytes]

    def make(self, _: object) -> Made:
        manifest = Case(
            id=self.id,
            family="PM",
            kind="valid",
            since="0.3.0",
            title="A pair",
            effect="none",
            requires=["pm"],
            rules=[],
            input=input_of("_pm", b"input", self.beside),
            expect=Expect(check=CheckExpectation(rules=[], tier="index")),
            provenance=Provenance(by=GENERATOR, oracles=[]),
        )
        return Made(manifest, b"input", self.beside)


def test_files_that_stand_beside_the_input_come_and_go_with_their_case(tmp_path: Path) -> None:
    def written(**beside: bytes) -> list[str]:
        write_golden_files(tmp_path, recipes=[Pair("pm/pair", beside), Pair("pm/alone", {})])
        return sorted(path.name for path in (tmp_path / "pm/pair").iterdir())

    assert ["_pm", "case.json", "data"] == written(data=b"rows")
    manifest = json.loads((tmp_path / "pm/pair/case.json").read_text())
    assert [{"file": "data", "sha256": hashlib.sha256(b"rows").hexdigest()}] == manifest["input"]["beside"]
    assert ["_pm", "case.json", "other"] == written(other=b"rows")
    assert ["_pm", "case.json"] == written()

    assert ["pm/pair"] == write_golden_files(tmp_path, recipes=[Pair("pm/alone", {})]).removed
    assert ["alone"] == [path.name for path in (tmp_path / "pm").iterdir()]


def test_a_folder_that_holds_other_things_is_left_alone(tmp_path: Path) -> None:
    few_cases(tmp_path / "golden_files")
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(Refused, match="neither empty nor a folder of golden files"):
        write_golden_files(tmp_path)
    assert before == sorted(tmp_path.rglob("*"))


def test_a_case_of_another_provenance_is_not_overwritten(tmp_path: Path) -> None:
    recipes = [Pair("pm/pair", {}), Pair("pm/alone", {})]
    write_golden_files(tmp_path, recipes=recipes)
    manifest = tmp_path / "pm/pair/case.json"
    manifest.write_text(json.dumps({"provenance": {"by": "somebody else"}}))

    with pytest.raises(Refused, match="another provenance"):
        write_golden_files(tmp_path, recipes=recipes)


@pytest.mark.usefixtures("one_family", "few_tables")
def test_the_command_writes_what_stands_here_and_says_what_changed(tmp_path: Path) -> None:
    """A few: `test_generated` tests that all golden files are what the generator makes."""
    runner = CliRunner()

    stale = runner.invoke(app, [str(tmp_path), "--check"])
    assert (1, []) == (stale.exit_code, list(tmp_path.iterdir()))
    assert "changed  idx1/plain\n" in stale.stdout
    assert stale.stderr.startswith("error: golden files are out of date; `python -m pqassay_golden ")

    assert 0 == runner.invoke(app, [str(tmp_path)]).exit_code
    written = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    for path in written:
        assert (GOLDEN_FILES / path).read_bytes() == (tmp_path / path).read_bytes()
    cases = sum(path.name == MANIFEST for path in written)
    assert (cases, TABLE_COUNT) == (
        len(generator.cases()),
        sum(path.name == TABLE_MANIFEST for path in written),
    )
    again = runner.invoke(app, [str(tmp_path), "--check"])
    expected = f"{cases} cases, {cases} unchanged; {TABLE_COUNT} tables, {TABLE_COUNT} unchanged\n"
    assert (0, expected) == (again.exit_code, again.stdout)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path / "nowhere")])

    assert 2 == result.exit_code
    assert result.stderr.endswith("nowhere: no such folder\n")
