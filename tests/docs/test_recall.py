"""The page on recall is what was measured, what was measured is still so, and nothing is missed without a reason."""

from __future__ import annotations

import pytest
import recall
import recall_inside
import recall_kinds as kinds
import table_recall
import table_recall_facts as facts
from recall_answers import (
    OF_FILES,
    OF_TABLES,
    UNSEEN,
    Answer,
    Kept,
    Kind,
    for_nothing,
    reason_of,
    several,
    share_of_several,
    weakest,
    without_reason,
)

from damage import EXAMPLES

pytestmark = pytest.mark.slow

FOUND, TABLES = OF_FILES.answers, OF_TABLES.answers

SAMPLED = 40 if EXAMPLES == 1 else 3
"""Kinds in the files of one writer that are measured again: 40 by `make damages`."""


def test_what_is_not_found_has_a_reason() -> None:
    assert [] == without_reason(FOUND, OF_FILES.reasons)


@pytest.mark.parametrize("kept", [OF_FILES, OF_TABLES], ids=lambda kept: kept.name)
def test_every_reason_is_needed(kept: Kept) -> None:
    assert [] == for_nothing(kept.answers, kept.reasons)


def test_every_reason_is_a_sentence() -> None:
    given = [one for kept in (OF_FILES, OF_TABLES) for one in (*kept.reasons, *kept.reasons_of_several)]

    assert [] == [one for one in given if not one.reason.endswith(".")]


MOST_SEVERAL = 0.03
"""Share of the kinds that FAIL that may be more than one finding."""


@pytest.mark.parametrize("kept", [OF_FILES, OF_TABLES], ids=lambda kept: kept.name)
def test_one_change_is_one_finding_or_there_is_a_reason(kept: Kept) -> None:
    kinds, given = several(kept.answers), kept.reasons_of_several

    assert [] == [kind for kind in kinds if reason_of(kind, given) is None]
    assert [] == [one for one in given if not any(one.fits(kind) for kind in kinds)]
    assert share_of_several(kept.answers) <= MOST_SEVERAL


@pytest.mark.parametrize("case", ["interop/polars-2.1.0/nested", "interop/spark-4.3.0/pages-v2"])
def test_a_file_whose_pages_are_not_compressed_any_more_has_nothing_false(case: str) -> None:
    base = kinds.Base(case, "parquet")

    assert {} == recall.judged(recall_inside.plain(base), base).failing


def test_every_field_of_every_structure_has_a_false_value() -> None:
    assert set(kinds.FIELDS) <= {kinds.without_indexes(kind.field) for kind in FOUND}


def test_a_kind_without_a_reason_is_told() -> None:
    kind = Kind("footer.nothing", "removed")

    assert [kind] == without_reason({kind: {"pyarrow": Answer(UNSEEN, [])}}, OF_FILES.reasons)
    assert [] == without_reason({kind: {"pyarrow": Answer("FAIL", ["PQF-001"])}}, OF_FILES.reasons)


def test_what_was_measured_is_measured_again() -> None:
    stored = [(kind, writer) for kind, writers in FOUND.items() for writer in writers]
    step = len(stored) // SAMPLED
    sites = {writer: recall.sites_of(writer) for writer in kinds.CASES}
    for kind, writer in stored[::step]:
        measured = recall.weakest(sites[writer][kind])

        assert FOUND[kind][writer] == measured, (kind, writer, "`make recall` measures again")


@pytest.mark.parametrize(
    ("field", "change", "answer"),
    [
        ("footer.row_groups.columns.meta_data.statistics.null_count", "one more", "FAIL"),
        ("footer.num_rows", "one more", "FAIL"),
        ("row_groups.columns.offset_index.page_locations.offset", "one more", "FAIL"),
        ("tail.magic", "changed", "FAIL"),
        ("inside pages, v1: indexes", "value beyond the width", "FAIL"),
        ("inside pages, v1: definition levels", "run of no values", "FAIL"),
        ("inside pages, v1: definition levels", "run cut short", "FAIL"),
        ("inside pages, v1: GZIP", "zlib", "FAIL"),
        ("inside pages, v2: differences", "first value beyond the type", "FAIL"),
        ("footer.schema.logicalType.STRING", "another member beside it", "FAIL"),
        ("footer.schema.logicalType.STRING", "undefined member", "WARN"),
    ],
)
def test_what_is_grave_is_found_in_the_files_of_every_writer(field: str, change: str, answer: str) -> None:
    assert {answer} == {answer.name for answer in FOUND[Kind(field, change)].values()}


# ------------------------------------------------------------------------------------------------------------- tables

MEASURED_AGAIN = 24 if EXAMPLES == 1 else 2
"""Kinds in the tables of one writer that are measured again: 24 by `make damages`."""


def test_what_is_not_found_in_tables_has_a_reason() -> None:
    assert [] == without_reason(TABLES, OF_TABLES.reasons)


def test_every_good_table_has_false_facts() -> None:
    assert [] == [table for table in facts.TABLES if not facts.files_of(table)]
    assert set(facts.WRITERS) == {writer for writers in TABLES.values() for writer in writers}


def test_what_was_measured_of_tables_is_measured_again() -> None:
    stored = [
        (kind, writer) for kind, writers in TABLES.items() for writer in writers if "pqassay-ref" in writer
    ]
    asked = dict.fromkeys(stored[:: len(stored) // MEASURED_AGAIN])
    of_kinds = {kind for kind, _ in asked}
    mine = [
        fact for table in facts.TABLES if "interop" not in table for fact in facts.facts_of(table, of_kinds)
    ]
    for kind, writer in asked:
        given = [one for one in mine if one.kind == kind and facts.writer_of(one.table) == writer]
        answers = [one for one in map(table_recall.answer, given) if one is not None]

        assert TABLES[kind][writer] == weakest(answers), (
            kind,
            "`python tools/table_recall.py` measures again",
        )


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("manifest: data_file.upper_bounds[].value", "less"),
        ("manifest: data_file.lower_bounds[].value", "more"),
        ("manifest: data_file.record_count", "one less"),
        ("metadata: partition-specs[].fields[].field-id", "one more"),
        ("commit: add.stats.maxValues.id", "one less"),
        ("commit: add.stats.numRecords", "one more"),
    ],
)
def test_what_is_grave_is_found_in_the_tables_of_every_writer(field: str, change: str) -> None:
    assert {"FAIL"} == {answer.name for answer in TABLES[Kind(field, change)].values()}
