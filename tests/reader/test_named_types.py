"""Readers leave an index of a named type alone, though its payload is a distinct set that denies every row."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from indexed_directories import add_sets, add_sums
from pqassay.cli.main import app
from pqassay_reader.lake.indexed_dataset import IndexWarning, open_indexed
from pqassay_reference.directory import add
from pqassay_spec.directory.codes import Granularity, Placement
from pqassay_spec.directory.distinct_set import DistinctSet, SetFlags, build_sets
from pqassay_spec.parquet.thrift import Type

GROUPS, GROUP = 3, 4
TABLE = pa.table(
    {
        "nation": ["Austria", "Peru", None, "Zambia", *["Austria", "Mali", "Zambia", "Zambia"] * 2],
        "units": pa.array(range(GROUPS * GROUP), pa.int64()),
    }
)
DENIAL = "org.example.denial"


def denying(parts: int) -> bytes:
    """Distinct sets that are complete and list nothing."""
    return build_sets(Type.BYTE_ARRAY, [DistinctSet(SetFlags.COMPLETE, ())] * parts)


def deny(path: Path, placement: Placement) -> None:
    """Attach what denies all rows, with the granularities of true sets."""
    for granularity, parts in ((Granularity.ROW_GROUP, GROUPS), (Granularity.FILE, 1)):
        for columns in (["nation"], ["units"], ["nation", "units"]):
            add(
                path,
                type=DENIAL,
                blob=denying(parts),
                columns=columns,
                granularity=granularity,
                placement=placement,
            )


@pytest.fixture(params=Placement, scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders with one file that has sets and sums; in the folder `denied` the file has indexes of a named type as well."""
    folder = tmp_path_factory.mktemp("named")
    for name in ("plain", "denied"):
        path = folder / name / "part.parquet"
        path.parent.mkdir()
        pq.write_table(TABLE, path, row_group_size=GROUP, compression="none")
        add_sets(path, "nation")
        add_sums(path, [], "units")
    deny(folder / "denied" / "part.parquet", request.param)
    return folder


CONDITIONS = {
    "nation = 'Peru'": [1],
    "nation IN ('Mali', 'Chad')": [5, 9],
    "nation = 'Chad'": [],
    "nation IS NULL": [2],
    "units = 7": [7],
    "units < 2 AND nation <> 'Peru'": [0],
}


def printed(*command: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, command)
    return done.exit_code, done.stdout


def test_scans_and_lists_of_files_are_the_same(folder: Path) -> None:
    for condition, units in CONDITIONS.items():
        lists: list[list[str]] = []
        for name in ("plain", "denied"):
            path = str(folder / name / "part.parquet")
            rows = "".join(f"{unit}\n" for unit in units)
            assert (0, f"units\n{rows}") == printed("scan", path, condition, "--columns", "units")
            lists.append(printed("scan", "--files", str(folder / name), condition)[1].splitlines())
        assert lists[0][:-1] == lists[1][:-1]  # the last line has the bytes of the files


def test_datasets_keep_the_same_row_groups(folder: Path) -> None:
    kept: list[list[list[int]]] = []
    for name in ("plain", "denied"):
        with warnings.catch_warnings():
            warnings.simplefilter("error", IndexWarning)
            dataset: Any = open_indexed(folder / name)
        kept.append(
            [
                [group.id for group in fragment.row_groups]
                for value in ("Peru", "Mali", "Chad")
                for fragment in dataset.get_fragments(pc.field("nation") == value)
                if fragment.path != "<Buffer>"
            ]
        )
        assert [5, 9] == dataset.to_table(filter=pc.field("nation") == "Mali")["units"].to_pylist()
    assert [[[0], [1, 2]]] * 2 == kept


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("SELECT SUM(units), COUNT(*), MAX(units) FROM t", "66,12,11"),
        ("SELECT COUNT(*) FROM t WHERE nation = 'Mali'", "2"),
        ("SELECT MIN(units) FROM t WHERE nation IS NULL", "2"),
    ],
)
def test_answers_are_the_same(folder: Path, sql: str, row: str) -> None:
    answers = [printed("answer", str(folder / name), sql, "--format", "csv") for name in ("plain", "denied")]
    assert [0, 0] == [code for code, _ in answers]
    assert [row] * 2 == [text.splitlines()[1] for _, text in answers]
