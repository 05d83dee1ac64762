from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from idx1_files import PAYLOAD, Idx1File, edited, parquet, table
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.dump import Hexdump, JsonLines, Selected, Tree, dump
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import FLUSHED, Leaf
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.thrift import FileMetaData

pytestmark = pytest.mark.slow

GOOD = Idx1File().build()
OFFSET = GOOD.index(idx1.MAGIC)

run = CliRunner().invoke


def leaves_of(data: bytes, pattern: str | None = None) -> list[Leaf]:
    found: list[Leaf] = []
    dump(BytesSource(data), found.extend if pattern is None else Selected(pattern, found.extend))
    return found


def written(
    writer: Callable[[Callable[[str], object]], Callable[[list[Leaf]], None]], leaves: list[Leaf]
) -> list[str]:
    lines: list[str] = []
    writer(lines.append)(leaves)
    return lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    path.write_bytes(GOOD)
    return path


def test_the_tree_shows_offset_length_and_value() -> None:
    lines = written(Tree, leaves_of(GOOD, "idx1"))

    assert lines == [
        "                    idx1",
        f"{OFFSET:>10}       4    magic = b'IDX1'",
        f"{OFFSET + 4:>10}       8    length = {len(PAYLOAD)}",
        f'{OFFSET + 12:>10}      {len(PAYLOAD)}    payload = b"C\\xc3\\xb4te d\'Ivoire\\nPeru\\nSingapore\\n\\xe6\\x97\\xa5\\xe6\\x9c\\xac"',
    ]


def test_leaves_stand_in_order_and_hold_their_bytes() -> None:
    leaves = leaves_of(GOOD)
    offsets = [leaf.offset for leaf in leaves]

    assert sorted(offsets) == offsets
    assert b"PAR1" == GOOD[leaves[0].offset :][: leaves[0].length]
    assert len(GOOD) == leaves[-1].offset + leaves[-1].length


def test_every_byte_of_the_hexdump_stands_in_the_file() -> None:
    for row in written(lambda write: Hexdump(write, BytesSource(GOOD), whole=True), leaves_of(GOOD)):
        if row.startswith("*"):
            continue
        offset, data = int(row[:8], 16), bytes.fromhex(row[10:57])

        assert data == GOOD[offset : offset + len(data)]


def test_the_hexdump_leaves_out_long_runs() -> None:
    values = [f"value {i:05d}" for i in range(1000)]
    data = Idx1File(data=parquet(table(values)), payload="\n".join(values).encode()).build()
    source = BytesSource(data)

    assert len(written(lambda write: Hexdump(write, source, whole=True), leaves_of(data))) < 900
    assert 6 == len(written(lambda write: Hexdump(write, source, whole=False), leaves_of(data, "idx1")))


def test_json_lines_are_json_with_the_names_of_enum_values() -> None:
    records = [json.loads(line) for line in written(JsonLines, leaves_of(GOOD))]
    by_path = {record["path"]: record for record in records}

    assert {
        "path": "idx1.length",
        "offset": OFFSET + 4,
        "length": 8,
        "value": len(PAYLOAD),
    }.items() <= by_path["idx1.length"].items()
    assert "BYTE_ARRAY" == by_path["footer.schema[1].type"]["name"]
    assert all(record["doc"] for record in records)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("idx1.magic", 1),
        ("footer.schema[1].name", 3),
        ("footer.row_groups[*].columns[1].file_offset", 2),
        ("tail", 2),
        ("nothing", 0),
    ],
)
def test_fields_are_selected_by_path(pattern: str, count: int) -> None:
    assert count == len(leaves_of(GOOD, pattern))


def test_a_damaged_file_is_shown_as_far_as_it_can_be_read() -> None:
    start = GOOD.index(b"year", OFFSET)
    damaged = GOOD[: start - 1] + b"\xff" + GOOD[start:]
    found: list[Leaf] = []
    errors = dump(BytesSource(damaged), found.extend)

    assert any(leaf.path == "footer.schema[1].name" for leaf in found)
    assert "tail.magic" == found[-1].path
    assert ["PQF-004"] == [error.rule for error in errors]


def test_a_large_footer_is_traced_in_little_memory() -> None:
    data = parquet(table([f"v{i % 9}" for i in range(3_000)]), row_group_size=10)
    sizes: list[int] = []
    dump(BytesSource(data), lambda leaves: sizes.append(len(leaves)))

    assert sum(sizes) > 50_000
    assert max(sizes) < 2 * FLUSHED


