"""Iceberg tables with deletes, sort orders and row ids: what the rules about them find, held against plain comparisons."""

from __future__ import annotations

import itertools
import json
import math
import random
import struct
from collections.abc import Sequence
from functools import cmp_to_key
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import EXAMPLES, tries
from places import GOLDEN_FILES
from pqassay.report.model import Finding
from pqassay.stores.table_files import TableAt
from pqassay_golden.iceberg import deletes as golden
from pqassay_golden.iceberg import files
from pqassay_golden.iceberg.files import DELETES
from pqassay_golden.iceberg.table import COLUMNS, PARTS
from pqassay_golden.tiny.columns import Column
from pqassay_golden.tiny.layout import Layout
from pqassay_golden.tiny.parquet import TinyParquet
from pqassay_spec.parquet.thrift import Encoding
from pqassay_spec.table.iceberg import DELETE_FILE_PATH, DELETE_POSITION
from pqassay_tables.metadata.iceberg.state import IcebergState, read_iceberg
from pqassay_tables.under_test import iceberg_table

Json = dict[str, Any]
MINE = ("ICE-026", "ICE-027", "ICE-028", "ICE-029", "ICE-04[4-9]")


def written(folder: Path, contents: dict[str, bytes]) -> Path:
    for name, data in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def table(
    folder: Path,
    data: Sequence[Json],
    deletes: Sequence[Json] = (),
    *,
    more: dict[str, bytes] | None = None,
    partition: Sequence[tuple[int, str, Any]] = (),
    sequence: int = 2,
    specs: tuple[int, int] = (0, 0),
    of_data: Json | None = None,
    **members: Any,
) -> Path:
    """A table of given entries, with the two parts of the golden tables and more files.

    Args:
        folder: Where it is written.
        data, deletes: Its entries, the latter of the sequence number ``sequence``, the former of 1.
        more: Further files.
        partition: The Avro fields of partition values.
        specs: The ids of the partition specs of data and deletes.
        of_data: What the manifest list says about the data beside what is true.
        members: Members of the metadata.
    """
    first = files.manifest(data, partition, version=members.get("version", 2))
    second = files.manifest(deletes, partition, content="deletes")
    listed = [files.listed(files.MANIFEST, first, data, partition_spec_id=specs[0], **(of_data or {}))]
    listed.append(
        files.listed(
            DELETES, second, deletes, content=1, sequence_number=sequence, min_sequence_number=sequence,
            partition_spec_id=specs[1],
        )
    )  # fmt: skip
    contents = {
        files.METADATA: files.metadata(COLUMNS, sequence=2, **members),
        files.LIST: files.manifest_list(listed),
        files.MANIFEST: first,
        DELETES: second,
        **{f"data/part-{number}.parquet": one for number, one in enumerate(PARTS)},
    }
    return written(folder, contents | (more or {}))


def of_parts(**more: Any) -> list[Json]:
    return [
        files.entry(files.data_file(f"data/part-{number}.parquet", one, 8, **more))
        for number, one in enumerate(PARTS)
    ]


def findings(folder: Path, tier: Any = "values", only: Sequence[str] = MINE, **options: Any) -> list[Finding]:
    report = pqassay.check(folder, tier=tier, only=list(only), **options)
    assert [] == [file.error for file in report.files if file.error]
    return [finding for file in report.files for finding in file.findings]


def found(folder: Path, tier: Any = "values", only: Sequence[str] = MINE, **options: Any) -> list[str]:
    return [finding.rule for finding in findings(folder, tier, only, **options)]


def delete_entry(data: bytes, rows: int, **more: Any) -> Json:
    return files.entry(files.data_file("data/d.parquet", data, rows, content=1, split_offsets=None, **more))


# ---------------------------------------------------------------------------------------- what deletes apply to


