"""Indexes of types that somebody named: attached, listed, dropped, and left alone by readers of the first edition."""

from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from construct import GreedyBytes, Struct
from typer.testing import CliRunner

from damage import turns
from directory_files import Index, footer_of, with_directory
from places import ROOT
from pqassay import check
from pqassay.cli.main import app
from pqassay_reference.directory import add
from pqassay_reference.directory.embedding import add_indexes, refresh_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.directory.reading.inventory import list_indexes
from pqassay_reference.errors import Refused
from pqassay_reference.rewrite.index_directory import stored_indexes
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.entries import ENTRY, KEY, Entry, EntryKey, build_directory, parse_directory
from pqassay_spec.directory.named_types import FIRST_NAMED, is_type_name, type_number
from pqassay_spec.parquet.thrift import CompressionCodec

BITMAP, TALLY = "org.example.bitmap", "org.example.tally-2"
PARQUET: Any = pq

TABLE = pa.table(
    {
        "metal": ["tin", "lead", "tin", "zinc", None, "tin"],
        "lots": [[7], [], None, [8, 9], [10], [11]],
        "lot": pa.array([7, 8, 9, 10, 11, 12], pa.int64()),
    }
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "data.parquet"
    PARQUET.write_table(TABLE, found, row_group_size=3)
    return found


def run(*command: object) -> Any:
    return CliRunner().invoke(app, [str(part) for part in command])


def names(path: Path) -> list[tuple[str, str, str]]:
    """Name, columns and state of each index."""
    return [
        (
            one.entry.type_name or IndexType(one.entry.head.type).name,
            one.entry.names,
            one.stale or one.unusable,
        )
        for one in list_indexes(path).entries
    ]


# ------------------------------------------------------------------------------------------------------ the grammar

GOOD_NAMES = ["org.example.bitmap", "a.b", "de.müller".replace("ü", "ue"), "x1.y_2-z.3", f"a.{'b' * 253}"]
BAD_NAMES = [
    "",
    "bitmap",
    "Org.example",
    "org..x",
    ".org.x",
    "org.x.",
    "org.ex ample",
    "org.example.x\n",
    "org.é.x",
]
BAD_NAMES += ["org.-x", "org.x-", "org.x--y", f"a.{'b' * 254}", "org/x.y", "x.y\0"]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_name_gives_a_number_above_those_of_the_chapter(name: str) -> None:
    assert is_type_name(name)
    assert FIRST_NAMED <= type_number(name) < 1 << 16
    assert type_number(name) not in set(IndexType)


@pytest.mark.parametrize("name", BAD_NAMES)
def test_other_texts_are_refused_before_anything_is_written(name: str, path: Path) -> None:
    before = path.read_bytes()
    assert not is_type_name(name)
    with pytest.raises(Refused, match="is not a name for a type"):
        add(path, type=name, blob=b"x", columns=["metal"])
    assert before == path.read_bytes()


FIRST_EDITION = Struct(
    *(member for member in cast("Any", ENTRY).subcons if member.name not in ("type_name", "later")),
    "later" / GreedyBytes,
)
"""The entry as it was before there were names."""


def test_a_reader_of_the_first_edition_keeps_the_names_and_both_entries(path: Path) -> None:
    for name, placement in ((BITMAP, Placement.INLINE), (TALLY, Placement.BODY)):
        add(path, type=name, blob=b"bits", columns=["metal"], placement=placement)
    for entry in stored_indexes(footer_of(path.read_bytes())).entries:
        old = cast("Any", FIRST_EDITION.parse(entry.build()))
        assert entry.type_name.encode() in old.later
        assert entry.build() == FIRST_EDITION.build(old)
        assert old.head.type not in set(IndexType)
    keys = [EntryKey(*one.key[:3]) for one in stored_indexes(footer_of(path.read_bytes())).entries]
    assert 2 == len(set(keys))


# ------------------------------------------------------------------------------------------------------ attaching


@pytest.mark.parametrize(
    ("placement", "codec"),
    turns([(place,) for place in Placement], [(CompressionCodec.UNCOMPRESSED,), (CompressionCodec.ZSTD,)]),
)
def test_it_stays_beside_all_others_and_the_rows_stay(
    path: Path, placement: Placement, codec: CompressionCodec
) -> None:
    add_indexes(path, [Request(IndexType.DISTINCT_SET, (("metal",),))])
    for name in (BITMAP, TALLY):
        for granularity in (Granularity.FILE, Granularity.ROW_GROUP):
            more: Any = {"granularity": granularity, "placement": placement, "codec": codec}
            add(path, type=name, blob=b"bits" * 9, columns=["metal"], writer="tests 1", **more)
    done = add(path, type=BITMAP, blob=b"other", columns=["metal"], placement=placement)

    assert [("DISTINCT_SET", "metal", "")] == names(path)[:1]
    assert 5 == len(names(path))
    assert {BITMAP, TALLY} == {name for name, _, state in names(path)[1:] if not state}
    assert [BITMAP] == [key.type_name for key in done.replaced]
    assert TABLE.equals(PARQUET.read_table(path))
    (file,) = check(path, tier="values").files
    assert [] == [finding for finding in file.findings if finding.rule != "PQF-037"]  # of the replaced blob


def test_it_describes_columns_that_no_index_of_the_chapter_can(path: Path) -> None:
    add(path, type=BITMAP, blob=b"", columns=["lots.list.element", "lot"])

    assert [(BITMAP, "lots.list.element, lot", "")] == names(path)
    assert [] == check(path, tier="values").files[0].findings


@pytest.mark.parametrize(
    ("columns", "granularity", "words"),
    [
        ([], Granularity.FILE, "at least one column"),
        (["metal", "metal"], Granularity.FILE, "each once"),
        (["ore"], Granularity.FILE, "there is no column ore"),
        (["metal"], Granularity.PAGE, "no offset index"),
        (["metal", "lot"], Granularity.PAGE, "describes one column"),
    ],
)
def test_what_cannot_have_an_entry_is_refused_and_the_file_stays(
    path: Path, columns: list[str], granularity: Granularity, words: str
) -> None:
    before = path.read_bytes()
    with pytest.raises(Refused, match=words):
        add(path, type=BITMAP, blob=b"bits", columns=columns, granularity=granularity)
    assert before == path.read_bytes()
    assert [path] == list(path.parent.iterdir())


def test_an_entry_that_is_stale_waits_for_its_owner(path: Path) -> None:
    add(path, type=BITMAP, blob=b"bits", columns=["metal"], placement=Placement.INLINE)
    key = PARQUET.read_metadata(path).metadata[KEY.encode()]
    PARQUET.write_table(TABLE.slice(1).replace_schema_metadata({KEY.encode(): key}), path)
    done = refresh_indexes(path)

    assert [(BITMAP, f"only the owner of {BITMAP} can make it; add it again with --blob, or drop it")] == [
        (entry.type_name, reason) for entry, reason in done.unable
    ]
    assert names(path)[0][2].startswith("it describes 6 rows")
    (finding,) = check(path, tier="values").files[0].findings
    assert ("DIR-016", "WARN") == (finding.rule, finding.verdict)
    assert f"index drop {path} --type {BITMAP} --columns metal" in (finding.remedy or "")


# ------------------------------------------------------------------------------------------------------ the commands


def test_the_commands_attach_list_and_drop_it(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    blob = tmp_path / "bits"
    blob.write_bytes(b"\x05\x04")
    options = ("--type", BITMAP, "--columns", "metal", "--blob", blob)
    added = run("index", "add", path, *options, "--granularity", "row-group", "--placement", "inline")
    assert (0, f"{path}: added {BITMAP} of metal by row-group: 2 bytes (inline)\n") == (
        added.exit_code,
        added.stdout,
    )
    again = run("index", "add", path, *options, "--granularity", "row-group")
    assert f"{path}: replaced {BITMAP} of metal by row-group: 2 bytes (body)\n" == again.stdout
    (listed,) = json.loads(run("index", "list", path, "--json").stdout)["indexes"]
    assert (BITMAP, [["metal"]], "row-group", True, None) == tuple(
        listed[name] for name in ("type", "columns", "granularity", "fresh", "why")
    )
    assert b"\x05\x04" in path.read_bytes()
    assert "nothing to remove" in run("index", "drop", path, "--type", TALLY).stdout
    assert f"removed {BITMAP}" in run("index", "drop", path, "--type", BITMAP).stdout
    assert before == path.read_bytes()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--type", "bitmap", "--columns", "metal", "--blob", "BLOB"], 2, "'bitmap' is not distinct-set"),
        (["--type", BITMAP, "--columns", "metal"], 2, "needs its bytes: add --blob"),
        (
            ["--type", "hll", "--columns", "metal", "--blob", "BLOB"],
            2,
            "is made of the data; leave out --blob",
        ),
        (
            ["--type", "idx1", "--columns", "metal", "--blob", "BLOB"],
            2,
            "is made of the data; leave out --blob",
        ),
        (["--type", BITMAP, "--columns", "metal", "--blob", "nowhere"], 2, "nowhere: no such file"),
        (["--type", BITMAP, "--columns", "metal", "--blob", "."], 2, "is a directory"),
        (["--type", BITMAP, "--columns", "ore", "--blob", "BLOB"], 1, "there is no column ore"),
        (
            ["--type", BITMAP, "--columns", "metal", "--blob", "BLOB", "--max-bytes", "3"],
            1,
            "more than 3 bytes",
        ),
        (["--type", BITMAP, "--columns", "metal", "--blob", "BLOB", "--most", "3"], 1, "--most limits"),
    ],
)
def test_what_the_command_cannot_do_is_one_line(
    path: Path, tmp_path: Path, options: list[str], code: int, words: str
) -> None:
    before, blob = path.read_bytes(), tmp_path / "BLOB"
    blob.write_bytes(b"bits")
    done = run("index", "add", path, *(str(blob) if option == "BLOB" else option for option in options))

    assert code == done.exit_code
    assert words in " ".join(done.stderr.replace("│", "").split())
    assert before == path.read_bytes()


