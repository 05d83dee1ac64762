"""Every file that is computed from others is what `make generate` writes, and the registry of these files is whole."""

from __future__ import annotations

import builtins
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import generate
import jsonschema
import page_tables
import pytest
import shapes
from generate import REGISTRY, Derived, GoldenFiles
from pages import site_tables

from damage import EXAMPLES, SUGGESTED
from places import ROOT
from pqassay_golden.written_cases import Written

SLOW = ("golden files", "null scores")

IN_PARTS = ("null scores", "shapes") if EXAMPLES > 1 else ()
"""What `test_self_test` and a test below hold a part of; `make damages` holds all of it here."""

ENTRIES = [
    pytest.param(one, id=one.name, marks=[pytest.mark.slow] if one.name in SLOW else [])
    for one in REGISTRY
    if one.name not in IN_PARTS
]


@cache
def files_of(glob: str) -> frozenset[str]:
    return frozenset(path.relative_to(ROOT).as_posix() for path in ROOT.glob(glob))


def files(*globs: str) -> set[str]:
    return set().union(*map(files_of, globs))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The files of the repository that are opened from now on, code aside."""
    paths: set[str] = set()

    def noting(real: Callable[..., Any]) -> Callable[..., Any]:
        def note(file: Any, *arguments: Any, **more: Any) -> Any:
            if isinstance(file, str | Path) and Path(file).resolve().is_relative_to(ROOT):
                path = Path(file).resolve().relative_to(ROOT)
                is_code = path.suffix == ".py" or "templates" in path.parts
                if not is_code and not any(part.startswith((".", "__")) for part in path.parts):
                    paths.add(path.as_posix())
            return real(file, *arguments, **more)

        return note

    for module in (builtins, io):
        monkeypatch.setattr(module, "open", noting(module.open))
    return paths


@pytest.mark.parametrize("derived", ENTRIES)
def test_what_is_derived_is_what_it_is_computed_from(derived: Derived, opened: set[str]) -> None:
    stale = derived.update(write=False)

    assert [] == stale, f"`make generate` writes {derived.name} from {', '.join(derived.inputs)}"
    assert [] == sorted(opened - files(*derived.inputs, *derived.outputs))


def test_a_part_of_the_shapes_is_what_the_judge_finds() -> None:
    stored = json.loads((ROOT / shapes.SHAPES_FILE).read_text("utf-8"))
    asked = [(rule, case) for rule, known in stored.items() for case in known][::SUGGESTED]

    assert [stored[rule][case] for rule, case in asked] == [shapes.shape(*one) for one in asked]


def test_every_glob_is_that_of_files() -> None:
    assert [] == [glob for one in REGISTRY for glob in (*one.inputs, *one.outputs) if not files(glob)]


def test_what_needs_an_output_of_another_comes_after_it() -> None:
    inputs = [files(*one.inputs) - files(*one.outputs) for one in REGISTRY]
    outputs = [files(*one.outputs) - files(*one.inputs) for one in REGISTRY]

    assert [] == [
        (REGISTRY[late].name, REGISTRY[early].name)
        for late in range(len(REGISTRY))
        for early in range(late)
        if inputs[early] & outputs[late]
    ]


def test_every_table_of_a_page_has_one_maker_and_is_shown_once() -> None:
    stored = {(one.module, one.inputs[0]) for one in REGISTRY if isinstance(one, generate.PageTables)}
    made = Counter(
        name
        for template, path in stored.union(site_tables.SOURCES.items())
        for name in page_tables.tables_in(template, page_tables.figures_of(template, ROOT / path))
    )
    texts = [page.read_text("utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))]
    shown = Counter(found["name"] for text in texts for found in page_tables.TABLE.finditer(text))
    shown.update(
        name.replace("-", " ")
        for text in texts
        for name in re.findall(r"^<!-- site table: ([a-z0-9-]+) -->$", text, re.MULTILINE)
    )

    assert made == shown
    assert {1} == set(made.values())


def test_a_published_schema_is_one() -> None:
    for path in files("conformance/pqassay/schemas/*.json", "spec/pqassay_spec/rules/*.schema.json"):
        jsonschema.Draft202012Validator.check_schema(json.loads((ROOT / path).read_text("utf-8")))


# --------------------------------------------------------------------------------------------------- the command


class Copied(Derived):
    """A file that is to be a copy of its input."""

    def contents(self) -> dict[str, str]:
        (name,), (source,) = self.outputs, self.inputs
        return {name: (generate.ROOT / source).read_text("utf-8")}


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is stale."""
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    copies = Copied("a copy", ("copy.txt",), ("source.txt",), "", "Tell somebody.")
    monkeypatch.setattr(generate, "REGISTRY", (copies,))
    (tmp_path / "source.txt").write_text("new")
    copy = tmp_path / "copy.txt"
    copy.write_text("old")
    return copy


def test_the_check_names_what_is_stale_and_the_command(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == generate.main(["--check"])
    assert "copy.txt is stale: make generate\nTell somebody.\n" == capsys.readouterr().out
    assert "old" == copy.read_text()


def test_what_is_stale_is_written_and_named_once(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == generate.main([])
    assert "copy.txt\nTell somebody.\n" == capsys.readouterr().out
    assert "new" == copy.read_text()
    assert 0 == generate.main(["a copy"])
    assert "" == capsys.readouterr().out


def test_an_unknown_name_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        generate.main(["nothing"])
    assert "nothing is not in the registry: golden files, schemas" in capsys.readouterr().err


def test_golden_files_that_differ_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    files, tables = Written(["pix/a"], ["pix/same"], ["pix/b"]), (["dlt/c"], ["dlt/same"], ["ice/d"])
    monkeypatch.setattr(generate, "write_golden_files", lambda *_, **__: files)
    monkeypatch.setattr(generate, "write_golden_tables", lambda *_, **__: tables)
    stale = GoldenFiles("golden files", (), (), "").update(write=False)

    assert [f"golden_files/{name}" for name in ("pix/a", "pix/b", "dlt/c", "ice/d")] == stale
