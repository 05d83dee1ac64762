"""The YAML of Parquet's status page: written, read, and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped] # pqassay does not depend on its stubs
from typer.testing import CliRunner, Result

from pqassay.cli.main import suite as app
from pqassay.errors import UsageError
from pqassay.report.status_table import Aspect, Contradictions, StatusCell, StatusRow, StatusTable, Tick
from pqassay_suite.results.public_status import PublicStatus, differences, read_status

KEPT = Path(__file__).parents[2] / "docs" / "data" / "results"
"""Results that come with the repository."""


def table(*rows: tuple[str, Aspect, Tick]) -> StatusTable:
    """A status of one implementation: of each row two cases passed, or one, or none."""
    passed = {"yes": 2, "partly": 1}
    made: list[StatusRow] = []
    for feature, aspect, tick in rows:
        failing = ["bad"] if tick in ("partly", "no") else []
        cases = ["good", "fine"][: passed.get(tick, 0)]
        cell = StatusCell(
            "made 1.0", tick, len(cases), len(cases) + len(failing), [*cases, *failing], failing
        )
        made.append(StatusRow(feature, "Types", feature, aspect, [cell], []))
    return StatusTable(1, "status", [], ["made 1.0"], made)


def claim(**support: str) -> PublicStatus:
    document = {
        "engine_id": "made",
        "support": {name.replace("_", "-"): {"status": word} for name, word in support.items()},
    }
    return PublicStatus.model_validate(document)


@pytest.mark.parametrize(
    ("aspect", "tick", "word", "cases"),
    [
        ("reads", "yes", "none", ["good", "fine"]),
        ("reads", "yes", "write", ["good", "fine"]),
        ("reads", "partly", "none", ["good"]),
        ("reads", "partly", "full", ["bad"]),
        ("reads", "no", "read", ["bad"]),
        ("writes", "yes", "read", ["good", "fine"]),
        ("writes", "no", "full", ["bad"]),
        ("reads", "yes", "full", None),
        ("reads", "yes", "read", None),
        ("reads", "no", "write", None),
        ("reads", "no", "unknown", None),
        ("writes", "no", "read", None),
        ("reads", "not asked", "none", None),
        ("reads", "not shown", "full", None),
    ],
)
def test_only_what_was_measured_contradicts(
    aspect: Aspect, tick: Tick, word: str, cases: list[str] | None
) -> None:
    found = list(differences(table(("physical-int32", aspect, tick)), claim(physical_int32=word)))

    assert found == ([] if cases is None else [Contradictions("physical-int32", aspect, word, tick, cases)])


def test_a_group_that_is_read_as_stored_contradicts_nothing() -> None:
    assert [] == list(differences(table(("logical-file", "reads", "yes")), claim(logical_file="none")))


def test_what_the_page_does_not_list_is_not_compared() -> None:
    assert [] == list(differences(table(("physical-int32", "reads", "no")), claim(physical_int64="full")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("support: [", "not valid YAML"),
        ("[]", "the document: Input should be a valid dictionary"),
        ("engine_id: x\nsupport: {a: {status: most}}", "support.a.status: Input should be 'full', 'read'"),
        ("support: {}", "engine_id: Field required"),
    ],
)
def test_a_file_of_another_shape_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "made.yaml"
    path.write_text(text)

    with pytest.raises(UsageError) as caught:
        read_status(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def export(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["status", *arguments])


def test_kept_results_as_yaml_are_read_back_and_agree_with_themselves(tmp_path: Path) -> None:
    results, path = str(KEPT / "polars" / "2.1.0.json"), tmp_path / "polars.yaml"

    written = export(results, "--format", "yaml", "--output", str(path))
    document = yaml.safe_load(path.read_text())

    assert (0, "polars", "Polars 2.1.0") == (written.exit_code, document["engine_id"], document["measured"])
    assert {"full", "read", "write", "none", "unknown"} == {
        one["status"] for one in document["support"].values()
    }
    assert document["support"]["logical-interval"] == {
        "status": "unknown",
        "note": "reads: not asked; writes: not asked",
    }
    assert ["pqf/uuid"] == document["support"]["logical-uuid"]["cases"]["reads"]
    partly = {
        name: own for name, own in document["support"].items() if "partly" in own["note"] and "failing" in own
    }
    assert {"physical-int96", "encoding-byte-stream-split-extended"} == partly.keys()
    compared = export(results, "--against", str(path), "--format", "json")
    assert {"encoding-byte-stream-split-extended", "physical-int96"} == {
        one["feature"] for one in json.loads(compared.stdout)["differences"]
    }


def test_each_implementation_is_a_document_of_its_own() -> None:
    files = [str(KEPT / name) for name in ("polars/2.1.0.json", "parquet-rs/60.1.0.json")]
    documents = list(yaml.safe_load_all(export(*files, "--format", "yaml").stdout))

    assert ["polars", "parquet-rs"] == [one["engine_id"] for one in documents]


def test_contradictions_are_listed_with_their_cases_and_end_with_1(tmp_path: Path) -> None:
    path = tmp_path / "page.yaml"
    path.write_text(
        yaml.safe_dump({"engine_id": "polars", "support": {"logical-uuid": {"status": "none"}}}), "utf-8"
    )
    results = str(KEPT / "polars" / "2.1.0.json")
    as_text = export(results, "--against", str(path))
    as_yaml = yaml.safe_load(export(results, "--against", str(path), "--format", "yaml").stdout)

    assert 1 == as_text.exit_code
    assert "| UUID | none | reads: yes | `pqf/uuid` |" in as_text.stdout
    assert [("logical-uuid", "none", "yes", ["pqf/uuid"])] == [
        (one["feature"], one["public"], one["measured"], one["cases"]) for one in as_yaml["differences"]
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "csv"], "--against takes --format markdown, json or yaml"),
        ([str(KEPT / "parquet-rs" / "60.1.0.json")], "--against is about one implementation"),
    ],
)
def test_what_cannot_be_compared_is_a_usage_error(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = export(str(KEPT / "polars" / "2.1.0.json"), "--against", str(tmp_path / "no.yaml"), *arguments)

    assert 2 == result.exit_code
    assert message in result.stderr
