"""Iceberg tables among the targets: which state is judged, where paths lead, and what no manifest can do to the judge."""

from __future__ import annotations

import gzip
import json
import shutil
import zlib
from pathlib import Path

import pytest

import pqassay
from places import GOLDEN_FILES
from pqassay.errors import UsageError
from pqassay_golden.iceberg import files
from pqassay_golden.iceberg import table as golden
from pqassay_golden.tiny.avro import Codec
from pqassay_spec.table.avro import BLOCK_HEADER
from pqassay_tables.metadata.iceberg.metadata import snapshot_of

PLAIN = GOLDEN_FILES / "ice/plain/table"
LOWERED = GOLDEN_FILES / "ice/maximum-lowered/table"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PLAIN, tmp_path / "t"))


def written(folder: Path, contents: dict[str, bytes]) -> Path:
    for name, data in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def names(report: pqassay.Report) -> list[str]:
    return [Path(file.path).name for file in report.files]


def rules(report: pqassay.Report) -> list[str]:
    return [finding.rule for file in report.files for finding in file.findings]


def replaced(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


# ------------------------------------------------------------------------------------------------- what is judged


def test_a_table_is_judged_with_its_live_files_and_the_others_are_counted(table: Path) -> None:
    shutil.copy(table / "data/part-0.parquet", table / "data/orphan.parquet")
    report = pqassay.check(table)

    assert ["t", "part-0.parquet", "part-1.parquet"] == names(report)
    assert ["iceberg", "parquet", "parquet"] == [file.kind for file in report.files]
    assert [("not in the table", 1)] == [(one.reason, one.count) for one in report.ignored]
    assert ("pqassay-reference", 0) == (report.files[0].created_by, report.exit_code)
    assert sum(path.stat().st_size for path in (table / "metadata").iterdir()) == report.files[0].size


def test_the_same_is_found_in_worker_processes() -> None:
    alone = pqassay.check(LOWERED, tier="values")
    assert (["ICE-040"], alone.to_json()) == (
        rules(alone),
        pqassay.check(LOWERED, tier="values", jobs=2).to_json(),
    )


def test_a_table_that_moved_is_read_where_it_is(table: Path) -> None:
    location = files.metadata(golden.COLUMNS).replace(b"file:///warehouse/metals", b"s3a://lake/metals/")
    (table / "metadata/v1.metadata.json").write_bytes(location.replace(b"metals//", b"metals/"))
    for path in table.glob("metadata/*.avro"):
        path.write_bytes(path.read_bytes().replace(b"file:///warehouse", b"s3://l//warehouse"))

    report = pqassay.check(table)
    assert ["t"] == names(report)
    assert ["errored"] == [file.outcome for file in report.files]

    shutil.rmtree(table)
    shutil.copytree(PLAIN, table)
    replaced(table / "metadata/v1.metadata.json", b'"file:///warehouse/metals"', b'"file:/warehouse/metals/"')
    assert (0, 3) == ((report := pqassay.check(table)).exit_code, len(report.files))


def test_a_file_outside_of_the_table_is_not_reachable_and_no_finding(table: Path) -> None:
    replaced(
        table / "metadata/manifest-0.avro",
        b"file:///warehouse/metals/data/part-0",
        b"file:///elsewhere/metals/data/part-0",
    )
    report = pqassay.check(table)

    assert ["conformant", "conformant", "errored"] == sorted(file.outcome for file in report.files)
    assert ["not reachable: it is outside of the folder of the table"] == [
        file.error for file in report.files if file.error
    ]
    assert 4 == report.exit_code


def test_a_bound_in_a_compressed_block_is_shown_in_its_bytes(tmp_path: Path) -> None:
    entries = [
        files.entry(
            files.data_file("data/part-0.parquet", golden.PARTS[0], 8, upper_bounds={1: files.int64(5)})
        )
    ]
    codecs: list[Codec] = ["null", "deflate"]
    for codec in codecs:
        data = files.manifest(entries, columns=golden.COLUMNS, codec=codec)
        listed = files.manifest_list([files.listed(files.MANIFEST, data, entries)], codec=codec)
        written(
            tmp_path,
            {
                files.METADATA: files.metadata(golden.COLUMNS, rows=8),
                files.LIST: listed,
                files.MANIFEST: data,
            },
        )
        written(tmp_path, {"data/part-0.parquet": golden.PARTS[0]})
        report = pqassay.check(tmp_path, tier="values")
        ((place,),) = [finding.at for file in report.files for finding in file.findings]
        assert ("metadata/manifest-0.avro[0].data_file.upper_bounds[1]", 8) == (place.field, place.length)
        assert str(place.file).endswith("manifest-0.avro" if codec == "null" else "(without compression)")


@pytest.mark.parametrize("codec", ["snappy", "zstandard"])
def test_every_codec_is_read(table: Path, codec: Codec) -> None:
    entries = [files.entry(files.data_file("data/part-0.parquet", golden.PARTS[0], 8))]
    data = files.manifest(entries, codec=codec)
    (table / files.MANIFEST).write_bytes(data)
    (table / files.LIST).write_bytes(
        files.manifest_list([files.listed(files.MANIFEST, data, entries)], codec=codec)
    )

    report = pqassay.check(table)
    assert (["t", "part-0.parquet"], 0) == (names(report), report.exit_code)
    if codec == "snappy":
        broken = bytearray(data)
        broken[-20] ^= 1
        (table / files.MANIFEST).write_bytes(broken)
        assert ["ICE-004"] == rules(pqassay.check(table))


# -------------------------------------------------------------------------------------------------- which state


def test_the_highest_version_counts_and_not_the_last_name(table: Path) -> None:
    old = table / "metadata/v1.metadata.json"
    shutil.copy(old, table / "metadata/v10.metadata.json")
    (table / "metadata/v9.metadata.json").write_text("{}")
    assert 0 == pqassay.check(table).exit_code

    (table / "metadata/v11.gz.metadata.json").write_bytes(gzip.compress(old.read_bytes()))
    (table / "metadata/v10.metadata.json").write_text("{}")
    assert 0 == pqassay.check(table).exit_code


def test_two_files_of_one_version_are_not_judged_without_a_pointer(table: Path) -> None:
    old = table / "metadata/v1.metadata.json"
    for unique in ("a", "b"):
        shutil.copy(old, table / f"metadata/00002-{unique}.metadata.json")
    report = pqassay.check(table)

    assert 4 == report.exit_code
    assert (
        "2 metadata files have the version 2: give the path of the current one, which the catalog knows"
        in str(report.files[0].error)
    )
    assert 0 == pqassay.check(table / "metadata/00002-b.metadata.json").exit_code


def test_a_snapshot_is_judged_where_it_is_asked_for() -> None:
    assert 3 == len(pqassay.check(PLAIN, snapshot=files.SNAPSHOT).files)
    assert 3 == len(pqassay.check(PLAIN, ref="main").files)
    for options, message in (
        ({"snapshot": 9}, "there is no snapshot 9; there are 5000000000000000001"),
        ({"ref": "next"}, "there is no branch or tag next; there are main"),
        ({"version": 1}, "is an Iceberg table: give a snapshot, branch or tag"),
    ):
        with pytest.raises(UsageError, match=message):
            pqassay.check(PLAIN, **options)


def test_a_name_of_digits_is_a_branch_or_tag_before_it_is_a_snapshot() -> None:
    kept = [{"snapshot-id": 5}, {"snapshot-id": 7}]
    metadata = {"snapshots": kept, "current-snapshot-id": 7, "refs": {"7": {"snapshot-id": 5}}}

    assert [kept[0], kept[0], kept[1], kept[1]] == [
        snapshot_of(metadata, *asked) for asked in ((7, "7"), (5, "5"), (7, None), (None, None))
    ]
    assert 3 == len(pqassay.check(PLAIN, at=files.SNAPSHOT).files)
    assert 3 == len(pqassay.check(PLAIN, at="main").files)


# ------------------------------------------------------------------------------------------------------ damages


HOSTILE: list[dict[str, object]] = [
    {"schemas": 7},
    {"schemas": [{"fields": [{"id": 1, "name": "x", "type": {"type": "list"}}]}]},
    {"partition-specs": [{"spec-id": 0, "fields": [{"name": "x"}]}]},
    {"snapshots": [{"snapshot-id": files.SNAPSHOT}]},
    {"snapshots": [{"snapshot-id": files.SNAPSHOT, "manifests": ["a.avro"]}]},
    {
        "snapshots": [
            {"snapshot-id": files.SNAPSHOT, "manifest-list": "file:///warehouse/metals/../../etc/passwd"}
        ]
    },
    {
        "snapshots": [
            {"snapshot-id": files.SNAPSHOT, "manifest-list": "file:///warehouse/metals/data/part-0.parquet"}
        ]
    },
    {"refs": 7, "location": 5},
    {"properties": {"schema.name-mapping.default": "[" * 100_000}},
    {"properties": {"schema.name-mapping.default": '[{"field-id": 1, "names": [[]]}]'}},
    {"current-snapshot-id": {"a": 1}},
    {"schemas": [{"type": "struct", "schema-id": 0}], "current-schema-id": 0},
    {
        "schemas": [
            {
                "type": "struct",
                "schema-id": 0,
                "fields": [{"id": 1, "name": "a", "required": False, "type": {"type": "struct"}}],
            }
        ],
        "current-schema-id": 0,
    },
]


@pytest.mark.parametrize("members", HOSTILE, ids=range(len(HOSTILE)))
def test_no_metadata_are_a_mistake_of_the_judge(table: Path, members: dict[str, object]) -> None:
    path = table / "metadata/v1.metadata.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **members}))
    report = pqassay.check(table, tier="values")
    assert [] == [file.error for file in report.files if file.error and "mistake" in file.error]


def test_a_block_that_swells_is_not_followed(table: Path) -> None:
    bomb = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    raw = bomb.compress(bytes(1 << 24)) + bomb.flush()
    good = files.manifest([], codec="deflate")
    block = BLOCK_HEADER.build({"count": 1 << 40, "size": len(raw)})
    marker = good[-16:]
    (table / files.MANIFEST).write_bytes(good + block + raw + marker)
    (file,) = pqassay.check(table).files
    assert "manifest-0.avro has more than" in str(file.error)
