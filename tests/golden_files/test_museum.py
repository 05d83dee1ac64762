"""The museum: every mistake is shown or given up with a reason, and what a finding names as its remedy helps."""

from __future__ import annotations

import json
import shlex
import shutil
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import pqassay
from elsewhere import read_in_a_worker
from engine_limits import EXCEPTIONS, UNSAFE, columns
from engines import ENGINES, WHOLE, Query, Rows, Where, engine, expected, literal
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay_golden.museum.defects import absent, exhibits
from pqassay_spec.golden.case import to_json
from pqassay_spec.grammar.field_paths import steps

pytestmark = pytest.mark.slow

MISTAKES = 69

CASES: dict[str, dict[str, Any]] = {
    path.parent.relative_to(GOLDEN_FILES).as_posix(): json.loads(path.read_text())
    for path in sorted(GOLDEN_FILES.rglob("case.json"))
}


def test_a_manifest_shows_exactly_what_the_museum_says() -> None:
    shown = {name: case["exhibit"] for name, case in CASES.items() if "exhibit" in case}

    assert {name: to_json(exhibit) for name, exhibit in exhibits().items()} == shown


def test_every_mistake_is_shown_or_given_up_with_a_reason() -> None:
    shown = {number for exhibit in exhibits().values() for number in exhibit.numbers}
    given_up = {one.number for one in absent() if one.reason}

    assert set(range(1, MISTAKES + 1)) == shown | given_up
    assert {20} == given_up - shown


def test_every_story_is_told_and_every_thread_is_a_link() -> None:
    lists = [*(exhibit.seen for exhibit in exhibits().values()), *(one.seen for one in absent())]
    seen = [sighting for sightings in lists for sighting in sightings]

    assert all(lists)
    assert all(exhibit.story.endswith(".") for exhibit in exhibits().values())
    assert [] == [one for one in seen if one.reference and not one.reference.startswith("https://")]
    assert [] == [one for one in seen if not one.reference and not one.versions]


def test_what_only_readers_get_wrong_is_asked_of_readers() -> None:
    silent = {name for name in exhibits() if not CASES[name]["expect"]["check"]["rules"]}

    assert {"blm/at-the-end", "pix/nan-among-equal-numbers", "pqf/unknown-struct"} <= silent
    assert [] == [name for name in silent if CASES[name]["expect"].get("scan") != "same-rows"]


# ------------------------------------------------------------------------------------------------------- remedies


NOT_READ = {
    ("fastparquet", "pix/page-begins-within-a-row"): "it needs pages that begin with a new row",
    ("fastparquet", "interop/pyarrow-26.0.1/displaced-page-index"): "decimals become floats",
}
"""What an engine gets wrong through a limit of its own, with or without the remedy."""


