"""The audit of all values of a Parquet file: decoded once, row group by row group, compared with all that is said of them.

Every check of tier ``values`` that speaks of values asks this one part of the file.  Several column chunks of a row group are decoded
and compared at the same time; no more of them are in memory than there are threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Self

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, NotChecked, Remembered
from pqassay.under_test.violation import Violation
from pqassay.values.outcomes import Outcome
from pqassay_spec.base.sources import BytesSource, FileSource

if TYPE_CHECKING:
    from pqassay.values.chunk_values import Decoders
    from pqassay.values.claims import Outcomes

MOST_THREADS = 4
"""Column chunks that are in memory at the same time, at most."""

WORTH_A_THREAD = 4 << 20
"""Bytes of a row group, without compression, below which a second thread gains nothing."""


class ValueAudit:
    """What came of each rule: a part of the file, ``file.part(ValueAudit)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @Remembered
    def outcomes(self) -> dict[str, Outcome]:
        """What came of each rule.

        Raises:
            FormatError, NotChecked, NotApplicable: The chunks cannot be told apart, or there are none.
        """
        from pqassay.values.chunk_audit import RULES  # noqa: PLC0415 - pyarrow, at this tier only

        found = {rule: Outcome() for rule in RULES}
        with _Auditors(self.file) as auditors:
            for chunks in self._by_row_group():
                for outcomes in auditors.run(chunks):
                    for rule, outcome in outcomes.items():
                        found[rule].merge(outcome)
        self._note_left_out(found)
        return found

    def _by_row_group(self) -> Iterator[list[ColumnChunkUnderTest]]:
        group: list[ColumnChunkUnderTest] = []
        for chunk in self.file.part(ColumnChunks).all:
            if group and group[-1].row_group != chunk.row_group:
                yield group
                group = []
            group.append(chunk)
        if group:
            yield group

    def _note_left_out(self, found: dict[str, Outcome]) -> None:
        """Chunks that are encrypted or stored elsewhere leave what is tested on the others unproved."""
        for number, group in enumerate(self.file.metadata.row_groups):
            for chunk, leaf in zip(group.columns, self.file.leaves, strict=True):
                reason = ""
                if chunk.file_path:
                    reason = f"row group {number} of column {leaf.name} is stored in another file"
                elif chunk.crypto_metadata is not None or chunk.meta_data is None:
                    reason = f"row group {number} of column {leaf.name} is encrypted; pqassay has no keys"
                if reason:
                    for outcome in found.values():
                        outcome.hindered(NotChecked(reason))
                    return


class _Auditors:
    """The threads that audit chunks, each with decoders of its own; made when first needed."""

    def __init__(self, file: FileUnderTest) -> None:
        self._file = file
        is_local = isinstance(file.source, (FileSource, BytesSource))
        self._threads = min(MOST_THREADS, os.cpu_count() or 1) if is_local else 1
        self._idle: SimpleQueue[Decoders] = SimpleQueue()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().close()

    def run(self, chunks: Sequence[ColumnChunkUnderTest]) -> Iterator[Outcomes]:
        """What comes of the chunks of one row group, in their order."""
        size = sum(max(chunk.facts.total_uncompressed_size, 0) for chunk in chunks)
        if self._threads == 1 or len(chunks) == 1 or size < WORTH_A_THREAD:
            yield from map(self._audit, chunks)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads)
        yield from self._pool.map(self._audit, chunks)

    def _audit(self, chunk: ColumnChunkUnderTest) -> Outcomes:
        from pqassay.values.chunk_audit import audit  # noqa: PLC0415 - likewise
        from pqassay.values.chunk_values import Decoders  # noqa: PLC0415 - pyarrow, at this tier only

        try:
            decoders = self._idle.get_nowait()
        except Empty:
            decoders = Decoders(self._file)
        try:
            return audit(chunk, decoders)
        finally:
            self._idle.put(decoders)


def audited(file: FileUnderTest, rule: str) -> Iterator[Violation]:
    """The violations of a rule. Raises as a check does."""
    return file.part(ValueAudit).outcomes[rule].result()