CITY = [(1000, "metal", "string")]
SPECS: list[Json] = [
    {"spec-id": 0, "fields": []},
    {"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1000, "name": "metal", "transform": "identity"}]},
]


@pytest.mark.parametrize(
    ("specs", "values", "content", "sequence", "expected"),
    [
        ((1, 1), ("tin", "tin"), 1, 1, []),
        ((1, 1), ("tin", "zinc"), 1, 2, ["ICE-026"]),
        ((1, 1), (None, None), 1, 2, []),
        ((1, 1), ("tin", "zinc"), 2, 2, ["ICE-026"]),
        ((1, 1), ("tin", "tin"), 2, 2, []),
        ((1, 1), ("tin", "tin"), 2, 1, ["ICE-026"]),
        ((1, 0), ("tin", None), 2, 2, []),
        ((1, 0), ("tin", None), 1, 2, ["ICE-026"]),
        ((0, 1), (None, "tin"), 1, 2, ["ICE-026"]),
        ((1, 1), ("tin", "tin"), 1, 0, ["ICE-026"]),
    ],
)
def test_deletes_apply_by_partition_spec_and_age(
    tmp_path: Path,
    specs: tuple[int, int],
    values: tuple[str | None, str | None],
    content: int,
    sequence: int,
    expected: list[str],
) -> None:
    data = [files.entry(files.data_file("data/part-0.parquet", PARTS[0], 8, {"metal": values[0]}))]
    raw = golden.position_deletes([(0, 1)])
    named = {"equality_ids": [1]} if content == 2 else {}
    one = files.entry(
        files.data_file("data/d.parquet", raw, 1, {"metal": values[1]}, content=content, **named)
    )
    folder = table(
        tmp_path, data, [one], more={"data/d.parquet": raw}, partition=CITY, sequence=sequence, specs=specs,
        partition_specs=SPECS,
    )  # fmt: skip
    assert expected == found(folder, "meta")


def test_deletes_of_a_file_that_is_gone_are_told_by_name_and_by_equal_bounds(tmp_path: Path) -> None:
    raw = golden.position_deletes([(2, 1)])
    bound = {DELETE_FILE_PATH: golden.NAMES[2].encode()}
    for claims in ({"referenced_data_file": golden.NAMES[2]}, {"lower_bounds": bound, "upper_bounds": bound}):
        folder = table(tmp_path, of_parts(), [delete_entry(raw, 1, **claims)], more={"data/d.parquet": raw})
        assert ["ICE-026"] == found(folder)  # and not once more at their rows
        (finding,) = pqassay.check(folder, tier="meta", only=["ICE-026"]).files[0].findings
        assert "part-2.parquet is not a live data file" in finding.message


def test_a_deletion_vector_of_no_live_file_is_found(tmp_path: Path) -> None:
    vectors = GOLDEN_FILES / "ice/vectors/table"
    inside = [path for path in vectors.rglob("*") if path.is_file()]
    contents = {path.relative_to(vectors).as_posix(): path.read_bytes() for path in inside}
    name = "metadata/deletes-0.avro"
    contents[name] = contents[name].replace(b"data/part-1.parquet", b"data/part-7.parquet")
    assert ["ICE-026"] == found(written(tmp_path, contents), "meta")


# --------------------------------------------------------------------------------------------------------- rows


def position_file(rows: Sequence[tuple[str | None, int | None]], group: int = 3, **layout: Any) -> bytes:
    return TinyParquet(
        (
            Column("file_path", "string", [path for path, _ in rows], field_id=DELETE_FILE_PATH),
            Column("pos", "int64", [position for _, position in rows], field_id=DELETE_POSITION),
        ),
        layout=Layout(**layout),
        row_group_rows=group,
    ).build()


def expected_rules(rows: Sequence[tuple[str | None, int | None]], named: str | None) -> set[str]:
    """What is wrong with the rows of a position delete file, one after the other."""
    live, rules = golden.NAMES[:2], set[str]()
    before: tuple[bytes, int] | None = None
    for path, position in rows:
        if path is None or position is None:
            rules.add("ICE-046")
            continue
        if position < 0 or (path in live and position >= 8):
            rules.add("ICE-046")
        if named is not None and path != named:
            rules.add("ICE-045")
        if named is None and path not in live:
            rules.add("ICE-047")
        here = path.encode(), position
        if before is not None and here < before:
            rules.add("ICE-048")
        before = here
    return rules


PATHS = st.sampled_from([*golden.NAMES, f"{files.LOCATION}/data/a", "é"])
ROWS = st.lists(
    st.tuples(st.one_of(PATHS, st.sampled_from(golden.NAMES[:2])), st.integers(-1, 9)), min_size=1, max_size=7
)
SORTED_ROWS = ROWS.map(lambda rows: sorted(rows, key=lambda row: (row[0].encode(), row[1])))
WITH_NULLS = st.lists(st.tuples(st.none() | PATHS, st.none() | st.integers(0, 8)), min_size=1, max_size=7)


@tries(30)
@given(
    rows=st.one_of(ROWS, SORTED_ROWS, WITH_NULLS),
    named=st.sampled_from([None, None, golden.NAMES[1]]),
    group=st.integers(1, 4),
)
def test_rows_of_position_deletes_are_compared_as_one_after_the_other(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str | None, int | None]],
    named: str | None,
    group: int,
) -> None:
    raw = position_file(rows, group)
    deletes = [delete_entry(raw, len(rows), referenced_data_file=named)]
    folder = table(tmp_path_factory.mktemp("t"), of_parts(), deletes, more={"data/d.parquet": raw})
    broken = [(finding.rule, *finding.also) for finding in findings(folder, only=MINE[4:])]
    assert expected_rules(rows, named) == set(itertools.chain(*broken))


