"""The judge has nothing to say against tables as deltalake, pyiceberg and Polars write them, but for what they are known to get wrong.

The values are those at the edges of their types, and at the places where writers cut texts.  Tables that Spark wrote are golden
(``golden_files/interop``), since they need Java and the jars of the formats.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import deltalake
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyiceberg.transforms as by
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.schema import PrimitiveType
from pyiceberg.types import DecimalType, DoubleType, LongType

import pqassay
from damage import EXAMPLES
from edge_tables import BYTES, COMMON, DAYS, DOUBLES, FLOATS, MAPS, TEXTS, Kind, decimals, integers, moments
from folder_catalog import FolderCatalog
from places import GOLDEN_FILES
from verdicts import serious

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning")

CUTS = [
    *("z" * 16, "z" * 17, "z" * 31 + "é", "z" * 32, "z" * 33, "é" * 17, "é" * 33, "y" * 15 + "\ue000" * 3),
    *("x" * 15 + "\uffff" * 2, "x" * 15 + "\U0010ffff" * 2, "\U0010ffff" * 33, "w" * 31 + "\U0001f600" * 2),
    *("w" * 31 + "\ufffd\U0001f600", "東京" * 9, " a b ", 'a"b\\c', "\ufeffa", "a/b%20c"),
]
SURROGATE = [text for text in TEXTS if "\ud7ff" not in text]
"""Texts without U+D7FF: pyiceberg fails where a bound would end with the character after it."""

PATHS = [text for text in (*CUTS, "", "a", "Zürich", " ", "é", "+", "#", "?", "=", "..") if len(text) < 18]
"""Texts that fit into names of folders."""

FLAT: dict[str, Kind] = {
    "int": Kind(pa.int32(), integers(32)),
    "long": Kind(pa.int64(), [*integers(64), 2**53, 2**53 + 1, -(2**53) - 1]),
    "single": Kind(pa.float32(), [*FLOATS, 3.4028234663852886e38, 1.401298464324817e-45, 1e10]),
    "double": Kind(pa.float64(), [*DOUBLES, 1e16, 1e-7, 123456789.123456789]),
    "flag": Kind(pa.bool_(), [True, False]),
    "text": Kind(pa.string(), [*SURROGATE, *CUTS]),
    "blob": Kind(pa.binary(), [*BYTES, b"\xff" * 17, b"a" * 15 + b"\xffb"]),
    "day": Kind(pa.date32(), DAYS),
    "local": Kind(pa.timestamp("us"), [*moments("us"), -62_135_596_800_000_000, 253_402_300_799_999_999]),
    "moment": Kind(pa.timestamp("us", "UTC"), [*moments("us"), -2_713_910_400_000_001, 1_711_848_600_999_001]),
    **{f"d{precision}_{scale}": Kind(pa.decimal128(precision, scale), decimals(precision, scale)) for precision, scale in ((1, 0), (1, 1), (4, 2), (9, 9), (10, 3))},
}  # fmt: skip

SOME = {name: FLAT[name] for name in ("long", "double", "flag", "text", "blob", "moment", "d4_2", "d9_9")}
"""Those for tables whose commits matter more than their types."""

WIDE: dict[str, Kind] = {
    f"d{precision}_{scale}": Kind(pa.decimal128(precision, scale), decimals(precision, scale))
    for precision, scale in ((18, 0), (18, 18), (19, 0), (28, 10), (38, 0), (38, 10), (38, 37))
}
"""Decimals of more digits than a floating point number holds."""

PLACE = pa.struct(
    [("x", pa.float64()), ("n", pa.int64()), ("deep", pa.struct([("s", pa.string()), ("day", pa.date32())]))]
)
PLACES = [
    *(
        {"x": DOUBLES[0], "n": 2**53 + 1, "deep": None},
        {"x": -0.0, "n": None, "deep": {"s": "", "day": None}},
    ),
    *({"x": None, "n": -1, "deep": {"s": "z" * 33, "day": DAYS[0]}}, {"x": 1e300, "n": 0, "deep": None}),
]
NESTED: dict[str, Kind] = {
    "place": Kind(PLACE, PLACES),
    **{name: COMMON[name] for name in ("numbers", "words", "floats")},
    "counts": MAPS["counts"],
}

SLICES = ((1, 0.0), (2, 0.0), (8, 0.2), (3, 1.0), (25, 0.5))
"""How many rows each file has, and how many of the values in it are null."""


def rows(kinds: dict[str, Kind], count: int, nulls: float, seed: int) -> pa.Table:
    """Values in no order."""
    chance = random.Random(seed)  # the same again each time
    arrays: dict[str, Any] = {"id": pa.array(range(seed * 100, seed * 100 + count), pa.int64())}
    for name, kind in kinds.items():
        values = [None if chance.random() < nulls else chance.choice(kind.pool) for _ in range(count)]
        numbers = pa.types.is_timestamp(kind.type)
        arrays[name] = (
            pa.array(values, pa.int64()).cast(kind.type) if numbers else pa.array(values, kind.type)
        )
    return pa.table(arrays)


def slices(*kinds: dict[str, Kind]) -> list[pa.Table]:
    """What is written into a table, one commit after another."""
    every = {name: kind for some in kinds for name, kind in some.items()}
    return [rows(every, count, nulls, seed) for seed, (count, nulls) in enumerate(SLICES)]


def appended(folder: Path, tables: list[pa.Table], **options: Any) -> DeltaTable:
    """A table by deltalake."""
    for table in tables:
        write_deltalake(folder, table, mode="append", **options)
    return DeltaTable(folder)


# ------------------------------------------------------------------------------------------------------- deltalake


def delta_plain(folder: Path) -> None:
    appended(folder, slices(FLAT, NESTED))


def delta_all_columns(folder: Path) -> None:
    told = {"delta.dataSkippingNumIndexedCols": "-1"}
    appended(folder, [pa.concat_tables(slices(FLAT))], configuration=told)


def delta_checkpoint(folder: Path) -> None:
    told = {"delta.checkpoint.writeStatsAsStruct": "true"}
    appended(folder, slices(FLAT), configuration=told).create_checkpoint()
    for version in range(len(SLICES) - 1):
        (folder / f"_delta_log/{version:020}.json").unlink()
    write_deltalake(folder, slices(FLAT)[2], mode="append")


def delta_changed(folder: Path) -> None:
    table = appended(folder, slices(SOME))
    table.delete("id = 0")
    table.update(predicate="id = 100", updates={"text": "'changed'", "double": "cast('NaN' as double)"})
    merging = table.merge(rows(SOME, 3, 0, 2), "t.id = s.id", source_alias="s", target_alias="t")
    merging.when_matched_update_all().when_not_matched_insert_all().execute()


def delta_compacted(folder: Path) -> None:
    table = appended(folder, slices(SOME))
    table.optimize.compact()
    table.optimize.z_order(["text", "double"])
    table.create_checkpoint()


def delta_evolved(folder: Path) -> None:
    first, second, third, *_ = slices(FLAT, NESTED)
    write_deltalake(folder, first.select(["id", "text"]))
    write_deltalake(folder, second.select(["id", "day", "place"]), mode="append", schema_mode="merge")
    write_deltalake(folder, third.select(["id"]), mode="append", schema_mode="merge")
    table = DeltaTable(folder)
    table.alter.add_columns([deltalake.Field("later", PrimitiveType("integer"))])
    table.alter.add_constraint({"not_negative": "id >= 0"})


def delta_partitioned(folder: Path, *names: str) -> None:
    table = pa.concat_tables(slices({**FLAT, "text": Kind(pa.string(), PATHS)}))
    write_deltalake(folder, table.select(["id", *names, "d9_9"]), partition_by=list(names))
    DeltaTable(folder).create_checkpoint()


def delta_converted(folder: Path) -> None:
    folder.mkdir()
    kinds = {name: kind for name, kind in FLAT.items() if not pa.types.is_decimal(kind.type)}
    for number, table in enumerate(slices(kinds, NESTED)):
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=5)
    deltalake.convert_to_deltalake(folder)


def delta_converted_decimals(folder: Path) -> None:
    folder.mkdir()
    pq.write_table(
        pa.concat_tables(slices({name: FLAT[name] for name in ("d4_2", "d9_9")})), folder / "0.parquet"
    )
    deltalake.convert_to_deltalake(folder)


def delta_wide_decimals(folder: Path) -> None:
    appended(folder, slices(WIDE))


def polars_delta(folder: Path) -> None:
    for table in slices(SOME, NESTED):
        pl.from_arrow(table).write_delta(folder, mode="append")  # type: ignore[union-attr] # a frame


# ------------------------------------------------------------------------------------------------------- pyiceberg


def iceberg(folder: Path, tables: list[pa.Table], **options: Any) -> Any:
    """A table by pyiceberg."""
    table = FolderCatalog().made(folder, tables[0].schema, **options)
    for rows in tables:
        table.append(rows)
    return table


def iceberg_plain(folder: Path) -> None:
    iceberg(folder, slices(FLAT, WIDE, NESTED))


def iceberg_first_version(folder: Path) -> None:
    iceberg(folder, slices(FLAT), format__version="1")


def iceberg_whole_bounds(folder: Path) -> None:
    iceberg(folder, slices(FLAT, NESTED), write_metadata_metrics_default="full")


def iceberg_short_bounds(folder: Path) -> None:
    iceberg(folder, slices(SOME), write_metadata_metrics_default="truncate(1)")


def iceberg_merged(folder: Path) -> None:
    merging = {"commit_manifest__merge_enabled": "true", "commit_manifest_min__count__to__merge": "2"}
    iceberg(folder, slices(SOME), **merging)


def iceberg_row_groups(folder: Path) -> None:
    everything = [pa.concat_tables(slices(SOME, NESTED))]
    iceberg(folder, everything, write_parquet_row__group__limit="7")


def iceberg_changed(folder: Path) -> None:
    table = iceberg(folder, slices(SOME))
    table.delete("id = 200")
    table.overwrite(rows(SOME, 2, 0, 7), "id = 100")
    snapshot = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_tag(snapshot, "first").create_branch(snapshot, "later").commit()
    table.append(rows(SOME, 4, 0.5, 8), branch="later")


def iceberg_evolved(folder: Path) -> None:
    table = iceberg(folder, slices(FLAT, NESTED))
    with table.update_schema() as update:
        update.rename_column("text", "text_then")
        update.delete_column("int")
    with table.update_schema() as update:
        update.add_column("int", LongType())
        update.update_column("single", DoubleType())
        update.update_column("d4_2", DecimalType(20, 2))
    with table.update_spec() as update:
        update.add_field("day", by.IdentityTransform(), "by_day")
    for words, day in pairwise([None, "", "z" * 20]):
        table.append(
            pa.table(
                {
                    "text_then": pa.array([words, day], pa.string()),
                    "int": pa.array([1 << 40, None], pa.int64()),
                    "day": pa.array([DAYS[0], None], pa.date32()),
                }
            )
        )


def iceberg_added(folder: Path) -> None:
    tables = slices(FLAT, NESTED)
    table = FolderCatalog().made(folder, tables[0].schema)
    (folder / "data").mkdir()
    paths = [f"{folder}/data/{number}.parquet" for number in range(len(tables))]
    for path, data in zip(paths, tables, strict=True):
        pq.write_table(data, path, row_group_size=5)
    table.add_files(paths)


def polars_partitioned(folder: Path, column: str, transform: by.Transform[Any, Any]) -> None:
    data = pa.concat_tables(slices({**FLAT, **WIDE, "text": Kind(pa.string(), PATHS)})).select(["id", column])
    table = FolderCatalog().made(folder, data.schema, {column: transform})
    pl.from_arrow(data).lazy().sink_iceberg(table, mode="append")  # type: ignore[union-attr] # a frame


class Case(NamedTuple):
    """How a table is made, and the rules that it is known to break."""

    make: Callable[..., None]
    arguments: tuple[Any, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the test is called."""
        return "-".join([self.make.__name__, *(str(one).replace("/", "") for one in self.arguments)])