def test_bytes_describe_one_file_and_not_a_folder(path: Path, tmp_path: Path) -> None:
    blob = tmp_path / "bits"
    blob.write_bytes(b"bits")
    for files in ([path, path], [tmp_path]):
        done = run("index", "add", *files, "--type", BITMAP, "--columns", "metal", "--blob", blob)
        assert (2, "error: the bytes of --blob describe one file; name one\n") == (
            done.exit_code,
            done.stderr,
        )


# ------------------------------------------------------------------------------------------------------ the judge


def test_the_judge_checks_the_frame_and_names_the_payload_as_a_gap(path: Path) -> None:
    add(path, type=BITMAP, blob=b"bits", columns=["metal"], version=77)
    report = check(path, tier="values")
    (file,) = report.files
    found = report.coverages[file.coverage].not_checked.items()
    gaps = {rule: gap for rule, gap in found if rule.startswith("DIR")}

    assert ([], ["DIR-020", "DIR-021", "DIR-023"]) == (file.findings, sorted(gaps))
    assert [] == [column for gap in file.gaps for column in gap.columns]
    assert {(f"the payload of {BITMAP} (4 bytes) is not known to pqassay", "tool")} == {
        (gap.reason, gap.obstacle) for gap in gaps.values()
    }
    assert {"DIR-012", "DIR-014", "DIR-015", "DIR-016", "DIR-017", "DIR-049"} <= set(
        report.coverages[file.coverage].checked
    )


