from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from golden_cases import ROWS
from idx1_files import Idx1File, companion, parquet, table
from pqassay.cli.main import app
from pqassay_golden.tiny.parquet import Column, Layout, ListOf, TinyParquet
from pqassay_reader.cli.driver import NotSupportedError, respond
from pqassay_reference.rewrite.extract import extract_file
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.mutation.mutations import Mutation, mutate


def answered(op: str, content: bytes, tmp_path: Path, **members: Any) -> dict[str, Any]:
    path = tmp_path / "data.parquet"
    path.write_bytes(content)
    return next(respond({"protocol": 2, "op": op, "family": "IDX1", "file": str(path), **members}))


def test_decode_tells_values_layout_and_offset(tmp_path: Path) -> None:
    content = Idx1File().build()
    answer = answered("decode", content, tmp_path)

    assert "accept" == answer["answer"]
    assert ["Côte d'Ivoire", "Peru", "Singapore", "日本"] == answer["value"]["values"]
    assert ("published", content.index(b"IDX1")) == (answer["value"]["layout"], answer["value"]["offset"])


def test_decode_refuses_a_damaged_index_with_the_rule(tmp_path: Path) -> None:
    answer = answered("decode", Idx1File(magic=b"IDX2").build(), tmp_path)

    assert "reject" == answer["answer"]
    assert "[IDX1-006]" in answer["message"]


@pytest.mark.parametrize(("values", "read"), [([None, None], []), (["", None], [""])])
def test_only_the_column_tells_what_an_empty_payload_holds(
    values: list[str | None], read: list[str], tmp_path: Path
) -> None:
    content = Idx1File(data=parquet(table(values)), payload=b"").build()

    assert read == answered("decode", content, tmp_path, column="nation")["value"]["values"]
    assert [""] == answered("decode", content, tmp_path)["value"]["values"]


LENGTH = len("Côte d'Ivoire\nPeru\nSingapore\n日本".encode())
PUBLISHED = (idx1.KEY, "{offset}")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (Idx1File().build(), ""),
        (parquet(table()), ""),
        (Idx1File(keys=[PUBLISHED, (idx1.COMPANION_KEY, companion())]).build(), ""),
        (Idx1File(keys=[PUBLISHED, (idx1.LENGTH_KEY, str(LENGTH))]).build(), ""),
        (Idx1File(keys=[PUBLISHED, (idx1.LENGTH_KEY, "4")]).build(), "IDX1-031"),
        (Idx1File(keys=[PUBLISHED, PUBLISHED]).build(), "IDX1-001"),
        (Idx1File(keys=[(idx1.KEY, None)]).build(), "IDX1"),
        (Idx1File(keys=[(idx1.COMPANION_KEY, companion())]).build(), "IDX1-024"),
        (Idx1File(keys=[PUBLISHED, (idx1.COMPANION_KEY, "{}")]).build(), "IDX1-020"),
        (Idx1File(keys=[PUBLISHED, (idx1.COMPANION_KEY, companion(crc32=1))]).build(), "IDX1-021"),
        (Idx1File(keys=[PUBLISHED, (idx1.COMPANION_KEY, companion(row_count=1))]).build(), "IDX1-022"),
        (Idx1File(keys=[PUBLISHED, (idx1.COMPANION_KEY, companion(null_count=0))]).build(), "holds 1 nulls"),
        (Idx1File(keys=[PUBLISHED, (idx1.COMPANION_KEY, companion(column=("year",)))]).build(), "IDX1-018"),
        (Idx1File(payload=b"Peru").build(), "the index lacks"),
        (Idx1File(payload=b"Peru\r\nx").build(), "IDX1-014"),
        (Idx1File(payload=b"Peru\n").build(), "IDX1-012"),
        (Idx1File(data=parquet(table(["a\nb"])), payload=b"a\nb").build(), "line feed"),
        (Idx1File(data=parquet(table([None])), payload=b"a").build(), "holds no value"),
        (Idx1File().build()[:-5], "PQF"),
    ],
)
def test_lint_finds_what_is_wrong(content: bytes, told: str, tmp_path: Path) -> None:
    answer = answered("lint", content, tmp_path)

    assert ("reject" if told else "accept") == answer["answer"]
    assert told in answer.get("message", "")


def test_lint_compares_with_the_column_that_is_named(tmp_path: Path) -> None:
    two = table().append_column("city", [["a"] * 6])
    content = Idx1File(data=parquet(two), payload=b"a").build()

    assert "accept" == answered("lint", content, tmp_path)["answer"]
    assert "accept" == answered("lint", content, tmp_path, column="city")["answer"]
    assert "reject" == answered("lint", content, tmp_path, column="nation")["answer"]
    assert "reject" == answered("lint", content, tmp_path, column="gone")["answer"]


