"""Checkouts are compared with what is stored of the pinned texts, and each sentence that demands something has a rule or a reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import upstream
from upstream import FILES, Checkout, Row, Store
from upstream_texts import Sentence, digests_of, markdown_sections, sentences_of, thrift_sections

import processes
from places import ROOT
from pqassay_spec.rules.documents import documents

PAGES = """<!-- must not count -->
Layout
====
It should be small.
## Technical Approach
Readers **should** skip pages. A bound may be short.
It must be valid, e.g. *B*.

### Below
```c
must();
```
* A page must begin
  at a row.
## Other
| a | A writer must not. |
"""

THRIFT = """/**
 * A licence must not count.
 */
namespace cpp parquet
/** must be here */
struct Statistics {
   /** Readers MUST distinguish
    * both. They must not guess.
    **/
   3: optional i64 null_count;
}
union Order {
  1: required i32 a   // must be 1
}
enum Kind {
  /** Should not be written */
  A = 1;
}
"""


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    command = ["git", *who, *arguments]
    return str(processes.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout).strip()


def committed(folder: Path) -> str:
    """Commit all files of a checkout; the commit."""
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "m")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def checkouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Made-up checkouts of two repositories, to whose commits the documents are pinned, and nothing stored yet."""
    files = {
        "parquet-format/src/main/thrift/parquet.thrift": THRIFT,
        "parquet-format/PageIndex.md": PAGES,
        "parquet-testing/bad_data/README.md": "Bad files",
        "parquet-testing/data/good.parquet": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folders = [tmp_path / "parquet-format", tmp_path / "parquet-testing"]
    for folder in folders:
        git(folder, "init", "-q")
    commit = committed(folders[0])
    committed(folders[1])
    pinned = {name: replace(documents()[name], commit=commit) for name in ("PageIndex", "parquet.thrift")}
    cited = {
        "PageIndex": {"Technical Approach": ["PIX-001"]},
        "parquet.thrift": {"Statistics.null_count": ["STA-001"]},
    }
    monkeypatch.setattr(upstream, "documents", lambda: pinned)
    monkeypatch.setattr(upstream, "cited", cited.__getitem__)
    monkeypatch.setattr(upstream, "DATA", tmp_path / "upstream.json")
    return folders


@pytest.fixture
def run(checkouts: list[Path], capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str]]]:
    def run(*options: str) -> tuple[int, list[str]]:
        status = upstream.main([*map(str, checkouts), *options])
        return status, [line.strip() for line in capsys.readouterr().out.splitlines()]

    return run


def decide() -> None:
    """Decide on each stored sentence."""
    store = Store.read()
    store.reasons["advice"] = "It advises."
    for stored in store.documents.values():
        for row in stored.sentences:
            row.reason = "advice"
    store.write()


def test_what_did_not_change_is_quiet_and_what_did_names_its_rules(
    checkouts: list[Path], run: Callable[..., tuple[int, list[str]]]
) -> None:
    status, lines = run("--fill")
    assert (1, "open     PageIndex, Layout, sentence 1") == (status, lines[2])
    decide()
    status, lines = run()
    assert (0, "Every stored sentence has a rule or a reason.") == (status, lines[-1])
    assert [True, True] == [line.endswith("nothing changed") for line in lines[:-1]]

    page = checkouts[0] / "PageIndex.md"
    page.write_text(
        page.read_text()
        .replace("It must be valid", "It shall be valid")
        .replace("must begin", "must\n begin")
    )
    thrift = checkouts[0] / "src/main/thrift/parquet.thrift"
    thrift.write_text(thrift.read_text().replace("null_count", "nulls"))
    (checkouts[1] / "data" / "new.parquet").touch()

    status, lines = run()
    assert 1 == status
    assert [
        "changed  PageIndex, Technical Approach: PIX-001",
        "new      PageIndex, Technical Approach: It shall be valid, e.g. *B*.",
        "gone     PageIndex, Technical Approach, sentence 2: advice",
        "gone     parquet.thrift, Statistics.null_count: STA-001",
        "new file data/new.parquet",
    ] == [line for line in lines if line.startswith(("changed", "new", "gone"))]