NAN_ABOVE = "DLT-038"
NULL_PAGE = "PIX-052"
WRAPS = "ICE-103"


TRANSFORMS: tuple[tuple[str, by.Transform[Any, Any]], ...] = (
    *((name, by.BucketTransform(5)) for name in ("long", "text", "blob", "day", "local", "d38_10")),
    *((name, by.TruncateTransform(3)) for name in ("int", "text", "blob")),
    *((name, by.IdentityTransform()) for name in ("text", "d38_10", "local", "blob")),
    ("day", by.YearTransform()),
    ("local", by.MonthTransform()),
    ("local", by.DayTransform()),
    ("local", by.HourTransform()),
)
"""Columns and the transforms by which Polars partitions them."""

PART = 1 if EXAMPLES == 1 else 3
"""One of this number of columns by which tables are partitioned is tried; all by `make damages`."""

CASES = [
    Case(delta_plain, broken=(NAN_ABOVE, NULL_PAGE)),
    Case(delta_all_columns),
    Case(delta_checkpoint),
    Case(delta_changed, broken=(NAN_ABOVE,)),
    Case(delta_compacted),
    Case(delta_evolved, broken=(NAN_ABOVE,)),
    *(
        Case(delta_partitioned, (name,))
        for name in ("text", "day", "moment", "local", "flag", "int", "long")[::PART]
    ),
    Case(delta_partitioned, ("text", "day")),
    Case(delta_converted, broken=(NAN_ABOVE,)),
    Case(delta_converted_decimals, broken=("DLT-027",)),
    Case(delta_wide_decimals, broken=("DLT-027", "DLT-035")),
    Case(polars_delta, broken=(NAN_ABOVE, NULL_PAGE)),
    *map(
        Case,
        (
            iceberg_plain,
            iceberg_first_version,
            iceberg_whole_bounds,
            iceberg_short_bounds,
            iceberg_merged,
            iceberg_row_groups,
            iceberg_changed,
            iceberg_evolved,
            iceberg_added,
        ),
    ),
    *(
        Case(polars_partitioned, given, (WRAPS,) if given[0] == "int" and "truncate" in str(given[1]) else ())
        for given in TRANSFORMS[::PART]
    ),
]


