"""Taking fields out of a footer: what goes is gone, and every byte of what stays is there in its order."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from damage import tries
from idx1_files import edited, parquet, table
from pqassay.strategies import records
from pqassay_reference.rewrite import footer_splice
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.footer_splice import Removal, without
from pqassay_reference.rewrite.strip import Selection, strip_file
from pqassay_spec.base.errors import Malformed, Unsupported
from pqassay_spec.grammar.thrift import BOOL, ListOf, Record, grammar, wire_type
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.thrift_wire import element_ranges, field_ranges
from pqassay_spec.parquet.thrift import BoundingBox, FileMetaData, GeospatialStatistics
from thrift_strategies import footer_of
from verdicts import rules_of

pytestmark = pytest.mark.slow


@st.composite
def removals(draw: st.DrawFn, tree: Any) -> dict[str | int, Any]:
    """Generate what may go from a struct or list so that it stays well-formed: no required field, no union's member."""
    removal: dict[str | int, Any] = {}
    if isinstance(tree, list):
        places = [(index, element, True) for index, element in enumerate(tree)]
    else:
        places = [(f.name, getattr(tree, f.name), not f.required) for f in tree.fields]
    for key, value, optional in places:
        if value is None or not draw(st.booleans()):
            continue
        if enterable(value) and (not optional or draw(st.booleans())):
            removal[key] = draw(removals(value))
        elif optional:
            removal[key] = None
    return removal


def enterable(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], Record)
    return isinstance(value, Record) and not value.is_union


def set_to_none(tree: Any, removal: Removal) -> None:
    """Do the same to a decoded tree, as plainly as it can be said."""
    for key, deeper in removal.items():
        if deeper is not None:
            set_to_none(getattr(tree, key) if isinstance(key, str) else tree[key], deeper)
        elif isinstance(key, str):
            setattr(tree, key, None)
    for index in sorted((key for key, deeper in removal.items() if isinstance(key, int) and deeper is None))[
        ::-1
    ]:
        del tree[index]


def pieces(record: type[Record], data: bytes, position: int, removal: Removal | None) -> list[Any]:
    """The fields of a struct with the bytes of their values, in their order; what goes left out, what is entered nested."""
    named = {field.id: field for field in record.fields}
    found: list[Any] = []
    for part in field_ranges(data, position):
        field = named.get(part.id)
        raw = data[part.value : part.end]
        declared = field is not None and part.wire in wires(field.type)
        if field is None or not declared or removal is None or field.name not in removal:
            found.append((part.id, part.wire, raw))
            continue
        deeper = removal[field.name]
        if deeper is None:
            continue
        if isinstance(field.type, ListOf):
            element: Any = field.type.element
            ranges = element_ranges(data, part.value)
            found.append((part.id, [
                pieces(element, data, start, deeper[index]) if index in deeper else data[start:end]
                for index, (start, end) in enumerate(ranges)
                if deeper.get(index, deeper) is not None
            ]))  # fmt: skip
        else:
            kind: Any = field.type
            found.append((part.id, pieces(kind, data, part.value, deeper)))
    return found


def entered(record: type[Record], data: bytes, position: int, removal: Removal) -> list[Any]:
    """`pieces` of a footer from which the removal was taken: nothing goes any more, the same places are entered."""
    return pieces(record, data, position, renumbered(removal))


def renumbered(removal: Removal) -> Removal:
    """The removal's places after it was done: without what went, elements counted again."""
    gone = sorted(key for key, deeper in removal.items() if isinstance(key, int) and deeper is None)
    return {
        (key - sum(other < key for other in gone) if isinstance(key, int) else key): renumbered(deeper)
        for key, deeper in removal.items()
        if deeper is not None
    }


def wires(kind: Any) -> set[int]:
    return {1, 2} if kind is BOOL else {int(wire_type(kind))}


def unsigned(metadata: FileMetaData) -> FileMetaData:
    metadata.encryption_algorithm = None
    return metadata


@tries(150, suppress_health_check=list(HealthCheck))
@given(records(FileMetaData).map(unsigned), st.data())
def test_stripping_sets_fields_to_none_and_keeps_all_other_bytes(
    metadata: FileMetaData, data: st.DataObject
) -> None:
    removal = data.draw(removals(metadata))
    before = bytes(grammar(FileMetaData).build(metadata))
    after = without(before, removal)
    expected = copy.deepcopy(metadata)
    set_to_none(expected, removal)

    assert (expected, len(after)) == decode(FileMetaData, after)
    assert pieces(FileMetaData, before, 0, removal) == entered(FileMetaData, after, 0, removal)


