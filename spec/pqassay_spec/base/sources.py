"""Sources of bytes, and the replacement of a whole file.

A `Source` is the whole interface that this project needs from storage: a size and a ranged read.  Files,
memory, memory maps and object stores all fit behind it, and nothing may assume that a source is a local path.
`replaced_file` is the only way in which this project writes files: the old file stays whole until the new one is complete.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO, Protocol, Self

from pqassay_spec.base.errors import Truncated


class Source(Protocol):
    """Random access to the bytes of one object."""

    @property
    def name(self) -> str:
        """Its name in messages: a path, a URI or ``<bytes>``."""
        ...

    @property
    def size(self) -> int:
        """Length in bytes."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly ``length`` bytes from ``offset``; raise `Truncated` if they are not all there."""
        ...


def require_range(source: Source, offset: int, length: int) -> None:
    """Raise `Truncated` unless ``[offset, offset + length)`` lies inside the source.

    Every implementation of `Source.read` calls this first, so that a hostile length never reaches an
    allocation.
    """
    if offset < 0 or length < 0 or offset + length > source.size:
        raise Truncated(
            f"bytes [{offset}, {offset + length}) lie outside the {source.size} bytes there are",
            offset=max(offset, 0),
            file=source.name,
        )


def is_near(source: Source) -> bool:
    """Whether many reads of a source cost little: whether it has a true attribute ``near``.

    A source without this attribute is treated like a store, in which a request takes as long as a megabyte.
    """
    return bool(getattr(source, "near", False))


class CallableSource:
    """A source over a function that reads, such as the slices of a file that a browser was given.

    Args:
        name: Its name in messages.
        size: Its length in bytes.
        read: ``(offset, length) -> bytes``; only called with ranges inside.
    """

    near = True

    def __init__(self, name: str, size: int, read: Callable[[int, int], bytes]) -> None:
        self.name = name
        self.size = size
        self.bytes_read = 0
        """Number of bytes that were requested so far."""
        self._read = read

    def read(self, offset: int, length: int) -> bytes:
        """Read the range. See `Source.read`; a source that became shorter raises `Truncated` as well."""
        require_range(self, offset, length)
        self.bytes_read += length
        data = self._read(offset, length)
        if len(data) != length:
            raise Truncated("the file became shorter while it was read", offset=offset, file=self.name)
        return data


class BytesSource:
    """A source over bytes in memory (``bytes``, ``bytearray``, ``memoryview``, ``mmap``)."""

    near = True

    def __init__(self, data: bytes | bytearray | memoryview, name: str = "<bytes>") -> None:
        self.view = memoryview(data)
        """The bytes, not copied."""
        self.name = name
        self.size = len(self.view)

    def read(self, offset: int, length: int) -> bytes:
        """Return a copy of the range. See `Source.read`."""
        require_range(self, offset, length)
        return bytes(self.view[offset : offset + length])


