"""The option --crc: pages are read for their CRC at a tier that would not read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

import pqassay
from pqassay.cli.main import app
from pqassay.cli.main import spark as spark_app
from pqassay.errors import UsageError
from pqassay_golden.tiny.parquet import Column, TinyParquet
from pqassay_spec.mutation.mutations import Mutation, mutate

GOOD = TinyParquet((Column("year", "int64", [1958, None]),)).build()
BAD = mutate(GOOD, Mutation("add", "row_groups[0].columns[0].pages[0].header.crc", 1))

run = CliRunner().invoke


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files, of which the second has a wrong CRC."""
    (tmp_path / "a.parquet").write_bytes(GOOD)
    (tmp_path / "b.parquet").write_bytes(BAD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(*arguments: str) -> Any:
    result = run(app, ["check", "--format", "json", *arguments])
    assert "" == result.stderr
    return json.loads(result.stdout)


def rules(found: Any) -> list[str]:
    return [finding["rule"] for file in found["files"] for finding in file["findings"]]


def tiers(found: Any) -> set[str]:
    return {coverage["tier"] for coverage in found["coverages"].values()}


def test_it_finds_a_wrong_crc_at_the_tier_of_pages(folder: Path) -> None:
    assert [] == rules(report("--tier", "pages", str(folder)))
    assert ["PQF-063"] == rules(report("--tier", "pages", "--crc", str(folder)))


def test_it_makes_pages_the_default_tier_of_many_files(folder: Path) -> None:
    assert {"index"} == tiers(report(str(folder)))
    assert {"pages"} == tiers(report("--crc", str(folder)))
    assert {"values"} == tiers(report("--crc", str(folder / "b.parquet")))


def test_a_tier_without_pages_has_no_crc_to_check(folder: Path) -> None:
    result = run(app, ["check", "--tier", "index", "--crc", str(folder)])

    assert 2 == result.exit_code
    assert "tier index does not read; use tier pages, or --no-crc" in " ".join(result.stderr.split())
    with pytest.raises(UsageError, match="which tier footer does not read"):
        pqassay.check(GOOD, tier="footer", crc=True)


def test_the_rule_alone_is_nothing_to_test_without_it(folder: Path) -> None:
    result = run(app, ["check", "--tier", "pages", "--rule", "PQF-063", str(folder)])

    assert 2 == result.exit_code
    assert "no rule is left to test: a CRC needs --crc or tier values" in " ".join(result.stderr.split())


def test_it_has_a_default_in_the_configuration(folder: Path) -> None:
    (folder / "pqassay.toml").write_text("[check]\ncrc = true\n")

    assert ["PQF-063"] == rules(report("--tier", "pages", "."))
    assert [] == rules(report("--tier", "pages", "--no-crc", "."))

    (folder / "pqassay.toml").write_text('[check]\ncrc = "yes"\n')
    assert "crc wants true or false, not 'yes'" in run(app, ["check", "."]).stderr


def test_the_check_on_spark_has_it_as_well() -> None:
    command: Any = typer.main.get_command(spark_app)
    names = {
        name for option in command.commands["check"].params for name in (*option.opts, *option.secondary_opts)
    }

    assert {"--crc", "--no-crc"} <= names