def test_the_reference_lints_only_what_no_engine_reads() -> None:
    greeting = next(respond({"protocol": 2, "op": "hello"}))

    assert ["idx1.lint", "pm.lint"] == [name for name in greeting["capabilities"] if name.endswith(".lint")]


def encoded(rows: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    output = str(tmp_path / "written.parquet")
    request = {
        "protocol": 2,
        "op": "encode",
        "family": "IDX1",
        "column": "nation",
        "rows": rows,
        "output": output,
    }
    return next(respond(request))


def test_encode_writes_an_index_with_a_companion_record(tmp_path: Path) -> None:
    assert {"answer": "accept"} == encoded(ROWS, tmp_path)

    found = extract_file(tmp_path / "written.parquet")
    assert found.companion is not None
    assert (("nation",), 6) == (found.companion.column, found.companion.row_count)


@pytest.mark.parametrize("values", [["a\nb"], [""], ["a\r", "b\r"]])
def test_encode_refuses_what_an_index_cannot_hold_and_leaves_nothing(
    values: list[str], tmp_path: Path
) -> None:
    column = {"name": "nation", "type": "string", "nullable": False}
    answer = encoded({"columns": [column], "rows": [[value] for value in values]}, tmp_path)

    assert "reject" == answer["answer"]
    assert "cannot hold" in answer["message"]
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "request_",
    [
        {"protocol": 2, "op": "prune", "family": "IDX1"},
        {"protocol": 2, "op": "scan", "family": "BLOOM"},
        {"protocol": 1, "op": "hello"},
        {},
    ],
)
def test_what_is_not_known_is_not_supported(request_: dict[str, Any]) -> None:
    with pytest.raises(NotSupportedError):
        next(respond(request_))


def read(column: Column, tmp_path: Path, **layout: Any) -> dict[str, Any]:
    file = TinyParquet((column,), layout=Layout(page_rows=2, **layout))
    return rows_read(file.build(), ["c"], tmp_path)


def rows_read(content: bytes, columns: list[str], tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "data.parquet"
    path.write_bytes(content)
    return next(respond({"protocol": 2, "op": "read", "file": str(path), "columns": columns}))


def test_bit_packed_levels_are_not_supported_rather_than_read_from_the_wrong_end(tmp_path: Path) -> None:
    for column in (
        Column("c", "int32", [1, None, 3]),
        Column("c", ListOf("int32", optional=False), [[1, 2], [], [3]], optional=False),
    ):
        for indexed in (False, True):
            answer = read(column, tmp_path, bit_packed_levels=True, offset_index=indexed)
            assert {"answer": "unsupported", "reason": "levels that are BIT_PACKED are not read"} == answer


def test_an_encoding_of_levels_that_a_column_does_not_have_says_nothing(tmp_path: Path) -> None:
    answer = read(Column("c", "int32", [1, 2, 3], optional=False), tmp_path, bit_packed_levels=True)

    assert {"answer": "accept", "rows": [[1], [2], [3]]} == answer


def test_an_enum_is_text_in_lists_too(tmp_path: Path) -> None:
    flat = read(Column("c", "enum", ["a", None]), tmp_path)
    lists = read(Column("c", ListOf("enum"), [["a", None], []]), tmp_path)

    assert [["a"], [None]] == flat["rows"]
    assert [[{"list": ["a", None]}], [{"list": []}]] == lists["rows"]


def test_a_repetition_of_a_later_version_is_refused_with_its_column_alone(tmp_path: Path) -> None:
    file = TinyParquet((Column("c", "int32", [1, None]), Column("d", "int32", [3, 4], optional=False)))
    later = mutate(file.build(), Mutation("set", "footer.schema[1].repetition_type", 3))
    both, alone = (rows_read(later, names, tmp_path) for names in (["c", "d"], ["d"]))

    assert "c is neither required nor optional nor repeated" in both["message"]
    assert [[3], [4]] == alone["rows"]


def test_the_command_answers_in_a_file_and_exits_with_3_for_what_it_does_not_know(tmp_path: Path) -> None:
    asked, reply = tmp_path / "request.json", tmp_path / "answer.json"

    def exit_status(content: str) -> tuple[int, int]:
        asked.write_text(content)
        done = CliRunner().invoke(app, ["driver", str(asked), str(reply)])
        return done.exit_code, len(done.stderr.splitlines())

    assert (0, 0) == exit_status('{"protocol": 2, "op": "hello"}')
    assert "idx1.scan" in json.loads(reply.read_text())["capabilities"]
    assert (3, 1) == exit_status('{"protocol": 2, "op": "sing"}')
    assert (1, 1) == exit_status("nonsense")
    assert (1, 1) == exit_status("[]")
    assert (1, 1) == exit_status('{"protocol": 2, "op": "decode", "family": "IDX1"}')