@dataclass(frozen=True)
class Repaired:
    """An exhibit after all strip commands that its findings name.

    Attributes:
        case: Id of the exhibit.
        path: The file.
        commands: What was done to it, each with the rules and columns that it is against.
        origin: The valid case whose rows it holds, its own id for a file of foreign software.
    """

    case: str
    path: Path
    commands: dict[str, list[tuple[str, str | None]]]
    origin: str

    @property
    def is_unknown(self) -> bool:
        """Whether no manifest holds its rows: then only engines can tell which."""
        if "rows" not in CASES[self.origin]["expect"]:
            return True
        path = CASES[self.case].get("mutation", {}).get("path", "")
        return "pages" in steps(path) and path.endswith(".body")

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The rows that it must have."""
        return columns(CASES[self.origin]["expect"]["rows"])

    @property
    def queries(self) -> list[Query]:
        """Everything, and what the manifest of its origin asks for."""
        if self.is_unknown:
            return [WHOLE]
        operator, column, *values = CASES[self.origin]["expect"]["predicate"]
        return [WHOLE, Query(Where(column, operator, tuple(map(literal, values))))]

    def readers(self) -> list[str]:
        """The engines that read its origin right."""
        known = {name for name, case in (*EXCEPTIONS, *UNSAFE) if case == self.origin}
        known |= {name for name, case in NOT_READ if case == self.case}
        return [name for name in ENGINES if name not in known]


def run(command: str) -> None:
    """Run a command that strips, as a finding names it, for values that are known to be right."""
    program, *arguments = shlex.split(command)
    assert program == "pqassay"
    result = CliRunner().invoke(app, [*arguments, "--values-are-right"])
    assert result.exit_code == 0, (command, result.output)


def stripping(path: Path, tier: Any) -> dict[str, list[tuple[str, str | None]]]:
    """The strip commands that the findings about a file name, each with the rules and columns that it is against."""
    found: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for finding in pqassay.check(path, tier=tier).files[0].findings:
        if finding.remedy and finding.remedy.startswith("pqassay strip "):
            found[finding.remedy].append((finding.rule, finding.column))
    return found


@pytest.fixture(scope="module")
def repaired(tmp_path_factory: pytest.TempPathFactory) -> list[Repaired]:
    """Every exhibit against which strip commands are named, after all of them."""
    folder = tmp_path_factory.mktemp("repaired")
    found: list[Repaired] = []
    for name in exhibits():
        case = CASES[name]
        home = folder / name.replace("/", "-")
        home.mkdir()
        path = home / case["input"]["file"]
        shutil.copyfile(GOLDEN_FILES / name / path.name, path)
        tier = case["expect"]["check"]["tier"]
        commands = stripping(path, tier)
        for command in commands:
            run(command)
        if commands:
            found.append(Repaired(name, path, commands, case.get("parent", name)))
    return found


def test_a_named_command_removes_its_finding(repaired: list[Repaired]) -> None:
    left: dict[str, set[tuple[str, str | None]]] = {}
    for one in repaired:
        tier = CASES[one.case]["expect"]["check"]["tier"]
        after = one.path.read_bytes()
        for command, rules in one.commands.items():
            if len(one.commands) > 1:  # each alone, and not all together
                shutil.copyfile(GOLDEN_FILES / one.case / one.path.name, one.path)
                run(command)
            findings = pqassay.check(one.path, tier=tier).files[0].findings
            again = {(finding.rule, finding.column) for finding in findings}
            if again & set(rules):
                left[f"{one.case}: {command}"] = again & set(rules)
        one.path.write_bytes(after)

    assert {} == left
    assert {"IDX1", "PIX", "BLM", "STA", "PQF"} == {CASES[one.case]["family"] for one in repaired}


def wrong(repaired: list[Repaired], answers: dict[tuple[str, Path, Query], Rows | str]) -> dict[str, str]:
    """The answers that are not the rows which a repaired file must have; where only engines can tell, that one differs."""
    found: dict[str, str] = {}
    for one in repaired:
        truth = {} if one.is_unknown else {query: expected(one.columns, query) for query in one.queries}
        for (name, path, query), answer in answers.items():
            if path == one.path:
                right = answers["pyarrow", path, query] if one.is_unknown else truth[query]
                if answer != right:
                    found[f"{one.case}, {name}, {query.where}"] = repr(answer)
    return found


SPARK_JOBS = 5

IN_THE_WORKER = [name for name in ENGINES if name != "spark"]


def test_every_engine_reads_the_rows_of_a_repaired_file(repaired: list[Repaired]) -> None:
    asked: dict[str, dict[Path, list[Query]]] = defaultdict(dict)
    for one in repaired:
        for name in one.readers():
            if name in IN_THE_WORKER:
                asked[name][one.path] = one.queries
    answers = read_in_a_worker(asked)

    assert set(IN_THE_WORKER) == set(asked)
    assert {} == wrong(repaired, answers)


@pytest.mark.spark
def test_spark_reads_the_rows_of_repaired_files(
    repaired: list[Repaired], request: pytest.FixtureRequest
) -> None:
    """Those with the schemas that most of them have: each schema is a job, and jobs take longer than the files."""
    reader = engine("spark", lambda: request.getfixturevalue("spark"))
    alike: dict[str, list[Repaired]] = defaultdict(list)
    for one in repaired:
        if "spark" in one.readers() and not one.is_unknown:
            alike[json.dumps(CASES[one.origin]["expect"]["rows"]["columns"])].append(one)
    asked = sorted(alike.values(), key=len, reverse=True)[:SPARK_JOBS]
    answers: dict[tuple[str, Path, Query], Rows | str] = {}
    for group in asked:
        for (path, query), answer in reader.read_all([one.path for one in group], [WHOLE]).items():
            answers["spark", path, query] = repr(answer) if isinstance(answer, Exception) else answer

    assert sum(map(len, asked)) == len(answers)
    assert {} == wrong(repaired, answers)
