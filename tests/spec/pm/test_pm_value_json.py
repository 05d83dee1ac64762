"""The logical value of a ``_pm`` snapshot in JSON: there and back, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import each
from pqassay_spec.pm.value import (
    ExternalBloom,
    SnapshotChunk,
    SnapshotColumn,
    SnapshotRowGroup,
    SnapshotSorting,
    SnapshotValue,
)
from pqassay_spec.pm.value_json import NotAValueError, from_json, to_json

U64 = st.integers(0, 2**64 - 1)
BOUND = st.none() | st.binary(max_size=12)
CHUNKS = st.builds(
    SnapshotChunk,
    codec=st.integers(0, 255),
    encodings=st.integers(0, 255),
    num_values=U64,
    offset=U64,
    length=U64,
    null_count=st.none() | U64,
    distinct_count=st.none() | U64,
    min=BOUND,
    max=BOUND,
    min_exact=st.booleans(),
    max_exact=st.booleans(),
    bloom=st.none() | st.binary(max_size=64) | st.builds(ExternalBloom, U64, U64),
)
VALUES = st.builds(
    SnapshotValue,
    columns=st.lists(st.builds(SnapshotColumn, st.text(), st.integers(0, 255)), max_size=3).map(tuple),
    row_groups=st.lists(
        st.builds(SnapshotRowGroup, U64, st.lists(CHUNKS, max_size=2).map(tuple)), max_size=2
    ).map(tuple),
    parquet_footer_offset=U64,
    parquet_footer_length=U64,
    unused_bytes=U64,
    designated_timestamp=st.integers(-1, 3),
    sorting=st.lists(st.builds(SnapshotSorting, st.integers(0, 9), st.booleans()), max_size=2).map(tuple),
    bloom_columns=st.lists(st.integers(0, 9), max_size=2).map(tuple),
    bloom_external=st.booleans(),
    squash_tracker=st.none() | st.integers(-(2**63), 2**63 - 1),
    seq_txn=st.none() | st.integers(-(2**63), 2**63 - 1),
    previous_sizes=st.lists(U64, max_size=2).map(tuple),
)


@given(VALUES)
def test_a_value_survives_json(value: SnapshotValue) -> None:
    assert value == from_json(json.loads(json.dumps(to_json(value))))


def whole(**members: Any) -> dict[str, Any]:
    column = SnapshotColumn("ts", 2)
    chunk = SnapshotChunk(codec=0, encodings=1, num_values=3, offset=4, length=40, min=b"a", max=b"z")
    value = SnapshotValue((column,), (SnapshotRowGroup(3, (chunk,)),), 44, 100)
    return {**to_json(value), **members}


def test_what_may_be_null_may_be_left_out() -> None:
    record = whole()
    wanted = from_json(record)
    (chunk,) = record["row_groups"][0]["chunks"]
    for name in ("null_count", "distinct_count", "bloom"):
        assert chunk.pop(name) is None

    assert wanted == from_json(record)


@each(
    ("record", "message"),
    [
        ([], "the value: no object"),
        ({}, "designated_timestamp: missing"),
        (whole(more=1), "more: unknown"),
        (whole(bloom_external=1), "bloom_external: neither true nor false"),
        (whole(unused_bytes=True), "unused_bytes: no whole number"),
        (whole(unused_bytes=1.0), "unused_bytes: no whole number"),
        (whole(unused_bytes={"int": "٣"}), "unused_bytes: no whole number"),
        (whole(unused_bytes={"int": "3", "more": 1}), "unused_bytes: no whole number"),
        (whole(unused_bytes={"int": "9" * 5000}), "unused_bytes: no whole number"),
        (whole(columns={}), "columns: no list"),
        (whole(columns=[{**whole()["columns"][0], "name": None}]), r"columns\[0\].name: no text"),
        (
            whole(columns=[{**whole()["columns"][0], "physical_type": "INT65"}]),
            r"columns\[0\].physical_type: 'INT65' is not one of BOOLEAN, INT32",
        ),
        (
            whole(
                row_groups=[
                    {"num_rows": 3, "chunks": [{**whole()["row_groups"][0]["chunks"][0], "min": "61"}]}
                ]
            ),
            r"row_groups\[0\].chunks\[0\].min: no bytes",
        ),
        (
            whole(
                row_groups=[
                    {
                        "num_rows": 3,
                        "chunks": [{**whole()["row_groups"][0]["chunks"][0], "min": {"bytes": "6 1"}}],
                    }
                ]
            ),
            r"row_groups\[0\].chunks\[0\].min: no bytes",
        ),
    ],
)
def test_what_is_no_value_is_named(record: object, message: str) -> None:
    with pytest.raises(NotAValueError, match=f"^{message}"):
        from_json(record)