def test_a_decision_survives_the_next_filling(run: Callable[..., tuple[int, list[str]]]) -> None:
    run("--fill")
    decide()

    assert 0 == run("--fill")[0]


def test_only_the_pinned_commit_fills_all(
    checkouts: list[Path], run: Callable[..., tuple[int, list[str]]], capsys: pytest.CaptureFixture[str]
) -> None:
    (checkouts[0] / "new.md").touch()
    commit = committed(checkouts[0])

    with pytest.raises(SystemExit):
        run("--fill")
    assert f"is at {commit}, and PageIndex is pinned to" in capsys.readouterr().err
    assert not upstream.DATA.exists()
    run("--sentences")
    assert ["", ""] == ["".join(stored.sections) for stored in Store.read().documents.values()]


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a checkout of a known repository"):
        Checkout.of(tmp_path)


def test_sentences_of_markdown_are_counted_under_the_nearest_heading() -> None:
    assert [
        Sentence("Layout", 1, "It should be small."),
        Sentence("Technical Approach", 1, "Readers **should** skip pages."),
        Sentence("Technical Approach", 2, "It must be valid, e.g. *B*."),
        Sentence("Below", 1, "A page must begin at a row."),
        Sentence("Other", 1, "A writer must not."),
    ] == [one._replace(text=" ".join(one.text.split())) for one in sentences_of(markdown_sections(PAGES))]


def test_sentences_of_thrift_are_those_of_comments() -> None:
    sections = thrift_sections(THRIFT)

    assert ["Statistics", "Statistics.null_count", "Order", "Order.a", "Kind", "Kind.A"] == [
        one.heading for one in sections
    ]
    assert [
        ("Statistics", "must be here"),
        ("Statistics.null_count", "Readers MUST distinguish both."),
        ("Statistics.null_count", "They must not guess."),
        ("Order.a", "must be 1"),
        ("Kind.A", "Should not be written"),
    ] == [(one.heading, " ".join(one.text.split())) for one in sentences_of(sections)]


def test_a_section_has_what_is_below_it() -> None:
    before = digests_of(markdown_sections(PAGES), ["Technical Approach", "Other"])
    after = digests_of(
        markdown_sections(PAGES.replace("at a row", "anywhere")), ["Technical Approach", "Other"]
    )

    assert ["Technical Approach"] == [heading for heading in before if before[heading] != after[heading]]


def test_a_scope_leaves_other_sections_out(run: Callable[..., tuple[int, list[str]]]) -> None:
    run("--fill")
    store = Store.read()
    store.documents["PageIndex"].scope = ["Technical Approach"]
    store.write()

    run("--fill")
    headings = [row.heading for row in Store.read().documents["PageIndex"].sentences]
    assert ["Technical Approach", "Technical Approach", "Below"] == headings


def test_a_row_is_read_as_it_is_written() -> None:
    for row in (Row("A | B", 3, "0" * 12, ["PQF-001"]), Row("A", 1, "1" * 12, reason="advice")):
        assert row == Row.read(str(row))


def test_every_stored_sentence_has_a_rule_or_a_reason() -> None:
    store = Store.read()

    assert [] == list(store.undecided())
    used = {row.reason for stored in store.documents.values() for row in stored.sentences} - {""}
    assert used == set(store.reasons)
    assert set(store.documents) <= set(documents())


def test_the_workflow_checks_out_every_repository_that_is_compared() -> None:
    workflow = (ROOT / "examples/upstream/.github/workflows/upstream.yml").read_text("utf-8")

    assert set(FILES) == set(re.findall(r"repository: ([\w/-]+), path: upstream/", workflow))
    assert "make -s upstream CHECKOUT=" in workflow