def test_the_rows_of_a_data_file_are_those_of_its_footer(tmp_path: Path) -> None:
    raw = position_file([(golden.NAMES[0], 6)])
    data = [files.entry(files.data_file("data/part-0.parquet", PARTS[0], 5))]
    folder = table(tmp_path, data, [delete_entry(raw, 1)], more={"data/d.parquet": raw})
    assert ["ICE-030"] == found(folder, only=("ICE-030", "ICE-046"))

    (tmp_path / "data/part-0.parquet").write_bytes(b"PAR1" + PARTS[0][4:-4] + b"PAR0")
    assert ["ICE-046"] == found(folder, only=("ICE-046",))


def test_bounds_and_rows_of_deletes_are_compared_like_those_of_data(tmp_path: Path) -> None:
    raw = position_file([(golden.NAMES[0], 6), (golden.NAMES[0], 7)])
    bound = {DELETE_FILE_PATH: golden.NAMES[0].encode(), DELETE_POSITION: files.int64(7)}
    deletes = [delete_entry(raw, 3, lower_bounds=bound, upper_bounds=bound)]
    folder = table(tmp_path, of_parts(), deletes, more={"data/d.parquet": raw})
    assert ["ICE-030", "ICE-040"] == found(folder, only=("ICE-030", "ICE-04?"))


def test_a_column_of_positions_has_to_be_one_of_whole_numbers(tmp_path: Path) -> None:
    paths = Column("file_path", "string", [golden.NAMES[0]], field_id=DELETE_FILE_PATH)
    raw = TinyParquet((paths, Column("pos", "double", [1.0], field_id=DELETE_POSITION))).build()
    folder = table(tmp_path, of_parts(), [delete_entry(raw, 1)], more={"data/d.parquet": raw})
    report = pqassay.check(folder, tier="values", only=list(MINE))

    ((finding,),) = [file.findings for file in report.files if file.findings]
    at = finding.at[0]
    assert ("ICE-044", "INT64", "DOUBLE") == (finding.rule, at.expected.rpartition(" ")[2], at.actual)


def test_a_table_that_changed_under_the_judge_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, golden.POSITIONS)

    def changed(at: TableAt) -> IcebergState:
        path = tmp_path / files.METADATA
        path.write_bytes(path.read_bytes().replace(b"5000000000000000001", b"5000000000000000002"))
        return read_iceberg(at)

    monkeypatch.setattr(iceberg_table, "_read", changed)  # what was listed is the snapshot before
    errors = [
        file.error for file in pqassay.check(tmp_path, tier="values", only=["ICE-046"]).files if file.error
    ]
    assert ["the table has changed since its files were listed"] * 2 == errors


def test_no_damaged_delete_file_is_a_mistake_of_the_judge(tmp_path: Path) -> None:
    written(tmp_path, golden.POSITIONS)
    path, dice = tmp_path / "data/deletes-0.parquet", random.Random(26)
    good = path.read_bytes()
    for _ in range(40 if EXAMPLES == 1 else 8):
        damaged = bytearray(good)
        for _ in range(dice.randint(1, 3)):
            damaged[dice.randrange(4, len(good) - 8)] = dice.randrange(256)
        path.write_bytes(damaged)
        report = pqassay.check(path.parent.parent, tier="values", only=["ICE-*"])
        assert [] == [file.error for file in report.files if file.error and "mistake" in file.error]


