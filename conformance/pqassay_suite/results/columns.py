"""The features of each top-level column of a golden file, for comparing columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked, Options
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.schema.types import annotation_of, converted_of
from pqassay_spec.parquet.thrift import SchemaElement, Type
from pqassay_suite.cases.file_facts import elements_of_columns, tags_of_chunk, tags_of_element, tags_of_file

CONVERTED_NAMES = {"utf8": "string", "int": "integer", "uint": "integer", "map_key_value": "map"}
"""Names of converted types, with the different name of the logical type."""

SPLIT = "encoding.byte-stream-split"
SPLIT_EXTENDED = f"{SPLIT}-extended"
"""The feature of BYTE_STREAM_SPLIT for types other than floats, which the format allows since 2.11."""

FLOATS = {"physical.float", "physical.double"}


@dataclass(frozen=True)
class Column:
    """A top-level column.

    Attributes:
        tags: Its features, those of all its leaves and of its file: ``physical.int32``, ``logical.decimal.int32``, ``page.v2``, ….
        outer: The features of the first element of its schema; for a list of numbers, that it is a list.
    """

    tags: frozenset[str]
    outer: frozenset[str] = frozenset()


def columns_of(data: bytes) -> dict[str, Column]:
    """The top-level columns of a Parquet file by name; empty if it cannot be read."""
    file = FileUnderTest(BytesSource(data), Options("pages"))
    tags: dict[str, set[str]] = {}
    outer: dict[str, set[str]] = {}
    try:
        everywhere = set(tags_of_file(file))
        for name, element in elements_of_columns(file.metadata.schema):
            of_element = {*tags_of_element(element), *_logical(element)}
            outer.setdefault(name, of_element)
            tags.setdefault(name, set(everywhere)).update(of_element)
        for chunk in file.part(ColumnChunks).all:
            tags[chunk.leaf.path[0]].update(tags_of_chunk(chunk))
    except (FormatError, NotApplicable, NotChecked):
        return {}
    for found in tags.values():
        if SPLIT in found and not FLOATS & found:
            found.add(SPLIT_EXTENDED)
    return {name: Column(frozenset(found), frozenset(outer[name])) for name, found in tags.items()}


def _logical(element: SchemaElement) -> Iterator[str]:
    """The logical type of an element, alone and with its physical type."""
    annotation = annotation_of(element) or converted_of(element)
    if annotation is None:
        return
    name = annotation.partition("(")[0].lower()
    name = CONVERTED_NAMES.get(name, name).split("_")[0]
    name = CONVERTED_NAMES.get(name, name)
    yield f"logical.{name}"
    if element.type is not None:
        physical = next((known.name for known in Type if int(known) == element.type), "unknown")
        yield f"logical.{name}.{physical.lower().replace('_', '-')}"
