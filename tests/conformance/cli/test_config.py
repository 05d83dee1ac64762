"""`pqassay.toml`: defaults for the options of `pqassay check`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from idx1_files import Idx1File
from places import GOLDEN_FILES
from pqassay.cli.check import config
from pqassay.cli.check.options import OPTIONS
from pqassay.cli.main import app
from pqassay.report.formats import FormatName
from pqassay.report.model import COUNTED
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.rules.catalogue import TIERS
from pqassay_spec.rules.profiles import NAMES

pytestmark = pytest.mark.slow

GOOD = Idx1File().build()
WARNED = Idx1File(keys=[(idx1.KEY, "00{offset}")]).build()

run = CliRunner().invoke


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two files in ``lake`` and one in ``old``; the current folder is ``lake/deep`` below it."""
    root = tmp_path / "project"  # beside which there are no files of other tests
    for name in ("lake/a.parquet", "lake/deep/b.parquet", "old/c.parquet"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(GOOD)
    monkeypatch.chdir(root / "lake" / "deep")
    return root


def report(*arguments: str) -> Any:
    result = run(app, ["check", "--format", "json", *arguments])
    assert "" == result.stderr
    return json.loads(result.stdout)


def paths(*arguments: str) -> list[str]:
    return [file["path"] for file in report(*arguments)["files"]]


def test_without_paths_those_of_the_nearest_file_above_are_checked(project: Path) -> None:
    (project / "pqassay.toml").write_text('[check]\npaths = ["lake", "old/*.parquet"]\n')

    assert ["../../lake/a.parquet", "../../lake/deep/b.parquet", "../../old/c.parquet"] == paths()
    assert ["b.parquet"] == paths("b.parquet")


def test_the_nearest_file_counts_alone(project: Path) -> None:
    (project / "pqassay.toml").write_text('[check]\npaths = ["old"]\ntier = "footer"\n')
    (project / "lake" / "pqassay.toml").write_text('[check]\npaths = ["."]\n')
    found = report()

    assert {"index"} == {coverage["tier"] for coverage in found["coverages"].values()}
    assert ["../a.parquet", "../deep/b.parquet"] == [
        Path(file["path"]).as_posix().replace("/./", "/") for file in found["files"]
    ]


def test_what_the_command_line_says_wins(project: Path) -> None:
    (project / "pqassay.toml").write_text(
        '[check]\npaths = [".."]\ntier = "footer"\nexclude = ["deep"]\nrule = ["PQF-00[12]"]\n'
    )
    by_default, changed = report(), report("--tier", "index", "--rule", "IDX1-*", str(project))

    assert ("footer", ["PQF-001", "PQF-002"]) == (
        by_default["coverages"]["c1"]["tier"],
        by_default["coverages"]["c1"]["checked"],
    )
    assert "index" == changed["coverages"]["c1"]["tier"]
    assert all(rule.startswith("IDX1-") for rule in changed["coverages"]["c1"]["checked"])
    assert 2 == changed["summary"]["files"]  # what is not said on the command line still holds


def test_another_file_or_none_can_be_named(project: Path) -> None:
    (project / "pqassay.toml").write_text("[check]\npaths = ['lake']\n")
    other = project / "other.toml"
    other.write_text('[check]\npaths = ["old"]\n')

    assert ["../../old/c.parquet"] == paths("--config", str(other))
    assert 2 == run(app, ["check", "--config", "none"]).exit_code
    both = run(app, ["check", "--no-config", "--config", str(other)])
    assert (2, "error: --config and --no-config exclude each other") == (
        both.exit_code,
        both.stderr.splitlines()[-1],
    )


def test_every_option_with_a_default_works_from_the_file(project: Path) -> None:
    (project / "old" / "warned").write_bytes(WARNED)
    (project / "known.json").write_text(
        '{"schema_version": 1, "kind": "baseline", "pqassay": "0.1.0", "findings": []}'
    )
    (project / "pqassay.toml").write_text(
        '[check]\npaths = ["old"]\ntier = "values"\nlevel = "should"\nskip-rule = ["PQF-001"]\n'
        'include = ["warned"]\nidx1-column = "nation"\njobs = 2\ntimeout = 30.5\nmemory = "2G"\n'
        'baseline = "known.json"\nformat = "json"\n'
    )
    result = run(app, ["check"])
    found = json.loads(result.stdout)

    assert 1 == result.exit_code
    assert 2 == found["summary"]["files"]
    assert "left out by --rule or --skip-rule" == found["coverages"]["c1"]["not_checked"]["PQF-001"]["reason"]
    assert "../../known.json" == found["baseline"]["path"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[check", "not valid TOML"),
        (b"\xff", "not valid TOML"),
        ("[chek]\n", "there is no key chek; did you mean check?"),
        ('tier = "index"', "there is no key tier; known are check"),
        ("check = 3", "check is not a table; write [check]"),
        ('[check]\nteir = "index"', "[check]: there is no key teir; did you mean tier?"),
        ("[check]\nskip_rule = []", "[check]: there is no key skip_rule; did you mean skip-rule?"),
        ("[check]\nxyzzy = 1", "[check]: there is no key xyzzy; known are paths, tier"),
        ('[check]\ntier = "deep"', "[check]: tier is one of meta, footer, index, pages, values, not 'deep'"),
        ('[check]\nrule = "PQF-*"', "[check]: rule wants a list of strings, not 'PQF-*'"),
        ("[check]\npaths = [1]", "[check]: paths wants a list of strings, not [1]"),
        ("[check]\njobs = true", "[check]: jobs wants a whole number, at least 0, not True"),
        ("[check]\njobs = -1", "[check]: jobs wants a whole number"),
        ('[check]\nmemory = "much"', "[check]: memory wants a number of bytes"),
        ("[check]\nbaseline = 1", "[check]: baseline wants a string, not 1"),
    ],
)
def test_a_wrong_file_is_wrong_usage_that_names_file_and_key(
    content: str | bytes, words: str, project: Path
) -> None:
    path = project / "pqassay.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run(app, ["check", "b.parquet"])

    assert 2 == result.exit_code
    assert f"error: {path}: " in result.stderr
    assert words in result.stderr
    assert 1 == len(result.stderr.splitlines())


@pytest.mark.parametrize(
    ("name", "words"),
    [("none.toml", "No such file or directory"), ("/dev/zero", "a file of defaults has at most 1 MiB")],
)
def test_a_config_that_is_not_there_or_has_no_end_is_wrong_usage(name: str, words: str) -> None:
    result = run(app, ["check", "--config", name])
    assert (2, f"error: {name}: {words}\n") == (result.exit_code, result.stderr)


@pytest.mark.parametrize(
    ("text", "size"),
    [("12", 12), ("1k", 1024), ("2G", 2 << 30), ("1.5 MiB", 3 << 19), ("3tb", 3 << 40), ("7b", 7)],
)
def test_sizes_are_read_in_the_usual_units(text: str, size: int) -> None:
    assert size == config.parse_size(text)


@pytest.mark.parametrize("text", ["", "G", "-1", "1X", "1 2"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        config.parse_size(text)
    result = run(app, ["check", "--config", "none", f"--memory={text}", "."])
    assert (2, f"error: --memory: {text!r} is not a size; write it like 2G or 512M\n") == (
        result.exit_code,
        result.stderr,
    )


def test_what_a_check_declares_is_what_the_command_has() -> None:
    command: Any = typer.main.get_command(app)
    shown = [option for option in command.commands["check"].params if not getattr(option, "hidden", False)]
    names = {name.removeprefix("--") for option in shown for name in option.opts if name.startswith("--")}

    assert {one.name for one in OPTIONS.values()} | {"help"} == names | {"help"}
    assert 30 >= len(names)


@pytest.mark.parametrize(
    ("keyword", "choices"),
    [("tier", TIERS), ("level", tuple(COUNTED)), ("profile", NAMES), ("format", tuple(FormatName))],
)
def test_the_choices_of_an_option_are_those_that_there_are(keyword: str, choices: Sequence[str]) -> None:
    assert tuple(choices) == OPTIONS[keyword].choices


def test_the_old_name_of_a_key_works_and_prints_the_new_one(project: Path) -> None:
    (project / "pqassay.toml").write_text('[check]\nas = "files"\n')
    result = run(app, ["check", "."])

    assert (0, "note: `as = 'files'` is now `as-files = true`\n") == (result.exit_code, result.stderr)


@pytest.mark.parametrize(
    ("command", "written"), [("check", {"findings", "m.prom"}), ("baseline", {"known-findings.json"})]
)
def test_commands_without_a_history_append_to_none_that_the_file_names(
    command: str, written: set[str], project: Path
) -> None:
    (project / "pqassay.toml").write_text('[check]\nhistory = "findings"\nmetrics = "m.prom"\n')
    before = set(project.rglob("*"))

    assert 0 == run(app, [command, "b.parquet"]).exit_code
    assert written == {
        path.name for path in set(project.rglob("*")) - before if path.parent.name != "findings"
    }


@pytest.mark.slow
def test_a_proof_looks_at_values_whatever_tier_the_defaults_have(project: Path) -> None:
    path = GOLDEN_FILES / "sta/bounds-of-first-values/data.parquet"
    (project / "pqassay.toml").write_text('[check]\ntier = "footer"\n')
    prove = ["prove", "--engine", "pyarrow", str(path)]
    shallow, proved = run(app, ["check", str(path)]), run(app, prove)

    assert (0, 1) == (shallow.exit_code, proved.exit_code)
    assert "tier values" in proved.stdout
    assert 0 == run(app, [*prove, "--tier", "footer"]).exit_code


def test_the_name_of_the_output_counts_more_than_a_format_of_the_defaults(project: Path) -> None:
    (project / "pqassay.toml").write_text('[check]\nformat = "json"\n')
    run(app, ["check", "--output", "r.html", "."])
    run(app, ["check", "--output", "r.txt", "."])

    assert Path("r.html").read_text().startswith("<!doctype html>")
    assert "check" == json.loads(Path("r.txt").read_text())["kind"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--files-from", "list", "--output", "list"], "list is also the file of --files-from"),
        (["--baseline", "list", "--output", "list", "."], "list is also the file of --baseline"),
        (["--output", "o", "--metrics", "o", "."], "o is also the file of --output"),
        (["--out", "t", "--reuse", "u", "."], "--out is the old name of --reuse: give one of them"),
    ],
)
@pytest.mark.usefixtures("project")
def test_no_output_is_another_file_of_the_check(arguments: list[str], message: str) -> None:
    Path("list").write_text("b.parquet\n")
    result = run(app, ["check", *arguments])

    assert (2, True) == (result.exit_code, message in result.stderr)
    assert "b.parquet\n" == Path("list").read_text()