# --------------------------------------------------------------------------------------------------------- order


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def compared(one: Any, other: Any, field: Json) -> int | None:
    """-1, 0 or 1 as two values compare by a sort field; ``None`` where that is left open."""
    first = -1 if field["null-order"] == "nulls-first" else 1
    if one is None or other is None:
        return 0 if one is other else (first if one is None else -first)
    if field["transform"] == "truncate[1]":
        one, other = one[:1].encode(), other[:1].encode()
    sign = -1 if field["direction"] == "desc" else 1
    negative = [is_nan(value) and math.copysign(1, value) < 0 for value in (one, other)]
    if any(negative):
        return None
    if is_nan(one) or is_nan(other):
        return 0 if is_nan(one) and is_nan(other) else (sign if is_nan(one) else -sign)
    if one == other:
        same = not isinstance(one, float) or math.copysign(1, one) == math.copysign(1, other)
        return 0 if same else None
    return sign if one > other else -sign


def is_in_order(rows: Sequence[tuple[Any, ...]], fields: Sequence[Json]) -> bool:
    for before, after in itertools.pairwise(rows):
        for one, other, field in zip(before, after, fields, strict=True):
            result = compared(one, other, field)
            if result == 1:
                return False
            if result != 0:
                break
    return True


MINUS_NAN = struct.unpack("<d", b"\1\0\0\0\0\0\xf8\xff")[0]
TEXT = st.none() | st.sampled_from(["a", "ab", "b", "é", "\U0001f600", "\uffff", ""])
NUMBER = st.none() | st.sampled_from([0.0, -0.0, 1.5, -2.0, math.inf, math.nan, MINUS_NAN])
FIELD = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["asc", "desc"]),
        "null-order": st.sampled_from(["nulls-first", "nulls-last"]),
    }
)


