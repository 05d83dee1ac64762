"""Lint of names in the schema, and of its copies in the footer's key-value metadata: those of Arrow, Spark, pandas and GeoParquet.

Columns at the top of the schema are compared with their copies; what is within lists, maps and groups is not followed.

Source: chapter ``parquet_file.md``, section *Copies of the schema*.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from pqassay_reference.lint.parquet_file_footer import wrong
from pqassay_spec.grammar.thrift import is_text
from pqassay_spec.parquet.schema.tree import SchemaNode, schema_tree
from pqassay_spec.parquet.schema_copies.arrow import ARROW_KEY, read_arrow_schema
from pqassay_spec.parquet.schema_copies.arrow_types import Fit, fit
from pqassay_spec.parquet.schema_copies.spark_types import SPARK_KEY, is_stored_as
from pqassay_spec.parquet.thrift import FileMetaData

FIELD = "footer.key_value_metadata"

GREATEST_COPY = 1000
"""Fields of a copy for each column of the file, at most: so that a small value describes no more than can be looked at."""

GEO_ENCODINGS = ("WKB", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon")


def lint_schema_copies(metadata: FileMetaData) -> None:
    """Raise what is wrong with the names of a schema, or with a copy of it.

    Raises:
        FormatError: With the rule that is broken.
    """
    for place, element in enumerate(metadata.schema):
        if not is_text(element.name):
            raise wrong("PQF-122", "a name is not UTF-8", f"footer.schema[{place}].name")
    root = schema_tree(metadata.schema)
    for pair in metadata.key_value_metadata or ():
        lint = _LINTS.get(pair.key)
        if lint is not None and pair.value is not None:
            lint(pair.value, root)


def _lint_arrow(value: str, root: SchemaNode) -> None:
    schema = read_arrow_schema(value, most=GREATEST_COPY * len(root.children))
    if [field.name for field in schema.fields] != [node.name for node in root.children]:
        raise wrong("PQF-112", "ARROW:schema has other fields", FIELD)
    for field, node in zip(schema.fields, root.children, strict=True):
        if _is_plain(node) and fit(field.type, node.element) is Fit.FOLLOWED:
            raise wrong("PQF-113", f"ARROW:schema says {field.type} of column {node.name}", FIELD)


def _lint_spark(value: str, root: SchemaNode) -> None:
    try:
        types = {field["name"].lower(): field["type"] for field in json.loads(value)["fields"]}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return  # Spark then goes by the schema itself
    if types.keys() != {node.name.lower() for node in root.children}:
        raise wrong("PQF-116", "the schema of Spark has other columns", FIELD)
    for node in root.children:
        name = types[node.name.lower()]
        if _is_plain(node) and isinstance(name, str) and not is_stored_as(name, node.element):
            raise wrong("PQF-117", f"the schema of Spark says {name} of column {node.name}", FIELD)


def _lint_pandas(value: str, _: SchemaNode) -> None:
    frame = _object(value, "PQF-118")
    columns, indexes = frame.get("columns"), frame.get("index_columns")
    if not isinstance(columns, list) or not isinstance(indexes, list):
        raise wrong("PQF-118", "the frame of pandas has no columns, or no index_columns", FIELD)
    described = cast("list[dict[str, Any]]", columns)
    if not all({"name", "pandas_type", "numpy_type"} <= column.keys() for column in described):
        raise wrong("PQF-118", "a column of the frame has no name or type", FIELD)
    names = {column[name] for column in described for name in ("name", "field_name") if name in column}
    if any(isinstance(index, str) and index not in names for index in indexes):
        raise wrong("PQF-118", "an index of the frame is not among its columns", FIELD)


def _lint_geo(value: str, _: SchemaNode) -> None:
    document = _object(value, "PQF-120")
    columns = document.get("columns")
    if not isinstance(document.get("version"), str) or not isinstance(columns, dict):
        raise wrong("PQF-120", "the GeoParquet document has no version, or no columns", FIELD)
    for name, column in cast("dict[str, dict[str, Any]]", columns).items():
        if column.get("encoding") not in GEO_ENCODINGS or "geometry_types" not in column:
            raise wrong("PQF-120", f"column {name} has no encoding, or no geometry_types", FIELD)


def _object(value: str, rule: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise wrong(rule, f"no JSON: {error}", FIELD) from None
    if not isinstance(found, dict):
        raise wrong(rule, "its JSON is not an object", FIELD)
    return cast("dict[str, Any]", found)


def _is_plain(node: SchemaNode) -> bool:
    return node.is_leaf and not node.is_repeated


_LINTS: dict[str, Callable[[str, SchemaNode], None]] = {
    ARROW_KEY: _lint_arrow,
    SPARK_KEY: _lint_spark,
    "pandas": _lint_pandas,
    "geo": _lint_geo,
}
