from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

import pqassay
import processes
from damage import EXAMPLES
from idx1_files import Idx1File, parquet, table
from places import ROOT
from pqassay.cli.main import app
from pqassay.report.model import json_schema
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.rules.catalogue import rules, rules_for

pytestmark = pytest.mark.slow

GOOD = Idx1File().build()
BAD = Idx1File(payload=b"Peru\nSingapura").build()

run = CliRunner().invoke


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.parquet"
    path.write_bytes(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.parquet"
    path.write_bytes(BAD)
    return path


def coverage_line(path: Path) -> str:
    """The line on what was tested, of a conformant file."""
    (coverage,) = pqassay.check(path, tier="values").coverages.values()
    mine = rules_for("parquet")
    absent = [rule for rule in coverage.not_applicable if rule in mine]
    return f"tier values: {len(coverage.checked)} rules checked, {len(absent)} not applicable"


def test_a_good_file_exits_0_and_names_the_tier(good: Path) -> None:
    result = run(app, ["check", str(good)])

    assert 0 == result.exit_code
    assert result.stdout.splitlines() == [
        f"{good}: conformant",
        coverage_line(good),
        "no page has a CRC: damage inside values is only visible if other data contradict it",
    ]


def test_a_bad_file_exits_1_and_shows_rule_place_bytes_and_remedy(bad: Path) -> None:
    result = run(app, ["check", "-v", str(bad)])
    offset = BAD.index(b"Singapura")
    head = BAD[offset - offset % 16 :][:16]

    assert 1 == result.exit_code
    assert f"{bad}: nonconformant (1 FAIL)" in result.stdout
    assert "  FAIL IDX1-016\n" in result.stdout
    assert (
        "    could     rows lost\n    observed  not asked: no engine here reads an IDX1 index"
        in result.stdout
    )
    assert rules()["IDX1-016"].sentence in result.stdout
    assert f"at        idx1.payload, offset {offset}, 9 bytes" in result.stdout
    assert f"{offset - offset % 16:08x}  {head.hex(' ')}" in result.stdout
    assert "^^  idx1.payload" in result.stdout
    assert f"remedy    pqassay embed {bad} --column nation" in result.stdout
    assert "more      pqassay explain IDX1-016" in result.stdout


@pytest.mark.parametrize(
    ("content", "rule", "words"),
    [
        (b"", "PQF-001", "the file is empty"),
        (b"a plain text file\n", "PQF-001", "the file is text, not a Parquet file"),
        (GOOD[:-7], "PQF-002", "the file was cut"),
    ],
)
def test_what_is_no_parquet_file_exits_1_with_a_clear_finding(
    content: bytes, rule: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.parquet"
    path.write_bytes(content)
    result = run(app, ["check", str(path)])

    assert 1 == result.exit_code
    assert f"FAIL {rule}" in result.stdout
    assert words in result.stdout
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "missing.parquet"], "missing.parquet: no such file"),
        (["check", "missing.parquet", "{good}", "lost/*.parquet"], "lost/*.parquet: no file matches"),
        (["check"], "nothing to check; name files, or folders of Parquet files"),
        (
            ["check", "--baseline", "none.json", "{good}"],
            "none.json: No such file or directory; `pqassay baseline` writes one",
        ),
        (["report", "{good}"], "; write a report with --format json --output FILE"),
        (["dump", "."], "is a directory; name one of the files in it"),
        (["check", "/dev/null"], "is not a regular file"),
        (["check", "--rule", "XYZ-*", "{good}"], "no rule matches 'XYZ-*'"),
        (["check", "--rule", "BLM-023", "{good}"], "BLM-023 is for readers: no file can break it"),
        (["check", "x" * 5000], "no such file"),
        (["dump", "missing.parquet"], "missing.parquet: no such file"),
        (["dump", "--json", "--hexdump", "{good}"], "exclude each other"),
        (["dump", "--field", "nope", "{good}"], "no field matches 'nope'; leave out --field to show all"),
        (["explain", "IDX1-999"], "there is no rule IDX1-999; did you mean"),
        (["explain", "nothing like it"], "`pqassay explain` lists all"),
    ],
)
def test_wrong_usage_exits_2_and_says_what_to_do(arguments: list[str], words: str, good: Path) -> None:
    result = run(app, [argument.replace("{good}", str(good)) for argument in arguments])

    assert 2 == result.exit_code
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_an_unreadable_file_is_errored_and_exits_4(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, *_: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("pqassay_spec.base.sources.os.open", refuse)
    result = run(app, ["check", str(good), "--tier", "index"])

    assert 4 == result.exit_code
    assert f"{good}: errored\n  not judged: the file cannot be opened: Permission denied" in result.stdout


def test_an_unjudgeable_file_exits_4_even_beside_findings(bad: Path, tmp_path: Path) -> None:
    encrypted = tmp_path / "encrypted.parquet"
    encrypted.write_bytes(b"PARE" + GOOD[4:-4] + b"PARE")
    result = run(app, ["check", str(bad), str(encrypted), "--tier", "values"])

    assert 4 == result.exit_code
    assert "not judged: the footer is encrypted" in result.stdout
    assert "2 files: 0 conformant, 1 nonconformant, 1 errored" in result.stdout


def test_warnings_count_only_if_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "warn.parquet"
    path.write_bytes(Idx1File(keys=[(idx1.KEY, "00{offset}")]).build())

    assert 0 == run(app, ["check", str(path)]).exit_code
    assert 1 == run(app, ["check", str(path), "--level", "should"]).exit_code


def test_rules_can_be_selected_and_left_out(bad: Path) -> None:
    assert 0 == run(app, ["check", str(bad), "--rule", "PQF-*"]).exit_code
    assert 1 == run(app, ["check", str(bad), "--rule", "IDX1-016"]).exit_code
    assert 0 == run(app, ["check", str(bad), "--skip-rule", "IDX1-01?"]).exit_code


def test_the_default_tier_depends_on_the_number_of_files(good: Path, bad: Path) -> None:
    assert "tier values" in run(app, ["check", str(bad)]).stdout
    result = run(app, ["check", str(good), str(bad)])

    assert 0 == result.exit_code
    assert "tier index" in result.stdout
    assert f"pqassay check --tier values {good}" in result.stdout


@pytest.mark.parametrize("content", [BAD, GOOD[:-7]])
def test_json_follows_the_published_schema(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    path.write_bytes(content)
    result = run(app, ["check", "--format", "json", str(path)])
    report = json.loads(result.stdout)

    jsonschema.validate(report, json_schema())
    assert {"must", "kind", "check"} >= {report["kind"]}
    assert [str(path)] == [file["path"] for file in report["files"]]
    assert report["files"][0]["coverage"] in report["coverages"]


def test_output_is_written_whole_and_replaces_a_file(bad: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("an old report of pqassay")
    result = run(app, ["check", str(bad), "--format", "json", "--output", str(target)])

    assert 1 == result.exit_code
    assert "" == result.stdout
    assert "check" == json.loads(target.read_text())["kind"]
    assert {"bad.parquet", "report.json"} == {path.name for path in tmp_path.iterdir()}


def test_a_hostile_value_prints_on_one_line_without_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m b.parquet"
    values = ["\x1b[2J\u202e[bold]", "a"]
    path.write_bytes(Idx1File(data=parquet(table(values)), payload=b"a").build())
    result = run(app, ["check", str(path), "--tier", "values"])

    assert r"'\x1b[2J\u202e[bold]'" in result.stdout


def test_explain_tells_level_effect_origin_and_reading() -> None:
    result = run(app, ["explain", "pqf-006"])

    assert 0 == result.exit_code
    for words in (
        "PQF-006",
        "SHOULD for the writer",
        "POLICY",
        "wrong rows",
        "follows from the text",
        "reading",
    ):
        assert words in result.stdout


def test_explain_shows_the_golden_pair_of_every_rule_and_the_bytes() -> None:
    result = run(app, ["explain", "IDX1-012"])

    assert "  kept by     idx1/empty-value-first\n" in result.stdout
    assert (
        "  broken by   idx1/empty-value-last: The empty string is the last value (and 1 more)\n"
        in result.stdout
    )
    assert "idx1/empty-value-last/data.parquet\n" in result.stdout
    assert "  found there the published reader loses the value '': the last value is empty\n" in result.stdout
    assert "^^  idx1.payload\n" in result.stdout


def test_explain_without_golden_files_says_nothing_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pqassay.explain.golden_files", lambda: None)
    result = run(app, ["explain", "IDX1-012"])

    assert (0, False) == (result.exit_code, "broken by" in result.stdout)


def test_every_rule_is_listed_and_can_be_explained() -> None:
    listed = run(app, ["explain"]).stdout
    assert set() == {rule for rule in rules() if rule not in listed}
    for rule in [*rules()][:: 6 * EXAMPLES - 5]:
        result = run(app, ["explain", rule])

        assert 0 == result.exit_code
        assert rule in result.stdout


def _imported(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(' '.join(sys.modules))"
    done = processes.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=_env()
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def _env() -> dict[str, str]:
    roots = [str(ROOT / name) for name in ("spec", "reference_impl", "conformance", "pipeline")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}


def test_a_command_that_is_mistyped_is_answered_with_the_one_that_is_meant() -> None:
    assert "Did you mean 'check'" in " ".join(run(app, ["chek"]).stderr.split())


@pytest.mark.parametrize("groups", [("",), ("suite", "index", "pm", "spark")])
def test_help_imports_no_heavy_library(groups: tuple[str, ...]) -> None:
    code = (
        "from pqassay.cli.main import app\nfrom typer.testing import CliRunner\n"
        f"for group in {groups}:\n"
        "    assert CliRunner().invoke(app, [*group.split(), '--help']).exit_code == 0"
    )

    of_typer = set[str]() if groups == ("",) else {"pydantic"}  # which it loads for the words before --help
    heavy = {"pydantic", "construct", "numpy", "pyarrow", "sqlglot", "xxhash"}
    assert not heavy & _imported(code) - of_typer


def test_the_core_runs_on_the_standard_library_and_construct() -> None:
    tiers = ("footer", "index")
    code = (
        f"import pqassay\nassert [0, 0] == [pqassay.check({BAD!r}, tier=tier).exit_code for tier in {tiers}]"
    )
    imported = _imported(code)

    assert "construct" in imported
    assert not {"pydantic", "numpy", "pyarrow", "rich", "typer"} & imported


def test_a_pipe_may_close_early(bad: Path) -> None:
    with processes.started(
        [sys.executable, "-m", "pqassay", "dump", str(bad)],
        stdout=processes.PIPE,
        stderr=processes.PIPE,
        env=_env(),
    ) as dump:
        assert dump.stdout is not None
        dump.stdout.close()
        assert b"" == processes.ended(dump)[1]
