"""Scanning with the index of a file: never a row less than without, whatever the index is like."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from damage import EXAMPLES, tries
from engine_limits import FILES
from golden_cases import golden_cases
from idx1_files import Idx1File, companion, parquet, table
from indexed_lakes import with_record
from pqassay.literals.predicate import keeps
from pqassay.literals.rows import rows_difference
from pqassay_reader.cli.driver_rows import rows_of, table_of
from pqassay_reader.query.rungs import Rung
from pqassay_reader.query.scan import scan
from pqassay_reference.columns.literals import json_value, python_value
from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.rewrite.embed import IndexingWriter
from pqassay_reference.rewrite.extract import Trust, extract_file
from pqassay_spec.base.errors import FormatError
from pqassay_spec.golden.literals import Rows
from pqassay_spec.idx1 import blob as idx1

pytestmark = pytest.mark.slow

WITH_COMPANION = ((idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, companion()))


@dataclass(frozen=True)
class Scanned:
    """The rows of a scan, whether the index took part, and why not."""

    table: pa.Table
    used: bool
    message: str


def scan_file(
    path: Path, predicate: list[Any], columns: list[str], *, index: bool = True, **options: Any
) -> Scanned:
    without = {Rung.ROW_GROUPS, Rung.PAGES} | (set[Rung]() if index else {Rung.FILES})
    rows = scan(path, predicate, columns, without=without, **options)
    table = rows.to_table()
    return Scanned(table, "IDX1" in rows.counters.used, rows.messages.get(str(path), ""))


def scanned(path: Path, content: bytes, predicate: list[Any], **options: Any) -> Scanned:
    path.write_bytes(content)
    return scan_file(path, predicate, ["year"], column="nation", **options)


def companion_column(path: Path) -> tuple[str, ...] | None:
    found = extract_file(path).companion
    return found.column if found else None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.parquet"


def test_a_file_that_its_index_excludes_is_not_read(path: Path) -> None:
    content = bytearray(Idx1File(keys=WITH_COMPANION).build())
    content[4:60] = bytes(56)  # the pages are not pages any more

    assert [] == rows_of(scanned(path, bytes(content), ["=", "nation", "Chad"]).table, ["year"])
    with pytest.raises((Undecodable, FormatError)):
        scanned(path, bytes(content), ["=", "nation", "Peru"])


def test_an_index_without_companion_record_counts_only_if_somebody_vouches_for_it(path: Path) -> None:
    lying = Idx1File(payload=b"Chad").build()
    trusting: Trust = "published"

    assert 2 == len(scanned(path, lying, ["=", "nation", "Peru"]).table)
    assert not scanned(path, lying, ["=", "nation", "Peru"]).used
    assert 0 == len(scanned(path, lying, ["=", "nation", "Peru"], trust=trusting).table)


@pytest.mark.parametrize(
    "predicate",
    [
        ["!=", "nation", "a"],
        ["not in", "nation", ["a", "b"]],
        ["is null", "nation"],
        ["=", "nation", "a\nb"],
        ["in", "nation", ["a\nb", "z"]],
        ["=", "year", 0],
        ["or", ["=", "nation", "z"], ["=", "year", 0]],
    ],
)
def test_even_then_only_the_absence_of_values_without_line_feed_is_believed(
    predicate: list[Any], path: Path
) -> None:
    content = Idx1File(data=parquet(table(["a\nb", None])), payload=b"a\nb").build()
    done = scanned(path, content, predicate, trust="published")
    whole = scanned(path, content, predicate, index=False)

    assert not done.used
    assert whole.table.equals(done.table)
    assert 1 <= len(whole.table)


@pytest.mark.parametrize(
    "file",
    [
        Idx1File(magic=b"IDX2"),
        Idx1File(length=1 << 40),
        Idx1File(payload=b"\xff"),
        Idx1File(keys=[(idx1.KEY, "x")]),
        Idx1File(keys=[]),
        Idx1File(keys=[*WITH_COMPANION[:1], (idx1.COMPANION_KEY, "{")]),
        Idx1File(keys=[*WITH_COMPANION[:1], (idx1.COMPANION_KEY, companion(row_count=5))]),
        Idx1File(payload=b"Chad", keys=WITH_COMPANION),
    ],
)
def test_a_damaged_index_is_left_aside_and_the_reason_told(file: Idx1File, path: Path) -> None:
    done = scanned(path, file.build(), ["=", "nation", "Peru"])

    assert [1, 4] == done.table.column("year").to_pylist()
    assert not done.used
    assert done.message


@pytest.mark.parametrize(
    "predicate", [[], ["~", "nation", "x"], ["=", "gone", 1], ["=", "year", "x"], ["and"]]
)
def test_what_is_no_predicate_is_refused(predicate: list[Any], path: Path) -> None:
    with pytest.raises(Refused):
        scanned(path, Idx1File().build(), predicate)


def test_an_index_of_a_nested_column_does_not_speak_for_a_column_whose_name_has_a_dot(path: Path) -> None:
    data = pa.table({"nation": ["Peru"], "a": [{"b": "Oman"}], "a.b": ["Chad"]})
    path.write_bytes(with_record(data, ["Oman"], column=("a", "b")))

    assert ("a", "b") == companion_column(path)
    assert 1 == len(scan_file(path, ["=", "a.b", "Chad"], ["nation"]).table)


def test_a_column_that_is_there_twice_is_refused(path: Path) -> None:
    twice = pa.Table.from_arrays([pa.array(["Peru"]), pa.array(["Chad"])], names=["nation", "nation"])

    with pytest.raises(Refused, match="several columns nation"):
        scanned(path, parquet(twice), ["=", "nation", "Peru"])


SCANS = [
    golden
    for golden in golden_cases()
    if golden.case.expect.scan in ("same-rows", "refusal-allowed")
    and golden.case.family != "PM"
    and golden.case.id != FILES  # which pyarrow refuses
]


TRUSTS: tuple[Trust, ...] = ("companion", "published")
TRUSTED = [
    (golden, trust)
    for golden in SCANS
    for trust in TRUSTS
    # Whom to trust is a question only where there is an index.
    if trust == "companion" or idx1.KEY.encode() in golden.content()
]


def test_golden_files_lose_no_row(path: Path) -> None:
    assert {} == {
        (golden.case.id, trust): lost
        for golden, trust in TRUSTED[:: 3 * EXAMPLES - 2]
        if (lost := what_is_lost(golden, trust, path))
    }


def what_is_lost(golden: Any, trust: Trust, path: Path) -> str:
    """How the rows that a scan finds differ from those of the manifest."""
    expect = golden.case.expect
    names = expect.rows.names()
    path.write_bytes(golden.content())
    try:
        done = scan_file(path, expect.predicate, names, column=golden.case.column, trust=trust)
    except (Refused, Undecodable, FormatError):
        return "" if expect.scan == "refusal-allowed" else "refused"
    told: dict[str, Any] = {
        "columns": [vars(column) for column in expect.rows.columns],
        "rows": rows_of(done.table, names),
    }
    found = TypeAdapter(Rows).validate_python(told)
    records = [dict(zip(names, values, strict=True)) for values in expect.rows.values()]
    wanted = [list(record.values()) for record in records if keeps(expect.predicate, record)]

    return rows_difference(wanted, found.values())


TEXTS = st.sampled_from(["", "a", "b", "ä", "a\r", "zz"])
CONDITIONS = st.recursive(
    st.one_of(
        st.tuples(st.sampled_from(["=", "!=", "<", ">="]), st.just("nation"), TEXTS).map(list),
        st.tuples(st.sampled_from(["in", "not in"]), st.just("nation"), st.lists(TEXTS, max_size=3)).map(
            list
        ),
        st.tuples(st.sampled_from(["is null", "is not null"]), st.sampled_from(["nation", "year"])).map(list),
        st.tuples(st.sampled_from(["=", "<"]), st.just("year"), st.integers(-1, 3)).map(list),
    ),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
        inner.map(lambda tree: ["not", tree]),
    ),
    max_leaves=4,
)


@tries(100)
@given(st.lists(st.one_of(TEXTS, st.none()), max_size=4), CONDITIONS)
def test_any_condition_on_any_rows_gives_what_the_judge_expects(
    values: list[str | None], condition: list[Any]
) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "data.parquet"
        data = table(values)
        try:
            with IndexingWriter(target, data.schema, "nation") as writer:
                writer.write(data)
        except Refused:
            return  # what an index cannot hold
        done = scan_file(target, condition, ["nation", "year"])
    records: list[dict[str, Any]] = data.to_pylist()
    expected = [[record["nation"], record["year"]] for record in records if keeps(condition, record)]

    assert done.used
    assert "" == rows_difference(expected, rows_of(done.table, ["nation", "year"]))


def test_rows_of_all_types_go_through_a_table_and_back() -> None:
    columns = [
        {"name": name, "type": name, "nullable": True}
        for name in ("int32", "int64", "double", "string", "binary")
    ]
    rows = [[1, {"int": "-9007199254740993"}, {"float": "-0.0"}, "é", {"bytes": "00ff"}], [None] * 5]
    made = table_of({"columns": columns, "rows": rows})

    assert [pa.int32(), pa.int64(), pa.float64(), pa.string(), pa.binary()] == made.schema.types
    assert rows == rows_of(made, made.column_names)
    assert "a" == json_value(python_value("a"))
    with pytest.raises(Refused, match="int32"):
        table_of({"columns": columns[:1], "rows": [[1 << 40]]})
