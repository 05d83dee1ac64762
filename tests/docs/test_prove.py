"""The examples of the guides ``prove.md`` and ``four-files.md`` are what the commands print, with the engines and versions that run here."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import pqassay
import processes
from places import GUIDES, ROOT
from pqassay.proof import trial
from pqassay.proof.engine_processes import Asked, EngineProcesses
from pqassay.proof.engines import Engine
from pqassay.proof.worker import ProofAnswer, _answer
from pqassay.report.model import FileReport, Finding, Report
from pqassay.report.renderers.details import is_column_named
from pqassay.report.renderers.text import render

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


GUIDE = (GUIDES / "prove.md").read_text()

FILES = (GUIDES / "four-files.md").read_text()

LOSS = re.compile(r"  (\d+) rows?, \d+ lost$")
"""The end of the line of an engine that loses rows: how many it returns."""

COMMAND = re.compile(r"```console\n\$ (pqassay prove golden_files/\S+)\n(.*?)```\n", re.DOTALL)
"""A command of the guide, and what it prints."""

EXAMPLES = {shlex.split(command)[-1]: shown.splitlines() for command, shown in COMMAND.findall(FILES)}
"""What is shown of each file, by its path."""

GAP = "…"
"""A line that stands for some that the guide leaves out."""


def with_gaps(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Leave out of what was printed what is left out of what is shown; where they differ, nothing more is left out."""
    found: list[str] = []
    place = 0
    for number, line in enumerate(shown):
        if line.strip() == GAP:
            found.append(line)
            rest = shown[number + 1 : number + 3]
            place = next(
                (at for at in range(place, len(printed)) if list(rest) == list(printed[at : at + len(rest)])),
                place,
            )
        else:
            found += printed[place : place + 1]
            place += 1
    return [*found, *printed[place:]] if shown[-1].strip() != GAP else found


def is_shown(finding: Finding, shown: Sequence[str]) -> bool:
    """Whether the guide shows a finding in full."""
    found = f"    found     {finding.message}"
    is_named = is_column_named(finding) and found in shown
    return is_named or (found, f"    column    {finding.column}") in pairwise(shown)


def proved(reports: Sequence[Report]) -> list[Report]:
    """Prove what the guide shows of some reports of a file each: all in one run, in which an engine starts once."""
    files = [report.files[0] for report in reports]
    asked: list[FileReport] = [
        replace(file, findings=[one for one in file.findings if is_shown(one, EXAMPLES[file.path])])
        for file in files
    ]
    answered = trial.proved(replace(reports[0], files=asked)).files
    found: list[Report] = []
    for report, file, answers in zip(reports, files, answered, strict=True):
        proofs = {(one.rule, one.column): one.proof for one in answers.findings}
        findings = [replace(one, proof=proofs.get((one.rule, one.column))) for one in file.findings]
        found.append(replace(report, files=[replace(file, findings=findings)]))
    return found


def ask_spark_here(patch: pytest.MonkeyPatch) -> None:
    """Have Spark answer in the session of the tests: to start another takes longer than all queries."""
    elsewhere = EngineProcesses._ask

    def ask(self: EngineProcesses, engine: Engine, asked: Sequence[Asked], size: int) -> list[ProofAnswer]:
        if engine.name != "spark":
            return elsewhere(self, engine, asked, size)
        return [_answer(program, truth) for program, truth in asked]

    patch.setattr(EngineProcesses, "_ask", ask)


@pytest.fixture(scope="module")
def printed(spark: SparkSession) -> Generator[dict[str, list[str]]]:
    """What the commands print, by the path of the file."""
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        ask_spark_here(patch)
        reports = proved([pqassay.check(path, tier="values") for path in EXAMPLES])
    found: dict[str, list[str]] = {}
    for report in reports:
        stream = io.StringIO()
        render(report, stream)
        found[report.files[0].path] = stream.getvalue().splitlines()
    yield found
    spark.conf.set("spark.sql.session.timeZone", zone)  # which the programs of Spark set to UTC


@pytest.mark.spark
@pytest.mark.parametrize("path", EXAMPLES)
def test_an_example_is_what_the_command_prints(path: str, printed: dict[str, list[str]]) -> None:
    assert EXAMPLES[path] == with_gaps(EXAMPLES[path], printed[path])


@pytest.mark.spark
def test_the_first_lines_of_the_guide_are_those_of_an_example(printed: dict[str, list[str]]) -> None:
    (shown,) = re.findall(r"```text\n(.*?)```\n", GUIDE, re.DOTALL)
    lines = shown.splitlines()
    every = [line for text in printed.values() for line in text]
    begins = every.index(lines[0])

    assert lines == every[begins : begins + len(lines)]


def test_the_readme_shows_part_of_an_example() -> None:
    readme = (ROOT / "README.md").read_text()
    ((path, text),) = re.findall(r"\$ pqassay prove (\S+)\n(.*?)```\n", readme, re.DOTALL)
    parts = text.split("  ...\n")[:-1]

    assert (3, []) == (len(parts), [part for part in parts if part not in "\n".join(EXAMPLES[path])])


def test_the_guide_shows_a_bound_a_bloom_filter_an_offset_index_and_a_displaced_page_index() -> None:
    assert [
        "golden_files/sta/max-too-small/data.parquet",
        "golden_files/blm/zeroed/data.parquet",
        "golden_files/pix/first-row-of-page/data.parquet",
        "golden_files/interop/pyarrow-26.0.1/displaced-page-index/data.parquet",
    ] == list(EXAMPLES)


@pytest.mark.parametrize("path", [path for path, shown in EXAMPLES.items() if any(map(LOSS.search, shown))])
def test_the_line_that_reproduces_an_answer_prints_the_number_of_its_rows(path: str) -> None:
    shown = EXAMPLES[path]
    rows = next(found[1] for line in shown if (found := LOSS.search(line)))
    command = next(line.removeprefix("    try it    ") for line in shown if line.startswith("    try it"))
    ended = processes.run(command, shell=True, capture_output=True, text=True, check=True, cwd=ROOT)

    assert f"{rows}\n" == ended.stdout


@pytest.mark.parametrize(
    ("shown", "printed_", "cut"),
    [
        (["a", "…", "d"], ["a", "b", "c", "d"], ["a", "…", "d"]),
        (["a", "…", "d"], ["a", "b", "d", "e"], ["a", "…", "d", "e"]),
        (["a", "…", "d"], ["a", "b", "c"], ["a", "…", "b", "c"]),
        (["a", "b"], ["a", "c"], ["a", "c"]),
    ],
)
def test_a_gap_hides_lines_and_no_difference(shown: list[str], printed_: list[str], cut: list[str]) -> None:
    assert cut == with_gaps(shown, printed_)
