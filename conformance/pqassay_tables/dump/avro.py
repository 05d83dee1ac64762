"""The trace of an Avro object container, such as a manifest of an Iceberg table: its header, its blocks, and every field of its objects.

Fields of a compressed block have no bytes of their own in the file: they are shown at the beginning of the block, with no length.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pqassay.dump.forms import Sink
from pqassay.dump.regions import Errors, Region, Writer, unparsed
from pqassay.tables.files import MOST_METADATA
from pqassay_spec.base.errors import FormatError, Malformed, Unsupported
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.trace import Leaf, trace_into
from pqassay_spec.grammar.trace import trace as traced
from pqassay_spec.table.avro import BLOCK_HEADER, CONTAINER_HEADER, LONG_BYTES, SYNC, grammar_of
from pqassay_spec.table.avro_decoder import decoder
from pqassay_tables.metadata.avro import BROKEN, Block, Container, container

SHOWN = 1 << 16
"""The number of objects whose fields are shown."""


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    errors = Errors()
    Writer(sink, source.size, errors)(Region(0, source.size, "file", partial(_container, source)))
    return errors


def _container(source: Source, sink: Sink) -> FormatError | None:
    """Pass the leaves of a container to a sink; return the error that ended it, if any."""
    if source.size > MOST_METADATA:
        return Unsupported(f"more than {MOST_METADATA:,} bytes", field="header")
    data = source.read(0, source.size)
    error = trace_into(sink, CONTAINER_HEADER, data, root="header")
    if error is not None:
        return error
    number = 0
    try:
        file = container(source.name, data, "")
        position = file.body
        for number, block in enumerate(file.each_block()):
            path = f"blocks[{number}]"
            head = data[position : position + 2 * LONG_BYTES]
            _, leaves = traced(BLOCK_HEADER, head, root=path, base=position)
            sink(leaves)
            problem = _block(file, block, path, sink)
            position = block.start + block.size
            marker = data[position : position + SYNC]
            sink([Leaf(f"{path}.sync", position, len(marker), marker, "The marker of the header again.")])
            position += SYNC
            if problem is not None:
                return problem
    except FormatError as reason:  # also for an invalid schema
        told = reason.reason.removeprefix(f"{source.name} cannot be read: ")
        return Malformed(told, field=f"blocks[{number}]", offset=reason.offset)
    return None


def _block(file: Container, block: Block, path: str, sink: Sink) -> FormatError | None:
    """Trace the objects of a block; return the error that ended it, if any."""
    try:
        plain = file.plain(block)
    except FormatError as error:
        error.rule = None
        sink([unparsed(f"{path}.objects", block.start, block.start + block.size, error.reason)])
        return error
    is_packed = file.codec != "null"
    if is_packed:
        reason = f"{len(plain)} bytes, compressed by {file.codec}"
        sink([unparsed(f"{path}.objects", block.start, block.start + block.size, reason)])
    grammar = grammar_of(file.schema)
    decode, used = decoder(file.schema), 0

    def placed(leaves: Iterable[Leaf]) -> None:
        if is_packed:
            leaves = [leaf._replace(offset=block.start, length=0) for leaf in leaves]
        sink(list(leaves))

    for number in range(block.count):
        if block.first + number >= SHOWN:
            return Malformed(f"only the first {SHOWN:,} objects are shown", field=f"[{SHOWN}]")
        try:
            _, end = decode(plain, used)
        except BROKEN:
            end = len(plain)
        root = f"[{block.first + number}]"
        problem = trace_into(placed, grammar, plain[used:end], root=root, base=block.start + used)
        if problem is not None:
            if is_packed:
                problem.offset = None
            return problem
        used = end
    if used < len(plain) and not is_packed:
        sink(
            [
                unparsed(
                    f"{path}.rest", block.start + used, block.start + block.size, "bytes behind the objects"
                )
            ]
        )
    return None