def test_the_command_reports_the_error_and_exits_1(path: Path) -> None:
    path.write_bytes(GOOD[:-1])
    result = CliRunner().invoke(app, ["dump", str(path)])

    assert 1 == result.exit_code
    assert "head" in result.stdout
    assert f"error: {path}, offset" in result.stderr
    assert "[PQF-002]" in result.stderr


def test_the_command_prints_each_form(path: Path) -> None:
    assert "payload" in run(app, ["dump", str(path)]).stdout
    assert "IDX1" in run(app, ["dump", "--hexdump", str(path)]).stdout
    assert all(json.loads(line) for line in run(app, ["dump", "--json", str(path)]).stdout.splitlines())


def test_pages_indexes_and_bloom_filters_have_every_field() -> None:
    data = (GOLDEN_FILES / "blm" / "dictionary" / "data.parquet").read_bytes()
    by_path = {leaf.path: leaf.value for leaf in leaves_of(data)}
    chunk = "row_groups[0].columns[0]"

    assert 3 == by_path[f"{chunk}.pages[0].header.dictionary_page_header.num_values"]
    assert [b"tin", b"lead", b"zinc"] == [by_path[f"{chunk}.pages[0].body.values[{n}]"] for n in range(3)]
    assert ("1 1", "0 1") == tuple(
        by_path[f"{chunk}.pages[1].body.{part}"] for part in ("definition_levels", "indexes")
    )
    assert 32 == by_path[f"{chunk}.bloom_filter.header.numBytes"]
    assert "(bits of the bloom filter, 32 bytes)" == repr(by_path[f"{chunk}.bloom_filter.bitset"])


def test_a_compressed_body_says_how_long_it_is_before_and_after() -> None:
    data = parquet(table(["a" * 1000] * 50), compression="zstd", use_dictionary=False)
    bodies = [repr(leaf.value) for leaf in leaves_of(data) if leaf.path.endswith(".pages[0].body")]

    assert bodies[0].startswith("(data page body, PLAIN, ZSTD, ")
    assert re.search(r" bytes -> 50\d{3}\)$", bodies[0])


def test_a_gap_says_what_it_is() -> None:
    data = (GOLDEN_FILES / "pqf" / "plain" / "data.parquet").read_bytes()
    damaged = edited(data, lambda footer: footer.row_groups[0].columns.pop())

    assert ["(bytes that belong to no structure: pages that no column chunk claims)"] == [
        repr(leaf.value) for leaf in leaves_of(damaged) if leaf.path == "gaps[0]"
    ]


def test_json_says_why_bytes_are_not_taken_apart() -> None:
    records = [json.loads(line) for line in written(JsonLines, leaves_of(GOOD))]

    assert any(
        "page body" in record["value"]["reason"] for record in records if record["path"].endswith(".body")
    )


def test_chunks_over_each_other_are_shown_twice_at_most_and_told() -> None:
    def repeat(footer: FileMetaData) -> None:
        footer.row_groups *= 150

    data = edited(parquet(table(["value"] * 2000), row_group_size=2000), repeat)
    found: list[Leaf] = []
    errors = dump(BytesSource(data), found.extend)
    in_body = [leaf for leaf in found if leaf.path.startswith("row_groups")]

    assert sum(leaf.length for leaf in in_body) <= 2 * len(data)
    assert len(errors) <= 101
    assert "also belong to row_groups[0].columns[0]" in str(errors[0])
    assert "left out" in str(errors[-1])


def test_a_chunk_outside_the_body_is_told_and_its_bytes_are_a_gap() -> None:
    def elsewhere(footer: FileMetaData) -> None:
        facts = footer.row_groups[0].columns[0].meta_data
        assert facts is not None
        facts.data_page_offset = 1 << 40

    data = edited((GOLDEN_FILES / "pqf" / "plain" / "data.parquet").read_bytes(), elsewhere)
    found: list[Leaf] = []
    errors = dump(BytesSource(data), found.extend)

    assert ["PQF-008"] == [error.rule for error in errors]
    assert len(data) == sum(leaf.length for leaf in found)


def test_a_body_of_more_values_than_its_bytes_could_hold_is_not_taken_apart() -> None:
    data = (GOLDEN_FILES / "pqf" / "plain" / "data.parquet").read_bytes()
    overflown = (GOLDEN_FILES / "pqf" / "page-values-overflown" / "data.parquet").read_bytes()

    assert any(leaf.path.endswith("body.values[0]") for leaf in leaves_of(data))
    assert len(overflown) == sum(leaf.length for leaf in leaves_of(overflown))
    assert max(len(str(leaf.value)) for leaf in leaves_of(overflown)) < 1000
