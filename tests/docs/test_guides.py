"""The blocks of the guides run as they are, in order, from the data that each page makes, and print what it shows."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import processes
from places import GUIDES, ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

README, INDEX = ROOT / "README.md", ROOT / "docs" / "index.md"

PAGES = (
    README,
    *(
        GUIDES / f"{name}.md"
        for name in (
            "answer",
            "check",
            "ci",
            "diff",
            "example",
            "export",
            "indexes",
            "lake",
            "own-index",
            "pm",
            "repair",
            "report",
            "run",
            "scale",
            "scan",
            "strip",
            "submit",
            "tables",
            "wrong-result",
        )
    ),
)
"""Pages of which all or most blocks run without Spark."""

SPARK_PAGES = tuple(
    GUIDES / f"{name}.md" for name in ("example", "query", "spark", "spark-index", "spark-where")
)
"""Pages with blocks that need a session of Spark."""

ELSEWHERE = {
    "test_prove": (GUIDES / "four-files.md", r"\$ pqassay prove golden_files/"),
    "test_findings, of readers": (GUIDES / "findings-readers.md", r"(?!\$ )"),
    "test_findings, of writers": (GUIDES / "findings-writers.md", r"(?!\$ )"),
}
"""Other tests that run blocks: of which page, and how such a block begins."""

FENCE = re.compile(r"^[ >]*```+ *(?:console|python|pycon|py|bash|sh|shell)\b", re.MULTILINE)
"""What begins a block that can be run, wherever it is."""


def module() -> ModuleType:
    name = "guide_sessions"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def runner_of(page: Path, block: Any) -> str | None:
    """What runs a block of a page, or why nothing does; ``None`` if neither is known."""
    if block.why_not:
        return f"not run: {block.why_not}"
    for name, (where, begins) in ELSEWHERE.items():
        if page == where and re.match(begins, block.body):
            return name
    if block.needs_spark:
        return "this test, with Spark" if page in SPARK_PAGES else None
    return "this test" if page in (*PAGES, *SPARK_PAGES) else None


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(autouse=True)
def one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of drivers ask one process for each processor, and what a guide shows does not depend on how many there are."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)


NEEDED = {"answer": "datasketches"}
"""Pages that take a library which there is not for every Python."""


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_blocks_of_a_guide_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    if page.stem in NEEDED:
        pytest.importorskip(NEEDED[page.stem])
    text = page.read_text("utf-8")
    played = list(module().play(text, tmp_path))

    assert played
    assert [] == [each.difference() for each in played if not each.agrees]


def test_the_proof_on_the_home_page_is_that_of_the_guide_but_for_lines_left_out() -> None:
    (block,) = (
        block for block in module().blocks_of(INDEX.read_text("utf-8")) if "pqassay prove" in block.body
    )
    shown = (GUIDES / "four-files.md").read_text("utf-8").splitlines()

    assert [] == [line for line in block.body.splitlines()[1:] if line not in shown]


@pytest.mark.spark
@pytest.mark.parametrize("page", SPARK_PAGES, ids=name_of)
def test_the_blocks_of_a_guide_print_what_it_shows_with_spark(
    page: Path, spark: SparkSession, tmp_path: Path
) -> None:
    text = page.read_text("utf-8")
    needed = [block.start for block in module().blocks_of(text) if block.needs_spark and not block.why_not]
    played = list(module().play(text, tmp_path, spark))

    assert needed
    assert [] == [each.difference() for each in played if not each.agrees]


@pytest.mark.parametrize("page", [README, INDEX, *sorted(GUIDES.glob("*.md"))], ids=name_of)
def test_every_block_of_a_page_is_run_or_says_why_not(page: Path) -> None:
    text = page.read_text("utf-8")
    blocks = [block for block in module().blocks_of(text) if block.language in ("console", "python")]

    assert [] == [block.body for block in blocks if runner_of(page, block) is None]
    assert len(FENCE.findall(text)) == len(blocks)


@pytest.mark.parametrize(
    ("page", "body", "ran_by"),
    [
        ("pruning-saves.md", "```console\n$ pqassay check lake\n```\n", None),
        ("check.md", "```console\n$ pqassay check lake\n```\n", "this test"),
        ("check.md", "```console\n$ pqassay spark check lake\n```\n", None),
        ("query.md", "```console\n$ pqassay spark check lake\n```\n", "this test, with Spark"),
        ("scale.md", "<!-- not run: a synopsis -->\n```console\n$ x\n```\n", "not run: a synopsis"),
        ("four-files.md", "```console\n$ pqassay check lake\n```\n", None),
    ],
)
def test_a_block_that_nobody_runs_is_found(page: str, body: str, ran_by: str | None) -> None:
    (block,) = module().blocks_of(body)

    assert ran_by == runner_of(GUIDES / page, block)


def test_a_file_of_the_repository_that_a_page_names_is_copied(tmp_path: Path) -> None:
    (played,) = module().play(
        '```python title="a.py"\n--8<-- "examples/row_bitmap.py"\n```\n\n```console\n$ wc -c < a.py\n0\n```\n',
        tmp_path,
    )

    assert f"$ wc -c < a.py\n{(ROOT / 'examples' / 'row_bitmap.py').stat().st_size}\n" == played.printed


def test_a_file_that_a_page_shows_is_written(tmp_path: Path) -> None:
    page = '```python title="a.py"\nprint(1)\n```\n\n```console\n$ cat a.py\nprint(1)\n```\n'
    (played,) = module().play(page, tmp_path)

    assert played.agrees


def test_a_block_that_reads_damaged_files_runs_in_a_process_which_it_may_end(tmp_path: Path) -> None:
    page = (
        "```python\nname = 1\n```\n\n<!-- reads damaged files -->\n```python\nimport os\nprint('name' in globals(), flush=True)\n"
        "os._exit(3)\n```\n\n```text\nFalse\nexit code 3\n```\n"
    )
    (played,) = module().play(page, tmp_path)

    assert played.agrees


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    command = f"echo begun; sleep 1000 & echo $! > {tmp_path}/child; wait"

    assert ("begun\nnot ended after 2 s\n", -9) == module()._in_time(["bash", "-c", command], seconds=2)
    assert processes.gone(int((tmp_path / "child").read_text()))


def test_a_block_that_shows_something_else_is_found(tmp_path: Path) -> None:
    page = "```python\nprint('x')\n```\n\n```console\n$ echo one\none\n$ echo two\nthree\n```\n"
    (played,) = module().play(page, tmp_path)

    assert not played.agrees
    assert ["-three", "+two"] == played.difference().splitlines()[-2:]
    assert "$ echo one\none\n$ echo two\ntwo\n```" in module().rewritten(page, [played])
