"""Pairs of ``_pm`` and Parquet file for tests: real ones, generated ones, and what a check reports on them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import pqassay
from idx1_files import edited
from places import INTEROP
from pqassay.report.model import Coverage, FileReport
from pqassay_reference.pm import write
from pqassay_reference.pm.generate import generate
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm import reading as pm_reading
from pqassay_spec.pm.from_parquet.snapshot import BloomMode
from pqassay_spec.pm.value import SnapshotChunk, SnapshotColumn, SnapshotRowGroup, SnapshotValue
from pqassay_spec.rules.catalogue import Tier


@dataclass(frozen=True)
class PmPair:
    """A ``_pm`` and the Parquet file beside it."""

    raw: bytes
    data: bytes

    @property
    def value(self) -> SnapshotValue:
        """What the newest snapshot says."""
        source = BytesSource(self.raw)
        size = pm_header.read_committed_size(source)
        header = pm_header.read_header(source, size)
        return pm_reading.read_value(source, header, pm_file.read_snapshot(source, header, size))

    def saying(self, value: SnapshotValue) -> PmPair:
        """The same Parquet file beside a ``_pm`` that says something else."""
        return PmPair(write.create(value), self.data)

    def report(self, tier: Tier = "index", only: Sequence[str] = ("PM-1*",)) -> tuple[FileReport, Coverage]:
        """What a check says about the ``_pm``."""
        report = pqassay.check(self.raw, kind="pm", beside={pm.DATA_NAME: self.data}, tier=tier, only=only)
        (found,) = report.files
        return found, report.coverages[found.coverage]

    def rules(self, tier: Tier = "index", only: Sequence[str] = ("PM-1*",)) -> list[str]:
        """The rules across the two files that are broken, each as often as it has findings."""
        report, _ = self.report(tier, only)
        assert report.error is None, report.error
        return [finding.rule for finding in report.findings]


def real(name: str) -> PmPair:
    """A pair that a release of QuestDB wrote, by its folder: ``questdb-9.4.3/bloom``."""
    folder = INTEROP / name
    return PmPair((folder / pm.FILE_NAME).read_bytes(), (folder / pm.DATA_NAME).read_bytes())


def real_names() -> list[str]:
    """The folders of all real pairs."""
    return sorted(str(path.parent.relative_to(INTEROP)) for path in INTEROP.glob(f"*/*/{pm.FILE_NAME}"))


def generated(data: bytes, blooms: BloomMode = "inlined") -> PmPair:
    """A Parquet file and the ``_pm`` that the reference makes for it."""
    return PmPair(generate(BytesSource(data), blooms=blooms).raw, data)


def written(table: pa.Table, **options: Any) -> bytes:
    """A table as pyarrow writes it."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


with_footer = edited
"""A Parquet file whose footer was changed."""


# ------------------------------------------------------------------------------------------------ other values


def with_column(value: SnapshotValue, column: int, **changes: Any) -> SnapshotValue:
    """The value with another descriptor."""
    columns: list[SnapshotColumn] = list(value.columns)
    columns[column] = replace(columns[column], **changes)
    return replace(value, columns=tuple(columns))


def with_chunk(value: SnapshotValue, row_group: int, column: int, **changes: Any) -> SnapshotValue:
    """The value with another column chunk."""
    row_groups: list[SnapshotRowGroup] = list(value.row_groups)
    chunks: list[SnapshotChunk] = list(row_groups[row_group].chunks)
    chunks[column] = replace(chunks[column], **changes)
    row_groups[row_group] = replace(row_groups[row_group], chunks=tuple(chunks))
    return replace(value, row_groups=tuple(row_groups))
