"""A gate that is pinned to a release: which findings fail, what becomes of gaps and baselines, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.judge.baseline import Baseline
from pqassay.report.model import Gap, Report
from pqassay.report.pin import Pin, pinned, release_number
from pqassay.report.reading import parse
from pqassay_spec import __version__
from pqassay_spec.rules.catalogue import RELEASES, file_rules, minor_release

BROKEN = str(GOLDEN_FILES / "dlt/bounds-inverted/table")
RULE = "DLT-012"
"""What is broken there, a rule of 0.7."""

CHECKED: Report = pqassay.check(BROKEN, tier="meta", only=[RULE])


def checked(**options: object) -> Report:
    return pqassay.check(BROKEN, tier="meta", only=[RULE], **options)  # type: ignore[arg-type]  # options of a check


def run(*options: str) -> Any:
    return CliRunner().invoke(app, ["check", BROKEN, "--tier", "meta", "--rule", RULE, *options])


def test_every_release_of_a_rule_is_known_and_none_is_missing() -> None:
    assert sorted(RELEASES, key=release_number) == list(RELEASES)
    assert set() == {rule.release for rule in file_rules().values()} - set(RELEASES)
    assert {minor_release(__version__)} <= set(RELEASES)


@given(st.sampled_from(RELEASES), st.lists(st.sampled_from(sorted(file_rules())), max_size=9))
def test_the_rules_of_a_release_fail_and_later_ones_do_not(release: str, broken: list[str]) -> None:
    (finding,) = CHECKED.files[0].findings
    findings = [replace(finding, rule=rule) for rule in broken]
    file = replace(CHECKED.files[0], findings=findings)
    report = replace(CHECKED, files=[file], pin=pinned(release, findings))
    later = [rule for rule in broken if release_number(file_rules()[rule].release) > release_number(release)]

    assert later == [one.rule for one in findings if report.is_not_failing(one)]
    assert int(len(later) < len(broken)) == report.exit_code
    assert bool(later) == report.not_failing.startswith(f"NOT FAILING: {len(later)} FAIL by rules since ")


def test_a_later_release_than_the_first_one_is_named_by_what_was_found() -> None:
    (finding,) = CHECKED.files[0].findings
    milder = replace(finding, rule="X-002", verdict="WARN")
    line = Pin("0.7", {RULE: "0.10", "X-002": "0.8"}).line([finding, finding, milder])

    assert 'NOT FAILING: 2 FAIL, 1 WARN by rules since 0.8 (rules = "0.7")' == line


def test_what_does_not_fail_anyway_is_not_counted() -> None:
    assert ["", ""] == [
        checked(rules="0.6", fail_on=["cosmetic"]).not_failing,
        checked(rules="0.7").not_failing,
    ]


@pytest.mark.parametrize("release", ["0.8", "0.7.0", "1", "", "newest"])
def test_a_release_that_there_is_not_is_refused_with_those_that_there_are(release: str) -> None:
    with pytest.raises(UsageError, match=f"known are {', '.join(RELEASES)}"):
        checked(rules=release)
    done = run("--rules", release)

    assert 2 == done.exit_code
    assert f"has no rules of a release '{release}'; known are 0.1, " in done.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rules = 0.6", 'rules wants a release in quotes, one of "0.1", "0.2", '),
        ('rules = "0.8"', "not '0.8'"),
        ("preview = true", "preview: previews no longer exist: every rule fails a check. Remove it; "),
        ("preview = false", f'without failing the check, write rules = "{RELEASES[-2]}"'),
    ],
)
def test_a_file_of_defaults_says_what_to_write(line: str, words: str, tmp_path: Path) -> None:
    defaults = tmp_path / "pqassay.toml"
    defaults.write_text(f"[check]\n{line}\n")
    done = run("--config", str(defaults))

    assert 2 == done.exit_code
    assert words in done.stderr


@pytest.mark.parametrize("option", ["--preview", "--no-preview"])
def test_the_old_option_says_what_to_write(option: str) -> None:
    done = run(option)

    assert 2 == done.exit_code
    assert "previews no longer exist: every rule fails a check. Remove it; " in done.stderr
    assert done.stderr.endswith(f"write --rules {RELEASES[-2]}\n")
    assert "preview" not in CliRunner().invoke(app, ["check", "--help"]).stdout
    with pytest.raises(TypeError, match=f"write rules='{RELEASES[-2]}'"):
        checked(preview=True)


def test_the_command_line_wins_over_the_file_of_defaults(tmp_path: Path) -> None:
    defaults = tmp_path / "pqassay.toml"
    defaults.write_text('[check]\nrules = "0.6"\n')

    assert [0, 1] == [
        run("--config", str(defaults), *options).exit_code for options in ([], ["--rules", "0.7"])
    ]


def test_a_report_that_was_read_again_fails_as_the_one_that_was_written() -> None:
    report = checked(rules="0.6")

    assert report == parse(report.to_json().encode(), "report.json")
    assert {"rules": "0.6", "later": {RULE: "0.7"}} == json.loads(report.to_json())["pin"]


def test_a_later_rule_hides_no_gap() -> None:
    report = checked(rules="0.6", complete=True)
    gap = Gap("key", "pqassay has no keys", [], ["id"], 3)
    partly = replace(report, files=[replace(report.files[0], gaps=[gap])])

    assert [0, 4, 1] == [report.exit_code, partly.exit_code, replace(partly, pin=None).exit_code]


def test_a_baseline_that_was_written_with_a_pin_leaves_later_rules_to_the_next_pin(tmp_path: Path) -> None:
    known = str(tmp_path / "known.json")
    written = run("--rules", "0.6", "--write-baseline", known)
    codes = [run("--baseline", known, *pin).exit_code for pin in ([], ["--rules", "0.6"])]

    assert (0, [1, 0]) == (written.exit_code, codes)
    assert {} == Baseline.read(known).entries
    # What was known before stays known.
    run("--write-baseline", known)
    again = run("--rules", "0.6", "--baseline", known, "--write-baseline", known)
    assert (0, "NOT FAILING" in again.stdout) == (run("--baseline", known).exit_code, False)


def test_a_baseline_names_the_release_that_wrote_it_and_counts_what_later_rules_find(tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    run("--rules", "0.6", "--write-baseline", str(known))
    content = json.loads(known.read_text())
    lines: dict[str, str] = {}
    for release in ("0.7", "0.6", "77.1"):
        known.write_text(json.dumps(content | {"rules": release}))
        told = run("--baseline", str(known)).stdout.splitlines()
        lines[release] = next(line for line in told if line.startswith("baseline ")).partition("0 stale")[2]

    assert RELEASES[-1] == content["rules"]
    # The rules of a newer release are not known here.
    assert {
        "0.7": "",
        "0.6": ", 1 by rules newer than pqassay 0.6, which wrote the baseline",
        "77.1": "",
    } == lines
