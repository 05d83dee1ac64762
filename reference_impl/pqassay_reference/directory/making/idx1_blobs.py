"""IDX1 blobs for an entry of the directory.

Source: chapters ``directory.md``, section "IDX1 in a directory", and ``idx1.md``.
"""

from __future__ import annotations

from pqassay_reference.directory.making.blobs import MadeBlob
from pqassay_reference.directory.making.described_data import DescribedData
from pqassay_reference.directory.making.ordered_values import each_plain, ordered_values, united
from pqassay_reference.directory.size_limit import SizeLimit
from pqassay_reference.errors import Refused
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.schema.leaf_columns import is_string


def idx1_blob(data: DescribedData, *, limit: SizeLimit) -> MadeBlob:
    """The IDX1 blob of a column of text.

    Raises:
        Refused: The column is not text, or has values that IDX1 cannot store; or the blob would be too large.
    """
    column = data.columns[0]
    if not is_string(column.leaf):
        raise Refused(
            f"column {column.leaf.name} is {column.leaf.physical_type}; only string columns can be indexed"
        )
    found = united([])
    for group in data.row_groups():
        found = united([found, ordered_values(column, group.columns[0]).distinct])
        limit.require(len(found))
    try:
        texts = {raw.decode() for raw in each_plain(column, found)}
        blob = idx1.build_blob(texts)
    except (UnicodeDecodeError, ValueError) as error:
        raise Refused(f"column {column.leaf.name}: {error}") from None
    limit.require(len(blob))
    return MadeBlob(blob, len(texts))