DAMAGES: dict[str, tuple[dict[str, int], str]] = {
    "granularity": ({"granularity": 9}, "DIR-007"),
    "codec": ({"codec": 5}, "DIR-007"),
    "flags": ({"flags": 1}, "DIR-008"),
    "place": ({"offset": 1 << 30}, "DIR-012"),
    "checksum": ({"crc32": 1}, "DIR-014"),
    "length": ({"plain_length": 1}, "DIR-015"),
    "rows": ({"row_count": 1}, "DIR-016"),
    "content": ({"content": 1}, "DIR-017"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_judge_finds_a_damaged_frame(damage: str) -> None:
    changes, rule = DAMAGES[damage]
    kind: Any = type_number(BITMAP)
    index = Index(kind, b"bits", value_count=0, head=changes)
    data = with_directory(index, decoded=_named)
    (file,) = check(data, tier="values").files

    assert [rule] == [finding.rule for finding in file.findings]


NOTHING = 0xEF46DB3751D8E999
"""XXH64 of no bytes."""


def test_an_entry_describes_at_least_one_column() -> None:
    kind: Any = type_number(BITMAP)
    no_columns = Index(kind, b"bits", (), value_count=0, head={"shape": NOTHING, "content": NOTHING})
    (file,) = check(with_directory(no_columns, decoded=_named), tier="values").files

    assert ["DIR-011"] == [finding.rule for finding in file.findings]


def _named(directory: bytes) -> bytes:
    """The only entry of a directory with the name of its type: its builder here knows no names."""
    entries = parse_directory(base64.b64encode(directory).decode()).entries
    return build_directory(
        Entry(one.head, one.columns, one.writer, one.inline, type_name=BITMAP) for one in entries
    )


# ------------------------------------------------------------------------------------------------------ the example


def example() -> Any:
    spec = importlib.util.spec_from_file_location("row_bitmap", ROOT / "examples" / "row_bitmap.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("sizes", [[1], [3, 8, 1], [16, 16], [9, 9, 2], []])
def test_the_bitmap_of_the_example_gives_the_rows_and_leaves_out_row_groups(
    tmp_path: Path, sizes: list[int]
) -> None:
    bitmaps, path = example(), str(tmp_path / "logs.parquet")
    texts = [
        None if n % 5 == 4 else f"{'timeout' if n % 13 == 1 else 'request'} {n}" for n in range(sum(sizes))
    ]
    table = pa.table(
        {"message": pa.array(texts, pa.string()), "row": pa.array(range(len(texts)), pa.int64())}
    )
    with pq.ParquetWriter(path, table.schema) as writer:
        for size in sizes:
            writer.write_table(table.slice(0, size))
            table = table.slice(size)
    wanted = [text for text in texts if text and "timeout" in text]
    groups = {
        n for n, end in enumerate(_ends(sizes)) for text in texts[end - sizes[n] : end] if text in wanted
    }
    bitmaps.attach(path, "message", "timeout")
    found, read = bitmaps.rows(path, "message", "timeout")

    assert (wanted, len(groups)) == (found["message"].to_pylist(), read)
    assert [] == check(path, tier="values").files[0].findings
    assert len(sizes) == bitmaps.rows(path, "message", "request")[1]


def _ends(sizes: list[int]) -> list[int]:
    return [sum(sizes[: n + 1]) for n in range(len(sizes))]


def test_the_example_looks_at_every_row_where_its_index_is_stale_or_damaged(tmp_path: Path) -> None:
    bitmaps, path = example(), tmp_path / "logs.parquet"
    table = pa.table({"message": ["a timeout", "b", "c", "d", "a timeout"]})
    PARQUET.write_table(table, path, row_group_size=2, compression="none")
    bitmaps.attach(str(path), "message", "timeout")
    whole = path.read_bytes()
    assert 2 == bitmaps.rows(str(path), "message", "timeout")[1]

    path.write_bytes(whole.replace(b"timeout\0\x88", b"timeout\0\x80"))
    found, read = bitmaps.rows(str(path), "message", "timeout")
    assert (["a timeout"] * 2, 3) == (found["message"].to_pylist(), read)

    path.write_bytes(whole)
    key = {KEY.encode(): PARQUET.read_metadata(path).metadata[KEY.encode()]}
    PARQUET.write_table(table.take([4, 3, 0, 1]).replace_schema_metadata(key), path, row_group_size=2)
    found, read = bitmaps.rows(str(path), "message", "timeout")
    assert (["a timeout"] * 2, 2) == (found["message"].to_pylist(), read)


def test_the_guide_shows_the_example() -> None:
    guide = (ROOT / "docs" / "guide" / "own-index.md").read_text("utf-8")

    assert '```python title="row_bitmap.py"\n--8<-- "examples/row_bitmap.py"\n```' in guide
