"""The trace of a Parquet file: head, pages, indexes, bloom filters, embedded index, gaps, footer, tail.

Every byte has a leaf: a field, or a description of bytes that are not decoded. `BODY` lists the functions that find structures of the body;
all other bytes are gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from pqassay.dump.body import bloom_filters, column_chunks, embedded_index, page_indexes
from pqassay.dump.directory import DirectoryTrace, directory_blobs
from pqassay.dump.forms import Sink
from pqassay.dump.regions import Errors, Region, Tracer, Writer, in_order, stretch, unparsed
from pqassay.under_test.body_gaps import UNCLAIMED, Filler, Gaps, Run, holes, surroundings
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.errors import FormatError, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.base.terminal import printable
from pqassay_spec.grammar.constructs import AnyConstruct
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.trace import Leaf, trace_into
from pqassay_spec.parquet import file as parquet_file
from pqassay_spec.parquet.file import Framing
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_spec.parquet.thrift import FileMetaData

BODY: tuple[Callable[[FileUnderTest, Errors], Iterator[Region]], ...] = (
    column_chunks,
    page_indexes,
    bloom_filters,
    embedded_index,
    directory_blobs,
)
"""Functions that find structures in the body. Each yields regions, in any order, and notes errors for structures that it cannot find."""


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    errors = Errors()
    write = Writer(sink, source.size, errors)
    file = FileUnderTest(source, Options("index"))
    wrong_head = wrong_tail = None
    try:
        file.head()
    except FormatError as error:
        wrong_head = error
    try:
        framing = file.framing
    except FormatError as error:
        wrong_tail = error
        assumed = _framing_without_magic(source)
        if assumed is None:
            _without_footer(source, write, wrong_head, error)
            if not errors:  # of an empty file
                errors.note(error)
            return errors
        framing = assumed
        file.assume_framing(assumed)
    write(Region(0, framing.body_start, "head", _fixed(parquet_file.HEAD, source, 0, "head", wrong_head)))
    for region in _body(file, errors):
        write(region)
    write(_footer(file, framing))
    for leaves in DirectoryTrace(file, errors).in_footer():
        sink(leaves)
    write(_tail(source, wrong_tail))
    return errors


def _framing_without_magic(source: Source) -> Framing | None:
    """The places of footer and tail if only the last magic is wrong; ``None`` otherwise."""
    if source.size < parquet_file.HEAD_SIZE + parquet_file.TAIL_SIZE:
        return None
    start = source.size - parquet_file.TAIL_SIZE
    length_alone = source.read(start, parquet_file.TAIL_SIZE - parquet_file.MAGIC_SIZE)
    length = parquet_file.TAIL.parse(length_alone + parquet_file.MAGIC).footer_length
    framing = Framing(source.size, start - length, length)
    if not framing.body_start <= framing.footer_start < start:
        return None
    try:
        parquet_file.read_footer(source, framing)
    except FormatError:
        return None
    return framing


def _without_footer(source: Source, write: Writer, head: FormatError | None, tail: FormatError) -> None:
    """Trace the head and the tail of a file without a footer."""
    start = min(parquet_file.HEAD_SIZE, source.size)
    end = max(start, source.size - parquet_file.TAIL_SIZE)
    is_short = source.size < parquet_file.HEAD_SIZE + parquet_file.TAIL_SIZE
    if start == parquet_file.HEAD_SIZE:
        # If a file is too short, head and tail have the same error.
        write(
            Region(0, start, "head", _fixed(parquet_file.HEAD, source, 0, "head", None if is_short else head))
        )
    else:
        end = start = 0
    write(stretch("body", start, end, f"unreadable: {tail.reason}"))
    if is_short:
        write(Region(end, source.size, "tail", _failed(tail)))
    else:
        write(_tail(source, tail))


def _failed(error: FormatError) -> Tracer:
    """The tracer of an unreadable structure, which only returns the error."""
    return lambda _: error


def _fixed(
    structure: AnyConstruct, source: Source, start: int, root: str, wrong: FormatError | None
) -> Tracer:
    """The tracer of a structure of fixed size; a field with a wrong value is shown as bytes.

    Args:
        structure: Its declaration.
        source: The file.
        start: Its offset.
        root: Its path.
        wrong: A known error, which replaces the less specific error of the grammar.
    """

    def trace(sink: Sink) -> FormatError | None:
        size = structure.sizeof()
        raw = source.read(start, size)
        error = trace_into(sink, structure, raw, root=root, base=start)
        if error is not None and error.field and error.offset is not None:
            value = raw[error.offset - start :]
            sink([Leaf(error.field, error.offset, len(value), value, error.reason)])
        return wrong or error

    return trace


def _tail(source: Source, wrong: FormatError | None) -> Region:
    start = source.size - parquet_file.TAIL_SIZE
    return Region(start, source.size, "tail", _fixed(parquet_file.TAIL, source, start, "tail", wrong))


def _footer(file: FileUnderTest, framing: Framing) -> Region:
    """The region of the footer, and of the signature that may follow it."""
    start, end = framing.footer_start, framing.tail_start

    def trace(sink: Sink) -> FormatError | None:
        try:
            _, taken = file.decoded
        except Unsupported as error:
            return error
        except FormatError:
            taken = None  # reported at the end of the trace
        problem = trace_into(sink, grammar(FileMetaData), file.footer, root="footer", base=start)
        if problem is not None:
            return problem.within(rule="PQF-004")
        if taken is not None and parquet_file.is_signed(file.metadata) and start + taken < end:
            sink([unparsed("footer.signature", start + taken, end, "nonce and tag that sign the footer")])
        return None

    return Region(start, end, "footer", trace)


def _body(file: FileUnderTest, errors: Errors) -> list[Region]:
    """The regions of the body, in order."""
    framing = file.framing
    regions: list[Region] = []
    try:
        _ = file.metadata
    except FormatError:  # reported with the footer, at its place
        reason = "unreadable: the footer cannot be read"
        return [stretch("body", framing.body_start, framing.footer_start, reason)]
    for find in BODY:
        try:
            regions.extend(find(file, errors))
        except FormatError as error:
            errors.note(error)
    regions.sort(key=lambda region: region.start)
    return in_order([*regions, *_gaps(file, regions)])


def _gaps(file: FileUnderTest, found: Sequence[Region]) -> Iterator[Region]:
    """The regions between sorted regions."""
    framing = file.framing
    leaves: list[SchemaLeaf] = []
    with suppress(FormatError):  # the schema only helps to identify bytes
        leaves = file.leaves
    starts = {region.start for region in found}
    alone = {given.start for given in file.offsets} - starts
    gaps = Gaps(file.source, surroundings(file.metadata, leaves, alone))
    spans = ((region.start, region.end) for region in found)
    number = 0
    for start, end in holes(spans, framing.body_start, framing.footer_start):
        for run in gaps.runs(start, end):
            yield stretch(f"gaps[{number}]", run.start, run.end, _what(run))
            number += 1


def _what(run: Run) -> str:
    if run.filler in UNCLAIMED:
        return f"bytes that belong to no structure: {run.filler.value}"
    return f"{run.filler.value}: {printable(run.key)}" if run.filler is Filler.NAMED else run.filler.value
