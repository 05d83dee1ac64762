"""Fields that are aside are found wherever they are, and none is found in files of any writer that is right."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from places import GOLDEN_FILES
from pqassay.strategies import records
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import FileSource
from pqassay_spec.grammar.record_walk import has_unknown, mistyped_fields, unknown_fields
from pqassay_spec.grammar.thrift import Record, UnknownField, grammar, wire_type
from pqassay_spec.grammar.thrift_wire import WireType
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import ColumnIndex, FileMetaData, PageHeader, SchemaElement


def at(record: Record, path: str) -> Any:
    """What is at a path that begins with ``top``."""
    return eval(path, {"top": record})


@given(st.one_of(records(FileMetaData), records(PageHeader), records(ColumnIndex)))
def test_every_unknown_field_is_found_where_it_stands(record: Record) -> None:
    found = list(unknown_fields(record, "top"))

    assert has_unknown(record) == bool(found)
    for path, owner, unknown in found:
        assert owner is at(record, path)
        assert unknown in owner.unknown
    assert repr(record).count("UnknownField(") == len(found)


@given(st.data())
def test_a_field_is_mistyped_exactly_if_its_wire_type_is_another(data: st.DataObject) -> None:
    field = data.draw(st.sampled_from([one for one in SchemaElement.fields if not one.required]))
    wire = data.draw(
        st.sampled_from([WireType.TRUE, WireType.I16, WireType.I32, WireType.I64, WireType.STRUCT])
    )
    content = {WireType.TRUE: b"", WireType.STRUCT: b"\0"}.get(wire, b"\2")
    encoded = grammar(SchemaElement).build(
        SchemaElement(name="year", unknown=[UnknownField(field.id, wire, content)])
    )
    try:
        read = grammar(SchemaElement).parse(encoded)
    except FormatError:
        read = None  # a logical type without a member
    found = [] if read is None else [one.path for one in mistyped_fields(read, "schema[1]")]

    assert ([] if wire == wire_type(field.type) else [f"schema[1].{field.name}"]) == found


def test_no_golden_file_but_two_has_a_mistyped_field() -> None:
    found = set[str]()
    for path in sorted(GOLDEN_FILES.rglob("*.parquet")):
        with FileSource(path) as source:
            try:
                footer, _ = read_footer(source, read_framing(source))
            except FormatError:
                continue
        if list(mistyped_fields(footer, "footer")):
            found.add(path.parent.relative_to(GOLDEN_FILES).as_posix())

    assert {"pqf/filter-length-as-list", "pqf/repetition-as-i64"} == found
