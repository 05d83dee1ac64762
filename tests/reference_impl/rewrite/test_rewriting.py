"""Whatever is done to a finished Parquet file, it is replaced whole or left alone: nothing that is not read is lost."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import pqassay
from damage import EXAMPLES
from idx1_files import edited, parquet, table
from kills import killed_everywhere
from pqassay_reference.directory import add
from pqassay_reference.errors import Refused
from pqassay_reference.pm.generate import generate_file
from pqassay_reference.rewrite import finished_file
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.finished_file import enclosing_table
from pqassay_reference.rewrite.strip import Selection, strip_file
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import temporary_name
from pqassay_spec.parquet.thrift import AesGcmV1, EncryptionAlgorithm, FileMetaData

pytestmark = pytest.mark.slow

PLAIN, OTHER = parquet(table()), parquet(table(["other"]))


def embeds(path: Path, **options: Any) -> object:
    return embed_file(path, "nation", **options)


def strips(path: Path, **options: Any) -> object:
    return strip_file(path, Selection(statistics=True), values_are_right=True, **options)


def attaches(path: Path, **options: Any) -> object:
    return add(path, type="org.example.bits", blob=b"bits", columns=["nation"], **options)


Rewrites = Callable[..., object]
WAYS: tuple[Rewrites, ...] = (embeds, strips, attaches)
each_way = pytest.mark.parametrize("rewrites", WAYS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.parquet"
    path.write_bytes(PLAIN)
    return path


# ------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("content", [b"", b"text", b"PAR1" + bytes(8), b"PAR1\0\0\0\0PAR1"])
@each_way
def test_what_is_no_parquet_file_is_an_error_with_its_name(
    rewrites: Rewrites, content: bytes, path: Path
) -> None:
    path.write_bytes(content)
    with pytest.raises(Malformed, match=f"^{path}, "):
        rewrites(path)

    assert content == path.read_bytes()


def _signed(metadata: FileMetaData) -> None:
    metadata.encryption_algorithm = EncryptionAlgorithm(AES_GCM_V1=AesGcmV1())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (edited(PLAIN, _signed), "the file is encrypted|the footer is signed"),
        (b"PARE" + PLAIN[4:-4] + b"PARE", "the footer is encrypted"),
    ],
    ids=["signed", "encrypted"],
)
@each_way
def test_encrypted_and_signed_files_are_refused(
    rewrites: Rewrites, content: bytes, message: str, path: Path
) -> None:
    path.write_bytes(content)
    with pytest.raises(Unsupported, match=message):
        rewrites(path)

    assert content == path.read_bytes()


MARKERS = (
    "_delta_log/0.json",
    "metadata/v1.metadata.json",
    "metadata/v1.metadata.json.gz",
    ".hoodie/hoodie.properties",
    "_spark_metadata/0",
)


@each_way
def test_files_of_a_table_are_refused_unless_told_otherwise(rewrites: Rewrites, tmp_path: Path) -> None:
    for number, marker in enumerate(MARKERS):
        root = tmp_path / str(number)
        path = root / "data" / "x=1" / "part.parquet"
        (root / marker).parent.mkdir(parents=True)
        (root / marker).touch()
        path.parent.mkdir(parents=True)
        path.write_bytes(PLAIN)

        assert enclosing_table(path) is not None
        with pytest.raises(Refused, match=r"^the file belongs to .*whose manifests record its size"):
            rewrites(path)
        assert PLAIN == path.read_bytes()
        rewrites(path, inside_table=True)
        assert PLAIN != path.read_bytes()


@pytest.mark.parametrize("inside", ["part.parquet", "linked/data.parquet"])
@each_way
def test_a_link_inside_a_table_belongs_to_it_wherever_it_leads(
    rewrites: Rewrites, inside: str, path: Path
) -> None:
    folder = path.parent / "table"
    (folder / "_delta_log").mkdir(parents=True)
    (folder / "linked").symlink_to(path.parent, target_is_directory=True)
    (folder / "part.parquet").symlink_to(path)

    with pytest.raises(Refused, match=r"^the file belongs to the Delta table table, "):
        rewrites(folder / inside)
    assert PLAIN == path.read_bytes()
    rewrites(path)


# ------------------------------------------------------------------------------------------------------ what stays


@each_way
def test_mode_and_link_stay_and_the_checksum_sidecar_goes(rewrites: Rewrites, path: Path) -> None:
    path.with_name(f".{path.name}.crc").write_bytes(b"crc")
    path.chmod(0o640)
    link = path.with_name("link.parquet")
    link.symlink_to(path)
    rewrites(link)

    assert link.is_symlink()
    assert 0o640 == path.stat().st_mode & 0o777
    assert {link, path} == set(path.parent.iterdir())
    assert table() == pq.read_table(path)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may give files away")
@each_way
def test_the_owner_is_kept(rewrites: Rewrites, path: Path) -> None:
    path.chmod(0o600)
    os.chown(path, 1000, 1000)
    rewrites(path)
    found = path.stat()

    assert (1000, 1000, 0o600) == (found.st_uid, found.st_gid, found.st_mode & 0o777)


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
@each_way
def test_the_temporary_name_is_no_way_into_another_file(
    rewrites: Rewrites, link: Callable[[Path, Path], None], path: Path
) -> None:
    victim = path.with_name("victim")
    victim.write_text("precious")
    link(temporary_name(path), victim)
    rewrites(path)

    assert "precious" == victim.read_text()
    assert not path.is_symlink()
    assert [] == pqassay.check(path).files[0].findings


# ------------------------------------------------------------------------------------------------------ meanwhile


@each_way
def test_a_file_that_changes_meanwhile_is_left_alone(
    rewrites: Rewrites, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = finished_file.copy_body

    def change_and_copy(*arguments: Any) -> None:
        path.write_bytes(OTHER)
        copy(*arguments)

    monkeypatch.setattr(finished_file, "copy_body", change_and_copy)
    with pytest.raises((OSError, FormatError), match=r"changed during|shorter|outside"):
        rewrites(path)

    assert OTHER == path.read_bytes()
    assert not temporary_name(path).exists()


@each_way
def test_a_change_that_keeps_inode_and_size_is_seen(
    rewrites: Rewrites, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = finished_file.copy_body
    before = path.stat()
    changed = PLAIN.replace(b"Peru", b"Mali")

    def copy_and_change(*arguments: Any) -> None:
        copy(*arguments)
        path.write_bytes(changed)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))

    monkeypatch.setattr(finished_file, "copy_body", copy_and_change)
    with pytest.raises(OSError, match="changed during"):
        rewrites(path)

    assert (before.st_ino, before.st_size) == (path.stat().st_ino, path.stat().st_size)
    assert changed == path.read_bytes()


@each_way
def test_a_file_replaced_during_the_last_sync_is_not_lost(
    rewrites: Rewrites, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def replace_meanwhile(descriptor: int) -> None:
        sync(descriptor)
        other = path.with_name("other")
        other.write_bytes(OTHER)
        other.replace(path)

    monkeypatch.setattr("os.fsync", replace_meanwhile)
    with pytest.raises(OSError, match="changed during the operation"):
        rewrites(path)

    assert OTHER == path.read_bytes()


@each_way
def test_the_checksum_sidecar_stays_if_the_file_is_not_replaced(
    rewrites: Rewrites, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sidecar = path.with_name(f".{path.name}.crc")
    sidecar.write_bytes(b"crc")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        rewrites(path)

    assert (PLAIN, b"crc") == (path.read_bytes(), sidecar.read_bytes())
    assert not temporary_name(path).exists()


CODE = {
    embeds: ("from pqassay_reference.rewrite.embed import embed_file", 'embed_file(path, "nation")'),
    strips: (
        "from pqassay_reference.rewrite.strip import Selection, strip_file",
        "strip_file(path, Selection(statistics=True), values_are_right=True)",
    ),
    attaches: (
        "from pqassay_reference.directory import add, embedding",
        'add(path, type="org.example.bits", blob=b"bits" * 1000, columns=["nation"])',
    ),
}


def test_a_kill_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """In one of the ways, which end alike; in all of them by `make damages`."""
    ways = WAYS if EXAMPLES == 1 else WAYS[1:2]
    paths = {rewrites: tmp_path / rewrites.__name__ / "data.parquet" for rewrites in ways}
    for path in paths.values():
        path.parent.mkdir()
        path.write_bytes(PLAIN)
    data = tmp_path / "generated" / "data.parquet"
    data.parent.mkdir()
    data.write_bytes(OTHER)
    pm, _ = generate_file(data)
    data.write_bytes(PLAIN)
    generating = f"from pqassay_reference.pm.generate import generate_file; data = {os.fspath(data)!r}"
    killed = killed_everywhere(
        *((path, *CODE[rewrites]) for rewrites, path in paths.items()),
        (pm, generating, "generate_file(data, path)"),
    )

    assert min(old for old, _ in killed) > 5
    assert min(new for _, new in killed) >= 1
    for rewrites, path in paths.items():
        rewrites(path)  # takes over what the last kill left behind
        assert [path] == list(path.parent.iterdir())
        assert [] == pqassay.check(path, tier="values").files[0].findings
