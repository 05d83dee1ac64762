"""Three readings of the same bytes of a ``_pm``: by the grammar, by records, by numpy."""

from __future__ import annotations

from construct import Array

from pqassay_reference.pm.read import PmReader
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import HeaderFeature, block_offset
from pqassay_spec.pm.file import read_bloom_entries


def require_the_same(reader: PmReader, raw: bytes) -> None:
    """Fail unless grammar, records and arrays read the same chunks, entries and fields of a snapshot."""
    header, footer = reader.header, reader.footer
    for number, offset in enumerate(footer.blocks):
        start = offset + pm.BlockHeader.size
        rows = Array(header.column_count, pm.ColumnChunk.grammar).parse(raw[start:])
        parsed = [tuple(int(row[name]) for name in pm.ColumnChunk.offsets) for row in rows]
        assert parsed == [tuple(record) for record in reader.chunk_array(number).tolist()]
        assert parsed == [tuple(chunk) for chunk in reader.block(number).chunks]
    fields = pm.FooterFields.grammar.parse(raw[footer.start :])
    assert tuple(int(fields[name]) for name in pm.FooterFields.offsets) == tuple(footer.fields)
    columns = Array(header.column_count, pm.ColumnDescriptor.grammar).parse(raw[pm.FixedHeader.size :])
    parsed = [tuple(int(row[name]) for name in pm.ColumnDescriptor.offsets) for row in columns]
    assert parsed == [tuple(column) for column in header.descriptors]
    is_external = HeaderFeature.BLOOM_FILTERS_EXTERNAL in header.features
    grammar = Array(footer.bloom_count, pm.BloomEntry.grammar if is_external else pm.InlinedBloom.grammar)
    entries = grammar.parse(raw[footer.bloom_start :])
    found = [tuple(entry) for entry in read_bloom_entries(reader.source, header, footer)]
    if is_external:
        assert [(entry.offset, entry.length) for entry in entries] == found
    else:
        assert [(block_offset(entry.offset), 0) for entry in entries] == found
