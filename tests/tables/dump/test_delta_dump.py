"""The trace of what a Delta table keeps beside its data files: every value where its bytes are, damaged or not."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.dump import dump
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import Leaf


def run(*arguments: str) -> str:
    """What a command prints."""
    result = CliRunner().invoke(app, arguments)
    assert 0 == result.exit_code, result.output
    return result.stdout


TABLE = GOLDEN_FILES / "dlt/deleted/table"
COMMIT = (TABLE / f"_delta_log/{0:020}.json").read_bytes()
(VECTOR_FILE,) = TABLE.glob("*.bin")
VECTORS = VECTOR_FILE.read_bytes()


def traced(data: bytes, kind: str) -> tuple[list[Leaf], list[FormatError]]:
    found: list[Leaf] = []
    errors = dump(BytesSource(data), found.extend, kind)
    return found, errors


def values_of(data: bytes) -> tuple[list[Leaf], list[FormatError]]:
    """The values of a commit, without what is written between them."""
    leaves, errors = traced(data, "delta_log")
    return [leaf for leaf in leaves if not leaf.structural], errors


def test_every_value_of_a_commit_is_where_it_is_written() -> None:
    leaves, errors = values_of(COMMIT)
    by_path = {leaf.path: leaf for leaf in leaves}
    greatest = by_path["lines[4].add.stats.maxValues.at"]

    assert ([], len(leaves)) == (errors, len(by_path))
    assert "1970-04-11T00:00:07.407402Z" == greatest.value
    assert b'\\"1970-04-11T00:00:07.407402Z\\"' == COMMIT[greatest.offset :][: greatest.length]
    assert ("An upper bound of each column.", 2) == (
        greatest.doc,
        by_path["lines[3].add.deletionVector.cardinality"].value,
    )
    for leaf in leaves:
        raw = COMMIT[leaf.offset : leaf.offset + leaf.length].decode().replace('\\"', '"')
        assert leaf.value == json.loads(raw)


def test_texts_of_other_alphabets_have_their_place() -> None:
    held = {"maxValues": {"größe": "ß\u2028\U0001f600", "n": 0.5}}
    stats = json.dumps(held, ensure_ascii=True).replace("0.5", "123456789012345678901.25")
    data = json.dumps({"add": {"path": "é", "stats": stats, "size": 7}}, ensure_ascii=False).encode()
    leaves, _ = values_of(data)

    assert ["é", "ß\u2028\U0001f600", "123456789012345678901.25", 7] == [leaf.value for leaf in leaves]
    assert [b'"\xc3\xa9"', b"7"] == [data[one.offset :][: one.length] for one in (leaves[0], leaves[-1])]
    assert b"123456789012345678901.25" == data[leaves[2].offset :][: leaves[2].length]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"add":', "the line is not JSON: it ends too early"),
        ('{"add":1} 2', "the line is not JSON: something follows the value"),
        ("[" * 5000, "the line is not JSON: it is nested more than 200 levels deep"),
        ('{"add" 1}', "the line is not JSON: ':' is missing at 7"),
    ],
)
def test_a_line_that_is_no_json_is_named_and_the_others_are_shown(line: str, reason: str) -> None:
    leaves, errors = values_of(f'{line}\n{{"txn":{{"version":1}}}}\n'.encode())

    assert [("DLT-001", "lines[0]", reason)] == [(one.rule, one.field, one.reason) for one in errors]
    assert "lines[1].txn.version" == leaves[-1].path


def test_every_byte_of_a_file_of_vectors_has_one_leaf() -> None:
    leaves, errors = traced(VECTORS + VECTORS[1:], "deletion_vector")

    assert [] == errors
    assert list(range(2 * len(VECTORS) - 1)) == [
        at for leaf in leaves for at in range(leaf.offset, leaf.offset + leaf.length)
    ]
    assert [1681511377] * 2 == [leaf.value for leaf in leaves if leaf.path.endswith("vector.magic")]


def test_no_damage_of_vectors_or_lines_is_a_mistake_of_the_trace() -> None:
    dice = random.Random(25)
    for data, kind in ((VECTORS, "deletion_vector"), (COMMIT, "delta_log")):
        for _ in range(150):
            damaged = bytearray(data)
            for _ in range(dice.randint(1, 3)):
                damaged[dice.randrange(len(data))] = dice.randrange(256)
            leaves, _ = traced(bytes(damaged[: dice.randrange(len(data))]), kind)
            assert all(0 <= leaf.offset <= len(data) for leaf in leaves)


def test_a_checkpoint_shows_its_file_and_its_actions(tmp_path: Path) -> None:
    path = tmp_path / f"{1:020}.checkpoint.parquet"
    add = {"path": "a.parquet", "size": 12, "stats": '{"maxValues":{"id":7}}'}
    pq.write_table(pa.Table.from_pylist([{"add": None}, {"add": add}]), path)
    found = run("dump", "--json", str(path)).splitlines()
    by_path = {record["path"]: record for record in map(json.loads, found)}

    assert {7, 12} == {by_path[f"actions[1].add.{name}"]["value"] for name in ("size", "stats.maxValues.id")}
    assert "footer.schema[1].name" in by_path


def test_the_command_knows_the_files_of_a_log_by_their_names(tmp_path: Path) -> None:
    shown = run("dump", "--field", "*.cardinality", str(TABLE / f"_delta_log/{0:020}.json"))
    assert ["cardinality = 2", "cardinality = 1"] == [
        line[20:].strip() for line in shown.splitlines() if "=" in line
    ]
    assert "magic = 1681511377" in run("dump", str(VECTOR_FILE))
    broken = tmp_path / f"{3:020}.crc"
    broken.write_text("{")
    result = CliRunner().invoke(app, ["dump", str(broken)])
    assert (1, True) == (result.exit_code, "[DLT-001]" in result.stderr)
