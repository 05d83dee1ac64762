"""Defects of the reference of _pm that were found once: each stays found."""

from __future__ import annotations

import io
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from places import INTEROP
from pm_values import row_group, snapshot
from pqassay_reference.cli.main import app
from pqassay_reference.errors import Refused
from pqassay_reference.lint.pm import lint_file
from pqassay_reference.pm import query, write
from pqassay_reference.pm.column_values import with_stored_values
from pqassay_reference.pm.generate import generate, generate_file
from pqassay_reference.pm.read import PmReader
from pqassay_reference.predicate.text import parse_predicate
from pqassay_spec.base.errors import FormatError, Malformed
from pqassay_spec.base.sources import BytesSource, FileSource, Source
from pqassay_spec.mutation.mutations import Mutation, mutate
from pqassay_spec.pm import header as pm_header

QUESTDB = INTEROP / "questdb-9.4.3"


def described(table: pa.Table, **options: Any) -> PmReader:
    """The _pm of a table that pyarrow wrote, one row in each row group."""
    written = io.BytesIO()
    pq.write_table(table, written, row_group_size=1, **options)
    return PmReader.from_bytes(generate(BytesSource(written.getvalue())).raw)


def kept(reader: PmReader, text: str) -> list[int]:
    columns = {column.name: column for column in reader.columns}
    return query.prune(reader, with_stored_values(parse_predicate(text), columns))


# ------------------------------------------------------------------------------------------------ rows were lost


@pytest.mark.parametrize("digits", [17, 28, 29, 38])
def test_a_decimal_of_many_digits_is_found(digits: int) -> None:
    values = [
        Decimal("9" * digits).scaleb(-5) if digits <= 28 else Decimal("9" * (digits - 5) + ".99999")
    ] * 2
    values[1] = values[1].copy_negate()
    reader = described(pa.table({"d": pa.array(values, pa.decimal128(38, 5))}))

    assert [[0], [1]] == [kept(reader, f"d = {value}") for value in values]
    assert [[0], [1]] == [kept(reader, f"d = '{value}'") for value in values]


def test_a_number_that_is_no_float_decides_nothing_about_whole_numbers() -> None:
    reader = described(pa.table({"n": pa.array([1, 5])}))

    assert 0 in kept(reader, "n < 1.00000000000000000001")
    assert [0] == kept(reader, "n < 1.5 AND n < 3")


@pytest.mark.parametrize("value", [{"x": None}, {"x": 1}])
def test_a_required_struct_is_no_null_where_all_of_its_parts_are(value: dict[str, Any]) -> None:
    kind = pa.struct([pa.field("x", pa.int32())])
    table = pa.table({"s": pa.array([value], kind)}, schema=pa.schema([pa.field("s", kind, nullable=False)]))
    reader = described(table)

    assert [0] == query.prune(reader, ["is not null", "s"])
    assert not query.is_all_null(reader, 0, "s")


def test_empty_lists_have_to_be_fetched() -> None:
    reader = described(pa.table({"l": pa.array([[], None], pa.list_(pa.int32()))}))

    assert [False, False] == [query.is_all_null(reader, number, "l") for number in range(2)]
    assert 2 == len(query.plan(reader, ["l"], leave_out_nulls=True))


def test_a_range_may_be_given_the_other_way_round() -> None:
    reader = described(pa.table({"n": pa.array([1, 5, 9])}))

    assert [1] == kept(reader, "n BETWEEN SYMMETRIC 7 AND 3")
    assert [] == kept(reader, "n BETWEEN 7 AND 3")


@pytest.mark.parametrize(
    "text",
    [
        "n < CAST(10.9 AS INT)",
        "n = '5'::int",
        "t >= CAST('2024-01-01 12:00' AS DATE)",
        "t = '2024-01-01 12:00:00.5'::timestamp(0)",
        "s = CAST('abc' AS CHAR(1))",
        "n = CAST('1.55' AS DECIMAL(5, 1))",
    ],
)
def test_a_cast_that_makes_another_value_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="the cast may change the constant"):
        parse_predicate(text)


@pytest.mark.parametrize(
    "text", ["t >= DATE '2024-01-01'", "t >= '2024-01-01'::timestamp", "t >= CAST(NULL AS INT)"]
)
def test_a_cast_that_says_what_a_constant_is_anyhow_is_read(text: str) -> None:
    assert [">=", "t"] == parse_predicate(text)[:2]


# ------------------------------------------------------------------------------------------------------ errors


def test_a_number_without_its_end_is_refused() -> None:
    with pytest.raises(Refused, match="'1e' is no number"):
        parse_predicate("n = 1e")


def test_a_number_of_very_many_digits_is_refused() -> None:
    reader = described(pa.table({"d": pa.array([Decimal("1.5")])}))

    with pytest.raises(Refused, match="1E\\+99999999 is no value"):
        kept(reader, "d < 1e99999999")


