"""Field tables: the rows that people read, taken from the declarations."""

from __future__ import annotations

import pytest
from construct import Array, Bytes, Int8sb, Int32ub, Struct, this

from pqassay_spec.grammar.field_tables import FieldRow, construct_rows, thrift_rows
from pqassay_spec.idx1.blob import BLOB, DRAFT_G0_BLOB
from pqassay_spec.parquet.file import HEAD, TAIL
from pqassay_spec.parquet.thrift import ColumnIndex, IndexPageHeader, KeyValue, PageLocation


def test_the_table_of_a_blob_has_offsets_as_far_as_they_are_fixed() -> None:
    assert list(construct_rows(BLOB)) == [
        FieldRow("magic", "magic 'IDX1'", "0", "4", "", "required", "Says that this is a distinct-value index."),
        FieldRow("length", "u64, little-endian", "4", "8", "", "required", "Bytes of the payload, without magic and length."),
        FieldRow("payload", "bytes", "12", "", "", "required", "The values, UTF-8, a line feed between two values, none after the last."),
    ]  # fmt: skip


def test_the_tables_of_head_and_tail() -> None:
    assert list(construct_rows(HEAD)) == [
        FieldRow("magic", "magic 'PAR1'", "0", "4", "", "required", "Begins the file.")
    ]
    assert [(row.name, row.type, row.offset, row.size) for row in construct_rows(TAIL)] == [
        ("footer_length", "u32, little-endian", "0", "4"),
        ("magic", "magic 'PAR1'", "4", "4"),
    ]


def test_after_a_field_whose_size_the_data_decide_no_offset_is_given() -> None:
    declared = Struct("n" / Int8sb, "data" / Bytes(this.n), "after" / Int32ub, "rest" / Array(2, Int8sb))
    assert [(row.name, row.type, row.offset, row.size) for row in construct_rows(declared)] == [
        ("n", "i8", "0", "1"),
        ("data", "bytes", "1", ""),
        ("after", "u32, big-endian", "", "4"),
        ("rest", "list of i8", "", "2"),
    ]


def test_a_construct_that_is_no_struct_has_no_rows() -> None:
    with pytest.raises(TypeError, match="only a Struct has fields"):
        list(construct_rows(Int8sb))


def test_every_declared_field_has_a_doc() -> None:
    for declared in (BLOB, DRAFT_G0_BLOB, HEAD, TAIL):
        assert all(row.doc.endswith(".") for row in construct_rows(declared))


def test_the_table_of_a_thrift_struct_has_ids_and_presence() -> None:
    assert list(thrift_rows(KeyValue)) == [
        FieldRow("key", "string", "", "", "1", "required", "The key."),
        FieldRow("value", "string", "", "", "2", "optional", "The value."),
    ]
    assert list(thrift_rows(IndexPageHeader)) == []


def test_types_are_spelled_as_in_the_standard() -> None:
    assert [row.type for row in thrift_rows(ColumnIndex)] == [
        "list<bool>",
        "list<binary>",
        "list<binary>",
        "BoundaryOrder",
        "list<i64>",
        "list<i64>",
        "list<i64>",
        "list<i64>",
    ]
    assert [row.type for row in thrift_rows(PageLocation)] == ["i64", "i32", "i64"]
