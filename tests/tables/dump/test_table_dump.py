"""The dump of what tables keep beside their data files: every byte of every golden one has a field or a reason, whatever is damaged."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.dump import dump
from pqassay.stores.kinds import dumped_as
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import Leaf, Unparsed

FILES = sorted(
    path for path in GOLDEN_FILES.rglob("table/**/*") if path.is_file() and path.suffix != ".parquet"
)

UNPARSED = {
    "line-cut": "the line is not JSON",
    "checkpoint-broken": "the line is not JSON",
    "list-no-avro": "parsing expected",
    "manifest-marker": "the bytes behind a block do not match the marker in the header",
    "puffin-vector-elsewhere": "a vector of 0 bytes",
    "puffin-without-magic": "parsing expected",
    "vector-longer": "a vector of 37 bytes",
    "vector-of-another-magic": "parsing expected",
}
"""Golden tables with a file that cannot be read to its end, and why."""

METADATA = GOLDEN_FILES / "ice/plain/table/metadata/v1.metadata.json"
PUFFIN = GOLDEN_FILES / "ice/vectors/table/data/vectors.puffin"


def leaves_of(data: bytes, name: str) -> tuple[list[Leaf], list[str]]:
    leaves: list[Leaf] = []
    errors = dump(BytesSource(data, name), leaves.extend, dumped_as(name))
    return leaves, [str(error) for error in errors]


@pytest.mark.parametrize("family", ["dlt", "ice"])
def test_every_byte_has_one_field(family: str) -> None:
    looked = 0
    for path in (path for path in FILES if path.relative_to(GOLDEN_FILES).parts[0] == family):
        data = path.read_bytes()
        leaves, errors = leaves_of(data, str(path))
        table = path.relative_to(GOLDEN_FILES).parts[1]
        assert all(UNPARSED[table] in error for error in errors), errors
        position = 0
        for leaf in leaves:
            if leaf.length:
                assert position == leaf.offset, (path, leaf)
                position += leaf.length
        assert len(data) == position, path
        looked += 1
    assert looked > 80


@pytest.mark.parametrize("path", [METADATA, PUFFIN], ids=["metadata", "puffin"])
def test_damaged_bytes_have_a_field_or_a_reason(path: Path) -> None:
    good = path.read_bytes()
    dice = random.Random(24)
    for _ in range(150):
        damaged = bytearray(good)
        for _ in range(dice.randint(1, 3)):
            damaged[dice.randrange(len(good))] = dice.randrange(256)
        data = bytes(damaged[: dice.choice((len(good), dice.randrange(len(good))))])
        leaves, _ = leaves_of(data, path.name)
        shown = {at for leaf in leaves for at in range(leaf.offset, leaf.offset + leaf.length)}
        assert set(range(len(data))) == shown


def test_metadata_of_an_iceberg_table_say_what_they_mean_compressed_or_not() -> None:
    data = METADATA.read_bytes()
    packed = gzip.compress(data)
    plain, _ = leaves_of(data, "v1.metadata.json")
    found, errors = leaves_of(packed, "v1.gz.metadata.json")
    snapshot = next(leaf for leaf in plain if leaf.path == "snapshots[0].snapshot-id")

    assert (b"5000000000000000001", "Its number.") == (
        data[snapshot.offset :][: snapshot.length],
        snapshot.doc,
    )
    assert ([], (0, len(packed))) == (errors, found[0][1:3])
    assert [leaf._replace(offset=0, length=0) for leaf in plain] == found[1:]
    cut, errors = leaves_of(packed[:90], "v1.gz.metadata.json")
    assert [(0, 90)] == [leaf[1:3] for leaf in cut]
    assert "does not decompress" in errors[0]


def test_a_puffin_file_is_told_by_its_footer() -> None:
    data = PUFFIN.read_bytes()
    by_path = {leaf.path: leaf for leaf in leaves_of(data, "a.puffin")[0]}
    assert [4, 68] == [by_path[f"footer.json.blobs[{number}].offset"].value for number in range(2)]
    assert "Where the blob begins in the file." == by_path["footer.json.blobs[1].offset"].doc
    assert by_path["blobs[1].size"].offset == 68

    other = data.replace(b"deletion-vector-v1", b"apache-datasketch1")
    blob = next(leaf for leaf in leaves_of(other, "a.puffin")[0] if leaf.path == "blobs[0]")
    assert ((4, 56), Unparsed("a blob of type apache-datasketch1")) == (blob[1:3], blob.value)


@pytest.mark.parametrize(
    ("family", "file", "names", "changed"),
    [
        ("dlt", f"_delta_log/{0:020}.json", ("plain", "maximum-lowered"), "lines[3].add.stats.maxValues.id"),
        ("dlt", f"_delta_log/{0:020}.crc", ("checksummed", "checksum-of-one-file"), "lines[0].numFiles"),
        (
            "ice",
            "metadata/manifest-0.avro",
            ("plain", "maximum-lowered"),
            "[0].data_file.upper_bounds[0].value",
        ),
        ("ice", "metadata/v1.metadata.json", ("plain", "snapshot-missing"), "current-snapshot-id"),
        ("ice", "data/vectors.puffin", ("vectors", "vector-checksum"), "blobs[1].checksum"),
    ],
    ids=str,
)
def test_files_of_two_tables_differ_in_a_field(
    family: str, file: str, names: tuple[str, str], changed: str
) -> None:
    paths = [str(GOLDEN_FILES / family / name / "table" / file) for name in names]
    told = CliRunner().invoke(app, ["diff", *paths])
    assert (1, ["changed", changed]) == (told.exit_code, told.stdout.split()[:2])
    assert told.stdout.splitlines()[-1].startswith("1 changed, ")


def test_files_of_two_kinds_are_not_compared() -> None:
    told = CliRunner().invoke(app, ["diff", str(METADATA), str(PUFFIN)])
    assert 2 == told.exit_code
    assert "is read as iceberg metadata" in told.stderr
    assert "only two files of the same kind can be compared" in told.stderr
