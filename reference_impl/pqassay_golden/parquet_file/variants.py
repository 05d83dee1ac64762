"""Golden cases of annotated groups: variants, shredded or not, and references to files."""

from __future__ import annotations

from functools import partial
from typing import Any

from pqassay_golden.parquet_file.values import NAME, POINT, A, texts
from pqassay_golden.recipes import bad, good, set_to
from pqassay_golden.tiny.columns import meaning
from pqassay_golden.tiny.parquet import VARIANT, Column, ListOf, Member, Struct, TinyParquet
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.parquet.encoding.levels import packed_run
from pqassay_spec.parquet.encoding.plain import LENGTH

NAMES = bytes.fromhex("11 02 00 01 02 61 62")
"""Metadata with the names a and b, sorted."""

AB = bytes.fromhex("02 02 00 01 00 02 04 0c07 0c08")
"""``{"a": 7, "b": 8}``."""

A7 = bytes.fromhex("02 01 00 00 02 0c07")
"""``{"a": 7}``."""

B8 = bytes.fromhex("02 01 01 00 02 0c08")
"""``{"b": 8}``."""

EIGHT, NULL = bytes.fromhex("0c08"), b"\0"

FIELD = Struct((Member("value", "binary"), Member("typed_value", "int32")))

ELEMENT = Struct((Member("value", "binary"), Member("typed_value", "binary")))

SHREDDED = Struct(
    (
        Member("metadata", "binary", optional=False),
        Member("value", "binary"),
        Member("typed_value", Struct((Member("a", FIELD, optional=False),))),
    ),
    meaning("VARIANT", specification_version=1),
)

TAGS = Struct(
    (
        Member("metadata", "binary", optional=False),
        Member("value", "binary"),
        Member("typed_value", ListOf(ELEMENT, optional=False)),
    ),
    meaning("VARIANT", specification_version=1),
)

FILE = Struct(
    (Member("uri", "string"), Member("offset", "int64"), Member("inline", "binary")), meaning("FILE")
)

_good = partial(good, family="pqf", since="0.7.0")


def _file(*columns: Column) -> TinyParquet:
    return TinyParquet((NAME, *columns), statistics=False)


def _of(*values: bytes) -> list[dict[str, Any]]:
    return [{"metadata": NAMES, "value": value} for value in values]


def _a(value: bytes | None, number: int | None) -> dict[str, Any]:
    return {"a": {"value": value, "typed_value": number}}


GOOD = (
    _good("variants", "Variants beside a group of other members: an object of two fields, an object of one, and a null", _file(Column("facts", VARIANT, _of(AB, B8, NULL), optional=False), Column("place", Struct((Member("x", "int32"),)), [{"x": 1}, None, {"x": 2}])), A, "DuckDB", "Polars", "Spark", "fastparquet"),
    _good("variants-shredded", "Variants whose field a is shredded: in its own type, as a variant, and not at all", _file(Column("facts", SHREDDED, [{"metadata": NAMES, "value": B8, "typed_value": _a(None, 7)}, {"metadata": NAMES, "value": None, "typed_value": _a(NULL, None)}, {"metadata": NAMES, "value": EIGHT, "typed_value": None}], optional=False)), A, "DuckDB", "Polars", "Spark", "fastparquet"),
    _good("variants-of-lists", "Variants whose lists are shredded, as bytes where an element is some", _file(Column("facts", TAGS, [{"metadata": NAMES, "value": None, "typed_value": [{"value": None, "typed_value": POINT}, {"value": EIGHT, "typed_value": None}]}, {"metadata": NAMES, "value": None, "typed_value": []}, {"metadata": NAMES, "value": AB, "typed_value": None}], optional=False)), A, "DuckDB", "Polars", "Spark", "fastparquet"),
    _good("references-to-files", "References to files: a whole one, a part of one, and bytes of their own", _file(Column("picture", FILE, [{"uri": "a.png", "offset": None, "inline": None}, {"uri": "b.png", "offset": 7, "inline": None}, {"uri": None, "offset": None, "inline": b"png"}])), A, "Polars", "Spark", "fastparquet", "pyarrow"),
)  # fmt: skip