@pytest.mark.parametrize("number", [10**40, -(2**200), 10**400])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_whole_numbers_beyond_floats_are_compared_with_floats(number: int, kind: pa.DataType) -> None:
    filters = {"bloom_filter_options": {"f": True}}
    reader = described(pa.table({"f": pa.array([0.5, -0.5], kind)}), **filters)

    below = [0, 1] if number > 0 else []
    assert [] == query.prune(reader, ["in", "f", [number]])
    assert below == query.prune(reader, ["<", "f", number])


def test_times_of_96_bits_are_compared_with_text_and_decide_nothing() -> None:
    stamps = pa.array([0, 10**15], pa.timestamp("us"))
    reader = described(pa.table({"t": stamps}), use_deprecated_int96_timestamps=True)

    assert [0, 1] == kept(reader, "t > '2024-01-01'")


# ------------------------------------------------------------------------------------ reading during an update

OLD = snapshot(row_group(0))
NEW = snapshot(*OLD.row_groups, row_group(1), footer=20_000)


def test_an_update_between_reading_the_committed_size_and_mapping_it_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(write.create(OLD))
    read, updates = pm_header.read_committed_size, [NEW]

    def read_then_updated(source: Source) -> int:
        size = read(source)
        if updates and isinstance(source, FileSource):
            write.update_file(path, updates.pop())
        return size

    monkeypatch.setattr(pm_header, "read_committed_size", read_then_updated)
    with PmReader.map(path) as reader:
        reader.verify()
        assert OLD == reader.value()


def test_an_update_between_opening_a_file_and_reading_its_committed_size_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(write.create(OLD))
    with FileSource(path) as source:
        write.update_file(path, NEW)

        assert path.stat().st_size == pm_header.read_committed_size(source)
        assert NEW.row_groups == PmReader(source).value().row_groups


def test_a_file_that_was_cut_short_is_damage_however_often_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "_pm"
    path.write_bytes(write.create(OLD)[:-1])

    with pytest.raises(Malformed, match="PM-002"), PmReader.map(path):
        pass


# ----------------------------------------------------------------------------------------- what is overwritten


def test_an_encrypted_parquet_file_is_not_overwritten(tmp_path: Path) -> None:
    data, encrypted = tmp_path / "data.parquet", tmp_path / "secret.parquet"
    pq.write_table(pa.table({"a": [1]}), data)
    encrypted.write_bytes(b"PARE" + bytes(100) + b"PARE")

    with pytest.raises(Refused, match="is a Parquet file, which _pm would replace"):
        generate_file(data, encrypted)
    assert b"PARE" + bytes(100) + b"PARE" == encrypted.read_bytes()


def test_snapshots_that_are_lost_with_the_file_that_is_replaced_are_named(tmp_path: Path) -> None:
    data = tmp_path / "data.parquet"
    shutil.copy(QUESTDB / "o3-chain-5" / "data.parquet", data)
    _, whole = generate_file(data, history=True, path="encode")
    assert ((), 6) == (whole.lost, whole.snapshots)

    result = CliRunner().invoke(app, ["pm", "generate", str(data)])
    assert (0, True) == (result.exit_code, "had 5 more snapshots" in result.stderr)
    assert ((), 6) == (generate_file(data, history=True)[1].lost, whole.snapshots)
    assert write.value_size(whole.value) not in generate_file(data)[1].lost


# ------------------------------------------------------------------------------- what the reference calls wrong


@pytest.mark.parametrize(
    ("name", "field", "number", "verdict"),
    [
        # Whether there is a size in the slot follows from the bit for it alone.
        ("bloom", "blocks[0].column_chunks[0].stat_flags", 0xBE, None),
        ("bloom", "blocks[0].column_chunks[0].stat_flags", 0xB8, "PM-065"),
        # A null count that only the Parquet file has is a loss; so is a distinct count that only _pm has no contradiction.
        ("bloom", "blocks[0].column_chunks[0].stat_flags", 0x3F, None),
        ("bloom", "blocks[0].column_chunks[0].stat_flags", 0xFF, None),
        # The snapshot before describes the beginning of a Parquet file that has been extended since.
        ("o3-chain-2", "snapshots[0].footer.parquet_footer_offset", 1 << 40, "PM-100"),
    ],
)
def test_reference_and_judge_are_of_one_opinion(
    name: str, field: str, number: int, verdict: str | None, tmp_path: Path
) -> None:
    folder = shutil.copytree(QUESTDB / name, tmp_path / name, copy_function=shutil.copyfile)
    path = folder / "_pm"
    path.write_bytes(mutate(path.read_bytes(), Mutation("set", field, number), "pm"))

    found: str | None = None
    try:
        lint_file(path)
    except FormatError as error:
        found = error.rule
    failed = {finding.rule for finding in pqassay.check(path).files[0].findings if finding.verdict == "FAIL"}
    assert verdict == found
    assert {verdict} - {None} == failed
