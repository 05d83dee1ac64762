"""The members of lists and maps."""

from __future__ import annotations

import pytest

from pqassay_spec.parquet.schema.lists_and_maps import misfits
from pqassay_spec.parquet.thrift import ConvertedType, FieldRepetitionType, SchemaElement, Type

ROOT = SchemaElement(name="schema", num_children=1)
OPTIONAL, REQUIRED, REPEATED = (
    FieldRepetitionType.OPTIONAL,
    FieldRepetitionType.REQUIRED,
    FieldRepetitionType.REPEATED,
)


def _group(kind: ConvertedType | None, repetition: FieldRepetitionType, members: int) -> SchemaElement:
    return SchemaElement(name="g", converted_type=kind, repetition_type=repetition, num_children=members)


def _leaf(repetition: FieldRepetitionType) -> SchemaElement:
    return SchemaElement(name="x", type=Type.INT32, repetition_type=repetition)


ENTRY = _group(ConvertedType.MAP_KEY_VALUE, REPEATED, 2)


@pytest.mark.parametrize(
    "below",
    [
        [_group(ConvertedType.MAP, OPTIONAL, 1), ENTRY, _leaf(REQUIRED), _leaf(OPTIONAL)],
        [_group(ConvertedType.MAP_KEY_VALUE, OPTIONAL, 1), _group(None, REPEATED, 1), _leaf(REQUIRED)],
        [_group(ConvertedType.LIST, OPTIONAL, 1), _leaf(REPEATED)],
        [_group(ConvertedType.LIST, OPTIONAL, 1), _group(ConvertedType.LIST, REPEATED, 1), _leaf(REPEATED)],
        [
            _group(ConvertedType.LIST, OPTIONAL, 1),
            _group(None, REPEATED, 2),
            _leaf(REQUIRED),
            _leaf(OPTIONAL),
        ],
    ],
)
def test_old_and_new_forms_are_known(below: list[SchemaElement]) -> None:
    assert [] == list(misfits([ROOT, *below]))


@pytest.mark.parametrize(
    ("below", "actual"),
    [
        ([_group(ConvertedType.LIST, OPTIONAL, 1), _leaf(OPTIONAL)], "one that is not repeated"),
        ([_group(ConvertedType.LIST, OPTIONAL, 2), _leaf(REPEATED), _leaf(REPEATED)], "2 members"),
        ([_group(ConvertedType.MAP, OPTIONAL, 1), ENTRY, _leaf(OPTIONAL), _leaf(OPTIONAL)], "a key that is not required"),
        ([_group(ConvertedType.MAP, OPTIONAL, 1), _leaf(REPEATED)], "entries of 0 members"),
    ],
)  # fmt: skip
def test_others_are_no_lists_and_maps(below: list[SchemaElement], actual: str) -> None:
    assert [(1, actual)] == [(found.place, found.actual) for found in misfits([ROOT, *below])]
