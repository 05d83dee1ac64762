"""The audit of values: each column chunk is decoded once, and all claims about it are compared with the decoded values.

A family of claims (`Family`) returns the claims about each chunk (`ChunkClaims`), or none; chunks without claims are not decoded. The rules
about a Parquet file, an embedded index and an index directory are families of the audit of its values, `ValueAudit`; ``_pm`` is a family
about the chunks of the file beside it, which also uses `audit`.

Several column chunks of a row group are decoded and compared at the same time; memory holds one chunk per thread, and the columns by which
the row group is sorted, which are compared together. The same threads survey the page bodies after decoding the values: a page that is
known to decompress need not be decompressed again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol, Self

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, Mistake, NotApplicable, NotChecked, Remembered
from pqassay.under_test.weighed import Weighed
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.value_rules import Compared, RuleFamily
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, FileSource

if TYPE_CHECKING:
    from pqassay.values.decoding.chunk_values import ChunkValues, Decoders

MOST_THREADS = 4
"""The largest number of column chunks in memory at the same time."""

WORTH_A_THREAD = 4 << 20
"""The uncompressed size of a row group in bytes below which a second thread gains nothing."""


class ChunkClaims(Protocol):
    """The claims of one family about one column chunk."""

    @property
    def needs_values(self) -> bool:
        """Whether the chunk must be decoded."""
        ...

    @property
    def compared(self) -> Sequence[Compared]:
        """The compared claims that show whether the values are right."""
        ...

    def judge(self, values: ChunkValues) -> None:
        """Compare the claims with the values. Chunks of one row group are judged at the same time, in several threads."""
        ...

    def leave(self, reason: NotChecked) -> None:
        """Note that the values cannot be decoded."""
        ...

    def settle(self) -> None:
        """Pass on the results; called for one chunk after the other, in order."""
        ...


class Family(Protocol):
    """A structure, or several structures, with claims about the values of a file."""

    def claim(self, chunk: ColumnChunkUnderTest) -> ChunkClaims | None:
        """The claims about a chunk; ``None`` if there are none."""
        ...


_FAMILIES: list[Callable[[FileUnderTest], Family]] = []


def claiming(make: Callable[[FileUnderTest], Family]) -> Callable[[FileUnderTest], Family]:
    """Register a function that makes a family of claims.

    The function raises `FormatError`, `NotChecked` or `NotApplicable` if there are no claims.
    """
    _FAMILIES.append(make)
    return make


class ValueAudit:
    """The outcomes of all rules about values, available as ``file.part(ValueAudit)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file
        self._surveys = False

    def run_with_surveys(self) -> None:
        """Survey the bodies of all pages in the threads of the audit, unless the audit is over."""
        self._surveys = True
        with suppress(FormatError, NotApplicable, NotChecked):
            _ = self.outcomes

    @Remembered
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each rule; registered families keep their own outcomes.

        Raises:
            FormatError, NotChecked, NotApplicable: The chunks cannot be assigned to columns, or there are none.
        """
        column_chunks = self.file.part(ColumnChunks)
        chunks = column_chunks.all
        families: list[Family] = []
        for make in _FAMILIES:
            try:
                families.append(make(self.file))
            except (FormatError, NotApplicable, NotChecked):
                continue  # its own checks report that
        audit(self.file, chunks, families, surveys=self._surveys)
        outcomes: dict[str, Outcome] = {}
        for family in families:
            if isinstance(family, RuleFamily):
                family.finish()
                family.note_left_out(column_chunks)
                outcomes |= family.outcomes
        return outcomes


def audit(
    file: FileUnderTest,
    chunks: Iterable[ColumnChunkUnderTest],
    families: Sequence[Family],
    *,
    surveys: bool = False,
) -> None:
    """Compare the claims of all families with the values of the chunks.

    Args:
        file: The file.
        chunks: Its column chunks, row group by row group.
        families: The families of claims.
        surveys: Whether the bodies of their pages are also surveyed.
    """
    with _Auditors(file, families, surveys=surveys) as auditors:
        for _, group in groupby(chunks, lambda chunk: chunk.row_group):
            for claims in auditors.run(list(group)):
                for claim in claims:
                    claim.settle()


def _size(chunk: ColumnChunkUnderTest) -> int:
    """The uncompressed size of a chunk in bytes, if known."""
    return max(chunk.facts.total_uncompressed_size, 0)


class _Auditors:
    """The threads that audit chunks, each with its own decoders; created on first use."""

    def __init__(self, file: FileUnderTest, families: Sequence[Family], *, surveys: bool) -> None:
        self._file = file
        self._families = families
        self._surveys = surveys
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

    def run(self, chunks: Sequence[ColumnChunkUnderTest]) -> Iterator[list[ChunkClaims]]:
        """Yield the judged claims of the chunks of each row group, in the order of the chunks."""
        if self._threads == 1 or len(chunks) == 1 or sum(map(_size, chunks)) < WORTH_A_THREAD:
            yield from map(self._judged, chunks)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads)
        # The largest first, so that no thread ends with a large chunk alone.
        largest_first = sorted(chunks, key=_size, reverse=True)
        judged = {chunk.ordinal: self._pool.submit(self._judged, chunk) for chunk in largest_first}
        for chunk in chunks:
            yield judged.pop(chunk.ordinal).result()

    def _judged(self, chunk: ColumnChunkUnderTest) -> list[ChunkClaims]:
        claims = [claim for family in self._families if (claim := family.claim(chunk)) is not None]
        self._judge(chunk, [claim for claim in claims if claim.needs_values])
        if self._surveys:
            self._survey(chunk)
        return claims

    def _survey(self, chunk: ColumnChunkUnderTest) -> None:
        from pqassay.values.decoding.survey import survey  # noqa: PLC0415 - numpy and pyarrow, at this tier only

        # Its error is cached for those who use the result.
        with suppress(FormatError, NotApplicable, NotChecked):
            chunk.part(survey)

    def _judge(self, chunk: ColumnChunkUnderTest, claims: list[ChunkClaims]) -> None:
        """Decode a chunk if there are claims about it, and judge the claims.

        The values stay in this stack frame, since cached exceptions of claims refer to the frame of the caller.
        """
        if not claims:
            return
        try:
            values = self._decoded(chunk)
        except NotChecked as reason:
            reason.__traceback__ = None  # its frames would hold what was decoded so far
            for claim in claims:
                claim.leave(reason)
            return
        try:
            for claim in claims:
                try:
                    claim.judge(values)
                except (OSError, MemoryError):
                    raise
                except Exception as error:  # noqa: BLE001 - other families are still judged
                    claim.leave(Mistake.by(error))
            self._weigh(chunk, values, [each for claim in claims for each in claim.compared])
        finally:
            values.forget()
            chunk.forget_frames()

    def _weigh(self, chunk: ColumnChunkUnderTest, values: ChunkValues, compared: Sequence[Compared]) -> None:
        """Weigh the values against the claims that they contradict, if any."""
        weighed = chunk.file.part(Weighed)
        if weighed.wants(chunk.column) and any(each.is_broken and each.compares_values for each in compared):
            from pqassay.values.claims.weighing import weigh  # noqa: PLC0415 - numpy, at this tier only

            try:
                weighed.add(chunk.column, chunk.row_group, weigh(values, compared))
            except (OSError, MemoryError):
                raise
            except Exception as error:  # noqa: BLE001 - the findings stay what they are
                weighed.problem = Mistake.by(error)

    def _decoded(self, chunk: ColumnChunkUnderTest) -> ChunkValues:
        from pqassay.values.decoding.chunk_values import ChunkValues, Decoders  # noqa: PLC0415 - pyarrow, at this tier only

        try:
            decoders = self._idle.get_nowait()
        except Empty:
            decoders = Decoders(self._file)
        try:
            return ChunkValues(chunk, decoders)
        except (NotChecked, OSError, MemoryError):
            raise
        except Exception as error:
            raise Mistake.by(error) from error
        finally:
            self._idle.put(decoders)
