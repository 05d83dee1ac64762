"""Which files of a folder Spark reads, found without Spark, and which of them the indexes rule out.

Python's data source runs apart from Spark and has to list the files itself.  Spark's rules for that, some of which surprise, are kept: hidden files and folders are passed over; in a folder without partitions only the
files directly in it are read; in one with partitions, those beside the folders of the partitions are not.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# The type stubs of pyarrow leave parts of what is used here unknown.
from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from pqassay_reference.column_values import native_file
from pqassay_reference.errors import Refused
from pqassay_reference.indexed_dataset import IndexWarning, open_indexed
from pqassay_reference.listing import located
from pqassay_reference.scan import Trust
from pqassay_spark.partition_names import is_hidden, partition_of

URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/.*", re.DOTALL)


@dataclass(frozen=True)
class LakeFile:
    """A file that Spark reads.

    Attributes:
        name: Path relative to the root, joined by slashes.
        size: In bytes.
        partition: Columns and values in the names of its folders; ``None`` is null.
    """

    name: str
    size: int
    partition: dict[str, str | None]


def local_path(root: str | os.PathLike[str]) -> str:
    """The path behind ``file:`` URIs, which Hadoop takes literally; other URIs and paths stay what they are.

    >>> local_path("file:///lake/a%20b"), local_path("file:/lake"), local_path("s3a://lake/a")
    ('/lake/a%20b', '/lake', 's3a://lake/a')
    """
    return re.sub(r"^file:(//)?(?=/)", "", os.fspath(root))


def is_remote(root: str | os.PathLike[str]) -> bool:
    """Whether a root is a URI of anything but this machine's files."""
    return URI.fullmatch(local_path(root)) is not None


@dataclass(frozen=True)
class Lake:
    """A folder of Parquet files, on this machine or behind a URI that `pyarrow.fs` understands.

    Attributes:
        root: The folder as it was given.
    """

    root: str

    def open(self, name: str) -> pa.NativeFile:
        """Open a file by its relative path. Raises ``OSError``."""
        filesystem, base = self._place()
        if filesystem is None:
            return native_file(os.path.join(base, name))  # noqa: PTH118 - text, whatever it holds
        return filesystem.open_input_file(f"{base}/{name}")

    def files(self) -> list[LakeFile]:
        """The files that Spark reads, by name.

        Raises:
            Refused: Folders of partitions and others are mixed in a way that Spark refuses, too.
            OSError: The folder cannot be listed.
        """
        filesystem, base = self._place()
        found = _walk(base) if filesystem is None else _select(filesystem, base)
        files = [LakeFile(name, size, partition_of(name)) for name, size in sorted(found)]
        return _as_spark_reads(self.root, files)

    def _place(self) -> tuple[pafs.FileSystem | None, str]:
        path = local_path(self.root)
        if not is_remote(path):
            return None, os.path.abspath(path)  # noqa: PTH100 - `resolve` would follow links, which Spark does not
        return pafs.FileSystem.from_uri(arrow_uri(path))


def arrow_uri(uri: str) -> str:
    """How Arrow names what Hadoop calls ``s3a://...``."""
    return re.sub("^s3[an]:", "s3:", uri)


def ruled_out(
    root: str | os.PathLike[str],
    columns: Iterable[str],
    condition: pc.Expression,
    *,
    table: str | None,
    trust: Trust,
    column: str | None,
) -> dict[str, str]:
    """The files below a folder of which their indexes say that no row satisfies a condition, and why.

    Args:
        root: The folder.
        columns: The columns of text that the condition speaks of.
        condition: What is asked.
        table: As for `pqassay_reference.indexed_dataset.open_indexed`.
        trust: As for the same.
        column: As for the same.

    Returns:
        For the path of each such file relative to the root the reason.
    """
    place = arrow_uri(local_path(root))
    names = sorted(set(columns))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        dataset = open_indexed(
            place,
            columns=names,
            trust=trust,
            column=column,
            table=table,
            # What the names of folders say is Spark's business.
            schema=pa.schema([pa.field(name, pa.string()) for name in names]),
            partitioning=None,
        )
    _, base = located(place)
    pruning = dataset.prune(condition)
    for warning in heard:
        # A column that is indexed nowhere is an ordinary column; one that is indexed here and there needs a word.
        if len(dataset.warnings) < len(pruning.why) or not issubclass(warning.category, IndexWarning):
            warnings.warn(str(warning.message), warning.category, stacklevel=5)
    return {path[len(base) :].lstrip("/"): pruning.why[path] for path in pruning.skipped}


def _walk(base: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    pending = [""]
    while pending:
        above = pending.pop()
        with os.scandir(os.path.join(base, above)) as entries:  # noqa: PTH118 - see `Lake.open`
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                if entry.is_dir():
                    pending.append(f"{above}{entry.name}/")
                elif entry.is_file():
                    found.append((f"{above}{entry.name}", entry.stat().st_size))
    return found


def _select(filesystem: pafs.FileSystem, base: str) -> list[tuple[str, int]]:
    selector: Any = pafs.FileSelector(base, recursive=True)
    infos = filesystem.get_file_info(selector)
    named = [(info.path[len(base) :].lstrip("/"), info) for info in infos if info.type == pafs.FileType.File]
    return [(name, int(info.size)) for name, info in named if not any(map(is_hidden, name.split("/")))]


def _as_spark_reads(root: str, files: Sequence[LakeFile]) -> list[LakeFile]:
    layouts = {tuple(file.partition) for file in files if file.partition}
    if not layouts:
        return [file for file in files if "/" not in file.name]
    if len(layouts) > 1:
        shown = " and ".join("/".join(layout) for layout in sorted(layouts)[:2])
        raise Refused(f"{root} is partitioned by {shown}; Spark reads no folder that has both")
    strays = [file.name for file in files if not file.partition and "/" in file.name]
    if strays:
        raise Refused(f"{root} has folders of partitions, and {strays[0]}, which is in none of them")
    return [file for file in files if file.partition]
