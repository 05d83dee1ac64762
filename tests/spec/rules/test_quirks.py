"""Known defects are found by writer and version, and name rules that exist."""

from __future__ import annotations

from each import each
from places import GUIDES
from pqassay_spec.rules import created_by
from pqassay_spec.rules.catalogue import rules
from pqassay_spec.rules.created_by import Writer
from pqassay_spec.rules.quirks import explanation, quirks


@each(
    ("text", "expected"),
    [
        ("parquet-mr version 1.8.0 (build abc)", Writer("parquet-mr", (1, 8, 0), "1.8.0")),
        ("parquet-mr version 1.8.0rc1-cdh5.5 (build )", Writer("parquet-mr", (1, 8, 0), "1.8.0rc1-cdh5.5")),
        ("parquet-cpp-arrow version 26.0.1", Writer("parquet-cpp-arrow", (26, 0, 1), "26.0.1")),
        ("DuckDB version v2.0.0 (build d54cbbe3df)", Writer("DuckDB", (2, 0, 0), "v2.0.0")),
        ("Polars (python) version 2.1.0 (build x)", Writer("Polars (python)", (2, 1, 0), "2.1.0")),
        ("a version nightly", Writer("a", (), "nightly")),
        ("a version " + "1" * 500, Writer("a", (), "1" * 500)),
        *((text, None) for text in ("", "Polars", "version 1.0", "a version ", "a version 1 b", "a" * 5000)),
    ],
)
def test_created_by_is_taken_apart(text: str, expected: Writer | None) -> None:
    assert expected == created_by.parse(text)


def test_every_quirk_names_rules_that_exist_and_versions_that_are_numbers() -> None:
    guide = (GUIDES / "findings-writers.md").read_text()
    for quirk in quirks():
        assert set(quirk.rules) <= set(rules())
        for version in filter(None, (quirk.since, quirk.before)):
            assert version == ".".join(map(str, created_by.numbers(version)))
        is_ours = all(f"[{rule}](" in guide for rule in quirk.rules)
        assert quirk.link.startswith("https://") or quirk.intended or is_ours


@each(
    ("rule", "text", "is_known"),
    [
        ("PQF-021", "parquet-mr version 1.12.0 (build x)", True),
        ("PQF-021", "parquet-mr version 1.11.9 (build x)", False),
        ("PQF-021", "parquet-mr version 1.12.1 (build x)", False),
        ("PQF-021", "parquet-cpp-arrow version 5.0.0", True),
        ("PQF-021", "parquet-cpp-arrow version 6.0.0", False),
        ("PQF-056", "Polars (python) version 1.38.2 (build x)", True),
        ("PQF-056", "Polars (python) version 1.39.0 (build x)", False),
        ("STA-001", "DuckDB version v1.4.2 (build x)", True),
        ("STA-001", "duckdb-something version 1", False),
        ("PQF-001", "parquet-mr version 1.12.0", False),
        ("PQF-021", None, False),
        ("PQF-021", "parquet-mr", False),
    ],
)
def test_a_defect_is_known_of_its_versions_alone(rule: str, text: str | None, is_known: bool) -> None:
    assert is_known == (explanation(rule, text) is not None)
