"""Drivers asked about files from the future, and the command `pqassay suite future`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest
from typer.testing import CliRunner

from pqassay.cli.main import suite as app
from pqassay_spec.golden.literals import write_value
from pqassay_suite.drivers.driver import DriverUnderTest, NoAnswer, Reply, Settings
from pqassay_suite.drivers.process import Limits
from pqassay_suite.drivers.protocol import Accept, ReadRequest, Reject
from pqassay_suite.future.asking import Survival, survivals
from pqassay_suite.future.files import FutureFile, future_files

BY_ID = {file.id: file for file in future_files()}
ENCODING, LOGICAL = BY_ID["enum/Encoding"], BY_ID["union/LogicalType"]
Answers: TypeAlias = Callable[[list[str]], Reply]
REFUSED = Reject("reject", "no")


class Fake:
    """Reads twins, and says about a file from the future what it was made to say."""

    def __init__(self, file: FutureFile, later: Answers, twin: Answers | None = None) -> None:
        self.file, self.later = file, later
        self.twin = twin or (lambda names: rows(file, names))

    def ask(self, request: ReadRequest, _folder: Path) -> Reply:
        is_twin = Path(request.file).read_bytes() == self.file.twin
        return (self.twin if is_twin else self.later)(request.columns)


def rows(file: FutureFile, names: list[str]) -> Accept:
    places = [list(file.names).index(name) for name in names]
    return Accept("accept", rows=[[write_value(row[place]) for place in places] for row in file.rows])


def asked(file: FutureFile, later: Answers) -> Survival:
    (found,) = survivals(cast("DriverUnderTest", Fake(file, later)), [file])
    return found


@pytest.mark.parametrize("file", [ENCODING, LOGICAL], ids=["column", "rows"])
def test_who_refuses_everything_breaks_every_promise(file: FutureFile) -> None:
    assert Survival(file.id, "refuses the file", False, "no") == asked(file, lambda _: REFUSED)


@pytest.mark.parametrize(("file", "kept"), [(ENCODING, True), (LOGICAL, False)], ids=["column", "rows"])
def test_a_column_may_be_refused_where_that_is_promised(file: FutureFile, kept: bool) -> None:
    def later(names: list[str]) -> Reply:
        return REFUSED if set(names) & set(file.affected) else rows(file, names)

    assert Survival(file.id, "refuses the column", kept, "no") == asked(file, later)


def test_all_rows_keep_every_promise() -> None:
    assert Survival(ENCODING.id, "reads", True) == asked(ENCODING, lambda names: rows(ENCODING, names))


def test_wrong_rows_and_crashes_count_where_only_the_other_columns_are_asked() -> None:
    def wrong(names: list[str]) -> Reply:
        return REFUSED if len(names) > 1 else Accept("accept", rows=[])

    def crash(names: list[str]) -> Reply:
        return REFUSED if len(names) > 1 else NoAnswer("crashed", "killed by SIGSEGV")

    of_rows, of_crash = asked(ENCODING, wrong), asked(ENCODING, crash)
    assert ("wrong rows", False) == (of_rows.outcome, of_rows.is_kept)
    assert ("crash", False, "metal: killed by SIGSEGV") == (
        of_crash.outcome,
        of_crash.is_kept,
        of_crash.details,
    )


def test_a_file_whose_twin_is_not_read_says_nothing() -> None:
    fake = Fake(LOGICAL, lambda names: rows(LOGICAL, names), twin=lambda _: REFUSED)
    (found,) = survivals(cast("DriverUnderTest", fake), [LOGICAL])
    assert Survival(LOGICAL.id, "not today", True) == found


def test_the_reference_loses_no_row_and_refuses_only_what_its_schema_cannot_express() -> None:
    files = [file for file in BY_ID.values() if not file.id.startswith("struct/")]
    driver = DriverUnderTest(Settings([sys.executable, "-m", "pqassay", "driver"], Limits(30), jobs=1))
    try:
        driver.greet()
        found = survivals(driver, files)
    finally:
        driver.close()

    assert {"enum/ConvertedType", "enum/Type", "union/TimeUnit"} == {
        one.id for one in found if not one.is_kept
    }
    assert {"reads", "refuses the column", "refuses the file"} == {one.outcome for one in found}


def test_the_command_shows_a_table_and_writes_the_same(tmp_path: Path) -> None:
    driver = Path(__file__).parents[1] / "fakes" / "reject_all"
    output = tmp_path / "future.json"
    result = CliRunner().invoke(app, ["future", "--output", str(output), "--", str(driver)])
    written: dict[str, Any] = json.loads(output.read_text())
    (answers,) = written["drivers"].values()

    assert 0 == result.exit_code
    assert f"0 of 0 promises kept, {len(BY_ID)} files not asked" in result.stdout
    assert list(BY_ID) == list(answers) == [file["id"] for file in written["files"]]
    assert {"not today"} == {answer["outcome"] for answer in answers.values()}