@tries(100, suppress_health_check=list(HealthCheck))
@given(records(FileMetaData, unknown=False).map(unsigned), st.data())
def test_a_canonical_footer_stays_canonical(metadata: FileMetaData, data: st.DataObject) -> None:
    removal = data.draw(removals(metadata))
    after = without(bytes(grammar(FileMetaData).build(metadata)), removal)
    set_to_none(metadata, removal)

    assert grammar(FileMetaData).build(metadata) == after


REQUIRED = "15 02 19 0c 16 00"  # version, schema, rows


@pytest.mark.parametrize(
    ("before", "removal", "after"),
    [
        # created_by goes: column_orders is now two ids behind row_groups
        ("19 0c 28 01 78 19 0c 00", {"created_by": None}, "19 0c 39 0c 00"),
        # what follows in long form keeps it
        ("19 0c 28 01 78 09 0e 0c 00", {"created_by": None}, "19 0c 09 0e 0c 00"),
        # a list of keys in an unusual place, behind column_orders, and in the long form of its header
        ("19 0c 39 0c 09 0a fc 02 18 01 61 00 18 01 62 00 18 01 76 00", {"key_value_metadata": {0: None}}, "19 0c 39 0c 09 0a 1c 18 01 62 00 18 01 76 00"),
        # created_by twice: both go, for readers would take the one that is left
        ("19 0c 28 01 78 08 0c 01 79 00", {"created_by": None}, "19 0c 00"),
        # a field of another type has the id only
        ("19 0c 25 02 00", {"created_by": None}, "19 0c 25 02 00"),
        # the field after the one that goes is more than 15 ids away from the one before
        ("19 0c 28 01 78 e5 02 00", {"created_by": None}, "19 0c 05 28 02 00"),
        # over-long varints are copied
        ("19 0c 28 82 80 00 61 62 19 0c 00", {"column_orders": None}, "19 0c 28 82 80 00 61 62 00"),
        # nothing goes
        ("19 0c 00", {"created_by": None}, "19 0c 00"),
    ],
)  # fmt: skip
def test_only_headers_of_neighbours_change(before: str, removal: Removal, after: str) -> None:
    assert f"{REQUIRED} {after}" == without(bytes.fromhex(f"{REQUIRED} {before}"), removal).hex(" ")


def test_a_field_on_the_way_that_stands_twice_is_refused() -> None:
    footer = bytes.fromhex(f"{REQUIRED} 19 0c 19 1c 18 01 61 00 09 0a 1c 18 01 61 00 00")

    with pytest.raises(
        Unsupported, match=r"^footer.key_value_metadata: the footer holds key_value_metadata twice"
    ):
        without(footer, {"key_value_metadata": {0: None}})
    assert f"{REQUIRED} 19 0c 00" == without(footer, {"key_value_metadata": None}).hex(" ")


@pytest.mark.parametrize(
    ("rest", "message"),
    [("19 0c 00 00", "1 bytes follow the footer's struct"), ("19 0c 4c 1c 00 00 00", "the footer is signed")],
)
def test_footers_that_must_not_be_changed_are_refused(rest: str, message: str) -> None:
    with pytest.raises(Unsupported, match=message):
        without(bytes.fromhex(f"{REQUIRED} {rest}"), {"created_by": None})


@pytest.mark.parametrize("mistake", ["headers", "places"])
def test_a_mistake_in_splicing_is_noticed_before_anything_is_written(
    mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    footer = footer_of(parquet(table()))
    removal: Removal = {"row_groups": {0: {"columns": {1: {"column_index_offset": None}}}}}
    assert without(footer, removal) != footer
    if mistake == "headers":
        monkeypatch.setattr(
            footer_splice, "build_field_header", lambda _kept, _id, wire: bytes((1 << 4 | wire,))
        )
    else:
        wrong = lambda self: footer[: self.splices[0][0]] + footer[self.splices[0][1] + 1 :]  # noqa: E731 - short
        monkeypatch.setattr(footer_splice._Splicer, "result", wrong)

    with pytest.raises(Malformed):
        without(footer, removal)


PLAIN = parquet(table())


def test_a_nan_in_the_footer_does_not_stop_the_splice(tmp_path: Path) -> None:
    def add_box(metadata: FileMetaData) -> None:
        facts = metadata.row_groups[0].columns[0].meta_data
        assert facts is not None
        box = BoundingBox(xmin=float("nan"), xmax=1.0, ymin=0.0, ymax=1.0)
        facts.geospatial_statistics = GeospatialStatistics(bbox=box)

    path = tmp_path / "f.parquet"
    path.write_bytes(edited(PLAIN, add_box))
    embed_file(path, "nation")

    # A column of text has no box, and no box has a NaN; the splice leaves that as it is.
    assert ["STA-075"] == rules_of(path)
    strip_file(path, Selection(idx1=True, column_index=True), values_are_right=True)
    assert ["STA-075"] == rules_of(path)
