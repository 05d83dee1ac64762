"""A copy of an Iceberg table with corrected paths in its metadata: ``python -m pqassay_tables.proof.moved_table TABLE COPY``.

Paths in Iceberg metadata are absolute, and most engines open exactly these paths. So a table that was moved or downloaded needs new paths
before engines can query it. Nothing else changes: counts and bounds stay the same.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, cast

from pqassay.proof.engines import Unwritable
from pqassay.tables.files import MOST_METADATA
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.avro import BLOCK_HEADER, CODEC_KEY, CONTAINER_HEADER, MAGIC, grammar_of
from pqassay_spec.table.iceberg import MANIFEST_FILE
from pqassay_spec.table.layout import ICEBERG_METADATA
from pqassay_tables.metadata.avro import container
from pqassay_tables.proof.iceberg_engines import location_of

SCHEME = "file://"

PATH, LENGTH = field_ids.MANIFEST_PATH, field_ids.MANIFEST_LENGTH
"""Field ids of a manifest list: the path of a manifest, and its length."""

RANDOM = 8
"""The number of random characters in the name of a temporary folder."""


SHORT = "/tmp"  # noqa: S108 - folders in it get random names
"""A folder for temporary files that many systems have beside a longer one per user."""


def place_for(table: str) -> str:
    """The place of a copy: if possible, one with which paths have the same length as before.

    Then bytes are replaced in place, so even unreadable parts are copied.

    Raises:
        Unwritable: The table has no readable metadata.
    """
    location = location_of(table)[1].removeprefix(SCHEME)
    own = tempfile.gettempdir()
    for folder in (own, SHORT):
        left = len(location) - len(folder) - 1
        if left >= RANDOM and os.access(folder, os.W_OK):
            return f"{folder}/{'moved'.ljust(left, '_')[:left]}"
    return f"{own}/moved"


@contextlib.contextmanager
def copied(table: str) -> Generator[str]:
    """A context with a copy in a new folder, whose name has the length of `place_for`. Raises the errors of `copy_moved`."""
    parent, _, name = place_for(table).rpartition("/")
    prefix = name[:-RANDOM] if len(name) >= RANDOM else ""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as folder:
        copy_moved(table, folder)
        yield folder


def copy_moved(table: str, copy: str) -> None:
    """Copy a table, and replace the paths in its metadata and its delete files.

    Args:
        table: The folder of the table.
        copy: The folder of the copy, which is created.

    Raises:
        Unwritable: Its metadata, or a delete file, cannot be written with other paths.
        OSError: A file cannot be read or written.
    """
    location = location_of(table)[1]
    to = f"{SCHEME if location.startswith(SCHEME) else ''}{Path(copy).absolute()}"
    paths = _Paths(location, to)
    # With the mode of new files, since a table's files may be read-only.
    shutil.copytree(table, copy, dirs_exist_ok=True, copy_function=shutil.copyfile)
    lengths: dict[str, int] = {}
    files = [path for path in sorted(Path(copy).rglob("*")) if path.is_file()]
    # Manifest lists come last, since they contain the lengths of manifests.
    files.sort(key=lambda path: path.name.startswith("snap"))
    for path in files:
        if (new := paths.replaced(path, lengths)) is not None:
            path.write_bytes(new)
            lengths[f"{to}/{path.relative_to(copy).as_posix()}"] = len(new)


class _Paths:
    """The replacement of one location by another."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self.fits = len(old.encode()) == len(new.encode())

    def replaced(self, path: Path, lengths: dict[str, int]) -> bytes | None:
        """The content of a file with the new location; ``None`` if it does not change."""
        is_metadata = path.parent.name == ICEBERG_METADATA
        if path.stat().st_size > MOST_METADATA:
            return None
        data = path.read_bytes()
        if data.startswith(MAGIC):
            return self._container(path.name, data, lengths)
        if self.old.encode() not in data:
            return None
        if self.fits or (is_metadata and path.name.endswith(".json")):
            return data.replace(self.old.encode(), self.new.encode())
        raise Unwritable(
            f"{path.name} names files by their paths; pqassay cannot rewrite it with other paths"
        )

    def _container(self, name: str, data: bytes, lengths: dict[str, int]) -> bytes:
        if self.fits and (b"avro.codec" not in data or b"avro.codec\x08null" in data):
            return data.replace(self.old.encode(), self.new.encode())
        try:
            return self._written(name, data, lengths)
        except (FormatError, ValueError, KeyError) as error:
            raise Unwritable(f"{name} cannot be written with other paths: {error}") from None

    def _written(self, name: str, data: bytes, lengths: dict[str, int]) -> bytes:
        file = container(name, data, "")
        grammar = grammar_of(file.schema)
        metadata = {**file.metadata, CODEC_KEY: b"null"}
        parts = [CONTAINER_HEADER.build({"magic": MAGIC, "metadata": metadata, "sync": file.sync})]
        names = {one.id: one.name for one in MANIFEST_FILE.members}
        for block in file.blocks:
            stream = io.BytesIO(file.plain(block))
            records = [self.value(grammar.parse_stream(stream)) for _ in range(block.count)]
            for record in records:
                if (length := lengths.get(record.get(names[PATH], ""))) is not None:
                    record[names[LENGTH]] = length
            packed = b"".join(grammar.build(record) for record in records)
            parts += [BLOCK_HEADER.build({"count": len(records), "size": len(packed)}), packed, file.sync]
        return b"".join(parts)

    def value(self, found: Any) -> Any:
        """A value of a manifest, with the new location in paths and in bounds of paths."""
        match found:
            case str():
                return found.replace(self.old, self.new, 1) if found.startswith(self.old) else found
            case bytes():
                old = self.old.encode()
                return found.replace(old, self.new.encode(), 1) if found.startswith(old) else found
            case dict():
                members = cast("dict[str, Any]", found)
                return {key: self.value(value) for key, value in members.items() if key != "_io"}
            case list():
                return [self.value(one) for one in found]
            case _:
                return found


def main(arguments: Sequence[str]) -> None:
    """The command that copies a table."""
    if len(arguments) != 2:
        raise SystemExit("usage: python -m pqassay_tables.proof.moved_table TABLE COPY")
    try:
        copy_moved(*arguments)
    except (Unwritable, OSError) as error:
        raise SystemExit(f"{arguments[0]}: {error}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