@tries(50)
@given(
    rows=st.lists(st.tuples(TEXT, NUMBER), min_size=1, max_size=7),
    fields=st.tuples(FIELD, FIELD),
    transform=st.sampled_from(["identity", "truncate[1]"]),
    group=st.integers(1, 4),
    is_sorted=st.booleans(),
    dictionary=st.booleans(),
)
def test_sorted_rows_are_compared_as_one_after_the_other(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[Any, ...]],
    fields: tuple[Json, Json],
    transform: str,
    group: int,
    is_sorted: bool,
    dictionary: bool,
) -> None:
    by = [
        {"source-id": number, "transform": how, **field}
        for number, how, field in zip((2, 6), (transform, "identity"), fields, strict=True)
    ]

    def order(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
        results = (compared(a, b, field) or 0 for a, b, field in zip(one, other, by, strict=True))
        return next((result for result in results if result), 0)

    if is_sorted:
        rows = sorted(rows, key=cmp_to_key(order))
    encoded = Layout(dictionary=Encoding.RLE_DICTIONARY) if dictionary else Layout()
    raw = TinyParquet(
        (
            Column("metal", "string", [text for text, _ in rows], field_id=2),
            Column("mass", "double", [packed(number) for _, number in rows], field_id=6),
        ),
        layout=encoded,
        row_group_rows=group,
    ).build()
    entry = files.entry(files.data_file("data/s.parquet", raw, len(rows), sort_order_id=3))
    orders = [{"order-id": 3, "fields": by}]
    folder = table(tmp_path_factory.mktemp("t"), [entry], more={"data/s.parquet": raw}, sort_orders=orders)
    assert (set() if is_in_order(rows, by) else {"ICE-049"}) == set(found(folder, only=["ICE-049"]))


def packed(number: float | None) -> bytes | None:
    return None if number is None else struct.pack("<d", number)


@pytest.mark.parametrize(
    ("transform", "sorted_by_day"),
    [("year", True), ("month", True), ("day", True), ("bucket[4]", False), ("void", True)],
)
def test_rows_are_sorted_by_the_transform_of_a_column(
    tmp_path: Path, transform: str, sorted_by_day: bool
) -> None:
    days = [-400, -1, 0, 40, 19_000]
    raw = TinyParquet((Column("day", "date", days, field_id=4),)).build()
    entry = files.entry(files.data_file("data/s.parquet", raw, 5, sort_order_id=3))
    field = {"source-id": 4, "transform": transform, "direction": "asc", "null-order": "nulls-first"}
    orders = [{"order-id": 3, "fields": [field]}]
    folder = table(tmp_path, [entry], more={"data/s.parquet": raw}, sort_orders=orders)
    assert ([] if sorted_by_day else ["ICE-049"]) == found(folder)


@pytest.mark.parametrize(
    "field",
    [
        {"source-ids": [1, 2], "transform": "zorder"},
        {"source-id": 99, "transform": "identity"},
        {"source-id": 1, "transform": "squared"},
        {"source-id": 1, "transform": "truncate[x]"},
        {"source-id": 1, "transform": "bucket[0]"},
        {"source-id": 1, "direction": "up"},
        {"source-id": 1, "null-order": "last"},
    ],
)
def test_an_order_that_is_not_known_is_not_checked(tmp_path: Path, field: Json) -> None:
    folder = table(tmp_path, of_parts(sort_order_id=3), sort_orders=[{"order-id": 3, "fields": [field]}])
    report = pqassay.check(folder, tier="values", only=["ICE-049"])
    assert [] == [finding for file in report.files for finding in file.findings]
    reasons = [report.coverages[file.coverage].not_checked.get("ICE-049") for file in report.files[1:]]
    assert ["tool", "tool"] == [reason.obstacle for reason in reasons if reason is not None]


def test_a_column_that_the_file_does_not_have_has_one_value(tmp_path: Path) -> None:
    raw = TinyParquet((Column("id", "int64", [1, 2], field_id=1),)).build()
    entry = files.entry(files.data_file("data/s.parquet", raw, 2, sort_order_id=3))
    how = {"transform": "identity", "direction": "desc", "null-order": "nulls-last"}
    for ids, expected in ((2, 1), ["ICE-049"]), ((2,), []):
        orders = [{"order-id": 3, "fields": [{"source-id": number, **how} for number in ids]}]
        assert expected == found(table(tmp_path, [entry], more={"data/s.parquet": raw}, sort_orders=orders))


def test_position_deletes_have_no_order_of_the_table(tmp_path: Path) -> None:
    deletes = [delete_entry(raw := golden.position_deletes([(0, 1)]), 1, sort_order_id=0)]
    assert ["ICE-027"] == found(table(tmp_path, of_parts(), deletes, more={"data/d.parquet": raw}))


# -------------------------------------------------------------------------------------------------------- row ids


def with_ids(
    folder: Path, firsts: Sequence[int | None], statuses: Sequence[int], inherited: int | None, following: Any
) -> Path:
    entries = [
        files.entry(
            files.data_file(f"data/part-{number}.parquet", PARTS[number % 2], 8, first_row_id=first),
            status=status,
            sequence=None if status == 1 else 1,
        )
        for number, (first, status) in enumerate(zip(firsts, statuses, strict=True))
    ]
    return table(folder, entries, version=3, of_data={"first_row_id": inherited}, next_row_id=following)


@pytest.mark.parametrize(
    ("firsts", "statuses", "inherited", "following", "expected"),
    [
        ([None, None], [1, 1], 0, 16, []),
        ([None, 4], [1, 1], 0, 16, ["ICE-028"]),
        ([None, 8], [1, 1], 0, 16, []),
        ([100, None, None], [0, 1, 1], 0, 108, []),
        ([100, None, None], [0, 1, 1], 84, 108, []),
        ([100, None, None], [0, 1, 1], 85, 108, ["ICE-028"]),
        ([None, None, 8], [2, 1, 1], 0, 16, []),
        ([None, None], [1, 1], 0, 15, ["ICE-029"]),
        ([None, None], [1, 1], 0, None, ["ICE-029"]),
        ([None, None], [1, 1], 0, "16", ["ICE-029"]),
        ([None, None], [1, 1], None, None, []),
        ([5, 5, 6], [1, 1, 1], None, 99, ["ICE-028", "ICE-028"]),
        ([-(1 << 63), (1 << 63) - 1], [1, 1], None, 1 << 64, []),
    ],
)
def test_row_ids_are_counted_through_the_manifest(
    tmp_path: Path,
    firsts: list[int | None],
    statuses: list[int],
    inherited: int | None,
    following: Any,
    expected: list[str],
) -> None:
    folder = with_ids(tmp_path, firsts, statuses, inherited, following)
    report = pqassay.check(folder, tier="meta", only=["ICE-028", "ICE-029"])
    places = [finding.rule for file in report.files for finding in file.findings for _ in finding.at]
    assert expected == places


@pytest.mark.parametrize(
    "orders", [7, [7], [{"order-id": "1"}], [{"order-id": 1, "fields": 5}], [{"order-id": 1, "fields": [5]}]]
)
def test_sort_orders_of_another_form_are_no_metadata(tmp_path: Path, orders: Any) -> None:
    folder = table(tmp_path, of_parts())
    path = folder / files.METADATA
    path.write_text(json.dumps({**json.loads(path.read_text()), "sort-orders": orders}))
    report = pqassay.check(folder, tier="meta")
    assert ["ICE-001"] == [finding.rule for file in report.files for finding in file.findings]