class FileSource:
    """A source over a local file, read by position; use it as a context manager.

    Args:
        path: The file.
        name: Its name in messages; by default the path.
        flags: Of ``os.open``; reading by default.
    """

    near = True

    def __init__(
        self, path: str | os.PathLike[str], name: str | None = None, *, flags: int = os.O_RDONLY
    ) -> None:
        self.name = os.fspath(path) if name is None else name
        # Without O_NONBLOCK, opening a named pipe waits for a writer.
        self._descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self.size = _regular_size(self._descriptor, self.name)
        except BaseException:
            os.close(self._descriptor)
            raise

    def read(self, offset: int, length: int) -> bytes:
        """Read the range. See `Source.read`; a file that became shorter raises `Truncated` as well."""
        require_range(self, offset, length)
        parts: list[bytes] = []
        while length:
            try:
                part = os.pread(self._descriptor, length, offset)
            except OSError as error:
                raise OSError(error.errno, error.strerror, self.name) from error
            if not part:
                raise Truncated("the file became shorter while it was read", offset=offset, file=self.name)
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def measure(self) -> None:
        """Update the size if data was appended since the file was opened."""
        self.size = _regular_size(self._descriptor, self.name)

    def fileno(self) -> int:
        """The file descriptor. Its position is undefined: read by offset."""
        return self._descriptor

    def close(self) -> None:
        """Close the file; reading afterwards is an error."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _regular_size(descriptor: int, name: str) -> int:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "no regular file", name)
    return found.st_size


class BusyError(OSError):
    """Another process is writing the same file."""


TEMPORARY_SUFFIX = ".pqassay-tmp"


def temporary_name(target: Path) -> Path:
    """The path of the temporary file for ``target``: beside it, hidden, the same every time.

    Spark and most engines ignore names that begin with a dot.  The name is fixed, so the next process reuses
    the leftover of a killed one instead of adding another.
    """
    return target.with_name(f".{target.name}{TEMPORARY_SUFFIX}")


@contextlib.contextmanager
def replaced_file(
    path: str | os.PathLike[str],
    *,
    new_mode: int = 0o666,
    before_rename: Callable[[], object] | None = None,
) -> Generator[BinaryIO]:
    """Write a file so that a kill at any moment leaves either the old file or the new one, whole.

    Yields a binary file positioned at 0, open for reading and writing, beside the target.  On a normal exit,
    its content is synced and renamed over the target, and the directory is synced. On an exception, it is
    removed and the target is unchanged.  Symbolic links are followed; mode, owner and extended attributes of
    the target are kept if the process has permission.  Another hard link to the target keeps the old content.

    Args:
        path: The target; it need not exist.
        new_mode: Permissions of a target that does not exist yet, before the umask applies.  For a new
        file that is made from an old one, pass the mode of the old one.
        before_rename: Called directly before the rename; an exception stops the replacement.

    Raises:
        BusyError: Another process is preparing the same target.
        OSError: The directory cannot be written, the path is a symbolic link to itself, or the target is a device, a
            pipe or a directory, which must not be replaced.
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # what cannot be resolved is a loop
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    if target.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "no regular file", os.fspath(path))
    temporary = temporary_name(target)
    mode = 0o600 if target.exists() else new_mode & 0o777
    with os.fdopen(
        _locked(temporary, mode), "r+b"
    ) as file:  # closing it gives the lock back, so it comes last
        try:
            yield file
            file.flush()
            if target.exists():
                _keep_attributes(target, file.fileno())
            os.fsync(file.fileno())
            if before_rename is not None:
                before_rename()
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    sync_directory(target.parent)


def _keep_attributes(target: Path, descriptor: int) -> None:
    """Give the new file the owner, mode and extended attributes of the old one, as far as permitted."""
    status = target.stat()
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(target):
                os.setxattr(descriptor, name, os.getxattr(target, name))
    os.fchmod(descriptor, status.st_mode & 0o7777)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write ``content`` as the file ``path`` through `replaced_file`."""
    with replaced_file(path) as file:
        file.write(content)


def _locked(temporary: Path, mode: int) -> int:
    """Create and lock the temporary file; a file that a killed process left under its name is removed first."""
    import fcntl  # noqa: PLC0415 - reading works where there are no locks, in a browser for instance

    while True:
        created = True
        try:
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except FileExistsError:
            created = False
            if temporary.is_symlink():
                temporary.unlink()
                continue
            try:
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                descriptor = os.open(temporary, flags)
            except FileNotFoundError:
                continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Between the two calls another process may have renamed or removed it: only the file that still has the name counts.
            with contextlib.suppress(FileNotFoundError):
                if os.fstat(descriptor).st_ino == temporary.lstat().st_ino:
                    if created:
                        return descriptor
                    temporary.unlink()
        except BlockingIOError:
            os.close(descriptor)
            name = temporary.name[1:].removesuffix(TEMPORARY_SUFFIX)
            raise BusyError(errno.EBUSY, "another process is writing it", name) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def remove_leftover(temporary: str | os.PathLike[str]) -> bool:
    """Remove a temporary file that a killed process left, unless a running process is writing it.

    Returns:
        Whether there was such a file, and it is gone.

    Raises:
        OSError: It cannot be opened or removed.
    """
    import fcntl  # noqa: PLC0415 - as above

    path = Path(temporary)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between the two calls it may have been renamed: only the file that still has the name counts.
        if os.fstat(descriptor).st_ino != path.lstat().st_ino:
            return False
        path.unlink()
    except (BlockingIOError, FileNotFoundError):
        return False
    finally:
        os.close(descriptor)
    return True


def sync_directory(directory: Path) -> None:
    """Return when the names in a folder are on disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
