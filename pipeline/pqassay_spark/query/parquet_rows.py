"""Parquet files as Spark's rows: the schema that Spark finds in a file, and its rows as Arrow batches of that schema.

For Python's data source, which reads with pyarrow what Spark's own reader would read with parquet-mr: the rows have to
be the same.  Where both may differ, the file is refused, and Spark's own reader is the one to use.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt
from pyspark.sql import types as st
from pyspark.sql.pandas.types import to_arrow_schema

from pqassay_reader.lake.indexed_dataset import RowGroups
from pqassay_reference.columns.column_values import is_text
from pqassay_reference.errors import Refused, Undecodable

SCHEMA_KEY = b"org.apache.spark.sql.parquet.row.metadata"
"""Key under which Spark notes the schema of what it wrote."""

LEGACY_KEYS = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
"""Marks of files whose old dates follow the Julian calendar; Spark converts them, pyarrow does not."""

ROWS = 65_536
"""Rows of a batch."""

SUPPORTED = (
    st.BooleanType, st.ByteType, st.ShortType, st.IntegerType, st.LongType, st.FloatType, st.DoubleType, st.DecimalType,
    st.StringType, st.BinaryType, st.DateType, st.TimestampType, st.TimestampNTZType, st.NullType,
)  # fmt: skip
"""Types of single values that mean the same to Spark's reader, to pyarrow and in between."""

ADVICE = "; read it with Spark's own reader: pqassay_spark.read, or spark.read.parquet"


def require_supported(schema: st.StructType, *, advice: str = ADVICE) -> None:
    """Refuse types that do not go through Arrow unchanged.

    Raises:
        Refused: A column has such a type; the message names it.
    """
    for field in schema.fields:
        _require_supported(field.name, field.dataType, advice)


def _require_supported(name: str, kind: st.DataType, advice: str) -> None:
    match kind:
        case st.StructType():
            repeated = [child for child, times in Counter(kind.names).items() if times > 1]
            if repeated:
                raise Refused(f"column {name} has two fields {repeated[0]}{advice}")
            for field in kind.fields:
                _require_supported(f"{name}.{field.name}", field.dataType, advice)
        case st.ArrayType():
            _require_supported(f"{name}.element", kind.elementType, advice)
        case st.MapType():
            _require_supported(f"{name}.key", kind.keyType, advice)
            _require_supported(f"{name}.value", kind.valueType, advice)
        case _ if type(kind) not in SUPPORTED:
            raise Refused(
                f"column {name} has the type {kind.simpleString()}, which this source does not have{advice}"
            )
        case _:
            pass


def arrow_schema(schema: st.StructType) -> pa.Schema:
    """The Arrow schema in which Spark takes and gives rows of a schema."""
    return to_arrow_schema(schema, timezone="UTC")


def spark_schema(file: pq.ParquetFile, name: str) -> st.StructType:
    """The schema that Spark's own reader finds in a file; every column may be null.

    Raises:
        Refused: The file has a type that this source does not have.
    """
    metadata = file.metadata.metadata or {}
    _require_modern(file, metadata, name)
    written = metadata.get(SCHEMA_KEY)
    if written is not None:
        schema = st.StructType.fromJson(json.loads(written))
    else:
        schema = st.StructType(
            [st.StructField(field.name, spark_type(field.name, field.type)) for field in file.schema_arrow]
        )
    repeated = [column for column, times in Counter(schema.names).items() if times > 1]
    if repeated:
        raise Refused(f"{name} has two columns {repeated[0]}{ADVICE}")
    schema = cast("st.StructType", _nullable(schema))
    require_supported(schema)
    return schema


def _require_modern(file: pq.ParquetFile, metadata: Mapping[bytes, bytes], name: str) -> None:
    if any(key in metadata for key in LEGACY_KEYS):
        raise Refused(f"{name} has dates in the calendar of Spark 2{ADVICE}")
    for number in range(len(file.schema)):
        column = file.schema.column(number)
        kind = str(column.logical_type)
        if "Timestamp" in kind and "nanoseconds" in kind:
            raise Refused(f"{name}: column {column.path} counts nanoseconds, which Spark does not read")


