"""Generate ``_pm`` for all Parquet files of a folder on Spark, repeatedly.

QuestDB stores ``_pm`` beside ``data.parquet``, one of each per folder.  If every folder has one Parquet file, its ``_pm`` is
written beside it.  If a folder has several, all ``_pm`` files go into a separate folder with the same relative
names: ``into/year=2024/part-0.parquet/_pm``.  A ``_pm`` describes the file ``data.parquet`` in its folder, so each gets a link with
that name to its Parquet file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pqassay.stores.targets import is_uri
from pqassay_reference.errors import Refused
from pqassay_reference.pm.generate import generate_file
from pqassay_reference.pm.growth import update_beside
from pqassay_reference.pm.read import PmReader
from pqassay_spark.index.file_work import WORKER_DIED, FileOutcome, Outcome, Run, answered
from pqassay_spark.index.listing import Listing, list_files
from pqassay_spark.jobs.distributed import run_tasks
from pqassay_spark.jobs.packing import packed
from pqassay_spark.jobs.spark_jobs import cores
from pqassay_spark.jobs.uris import local_path
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.from_parquet.snapshot import BloomMode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOOTER_BYTES = 16 << 10
"""Approximate number of bytes that generating reads from a file: its footer. Tasks are therefore balanced by number of files."""


@dataclass(frozen=True, slots=True)
class PmOutcome(FileOutcome):
    """The outcome of the ``_pm`` of one Parquet file.

    Attributes:
        left_out: Number of facts in the Parquet file that ``_pm`` cannot express correctly, and omits.
        lost: Number of snapshots in the replaced ``_pm`` that are not in the new one.
    """

    left_out: int = 0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class _Work:
    name: str
    data: str
    target: str


def generate_files(
    spark: SparkSession,
    root: str | os.PathLike[str],
    *,
    into: str | os.PathLike[str] | None = None,
    force: bool = False,
    blooms: BloomMode = "inlined",
    progress: Callable[[int, int], object] | None = None,
) -> Run[PmOutcome]:
    """Generate ``_pm`` for every Parquet file of a folder without a fresh one.

    Executors and driver must see the folder under the same path.  Parquet files are only read.

    Args:
        spark: The session.
        root: The folder, or a single file.
        into: A folder outside of ``root`` that gets the same relative names; by default, ``_pm`` files are beside the data.
        force: Also replace fresh files, for example to change their bloom filters.
        blooms: Treatment of the files' bloom filters.
        progress: Called with the number of completed files, and of all files.

    Raises:
        UsageError: There is no such folder.
        Refused: A folder has several Parquet files, and ``into`` is not given; or ``into`` is inside ``root``.
        JobError: The executors cannot do it.
    """
    if is_uri(local_path(root)):
        raise Refused(f"{os.fspath(root)} is not a local path; _pm is generated for local files only")
    listing = list_files(root)
    if into is None:
        _require_one_each(listing)
    base = None if into is None else Path(into).absolute()
    if base is not None and listing.is_folder and base.resolve().is_relative_to(Path(listing.root).resolve()):
        raise Refused(f"{base} is inside {listing.root}; name a folder outside it")
    troubled = [
        PmOutcome(name, Outcome.REFUSED, file.trouble)
        for file in listing.files
        for name in file.names
        if file.trouble
    ]
    files = [
        _work(Path(listing.root, name).absolute(), name, base)
        for file in listing.files
        for name in file.names
        if not file.trouble
    ]

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, len(files))

    outcomes = run_tasks(
        spark,
        packed(files, [FOOTER_BYTES] * len(files), cores(spark)),
        partial(_generate_all, blooms, force),
        lost=lambda file: [PmOutcome(file.name, Outcome.REFUSED, WORKER_DIED)],
        progress=tell,
    )
    return Run(listing.root, sorted(troubled + outcomes, key=lambda file: os.fsencode(file.name)))


def _work(data: Path, name: str, into: Path | None) -> _Work:
    target = data.parent / pm.FILE_NAME if into is None else into / name / pm.FILE_NAME
    return _Work(name, str(data), str(target))


def _require_one_each(listing: Listing) -> None:
    beside = listing if listing.is_folder else list_files(listing.root)
    asked = {_folder(name) for file in listing.files for name in file.names}
    counts = Counter(_folder(name) for file in beside.files for name in file.names)
    crowded = sorted(folder for folder in asked if counts[folder] > 1)
    if crowded:
        others = f", and {len(crowded) - 1} more folders do likewise" if len(crowded) > 1 else ""
        raise Refused(
            f"{Path(listing.root, crowded[0])} holds {counts[crowded[0]]} Parquet "
            f"files{others}; a folder has one {pm.FILE_NAME}, which describes a single file. "
            f"Use --into FOLDER, which writes FOLDER/NAME/{pm.FILE_NAME} for each file"
        )


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _generate_all(blooms: BloomMode, force: bool, number: int, files: Sequence[_Work]) -> list[PmOutcome]:
    del number

    def generate(file: _Work) -> PmOutcome:
        _link(file)
        if not force and is_fresh(file.data, file.target):
            return PmOutcome(file.name, Outcome.FRESH)
        if not force and (grown := _updated(file)) is not None:
            return grown
        _, done = generate_file(file.data, file.target, blooms=blooms)
        return PmOutcome(file.name, Outcome.GENERATED, left_out=len(done.left_out), lost=len(done.lost))

    def refused(file: _Work) -> Callable[[str], PmOutcome]:
        return lambda reason: PmOutcome(file.name, Outcome.REFUSED, reason)

    return [answered(partial(generate, file), refused(file), file.data) for file in files]


def _link(file: _Work) -> None:
    """Make a link ``data.parquet`` to the Parquet file beside a ``_pm`` in another folder; it replaces an earlier link atomically."""
    folder, data = Path(file.target).parent, Path(file.data)
    if folder == data.parent:
        return
    folder.mkdir(parents=True, exist_ok=True)
    place, leads_to = folder / pm.DATA_NAME, os.path.relpath(data.resolve(), folder.resolve())
    if place.is_symlink() and str(place.readlink()) == leads_to:
        return
    if place.exists() and not place.is_symlink():
        raise Refused(f"{place} is a file, not a link to {data}")
    link = folder / f".{pm.DATA_NAME}.{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(leads_to)
    link.replace(place)


def _updated(file: _Work) -> PmOutcome | None:
    """Update a ``_pm`` that describes an earlier state of a grown file; ``None`` if it describes another file.

    Only the new row groups are written, and the earlier snapshots stay for their readers.
    """
    if not Path(file.target).exists():
        return None
    try:
        grown = update_beside(file.data, file.target)
    except (FormatError, Refused):
        return None
    if not grown.snapshots:
        return None
    return PmOutcome(file.name, Outcome.UPDATED, left_out=len(grown.left_out))


def is_fresh(data: str, target: str) -> bool:
    """Whether a ``_pm`` describes the current state of a Parquet file.

    Its newest snapshot must be complete and have the size and footer of the file, and it must be newer than the file.

    Raises:
        OSError: The Parquet file cannot be read.
        FormatError: It is not a Parquet file.
    """
    with FileSource(data) as source:
        framing = read_framing(source)
        written = os.fstat(source.fileno()).st_mtime_ns
    try:
        with FileSource(target) as found:
            reader = PmReader(found)
            reader.verify()
            fields = reader.newest.fields
            return (
                os.fstat(found.fileno()).st_mtime_ns >= written
                and fields.parquet_file_size == framing.size
                and fields.parquet_footer_offset == framing.footer_start
            )
    except (FormatError, FileNotFoundError):
        return False
