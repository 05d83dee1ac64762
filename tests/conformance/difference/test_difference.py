"""What ``pqassay diff`` says about two files: what changed, and not what merely moved."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.difference import Difference, TooManyFields, difference, fields
from pqassay.difference.fields import Fields
from pqassay_spec.base.sources import BytesSource

PLAIN = (GOLDEN_FILES / "pqf" / "plain" / "data.parquet").read_bytes()


def written(groups: list[int], names: tuple[str, ...] = ("a", "b"), **meta: str) -> bytes:
    """A file with a row group for each number, with page indexes."""
    schema = pa.schema([(name, pa.int64()) for name in names])
    stream = io.BytesIO()
    with pq.ParquetWriter(stream, schema, write_page_index=True, store_schema=False) as writer:
        for group in groups:
            columns = {name: [group * 10 + n for n in range(4)] for name in names}
            writer.write_table(pa.table(columns, schema=schema))
        if meta:
            writer.add_key_value_metadata(meta)
    return stream.getvalue()


def between(old: bytes, new: bytes) -> Difference:
    return difference(BytesSource(old), BytesSource(new))


def told(found: Difference) -> list[tuple[str, str]]:
    return [(change.kind, change.path) for change in found.changes]


def test_an_appended_row_group_is_added_and_all_others_move() -> None:
    difference = between(written([1, 2, 3]), written([1, 2, 3, 7]))

    assert [
        ("added", "row_groups[3]"),
        ("changed", "footer.num_rows"),
        ("added", "footer.row_groups[3]"),
        ("changed", "tail.footer_length"),
    ] == told(difference)
    assert difference.moved > 200


def test_elements_are_compared_by_position() -> None:
    old, new = written([1], ("a", "b", "c")), written([1], ("a", "c"))
    changes = told(between(old, new))

    assert ("changed", "footer.schema[2].name") in changes
    assert {("removed", "footer.schema[3]"), ("removed", "row_groups[0].columns[2]")} <= set(changes)
    assert not any("columns[0]" in path for _, path in changes)


def test_a_key_with_another_value_is_one_change() -> None:
    difference = between(written([1], one="1", two="2"), written([1], one="1", two="3"))

    assert [("changed", "footer.key_value_metadata[1].value")] == told(difference)


def test_offsets_that_lead_to_the_same_field_follow() -> None:
    difference = between(written([1], k="v"), written([1, 2], k="v"))

    assert "footer.row_groups[0].columns[0].column_index_offset" in {
        change.path for change in difference.follows
    }


def test_of_a_footer_that_cannot_be_found_the_fields_are_removed() -> None:
    damaged = PLAIN[:-8] + bytes(4) + PLAIN[-4:]
    difference = between(PLAIN, damaged)

    assert {("removed", "footer"), ("changed", "tail.footer_length")} <= set(told(difference))
    assert ["PQF-003" in error for error in difference.new.errors] == [True]


def test_other_bytes_for_the_same_value_are_stored_otherwise() -> None:
    version = next(
        leaf
        for leaf in Fields(BytesSource(PLAIN), "parquet").leaves.values()
        if leaf.path == "footer.version"
    )
    start, end = version.offset, version.offset + version.length
    footer_length = int.from_bytes(PLAIN[-8:-4], "little") + 1
    longer = PLAIN[:start] + bytes([PLAIN[start] | 0x80, 0]) + PLAIN[end:-8]
    difference = between(PLAIN, longer + footer_length.to_bytes(4, "little") + PLAIN[-4:])

    assert [("stored otherwise", "footer.version"), ("changed", "tail.footer_length")] == told(difference)


def test_long_values_are_shown_around_the_first_difference() -> None:
    old, new = (written([1], k="x" * 5000 + end + "y" * 5000) for end in ("A", "B"))
    change = next(change for change in between(old, new).changes if change.path.endswith(".value"))

    values = [place.value for place in (change.old, change.new) if place is not None]
    assert [True, True] == [part in value for part, value in zip(("xA", "xB"), values, strict=True)]
    assert max(map(len, values)) < 120


def test_more_fields_than_can_be_held_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MOST_FIELDS", 10)

    with pytest.raises(TooManyFields, match="too many to compare"):
        between(PLAIN, PLAIN)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    old, new = tmp_path / "old.parquet", tmp_path / "new.parquet"
    old.write_bytes(PLAIN)
    new.write_bytes(PLAIN[:-1] + b"2")
    return str(old), str(new)


def test_the_command_names_the_field_and_exits_with_1(paths: tuple[str, str]) -> None:
    result = CliRunner().invoke(app, ["diff", *paths])

    assert 1 == result.exit_code
    assert [
        "changed          tail.magic",
        "    old  b'PAR1'  offset 401, 4 bytes",
        "    new  b'PAR2'  offset 401, 4 bytes",
    ] == result.stdout.splitlines()[:3]
    assert "1 changed, 77 unchanged" == result.stdout.splitlines()[-1]


def test_the_command_marks_the_bytes(paths: tuple[str, str]) -> None:
    lines = CliRunner().invoke(app, ["diff", "--hex", *paths]).stdout.splitlines()

    assert [True] == ["new" in line for line in lines if "50 41 52 32" in line]
    assert any(line.strip() == "^^ ^^ ^^ ^^" for line in lines)


def test_the_command_writes_json(paths: tuple[str, str]) -> None:
    found = json.loads(CliRunner().invoke(app, ["diff", "--format", "json", *paths]).stdout)

    assert ["tail.magic"] == [change["path"] for change in found["changes"]]
    assert "b'PAR2'" == found["changes"][0]["new"]["value"]


def test_the_same_bytes_exit_with_0_and_a_missing_file_with_2(paths: tuple[str, str]) -> None:
    same = CliRunner().invoke(app, ["diff", paths[0], paths[0]])
    missing = CliRunner().invoke(app, ["diff", paths[0], f"{paths[0]}.gone"])

    assert (0, "the files hold the same bytes\n") == (same.exit_code, same.stdout)
    assert 2 == missing.exit_code
    assert "No such file" in missing.stderr


def test_files_of_two_kinds_are_not_compared(paths: tuple[str, str]) -> None:
    other = str(GOLDEN_FILES / "pm" / "plain" / "_pm")
    result = CliRunner().invoke(app, ["diff", paths[0], other])

    assert 2 == result.exit_code
    assert "only two files of the same kind" in result.stderr
