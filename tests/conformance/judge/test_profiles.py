"""Profiles make verdicts stronger; known defects of writers are explained, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from typer.testing import CliRunner

import pqassay
from idx1_files import edited
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.explain import explain
from pqassay.judge.options import ProfileName
from pqassay.report import model
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.rules.catalogue import VERDICTS, rules
from pqassay_spec.rules.profiles import NAMES, profile, profiles

GOOD = TinyParquet((Column("a", "int32", [1, 2]),), keys=(("k", "v"),)).build()


def broken(metadata: FileMetaData) -> None:
    """A key without value, and a sum that is not right."""
    assert metadata.key_value_metadata is not None
    metadata.key_value_metadata[0].value = None
    metadata.row_groups[0].total_byte_size = 1


def displaced(metadata: FileMetaData) -> None:
    metadata.row_groups[0].file_offset = 9


def of_old_spark(metadata: FileMetaData) -> None:
    displaced(metadata)
    metadata.created_by = "parquet-mr version 1.12.0 (build abc)"


BROKEN = edited(GOOD, broken)


def verdicts(name: ProfileName | None) -> dict[str, str]:
    (file,) = pqassay.check(BROKEN, tier="index", profile=name).files
    return {finding.rule: finding.verdict for finding in file.findings}


def test_the_names_are_the_same_everywhere() -> None:
    assert list(NAMES) == list(profiles()) == list(get_args(ProfileName))


def test_every_promotion_makes_a_rule_stronger_and_says_why() -> None:
    for found in profiles().values():
        for promotion in found.promotions:
            assert promotion.reason
            assert any(promotion.promotes(rule) for rule in rules().values()), promotion
        for rule in rules().values():
            assert VERDICTS.index(found.verdict_of(rule)) <= VERDICTS.index(rule.verdict)


def test_a_profile_changes_verdicts_and_the_outcome() -> None:
    assert {"PQF-010": "WARN", "PQF-019": "WARN"} == verdicts(None)
    assert {"PQF-010": "FAIL", "PQF-019": "WARN"} == verdicts("spark")
    assert {"PQF-010": "FAIL", "PQF-019": "FAIL"} == verdicts("strict")
    assert "conformant" == pqassay.check(BROKEN, tier="index").files[0].outcome
    assert "untrue" == pqassay.check(BROKEN, tier="index", profile="spark").files[0].outcome


def test_strict_leaves_information_alone() -> None:
    weaker = {rule.verdict for rule in rules().values() if profile("strict").promotion_of(rule) is not None}

    assert {"WARN", "POLICY"} == weaker


def test_no_such_profile() -> None:
    with pytest.raises(UsageError, match="there is no profile 'hive'; profiles are strict, spark"):
        pqassay.check(BROKEN, profile="hive")  # type: ignore[arg-type]  # on purpose


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    path.write_bytes(BROKEN)
    return path


def run(*arguments: Any) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", "--tier", "index", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_command_line_takes_a_profile_and_the_report_names_it(path: Path) -> None:
    assert 0 == run("--config", "none", path)[0]
    code, output = run("--config", "none", "--profile", "spark", path)

    assert 1 == code
    assert "profile spark: some rules have a higher severity" in output.splitlines()
    assert 2 == run("--profile", "hive", path)[0]


def test_a_file_of_defaults_takes_a_profile(path: Path) -> None:
    config = path.with_name("pqassay.toml")
    config.write_text('[check]\nprofile = "spark"\n')
    code, output = run("--config", config, "--format", "json", path)

    assert 1 == code
    assert "spark" == json.loads(output)["profile"]
    config.write_text('[check]\nprofile = "hive"\n')
    assert "profile is one of strict, spark, arrow, questdb" in run("--config", config, path)[1]


def test_a_known_defect_is_explained_and_changes_nothing(tmp_path: Path) -> None:
    unknown, known = (
        pqassay.check(edited(GOOD, change), tier="index") for change in (displaced, of_old_spark)
    )
    (one,), (other,) = unknown.files[0].findings, known.files[0].findings
    path = tmp_path / "old.parquet"
    path.write_bytes(edited(GOOD, of_old_spark))

    assert one.explanation is None
    assert other.explanation is not None
    assert other.explanation.startswith("known defect of parquet-mr, fixed in 1.12.1: file_offset")
    assert ("PQF-021", "WARN") == (one.rule, one.verdict) == (other.rule, other.verdict)
    assert f"    known     {other.explanation}" in run(path)[1].splitlines()


def test_a_report_with_profile_notes_and_explanation_fits_its_schema() -> None:
    found = pqassay.check(edited(GOOD, of_old_spark), tier="index", profile="spark")
    record = json.loads(found.to_json())

    jsonschema.validate(record, model.json_schema())
    assert {"profile": "spark"}.items() <= record.items()
    assert "explanation" in record["files"][0]["findings"][0]


def test_a_rule_is_explained_with_profiles_and_defects() -> None:
    text = "\n".join(explain("PQF-010"))

    assert "for spark   FAIL: Spark's vectorized reader fails on the whole file" in text
    assert "known defect of parquet-mr, fixed in 1.12.1" in "\n".join(explain("PQF-021"))
