"""What distinct sets keep: never less than what a full reading finds, on random tables and conditions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from damage import tries
from indexed_directories import add_sets, footer_of
from pqassay_reader.condition.normal import Condition
from pqassay_reader.condition.rows import condition_of, rows_of
from pqassay_reader.condition.text import parse_predicate
from pqassay_reader.directory.arrays import Located, Sets, read_indexes
from pqassay_reader.pages.excluding import EVERY, ColumnSets, FileSets
from pqassay_reference.directory.reading.usable_entries import read_entries
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory.codes import Granularity

GROUP = 4
"""Rows of a row group."""

FIELDS: list[pa.Field[Any]] = [
    pa.field("nation", pa.string()),
    pa.field("carrier", pa.string()),
    pa.field("weight", pa.float64()),
]
CARGO = pa.schema(FIELDS)


def sets_of(path: Path) -> FileSets:
    """The sets of a file."""
    with FileSource(path) as source:
        framing, metadata = footer_of(source)
        found = read_entries(metadata)
        located = [Located(one, source, framing, metadata, found.aside) for one in found.entries]
        columns: dict[str, list[ColumnSets]] = {}
        for one in read_indexes(located):
            assert isinstance(one, Sets)
            columns.setdefault(one.column, []).append(ColumnSets(one, one.column, one.values.type))
        return FileSets(columns, np.zeros(len(metadata.row_groups), np.int64))


def written(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path, row_group_size=GROUP)
    return path


@pytest.fixture
def cargo(tmp_path: Path) -> Path:
    """Nations by row group: Peru and Chad; Peru and null; Fiji."""
    table = pa.table(
        {
            "nation": ["Peru", "Chad", "Peru", "Chad", "Peru", None, "Peru", "Peru", "Fiji"],
            "carrier": ["DHL", "DHL", "DHL", "DHL", "UPS", "UPS", "DHL", "UPS", "UPS"],
            "weight": [0.0, 1.0, 2.0, 3.0, -0.0, math.nan, 7.0, 8.0, math.nan],
        }
    )
    path = written(tmp_path / "cargo.parquet", table)
    for column in ("nation", "carrier", "weight"):
        add_sets(path, column)
    return path


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("nation = 'Chad'", [0]),
        ("nation <> 'Peru'", [0, 2]),
        ("nation NOT IN ('Peru', 'Chad')", [2]),
        ("nation IS NULL", [1]),
        ("NOT nation IS NULL", [0, 1, 2]),
        ("nation > 'F' AND nation < 'G'", [2]),
        ("nation = 'Peru' AND carrier = 'UPS'", [1]),
        ("nation = 'Fiji' OR carrier = 'DHL'", [0, 1, 2]),
        ("nation = 'Fiji' OR carrier = 'FedEx'", [2]),
        ("NOT (nation = 'Peru' OR carrier = 'DHL')", [2]),
        ("(nation = 'Chad' AND carrier = 'UPS') OR (nation = 'Fiji' AND carrier = 'DHL')", []),
        ("weight = 0", [0, 1]),
        ("weight = -0.0", [0, 1]),
        ("weight <> 0", [0, 1, 2]),
        ("weight > 7", [1]),
        ("NOT weight > -1", [1, 2]),
    ],
)
def test_row_groups_are_left_out_by_the_sets_of_all_columns(
    cargo: Path, condition: str, kept: list[int]
) -> None:
    left = sets_of(cargo).row_groups(of_cargo(condition), EVERY)
    assert kept == np.flatnonzero(left).tolist()


def of_cargo(text: str) -> Condition:
    """A condition on the file's columns."""
    return condition_of(parse_predicate(text), CARGO)


def test_an_incomplete_set_excludes_nothing(cargo: Path) -> None:
    add_sets(cargo, "nation", most=1)
    left = sets_of(cargo).row_groups(of_cargo("nation = 'Mali'"), EVERY)
    assert [0] == np.flatnonzero(left).tolist()


def test_row_groups_all_of_whose_rows_satisfy_a_condition(cargo: Path) -> None:
    sets = sets_of(cargo)
    for condition, certain in (
        ("carrier = 'DHL'", [0]),
        ("carrier = 'DHL' OR carrier = 'UPS'", [0, 1, 2]),
        ("nation <> 'Mali'", [0, 2]),
        ("nation <> 'Mali' AND carrier = 'DHL'", [0]),
        ("weight < 9", [0]),
    ):
        found = sets.certain_row_groups(of_cargo(condition))
        assert certain == np.flatnonzero(found).tolist()


NATIONS = [None, "", "Chad", "Fiji", "Peru"]
NUMBERS = [None, -0.0, 0.0, 1.0, 2.5, math.inf, math.nan]
ROW = st.tuples(st.sampled_from(NATIONS), st.sampled_from(NUMBERS), st.integers(0, 3))


def column_tests() -> st.SearchStrategy[Any]:
    """Tests of one column."""
    literals = {
        "n": st.sampled_from(NATIONS[1:]),
        "x": st.sampled_from(NUMBERS[1:-1]),
        "i": st.integers(0, 4),
    }
    return st.one_of(
        *(
            st.one_of(
                st.tuples(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.just(name), literal),
                st.tuples(st.sampled_from(["in", "not in"]), st.just(name), st.lists(literal, max_size=3)),
                st.tuples(st.sampled_from(["is null", "is not null"]), st.just(name)),
            ).map(list)
            for name, literal in literals.items()
        )
    )


CONDITIONS = st.recursive(
    column_tests(),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list), inner.map(lambda one: ["not", one])
    ),
    max_leaves=6,
)


@tries(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROW, min_size=1, max_size=12), tree=CONDITIONS, granularity=st.sampled_from(Granularity))
def test_no_row_is_ever_left_out(
    tmp_path: Path, rows: list[Any], tree: list[Any], granularity: Granularity
) -> None:
    table = pa.table(
        {
            "n": pa.array([row[0] for row in rows], pa.string()),
            "x": pa.array([row[1] for row in rows], pa.float64()),
            "i": pa.array([row[2] for row in rows], pa.int32()),
        }
    )
    path = tmp_path / "any.parquet"
    pq.write_table(
        table, path, row_group_size=GROUP, max_rows_per_page=2, write_batch_size=1, write_page_index=True
    )
    pages = [
        (group + start, min(2, min(GROUP, len(rows) - group) - start))
        for group in range(0, len(rows), GROUP)
        for start in range(0, min(GROUP, len(rows) - group), 2)
    ]
    for column in ("n", "x"):
        add_sets(path, column, granularity, parts=pages if granularity is Granularity.PAGE else None)
    sets = sets_of(path)
    condition = condition_of(tree, table.schema)
    true = rows_of(condition, table)
    kept = sets.row_groups(condition, EVERY)
    certain = sets.certain_row_groups(condition)
    for group in range(len(kept)):
        of_group = true[group * GROUP : (group + 1) * GROUP]
        assert kept[group] or not of_group.any()
        assert of_group.all() or not certain[group]
        left = {row for part in sets.rows(condition, group, len(of_group)) for row in part}
        assert set(np.flatnonzero(of_group).tolist()) <= left