REFUSED = "Readers that know the annotation refuse the file."
UNREADABLE = "Readers that know variants refuse the value, or read beside it."
TWICE = "Readers of one of both columns see another value than readers of the other."


def _levels(*levels: int) -> bytes:
    """Definition levels in as few bits as the greatest one needs."""
    run = packed_run([*levels, *[0] * (-len(levels) % 8)], width=max(levels).bit_length())
    return LENGTH.build(len(run)) + run


def _body(column: int, to: bytes) -> Mutation:
    return set_to(f"row_groups[0].columns[{column}].pages[0].body", to)


_bad = partial(bad, family="pqf", tier="values", since="0.7.0")

BAD = (
    _bad("variant-of-other-members", "A group without metadata and value is annotated as VARIANT", REFUSED, "variants", set_to("footer.schema[5].logicalType", {"VARIANT": {"specification_version": 1}}), "PQF-173"),
    _bad("reference-of-other-members", "A group with a member that no reference has is annotated as FILE", REFUSED, "variants", set_to("footer.schema[5].logicalType", {"FILE": {}}), "PQF-174"),
    _bad("reference-at-text", "The offset of a reference is annotated as a time", REFUSED, "references-to-files", set_to("footer.schema[4].logicalType", {"TIME": {"isAdjustedToUTC": False, "unit": {"NANOS": {}}}}), "PQF-174"),
    _bad("variant-shredded-as-geometries", "A variant is shredded as geometries", REFUSED, "variants-of-lists", set_to("footer.schema[9].logicalType", {"GEOMETRY": {}}), "PQF-175"),
    _bad("variant-of-version-2", "The metadata of a variant are of version 2", UNREADABLE, "variants", _body(1, texts(NAMES, b"\x12" + NAMES[1:], NAMES)), "PQF-176"),
    _bad("variant-names-cut-off", "The names of a variant end before their last offset", UNREADABLE, "variants", _body(1, texts(NAMES, NAMES, NAMES[:-1])), "PQF-176"),
    _bad("variant-cut-off", "The last field of a variant is cut off", UNREADABLE, "variants", _body(2, texts(AB[:-1], B8, NULL)), "PQF-177"),
    _bad("variant-with-more-bytes", "A byte follows a variant", UNREADABLE, "variants", _body(2, texts(AB, B8, NULL + NULL)), "PQF-177"),
    _bad("variant-fields-descend", "The fields of a variant are listed in descending order", "Readers that look for a field by halves do not find it.", "variants", _body(2, texts(bytes.fromhex("02 02 01 00 00 02 04 0c07 0c08"), B8, NULL)), "PQF-178"),
    _bad("variant-field-without-name", "A field of a variant has an id beyond the names", UNREADABLE, "variants", _body(2, texts(AB, bytes.fromhex("02 01 02 00 02 0c08"), NULL)), "PQF-178"),
    _bad("variant-names-not-sorted", "The names of a variant are called sorted, and descend", "Readers that look for a name by halves do not find it.", "variants", _body(1, texts(NAMES, NAMES, bytes.fromhex("11 02 00 01 02 62 61"))), "PQF-178"),
    _bad("variant-beside-its-number", "A field has a value beside its typed_value", TWICE, "variants-shredded", _body(3, _levels(2, 2, 0) + texts(EIGHT, NULL)), "PQF-179"),
    _bad("variant-with-a-shredded-field", "A variant has the field a, which is shredded as well", TWICE, "variants-shredded", _body(2, _levels(1, 0, 1) + texts(A7, EIGHT)), "PQF-179"),
    _bad("variant-object-not-shredded", "A variant is an object, and its typed_value is null", "Readers that look for the field in its own column miss it.", "variants-shredded", _body(2, _levels(1, 0, 1) + texts(B8, AB)), "PQF-179"),
    _bad("variant-missing", "A variant has neither a value nor a typed_value", "Readers take it for null.", "variants-shredded", _body(2, _levels(1, 0, 0) + texts(B8)), "PQF-180"),
)  # fmt: skip
