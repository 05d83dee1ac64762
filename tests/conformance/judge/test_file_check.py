"""The check of one file: what is asked of it, which bytes are looked at, and how many places are shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import pqassay
from idx1_files import Idx1File, edited, parquet, table
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.judge.file_check import Selection, check_source
from pqassay.under_test.file import Options
from pqassay.values.decoding import physical
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.thrift import KeyValue

PLAIN = parquet(table())


GOOD = Idx1File().build()


def rules_of(target: Any, **options: Any) -> set[str]:
    return {finding.rule for finding in pqassay.check(target, **options).files[0].findings}


@pytest.mark.parametrize(
    "make",
    [
        lambda: edited(PLAIN, lambda m: setattr(m, "key_value_metadata", [KeyValue(key="k")] * 20_000)),
        lambda: Idx1File(payload="\n".join(f"{i:06}" for i in range(60_000)).encode()).build(),
        lambda: Idx1File(payload=b"\n" * 500_000).build(),
        lambda: (
            b"PAR1" + parquet(pa.table({f"c{i}": [1] * 40 for i in range(50)}), row_group_size=1)[-200_000:]
        ),
    ],
    ids=["equal keys", "phantom values", "equal values", "lost body"],
)
def test_many_violations_are_counted_not_piled_up(make: Callable[[], bytes]) -> None:
    report = pqassay.check(
        make(), tier="values"
    )  # each took minutes once: every place was looked up on its own

    assert report.files[0].findings
    assert all(len(finding.at) <= 3 for finding in report.files[0].findings)


def test_counts_are_complete_though_few_places_are_shown() -> None:
    file = Idx1File(data=parquet(table(["a"])), payload=b"a\nb\nc\nd\ne\nb\nc\nd\ne").build()
    counts = {
        finding.rule: (finding.count, len(finding.at)) for finding in pqassay.check(file).files[0].findings
    }

    assert {"IDX1-011": (4, 3)} == counts


def test_memory_that_is_missing_leaves_the_file_unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("pqassay_spec.idx1.blob.exact_values", no_memory)
    report = pqassay.check(GOOD, tier="index")

    assert ("errored", "there is not enough memory for it") == (
        report.files[0].outcome,
        report.files[0].error,
    )


@pytest.mark.parametrize(
    "options", [{"tier": "bogus"}, {"level": "bogus"}, {"only": ["bogus"]}, {"skip": ["bogus"]}]
)
def test_options_that_do_not_exist_are_usage_errors(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        pqassay.check(GOOD, **options)
    with pytest.raises(UsageError):
        pqassay.check("a\0b")


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_bytes_can_be_checked(kind: Callable[[bytes], Any]) -> None:
    assert set() == rules_of(kind(GOOD))


@pytest.mark.parametrize("name", ["~/f.parquet", "file:f.parquet", "s3:f.parquet"])
def test_the_values_are_those_of_the_named_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    for folder in (home, tmp_path / "~"):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    (home / "f.parquet").write_bytes(GOOD)
    Path(name).write_bytes(Idx1File(payload=b"stranger").build())
    with FileSource(name) as source:
        report, _ = check_source(source, Options("values"), Selection(), "must")

    assert (["IDX1-016"], None) == ([finding.rule for finding in report.findings], report.error)


@pytest.mark.parametrize("listing", [physical.OPEN_FILES, "/nowhere/{}"], ids=["native", "read by us"])
def test_a_file_that_is_replaced_meanwhile_is_judged_as_one(
    listing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(physical, "OPEN_FILES", listing)
    path, other = tmp_path / "f.parquet", tmp_path / "other"
    path.write_bytes(GOOD)
    other.write_bytes(Idx1File(payload=b"stranger").build())
    with FileSource(path) as source:
        other.replace(path)
        report, _ = check_source(source, Options("values"), Selection(), "must")

    assert ("conformant", []) == (report.outcome, report.findings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"only": ["IDX1-016"], "tier": "index"},
            "no rule is left to test at tier index: IDX1-016 needs tier values",
        ),
        (
            {"only": ["IDX1-01[1-6]", "IDX1-030"], "tier": "footer"},
            "no rule is left to test at tier footer: IDX1-011 and 6 others need tier index or values",
        ),
        ({"skip": ["*"]}, "no rule is left to test: all are skipped"),
        ({"only": ["PQF-001"], "skip": ["PQF-*"]}, "no rule is left to test: all are skipped"),
    ],
)
def test_a_check_that_tests_nothing_is_a_usage_error(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(GOOD)
    with pytest.raises(UsageError) as caught:
        pqassay.check(path, **options)
    names = {"only": "--rule", "skip": "--skip-rule"}
    arguments = [f"{names[key]}={text}" for key in names for text in options.get(key, ())]
    done = CliRunner().invoke(app, ["check", str(path), "--tier", options.get("tier", "values"), *arguments])

    assert message == str(caught.value)
    assert (2, f"error: {message}\n") == (done.exit_code, done.stderr)