def _nullable(kind: st.DataType) -> st.DataType:
    match kind:
        case st.StructType():
            fields = [
                st.StructField(field.name, _nullable(field.dataType), nullable=True, metadata=field.metadata)
                for field in kind.fields
            ]
            return st.StructType(fields)
        case st.ArrayType():
            return st.ArrayType(_nullable(kind.elementType), containsNull=True)
        case st.MapType():
            return st.MapType(_nullable(kind.keyType), _nullable(kind.valueType), valueContainsNull=True)
        case _:
            return kind


def _is_bytes(kind: pa.DataType) -> bool:
    plain = pt.is_binary(kind) or pt.is_large_binary(kind)
    return plain or pt.is_binary_view(kind) or pt.is_fixed_size_binary(kind)


def _is_any(*tests: Any) -> Any:
    def test(kind: pa.DataType) -> bool:
        return any(test(kind) for test in tests)

    return test


_SIMPLE: list[tuple[Any, st.DataType]] = [
    (pt.is_boolean, st.BooleanType()),
    (pt.is_int8, st.ByteType()),
    (_is_any(pt.is_int16, pt.is_uint8), st.ShortType()),
    (_is_any(pt.is_int32, pt.is_uint16), st.IntegerType()),
    (_is_any(pt.is_int64, pt.is_uint32, pt.is_duration), st.LongType()),
    (pt.is_uint64, st.DecimalType(20, 0)),
    (pt.is_float32, st.FloatType()),
    (pt.is_float64, st.DoubleType()),
    (is_text, st.StringType()),
    (_is_bytes, st.BinaryType()),
    (pt.is_date, st.DateType()),
]


def spark_type(name: str, kind: Any) -> st.DataType:
    """The type that Spark's own reader finds where pyarrow finds ``kind``."""
    if isinstance(kind, pa.BaseExtensionType):
        return spark_type(name, kind.storage_type)
    if pt.is_dictionary(kind):
        return spark_type(name, kind.value_type)
    for is_kind, found in _SIMPLE:
        if is_kind(kind):
            return found
    if pt.is_decimal(kind) and kind.precision <= 38:
        return st.DecimalType(kind.precision, kind.scale)
    if pt.is_timestamp(kind):
        # Without a zone and in nanoseconds: INT96, which Spark takes for instants.
        return st.TimestampType() if kind.tz is not None or kind.unit == "ns" else st.TimestampNTZType()
    if pt.is_struct(kind):
        return st.StructType(
            [st.StructField(child.name, spark_type(f"{name}.{child.name}", child.type)) for child in kind]
        )
    if pt.is_map(kind):
        return st.MapType(
            spark_type(f"{name}.key", kind.key_type), spark_type(f"{name}.value", kind.item_type)
        )
    if pt.is_list(kind) or pt.is_large_list(kind) or pt.is_fixed_size_list(kind) or pt.is_list_view(kind):
        return st.ArrayType(spark_type(f"{name}.element", kind.value_type))
    raise Refused(f"column {name} has the type {kind}, which this source does not have{ADVICE}")


