"""Make ``_pm`` for a Parquet file, using only its footer.

The content comes from `pqassay_spec.pm.from_parquet.snapshot`; `pqassay_reference.pm.write` writes it.  The
Parquet file is only read.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pqassay_reference.errors import Refused, about
from pqassay_reference.pm import write as pm_write
from pqassay_reference.pm.history import Version, earlier_versions
from pqassay_reference.pm.storage import FileStorage
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, FileSource, Source, replaced_file
from pqassay_spec.parquet.file import (
    ENCRYPTED_MAGIC,
    HEAD_SIZE,
    MAGIC,
    Framing,
    is_summary,
    read_footer,
    read_framing,
    read_head,
)
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.from_parquet import questdb_key
from pqassay_spec.pm.from_parquet.fields import LeafField, fields_of
from pqassay_spec.pm.from_parquet.order import WritingPath
from pqassay_spec.pm.from_parquet.questdb_key import QuestDBMetadata
from pqassay_spec.pm.from_parquet.snapshot import BloomMode, Description, LeftOut, describe
from pqassay_spec.pm.value import SnapshotValue

MOST_LOST = 1000
"""Most snapshots of a replaced file that are examined."""


@dataclass(frozen=True)
class Generated:
    """A generated ``_pm`` file.

    Attributes:
        raw: The file.
        value: Its newest snapshot.
        snapshots: Number of snapshots.
        left_out: The facts of the Parquet file that the newest snapshot lacks.
        is_questdb: Whether the types are QuestDB's own; otherwise they are inferred.
        lost: Sizes of the Parquet file at snapshots of the replaced file that the new one lacks, newest first.
        doubts: The facts that readers will not understand or will reject, in words.
    """

    raw: bytes
    value: SnapshotValue
    snapshots: int
    left_out: tuple[LeftOut, ...]
    is_questdb: bool
    lost: tuple[int, ...] = ()
    doubts: tuple[str, ...] = ()


def generate(
    source: Source,
    *,
    questdb_json: str | None = None,
    path: WritingPath = "schema",
    blooms: BloomMode = "inlined",
    history: bool = False,
) -> Generated:
    """Make ``_pm`` for a Parquet file.

    Args:
        source: The Parquet file.
        questdb_json: A replacement for its ``questdb`` key, or a value if it has none.
        path: The origin of the column descriptors, see `pqassay_spec.pm.from_parquet.snapshot`.
        blooms: The treatment of the Parquet file's bloom filters.
        history: Whether earlier footers, which updates have left in the Parquet file, also become snapshots.

    Raises:
        Malformed: The Parquet file or the value of the key is damaged (rule PM-121).
        Unsupported: ``_pm`` cannot describe the file.
        Refused: The file describes other files, or its history cannot be determined.
    """
    with about(source.name):
        return _generate(source, questdb_json, path, blooms, history=history)


def _generate(
    source: Source, questdb_json: str | None, path: WritingPath, blooms: BloomMode, *, history: bool
) -> Generated:
    read_head(source)
    framing = read_framing(source)
    metadata, _ = read_footer(source, framing)
    if is_summary(metadata, source.name, framing):
        raise Refused("it describes other files; generate from those")
    fields = fields_of(metadata)
    column_count = len(fields)
    named_key = (
        None
        if questdb_json is None
        else questdb_key.of_columns(questdb_key.parse(questdb_json), column_count)
    )
    questdb = named_key or questdb_key.read(metadata, column_count)

    def described(source: Source, version: Version | None, questdb: QuestDBMetadata | None) -> Description:
        return describe(
            version.metadata if version else metadata,
            version.framing if version else framing,
            questdb=questdb,
            path=path,
            source=source,
            blooms=blooms,
        )

    newest = described(source, None, questdb)
    earlier: list[Version] = []
    if history:
        if questdb is None or named_key is not None:
            raise Refused("a history needs a Parquet file with a questdb key of its own")
        earlier = earlier_versions(Version(source, framing, metadata, questdb))
    doubts = tuple(_doubts(fields, framing, questdb))
    if not earlier:
        raw = pm_write.create(newest.value)
        return Generated(raw, newest.value, 1, newest.left_out, questdb is not None, doubts=doubts)
    first, *others = [described(version.source, version, version.questdb).value for version in earlier]
    raw = pm_write.create(first)
    later = [continued(value, first) for value in (*others, newest.value)]
    for value in later:
        raw = pm_write.update(raw, value)
    return Generated(raw, later[-1], 1 + len(later), newest.left_out, is_questdb=True, doubts=doubts)


def _doubts(fields: Sequence[LeafField], framing: Framing, questdb: QuestDBMetadata | None) -> Iterator[str]:
    """Facts of the Parquet file that readers of ``_pm`` will not understand, or will reject."""
    groups = [field.name for field in fields if len(field.leaf.path) > 1 and not field.list_dimensions]
    for name in dict.fromkeys(groups):
        yield f"column {name} is a group: _pm has a column of that name for each leaf, and nothing of the group"
    if questdb is not None and questdb.unused_bytes > framing.size:
        yield f"unused_bytes of the questdb key is {questdb.unused_bytes}, more than the file has; _pm repeats it (PM-080)"


def continued(value: SnapshotValue, first: SnapshotValue) -> SnapshotValue:
    """A snapshot as a successor of the first one: the header with the columns was written with the first one.

    A column that had no bloom filter then cannot get one.
    """
    groups = [
        replace(
            group,
            chunks=tuple(
                chunk if ordinal in first.bloom_columns else replace(chunk, bloom=None)
                for ordinal, chunk in enumerate(group.chunks)
            ),
        )
        for group in value.row_groups
    ]
    return replace(
        value,
        row_groups=tuple(groups),
        columns=first.columns,
        sorting=first.sorting,
        bloom_columns=first.bloom_columns,
        bloom_external=first.bloom_external,
    )


def generate_file(
    data: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    questdb_json: str | None = None,
    path: WritingPath = "schema",
    blooms: BloomMode = "inlined",
    history: bool = False,
) -> tuple[Path, Generated]:
    """Generate ``_pm`` and write it beside the Parquet file or as ``output``; an existing file is replaced as a whole.

    Returns:
        The path of the written file, and its content.

    Raises:
        Refused: A Parquet file is at the path of ``_pm``; or as in `generate`.
        BusyError: Another process is writing it.
        OSError: A file cannot be read or written.
        Malformed, Unsupported: As in `generate`.
    """
    target = Path(data).parent / pm.FILE_NAME if output is None else Path(output)
    with FileSource(data) as source:
        _require_no_parquet(target)
        done = generate(source, questdb_json=questdb_json, path=path, blooms=blooms, history=history)
        with contextlib.ExitStack() as stack:
            if target.exists():
                # A concurrent update of the old file would otherwise be lost.
                old = stack.enter_context(FileStorage(target))
                kept = set(_sizes(BytesSource(done.raw)))
                done = replace(done, lost=tuple(size for size in _sizes(old) if size not in kept))
            stack.enter_context(replaced_file(target)).write(done.raw)
    return target, done


def _sizes(source: Source) -> list[int]:
    """Sizes of the Parquet file at the readable snapshots of a file, newest first."""
    sizes: list[int] = []
    with contextlib.suppress(FormatError):
        size = pm_header.read_committed_size(source)
        chain = pm_file.walk(source, pm_header.read_header(source, size), size)
        # Snapshots before a break of the chain count, so the list is built step by step.
        for snapshot in itertools.islice(chain, MOST_LOST):
            sizes += [snapshot.fields.parquet_file_size]
    return list(dict.fromkeys(sizes))


def _require_no_parquet(target: Path) -> None:
    if not target.exists():
        return
    with FileSource(target) as source:
        if source.size >= HEAD_SIZE and source.read(0, HEAD_SIZE) in (MAGIC, ENCRYPTED_MAGIC):
            raise Refused(f"{target} is a Parquet file, which _pm would replace; name another output")
