"""What a table says about the values of a file, not all of which can be read."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay.checks.asking import ask
from pqassay.tables.claims import ClaimPlace, Count, FileClaims
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.thrift import ColumnCryptoMetaData, EncryptionWithColumnKey, FileMetaData
from pqassay_tables.metadata.delta.schema import schema_of
from pqassay_tables.metadata.delta.statistics import DeltaMetrics

PLACE = ClaimPlace("log", 0, ("add", "stats"))
ROWS = 4


def claims(nulls: int) -> FileClaims:
    fields = [{"name": name, "type": "long", "nullable": True, "metadata": {}} for name in "ab"]
    schema = schema_of(
        {"schemaString": json.dumps({"type": "struct", "fields": fields}), "partitionColumns": []},
        is_mapped=False,
    )
    stats = {"nullCount": {"a": nulls, "b": 0}}
    return FileClaims(
        "delta", PLACE, "a", rows=Count(ROWS, PLACE), metrics=DeltaMetrics(schema, stats, PLACE)
    )


def written(*, is_hidden: bool) -> bytes:
    """A file whose first column has nulls, in plain or encrypted."""
    out = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1, None, None, 4], "b": [1, 2, 3, 4]}), out)
    data = out.getvalue().to_pybytes()
    if not is_hidden:
        return data
    source = BytesSource(data, "a")
    framing, footer = read_framing(source), FileUnderTest(source, Options("footer")).metadata
    chunk = footer.row_groups[0].columns[0]
    chunk.meta_data, chunk.encrypted_column_metadata = None, b"secret"
    chunk.crypto_metadata = ColumnCryptoMetaData(ENCRYPTION_WITH_COLUMN_KEY=EncryptionWithColumnKey(path_in_schema=["a"]))  # fmt: skip
    content = bytes(grammar(FileMetaData).build(footer))
    return data[: framing.footer_start] + content + len(content).to_bytes(4, "little") + b"PAR1"


def test_nulls_of_a_column_that_is_encrypted_are_not_compared() -> None:
    found = {}
    for is_hidden in (False, True):
        file = FileUnderTest(
            BytesSource(written(is_hidden=is_hidden), "a"), Options("values"), claims=claims(2)
        )
        answers = ask(file, ("DLT-028",)).found
        found[is_hidden] = {
            rule: (list(answer.groups), answer.problem and answer.problem.obstacle)
            for rule, answer in answers.items()
        }

    assert {False: {}, True: {"DLT-028": ([], "key")}} == found


def test_a_count_of_nulls_that_is_false_is_found() -> None:
    file = FileUnderTest(BytesSource(written(is_hidden=False), "a"), Options("values"), claims=claims(1))

    assert ["a"] == list(ask(file, ("DLT-028",)).found["DLT-028"].groups)