def read_rows(
    handle: pa.NativeFile,
    name: str,
    schema: pa.Schema,
    constants: Mapping[str, Any],
    *,
    case_sensitive: bool,
    left: RowGroups | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read a file as batches of a schema; a column that it lacks is null.

    Args:
        handle: The file.
        name: What messages call it.
        schema: Of the batches.
        constants: Columns whose value the file's place gives, by the names of the schema.
        case_sensitive: Whether a column of the file has to be spelt as in the schema.
        left: The row groups that are read; all of them by default, and where the file has another number of them.

    Raises:
        Refused: A column has a type that does not go with that of the schema.
        Undecodable: The file cannot be read.
    """
    try:
        with pq.ParquetFile(handle, coerce_int96_timestamp_unit="us") as file:
            _require_modern(file, file.metadata.metadata or {}, name)
            places = _places(file.schema_arrow.names, schema, name, case_sensitive=case_sensitive)
            is_same = left is not None and left.total == file.metadata.num_row_groups
            groups = left.kept if left is not None and is_same else list(range(file.metadata.num_row_groups))
            if not places:
                count = sum(file.metadata.row_group(number).num_rows for number in groups)
                for start in range(0, count, ROWS):
                    yield _batch(min(ROWS, count - start), schema, constants, {})
                return
            for batch in file.iter_batches(batch_size=ROWS, row_groups=groups):
                stored = {
                    field.name: _converted(batch.column(places[field.name]), field, name)
                    for field in schema
                    if field.name in places and field.name not in constants
                }
                yield _batch(len(batch), schema, constants, stored)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Undecodable(f"{name} cannot be read: {' '.join(str(error).split())}") from error


def _places(names: list[str], schema: pa.Schema, file: str, *, case_sensitive: bool) -> dict[str, int]:
    """Positions of the columns of a schema in a file; those that it lacks are left out."""
    places: dict[str, int] = {}
    for wanted in schema.names:
        same = [
            place
            for place, name in enumerate(names)
            if name == wanted or (not case_sensitive and name.lower() == wanted.lower())
        ]
        if len(same) > 1:
            found = " and ".join(names[place] for place in same)
            raise Refused(f"{file} has the columns {found}; say which with the option caseSensitive=true")
        if same:
            places[wanted] = same[0]
    return places


def _batch(
    rows: int, schema: pa.Schema, constants: Mapping[str, Any], stored: Mapping[str, pa.Array[Any]]
) -> pa.RecordBatch:
    columns = [
        _repeated(constants[field.name], rows, field.type)
        if field.name in constants
        else stored.get(field.name, pa.nulls(rows, field.type))
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _repeated(value: Any, rows: int, kind: Any) -> Any:
    return pa.nulls(rows, kind) if not value.is_valid else pa.repeat(value, rows).cast(kind)


def _converted(array: pa.Array[Any], field: pa.Field[Any], file: str) -> pa.Array[Any]:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if array.type.equals(field.type):
        return array
    if not _fits(array.type, field.type):
        raise Refused(
            f"{file}: column {field.name} is {array.type}, which is not read as {field.type}{ADVICE}"
        )
    return array.cast(field.type)


def _fits(kind: Any, wanted: Any) -> bool:
    """True if values of a type are those of another, only held in another way, or in a wider one."""
    if isinstance(kind, pa.BaseExtensionType):
        return _fits(kind.storage_type, wanted)
    if pt.is_dictionary(kind):
        return _fits(kind.value_type, wanted)
    if pt.is_nested(wanted):
        return _fits_nested(kind, wanted)
    if pt.is_timestamp(wanted):
        return pt.is_timestamp(kind) and _is_same_clock(kind, wanted)
    if pt.is_integer(wanted):
        narrower = pt.is_integer(kind) and kind.bit_width + pt.is_unsigned_integer(kind) <= wanted.bit_width
        return narrower or (pt.is_duration(kind) and pt.is_int64(wanted))
    if pt.is_decimal(wanted):
        is_wide_enough = wanted.scale == 0 and wanted.precision >= len(str(2**64))
        same = pt.is_decimal(kind) and kind.scale == wanted.scale and kind.precision <= wanted.precision
        return same or (pt.is_uint64(kind) and is_wide_enough)
    alike = (is_text, _is_bytes, pt.is_date)
    widened = pt.is_float32(kind) and pt.is_float64(wanted)
    return kind.equals(wanted) or widened or any(is_kind(kind) and is_kind(wanted) for is_kind in alike)


def _fits_nested(kind: Any, wanted: Any) -> bool:
    if pt.is_struct(wanted):
        same = pt.is_struct(kind) and [child.name for child in kind] == [child.name for child in wanted]
        return same and all(_fits(mine.type, other.type) for mine, other in zip(kind, wanted, strict=True))
    if pt.is_map(wanted):
        is_map = pt.is_map(kind)
        return is_map and _fits(kind.key_type, wanted.key_type) and _fits(kind.item_type, wanted.item_type)
    is_list = pt.is_list(kind) or pt.is_large_list(kind) or pt.is_fixed_size_list(kind)
    return is_list and pt.is_list(wanted) and _fits(kind.value_type, wanted.value_type)


def _is_same_clock(kind: Any, wanted: Any) -> bool:
    """Both are instants, or both are what a clock shows; INT96, of which pyarrow does not tell, is an instant."""
    if kind.unit == "ns":
        return False
    return (kind.tz is None) == (wanted.tz is None) or (kind.tz is None and wanted.tz is not None)
