"""The trace of a Parquet file: head, embedded indexes, footer, index directory, tail."""

from __future__ import annotations

from pqassay.checks.idx1.blob import EmbeddedIndex
from pqassay.dump.directory import DirectoryTrace
from pqassay.dump.forms import Sink
from pqassay.under_test.file import FileUnderTest, NotApplicable, Options
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.trace import Leaf, trace_into
from pqassay_spec.grammar.trace import trace as traced
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet import file as parquet_file
from pqassay_spec.parquet.thrift import FileMetaData


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    errors: list[FormatError] = []
    file = FileUnderTest(source, Options("index"))
    try:
        file.head()
        sink(traced(parquet_file.HEAD, source.read(0, parquet_file.HEAD_SIZE), root="head")[1])
    except FormatError as error:
        errors.append(error)
    try:
        framing = file.framing
    except FormatError as error:
        return [*errors, error]
    blobs: list[list[Leaf]] = []
    try:
        blobs.append(idx1.trace_blob(source, file.part(EmbeddedIndex).blob))
    except NotApplicable:
        pass
    except FormatError as error:
        if error.rule != "PQF-004":  # said below, with its place
            errors.append(error)
    directory = DirectoryTrace(file, errors)
    for leaves in sorted([*blobs, *directory.in_body()], key=lambda leaves: leaves[0].offset):
        sink(leaves)
    problem = trace_into(sink, grammar(FileMetaData), file.footer, root="footer", base=framing.footer_start)
    if problem is not None:
        errors.append(problem.within(rule="PQF-004"))
    for leaves in directory.in_footer():
        sink(leaves)
    tail = source.read(framing.tail_start, parquet_file.TAIL_SIZE)
    sink(traced(parquet_file.TAIL, tail, root="tail", base=framing.tail_start)[1])
    return errors
