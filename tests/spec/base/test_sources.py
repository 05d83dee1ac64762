"""Sources: ranged reads that stay inside, and files that are replaced whole."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import processes
from damage import EXAMPLES
from pqassay_spec.base.errors import Truncated
from pqassay_spec.base.sources import (
    BusyError,
    BytesSource,
    FileSource,
    Source,
    remove_leftover,
    replaced_file,
    temporary_name,
    write_whole,
)

pytestmark = pytest.mark.slow

CONTENT = bytes(range(10))


@contextlib.contextmanager
def bytes_source(_: Path) -> Iterator[Source]:
    yield BytesSource(CONTENT)


@contextlib.contextmanager
def mapped_source(folder: Path) -> Iterator[Source]:
    path = folder / "mapped"
    path.write_bytes(CONTENT)
    with path.open("rb") as file:
        yield BytesSource(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


@contextlib.contextmanager
def file_source(folder: Path) -> Iterator[Source]:
    path = folder / "file"
    path.write_bytes(CONTENT)
    with FileSource(path) as source:
        yield source


KINDS = pytest.mark.parametrize("opened", [bytes_source, mapped_source, file_source])
Opener = Callable[[Path], contextlib.AbstractContextManager[Source]]


@KINDS
@pytest.mark.parametrize(
    ("offset", "length", "expected"),
    [(0, 10, CONTENT), (0, 0, b""), (3, 4, b"\x03\x04\x05\x06"), (9, 1, b"\x09"), (10, 0, b"")],
)
def test_a_read_returns_exactly_the_range(
    opened: Opener, tmp_path: Path, offset: int, length: int, expected: bytes
) -> None:
    with opened(tmp_path) as source:
        assert source.size == 10
        assert source.read(offset, length) == expected


@KINDS
@pytest.mark.parametrize(
    ("offset", "length", "place"),
    [
        (0, 11, 0),
        (10, 1, 10),
        (11, 0, 11),
        (-1, 1, 0),
        (-5, 2, 0),
        (5, -1, 5),
        (0, 1 << 40, 0),
        (0, (1 << 64) - 1, 0),
        (1 << 64, 1 << 64, 1 << 64),
    ],
)
def test_a_read_beyond_the_ends_is_truncated_and_allocates_nothing(
    opened: Opener, tmp_path: Path, offset: int, length: int, place: int
) -> None:
    with opened(tmp_path) as source, pytest.raises(Truncated) as caught:
        source.read(offset, length)
    assert caught.value.reason == f"bytes [{offset}, {offset + length}) lie outside the 10 bytes there are"
    assert caught.value.offset == place
    assert caught.value.file == source.name


def test_bytes_in_memory_are_copied_so_that_later_changes_do_not_show() -> None:
    data = bytearray(CONTENT)
    part = BytesSource(data).read(0, 2)
    data[0] = 99
    assert part == b"\x00\x01"


def test_a_source_over_bytes_can_be_given_a_name() -> None:
    assert BytesSource(b"").name == "<bytes>"
    assert BytesSource(b"", name="s3://bucket/a.parquet").name == "s3://bucket/a.parquet"


def test_a_file_that_shrinks_while_it_is_read_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    with FileSource(path) as source:
        os.truncate(path, 4)
        with pytest.raises(Truncated) as caught:
            source.read(2, 8)
    assert str(caught.value) == f"{path}, offset 4: the file became shorter while it was read"


def test_a_closed_file_cannot_be_read_and_closing_twice_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    source = FileSource(path)
    source.close()
    source.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        source.read(0, 1)


def test_a_missing_file_or_folder_is_the_systems_error_and_not_a_format_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileSource(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "absent" / "file", b"new")


# --------------------------------------------------------------------------------------- replacing a file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("before", [None, b"", b"a much longer content than the new one"])
def test_the_new_content_takes_the_place_of_the_old(tmp_path: Path, before: bytes | None) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


def test_the_yielded_file_is_read_and_written_and_the_target_waits(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replaced_file(path) as file:
        assert file.tell() == 0
        file.write(b"new content")
        file.seek(4)
        assert file.read() == b"content"
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new content"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_permissions_of_the_old_file_are_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_whole(path, b"new")
    assert path.stat().st_mode & 0o7777 == mode


def test_a_new_file_gets_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        write_whole(path, b"new")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o7777 == 0o640


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "file"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["link", "real"]
    assert names(tmp_path / "real") == ["file"]


def test_a_symbolic_link_to_itself_stays_what_it_is(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        write_whole(loop, b"new")

    assert loop.is_symlink()
    assert ["loop"] == names(tmp_path)


@pytest.mark.parametrize(
    ("make", "words"), [(os.mkfifo, "no regular file"), (os.mkdir, "Is a directory")], ids=["pipe", "folder"]
)
def test_what_is_no_file_is_not_replaced(make: Callable[[Path], None], words: str, tmp_path: Path) -> None:
    """By root, a rename would take away a device that others use."""
    path = tmp_path / "special"
    make(path)
    before = path.stat()
    with pytest.raises(OSError, match=words):
        write_whole(path, b"new")

    assert (before.st_ino, before.st_mode) == (path.stat().st_ino, path.stat().st_mode)
    assert ["special"] == names(tmp_path)


@pytest.mark.parametrize("mistake", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_no_temporary(
    tmp_path: Path, mistake: type[BaseException]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write_half() -> None:
        with replaced_file(path) as file:
            file.write(b"half of the new")
            raise mistake

    with pytest.raises(mistake):
        write_half()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_what_a_killed_process_left_behind_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    temporary_name(path).write_bytes(b"left behind by a process that was killed")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


def test_what_a_killed_process_left_behind_is_removed_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    left = temporary_name(path)
    assert not remove_leftover(left)
    left.write_bytes(b"left behind by a process that was killed")
    assert remove_leftover(left)
    assert list(tmp_path.iterdir()) == []
    with replaced_file(path) as file:
        file.write(b"new")
        assert not remove_leftover(left)
    assert path.read_bytes() == b"new"
    left.symlink_to(path)
    with pytest.raises(OSError, match="symbolic link"):
        remove_leftover(left)
    assert path.read_bytes() == b"new"


def test_the_temporary_stands_beside_the_target_under_a_hidden_name() -> None:
    assert temporary_name(Path("/data/a.parquet")) == Path("/data/.a.parquet.pqassay-tmp")


def test_the_content_is_synced_before_the_rename_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    synced: list[tuple[int, bytes]] = []

    def record(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, path.read_bytes()))

    monkeypatch.setattr(os, "fsync", record)
    write_whole(path, b"new")

    assert [(path.stat().st_ino, b"old"), (tmp_path.stat().st_ino, b"new")] == synced


@pytest.mark.parametrize("there", [True, False])
def test_a_link_under_the_temporary_name_is_not_followed(tmp_path: Path, there: bool) -> None:
    path, elsewhere = tmp_path / "file", tmp_path / "elsewhere"
    if there:
        elsewhere.write_bytes(b"of somebody else")
    temporary_name(path).symlink_to(elsewhere)
    write_whole(path, b"new")

    assert not path.is_symlink()
    assert b"new" == path.read_bytes()
    assert (["elsewhere", "file"] if there else ["file"]) == names(tmp_path)
    assert not there or b"of somebody else" == elsewhere.read_bytes()


def test_a_lock_on_a_file_that_lost_its_name_meanwhile_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    lock, calls = fcntl.flock, 0

    def lock_late(descriptor: int, operation: int) -> None:
        """What another process may do between creating and locking: take the file over, and be killed itself."""
        nonlocal calls
        calls += 1
        if calls == 1:
            temporary_name(path).unlink()
            temporary_name(path).write_bytes(b"half of what another process wrote")
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    write_whole(path, b"new")

    assert calls > 1
    assert b"new" == path.read_bytes()
    assert ["file"] == names(tmp_path)


# ------------------------------------------------------------------------------------ with other processes

HOLD = """
import sys
from pqassay_spec.base.sources import replaced_file
with replaced_file(sys.argv[1]) as file:
    file.write(b"by the other")
    print("ready", flush=True)
    sys.stdin.readline()