def remarks(report: pqassay.Report) -> Iterator[str]:
    for file in report.files:
        assert file.error is None
        yield from (finding.rule for finding in serious(file))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_is_wrong_with_a_table_but_what_is_known(case: Case, tmp_path: Path) -> None:
    folder = tmp_path / "table"
    case.make(folder, *case.arguments)
    report = pqassay.check(folder, tier="values")

    assert len(report.files) > 1
    assert str(folder) == report.files[0].path
    assert case.broken == tuple(sorted(set(remarks(report))))
    shutil.rmtree(folder)


# ------------------------------------------------------------------------------------------------------- Spark

SPARK_TABLES = sorted(path.parent for path in GOLDEN_FILES.glob("interop/spark-*/*/table.json"))


@pytest.mark.parametrize("place", SPARK_TABLES, ids=lambda place: place.name)
def test_a_table_of_spark_is_judged_as_its_manifest_says(place: Path) -> None:
    case = json.loads((place / "table.json").read_text("utf-8"))
    files = {
        path.relative_to(place / "table").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (place / "table").rglob("*")
        if path.is_file()
    }
    report = pqassay.check(place / "table", tier=case["tier"])

    assert {one["file"]: one["sha256"] for one in case["files"]} == files
    assert case["rules"] == sorted(set(remarks(report)))
    assert ("invalid" if case["rules"] else "valid") == case["kind"]
    assert f"interop/{place.parent.name}/{place.name}" == case["id"]
    assert len(report.files) > 1


def test_spark_wrote_tables_of_both_formats() -> None:
    names = {place.name.partition("-")[0] for place in SPARK_TABLES}

    assert {"iceberg", "delta"} == names
