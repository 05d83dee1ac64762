"""The guide pages ``findings-*.md``: their programs still show the defects of which they tell, with the versions that they name."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from finding_programs import GUIDES, READERS, SPARK, WRITERS, Demonstration, Finding, Workshop, findings
from run_findings import lacking

from places import GOLDEN_FILES, ROOT
from pqassay.report.run.outcomes import SEVERITIES, WRITER_SEVERITIES
from pqassay_spec.rules.catalogue import rules

OVERVIEW = GUIDES / "findings.md"
LISTED = {page: findings(page) for page in (READERS, WRITERS)}
SHOWN = [
    pytest.param(
        shown, id=f"{one.anchor}-{number}", marks=[pytest.mark.spark] if SPARK in shown.needs else []
    )
    for listed in LISTED.values()
    for one in listed
    for number, shown in enumerate(one.demonstrations)
]

NAMES = {
    "deltalake": "deltalake",
    "pyarrow": "pyarrow",
    "DuckDB": "duckdb",
    "Polars": "polars",
    "DataFusion": "datafusion",
    "fastparquet": "fastparquet",
    "Spark": "pyspark",
}
"""What the pages call a distribution."""

PINNED = {
    "arrow-go": ("arrow-go/go.mod", r"github\.com/apache/arrow-go/v18 v(\S+)"),
    "parquet-go": ("parquet-go/go.mod", r"github\.com/parquet-go/parquet-go v(\S+)"),
    "parquet-rs": ("parquet-rs/Cargo.toml", r'^parquet = "=([\d.]+)"'),
    "parquet-java": (
        "skeletons/java/pom.xml",
        r"<artifactId>parquet-hadoop</artifactId>\s*<version>([\d.]+)",
    ),
    "hardwood": ("hardwood/pom.xml", r"<artifactId>hardwood-core</artifactId>\s*<version>([\d.]+)\.Final"),
    "hyparquet": ("hyparquet/package.json", r'"hyparquet": "([\d.]+)"'),
    "hyparquet-writer": ("hyparquet-writer/package.json", r'"hyparquet-writer": "([\d.]+)"'),
    "Iceberg": ("../../tools/spark_tables.py", r'^ICEBERG = "([\d.]+)"'),
}
"""Where the driver of a library says which version it uses."""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Generator[Workshop]:
    folder = tmp_path_factory.mktemp("findings")
    with Workshop(folder, lambda: request.getfixturevalue("spark")) as started:
        yield started


@pytest.mark.parametrize("shown", SHOWN)
def test_a_defect_is_still_there(
    shown: Demonstration, workshop: Workshop, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if names := lacking(shown):
        pytest.skip(f"{', '.join(names)} is not built (make drivers)")
    if SPARK in shown.needs:
        request.getfixturevalue("spark")
    (tmp_path / "golden_files").symlink_to(GOLDEN_FILES)

    assert shown.printed == workshop.printed(shown, tmp_path)


@pytest.mark.parametrize(
    ("page", "words"),
    [(READERS, SEVERITIES), (WRITERS, SEVERITIES | WRITER_SEVERITIES)],
    ids=["readers", "writers"],
)
def test_the_gravest_come_first_and_are_called_as_in_results(page: Path, words: dict[int, str]) -> None:
    listed = LISTED[page]

    assert sorted(one.severity for one in listed) == [one.severity for one in listed]
    assert [words[one.severity] for one in listed] == [one.observed for one in listed]


def named(one: Finding) -> list[str]:
    return re.findall(r"\[([A-Z0-9]+-\d+)\]", one.rules)


def test_every_finding_has_a_program_and_names_rules_that_exist() -> None:
    every = [one for listed in LISTED.values() for one in listed]

    assert [] == [one.title for one in every if not one.demonstrations or not named(one)]
    assert [] == [(one.title, rule) for one in every for rule in named(one) if rule not in rules()]


def test_a_finding_of_a_reader_names_a_rule_for_readers() -> None:
    assert [] == [
        one.title for one in LISTED[READERS] if not any(rules()[rule].role == "reader" for rule in named(one))
    ]


def pinned(name: str) -> str:
    path, pattern = PINNED[name]
    (version,) = re.findall(
        pattern, (ROOT / "conformance" / "implementations" / path).read_text("utf-8"), re.MULTILINE
    )
    return str(version)


def test_the_pages_name_the_versions_that_run_here() -> None:
    versions = {name: importlib.metadata.version(distribution) for name, distribution in NAMES.items()}
    versions |= {name: pinned(name) for name in PINNED}
    text = "".join(page.read_text("utf-8") for page in (OVERVIEW, READERS, WRITERS))
    told = set(re.findall(rf"\b({'|'.join(versions)}) (\d+\.\d+\.\d+)", text))

    assert versions.keys() == {name for name, _ in told}
    assert {("Spark", "4.1.3"), ("Spark", "4.1.4"), ("parquet-java", "1.17.0"), *versions.items()} == told
    assert set() == {
        name
        for listed in LISTED.values()
        for one in listed
        for name in one.software
        if tuple(name.split(" ")) not in told
    }