"""

REPLACE_FOREVER = """
import itertools, sys
from pqassay_spec.base.sources import replaced_file
for turn in itertools.count():
    letter = b"AB"[turn % 2 : turn % 2 + 1]
    with replaced_file(sys.argv[1]) as file:
        for _ in range(64):
            file.write(letter * 8192)
    if turn == 0:
        print("ready", flush=True)
"""


@contextlib.contextmanager
def started(program: str, path: Path) -> Iterator[processes.Process[str]]:
    """Run a program with the path as its argument, up to the moment when it says ``ready``."""
    with processes.started(
        [sys.executable, "-S", "-c", program, str(path)],
        stdin=processes.PIPE,
        stdout=processes.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert "ready\n" == processes.line_of(process)
        yield process


def test_a_file_that_another_process_is_replacing_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with started(HOLD, path) as other:
        with pytest.raises(BusyError, match="another process is writing it: 'file'"):
            write_whole(path, b"by us")
        assert path.read_bytes() == b"old"
        processes.ended(other, input="\n")
    assert path.read_bytes() == b"by the other"
    write_whole(path, b"by us")
    assert path.read_bytes() == b"by us"


def test_a_kill_at_any_moment_leaves_the_old_content_or_the_new_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    size = 64 * 8192
    whole = {letter * size for letter in (b"A", b"B")}
    unfinished = temporary_name(path)
    moments = random.Random(1)
    interrupted = 0

    def has(length: int) -> bool:
        """Whether so much is written; of a length below zero, whether the replacement is over."""
        try:
            return unfinished.stat().st_size >= length >= 0
        except FileNotFoundError:
            return length < 0

    for _ in range(100 if EXAMPLES == 1 else 12):
        length = moments.randrange(-size // 8, size)
        with started(REPLACE_FOREVER, path) as process:
            processes.until(partial(has, length), f"{length} bytes are written")
            process.send_signal(signal.SIGKILL)
        interrupted += unfinished.exists()
        assert path.read_bytes() in whole
    assert interrupted > 0, "no kill fell into a replacement, so this proves nothing"
    write_whole(path, b"new")
    assert names(tmp_path) == ["file"]
