"""An index of your own: a bitmap of the rows whose text contains a word. `python row_bitmap.py FILE COLUMN WORD` attaches it and reads by it."""

import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pqassay_reference.directory import add
from pqassay_reference.rewrite.index_directory import stored_indexes
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource
from pqassay_spec.directory.identity import why_stale
from pqassay_spec.directory.placement import extension_area, stored_blob
from pqassay_spec.parquet.file import read_footer, read_framing

TYPE = "org.example.contains"
PARQUET: Any = pq


def contains(texts: Any, word: str) -> Any:
    """A boolean for each text, as numpy has it."""
    return pc.fill_null(pc.match_substring(texts, word), False).to_numpy()


def attach(path: str, column: str, word: str) -> None:
    """Write the index into the file: the word, a zero byte, and a bit for each row."""
    bits = np.packbits(contains(PARQUET.read_table(path, columns=[column])[column], word)).tobytes()
    add(path, type=TYPE, blob=word.encode() + b"\0" + bits, columns=[column], writer="row_bitmap 1")


def stored_bits(path: str, column: str, word: str) -> bytes | None:
    """The bits of the index; ``None`` if there is none of this word, it is stale, or it is damaged."""
    with FileSource(path) as source:
        framing = read_framing(source)
        footer, _ = read_footer(source, framing)
        body, area = (framing.body_start, framing.footer_start), extension_area(footer)
        for entry in stored_indexes(footer).entries:
            if (entry.type_name, entry.names) == (TYPE, column) and not why_stale(entry, footer):
                try:
                    blob = stored_blob(entry, source, body_start=body[0], body_end=body[1], area=area)
                except FormatError:
                    return None
                found, _, bits = blob.partition(b"\0")
                return bits if found == word.encode() else None
    return None


def rows(path: str, column: str, word: str) -> tuple[pa.Table, int]:
    """The rows whose text contains the word, and the number of row groups that were read for them."""
    file = PARQUET.ParquetFile(path)
    count, groups = file.metadata.num_rows, range(file.num_row_groups)
    bits = stored_bits(path, column, word)
    if bits is None or len(bits) != (count + 7) // 8:  # without the index, every row is looked at
        table = file.read()
        return table.filter(pa.array(contains(table[column], word))), len(groups)
    mask = np.unpackbits(np.frombuffer(bits, np.uint8), count=count).astype(bool)
    ends = np.cumsum([file.metadata.row_group(number).num_rows for number in groups])
    parts = np.split(mask, ends[:-1])
    needed = [number for number in groups if parts[number].any()]
    kept = np.concatenate([mask[:0], *(parts[number] for number in needed)])
    return file.read_row_groups(needed).filter(pa.array(kept)), len(needed)


if __name__ == "__main__":
    attach(*sys.argv[1:])
    table, read = rows(*sys.argv[1:])
    print(
        f"{table.num_rows} rows, {read} of {PARQUET.ParquetFile(sys.argv[1]).num_row_groups} row groups read"
    )
