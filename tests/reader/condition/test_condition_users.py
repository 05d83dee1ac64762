"""Whatever leaves out rows keeps those that satisfy a condition: scan, prune, distinct sets, answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from drawn_conditions import KINDS, Drawn, drawn, examples, written
from pqassay_reader import scan
from pqassay_reader.answer.answerer import Answerer
from pqassay_reader.answer.question import parse_question
from pqassay_reader.condition.rows import expression_of
from pqassay_reader.lake.indexed_dataset import open_indexed
from pqassay_reader.query.rungs import Rung
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_spec.directory.codes import Granularity, IndexType

STORED: list[Any] = [kind for kind in KINDS if kind not in (pa.timestamp("s"), pa.string_view(), pa.date64())]
"""Types whose values files keep, and of which Arrow filters columns."""


def stored(folder: Path, case: Drawn) -> Path:
    """A file of small row groups, with everything that leaves out rows."""
    path = folder / "drawn.parquet"
    table = case.table.append_column("n", pa.array(range(len(case.table))))
    hashed = [name for name, kind in case.kinds.items() if kind != pa.bool_()]
    pq.write_table(
        table,
        path,
        row_group_size=6,
        max_rows_per_page=2,
        write_batch_size=1,
        write_page_index=True,
        bloom_filter_options={name: {"ndv": 50, "fpp": 0.01} for name in hashed} or None,
        store_decimal_as_integer=True,
    )
    requests: list[Request] = []
    for name, kind in case.kinds.items():
        places = [Granularity.ROW_GROUP, *([Granularity.PAGE] if name == "x" else [])]
        requests += [Request(IndexType.DISTINCT_SET, ((name,),), place) for place in places]
        if pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64()):
            requests += [
                Request(each, ((name,),), Granularity.ROW_GROUP)
                for each in (IndexType.KLL, IndexType.ZONE_SUMS)
            ]
    add_indexes(path, requests)
    return path


@pytest.mark.filterwarnings("ignore::pqassay_reader.lake.indexed_dataset.IndexWarning")
@given(case=drawn(STORED, rows=24, trees=5, strangers=False))
@settings(max_examples=examples(5, 2_000), deadline=None)
def test_no_user_loses_a_row(case: Drawn, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = stored(tmp_path_factory.mktemp("x"), case)
    dataset, lake = open_indexed(path), Answerer.open(path)
    count = parse_question("SELECT COUNT(*) AS n FROM t")
    for drawn_tree in case.trees:
        tree = written(drawn_tree)
        expected = [row for row, each in enumerate(case.truths(drawn_tree) or []) if each]

        by_sets = scan(path, tree, ["n"], without=[Rung.ROW_GROUPS, Rung.PAGES])
        assert expected == scan(path, tree, ["n"]).to_table().column("n").to_pylist(), (drawn_tree, case)
        assert expected == by_sets.to_table().column("n").to_pylist(), (drawn_tree, case)
        kept = dataset.prune(expression_of(tree, dataset.schema))
        assert not expected or kept.kept, (drawn_tree, case)
        left = kept.row_groups.get(str(path))
        assert left is None or {row // 6 for row in expected} <= set(left.kept)
        (answer,) = lake.ask(replace(count, predicate=tree)).table.to_pylist()
        assert len(expected) == answer["n"], (drawn_tree, case)
