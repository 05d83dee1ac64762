"""Files that are replaced by their indexed twin: nothing that is not read is lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import pqassay
from idx1_files import Idx1File, parquet, table
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spec.base.sources import temporary_name

PLAIN = parquet(table())


def test_a_file_replaced_during_the_last_sync_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(PLAIN)
    newer = parquet(table(["newer"]))
    sync = os.fsync

    def replace_meanwhile(descriptor: int) -> None:
        sync(descriptor)
        other = tmp_path / "other"
        other.write_bytes(newer)
        other.replace(path)

    monkeypatch.setattr("os.fsync", replace_meanwhile)
    with pytest.raises(OSError, match="changed while it was worked on"):
        embed_file(path, "nation")

    assert newer == path.read_bytes()


def test_the_checksum_sidecar_stays_if_the_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sidecar = tmp_path / "f.parquet", tmp_path / ".f.parquet.crc"
    path.write_bytes(PLAIN)
    sidecar.write_bytes(b"crc")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        embed_file(path, "nation")

    assert (PLAIN, b"crc") == (path.read_bytes(), sidecar.read_bytes())
    assert not temporary_name(path).exists()


def test_bytes_that_only_a_length_field_claims_are_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    foreign = b"OTHER-INDEX-OF-OTHERS"
    path.write_bytes(Idx1File(payload=b"a\nb" + foreign, length=3 + len(foreign)).build())
    result = embed_file(path, "nation")

    assert (0, 36) == (result.cut, result.dead)
    assert foreign in path.read_bytes()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(PLAIN)
    path.chmod(0o600)
    os.chown(path, 1000, 1000)
    embed_file(path, "nation")
    found = path.stat()

    assert (1000, 1000, 0o600) == (found.st_uid, found.st_gid, found.st_mode & 0o777)


def test_the_temporary_name_is_no_way_into_another_file(tmp_path: Path) -> None:
    path, victim = tmp_path / "f.parquet", tmp_path / "victim"
    victim.write_text("precious")
    for link in (Path.symlink_to, Path.hardlink_to):
        path.write_bytes(PLAIN)
        link(temporary_name(path), victim)
        embed_file(path, "nation")

        assert "precious" == victim.read_text()
        assert not path.is_symlink()
        assert "conformant" == pqassay.check(path).files[0].outcome
