"""Golden cases of copies of the schema in the key-value metadata, and of their column names and ids.

The values of ``ARROW:schema`` were made with pyarrow 26.0.1, ``base64.b64encode(pa.schema(...).serialize())``.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

from pqassay_golden.parquet_file.framing import LEAD, METALS, TWO_COLUMNS, YEARS
from pqassay_golden.parquet_file.values import NAME, POINT, A, texts
from pqassay_golden.recipes import Bad, Good, bad, set_to
from pqassay_golden.tiny.parquet import Column, Layout, ListOf, Member, Struct, TinyParquet, timestamp
from pqassay_spec.parquet.encoding.plain import FIXED_WIDTH
from pqassay_spec.parquet.thrift import BoundingBox, GeospatialStatistics, Type

SINCE = "0.7.0"

ARROW = (
    "/////+gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAACIAAAAPAAAAAQAAACU////AAABChAAAAAgAAAA"
    "BAAAAAAAAAAGAAAAc3RydWNrAAAAAAYACAAGAAYAAAAAAAIAyP///wAAAQIQAAAAIAAAAAQAAAAAAAAABAAAAHllYXIAAAAACAAMAAgABwAIAAAA"
    "AAAAAUAAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQUQAAAAHAAAAAQAAAAAAAAABQAAAG1ldGFsAAAABAAEAAQAAAAAAAAA"
)
"""The fields of `ARROW_FILE` as pyarrow writes them."""

TWO_FIELDS = (
    "/////7AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAIAAABQAAAABAAAAMj///8AAAECEAAAACAAAAAEAAAA"
    "AAAAAAQAAAB5ZWFyAAAAAAgADAAIAAcACAAAAAAAAAFAAAAAEAAUAAgABgAHAAwAAAAQABAAAAAAAAEFEAAAABwAAAAEAAAAAAAAAAUAAABtZXRh"
    "bAAAAAQABAAEAAAAAAAAAA=="
)
"""The fields without the last one."""

OTHER_NAME = (
    "/////+AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAACEAAAAPAAAAAQAAACY////AAABChAAAAAgAAAA"
    "BAAAAAAAAAAGAAAAc3RydWNrAAAAAAYACAAGAAYAAAAAAAIAzP///wAAAQIQAAAAHAAAAAQAAAAAAAAAAwAAAGFnZQAIAAwACAAHAAgAAAAAAAAB"
    "QAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABBRAAAAAcAAAABAAAAAAAAAAFAAAAbWV0YWwAAAAEAAQABAAAAA=="
)
"""The fields with the second one named ``age``."""

OTHER_ORDER = (
    "/////+gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAACIAAAAQAAAAAQAAACU////AAABAhAAAAAgAAAA"
    "BAAAAAAAAAAEAAAAeWVhcgAAAAAIAAwACAAHAAgAAAAAAAABQAAAAMz///8AAAEKEAAAACAAAAAEAAAAAAAAAAYAAABzdHJ1Y2sAAAAABgAIAAYA"
    "BgAAAAAAAgAQABQACAAGAAcADAAAABAAEAAAAAAAAQUQAAAAHAAAAAQAAAAAAAAABQAAAG1ldGFsAAAABAAEAAQAAAAAAAAA"
)
"""The fields with the last two swapped."""

ZONED = (
    "//////AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAACUAAAASAAAAAQAAACI////AAABChAAAAAgAAAA"
    "BAAAAAAAAAAGAAAAc3RydWNrAAAIAAwABgAIAAgAAAAAAAIABAAAAAMAAABVVEMAyP///wAAAQIQAAAAIAAAAAQAAAAAAAAABAAAAHllYXIAAAAA"
    "CAAMAAgABwAIAAAAAAAAAUAAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQUQAAAAHAAAAAQAAAAAAAAABQAAAG1ldGFsAAAABAAEAAQAAAA="
)
"""The fields with a time zone for local times."""

TIME_OF_DAY = ARROW.replace("AQIQ", "AQkQ").replace("AAgABwAIAAAAAAAAAUAA", "AAYACAAIAAAAAAACAEAA")
"""The fields with the years as microseconds of a day."""

FLOATS = (
    "/////9gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAAB4AAAANAAAAAQAAACk////AAABChAAAAAYAAAA"
    "BAAAAAAAAAAGAAAAc3RydWNrAADW////AAACAND///8AAAEDEAAAABwAAAAEAAAAAAAAAAQAAAB5ZWFyAAAGAAgABgAGAAAAAAACABAAFAAIAAYA"
    "BwAMAAAAEAAQAAAAAAABBRAAAAAcAAAABAAAAAAAAAAFAAAAbWV0YWwAAAAEAAQABAAAAAAAAAA="
)
"""The fields with the years as floats."""

RAW_TEXT = ARROW.replace("AQUQ", "AQQQ")
"""The fields with bytes instead of text."""

MILLIS = ARROW.replace("AAIAyP", "AAEAyP")
"""The fields with timestamps in milliseconds."""

ARROW_BARE = (
    "EAAAAAAACgAMAAYABQAIAAoAAAAAAQQADAAAAAgACAAAAAQACAAAAAQAAAADAAAAiAAAADwAAAAEAAAAlP///wAAAQoQAAAAIAAAAAQAAAAAAAAA"
    "BgAAAHN0cnVjawAAAAAGAAgABgAGAAAAAAACAMj///8AAAECEAAAACAAAAAEAAAAAAAAAAQAAAB5ZWFyAAAAAAgADAAIAAcACAAAAAAAAAFAAAAA"
    "EAAUAAgABgAHAAwAAAAQABAAAAAAAAEFEAAAABwAAAAEAAAAAAAAAAUAAABtZXRhbAAAAAQABAAEAAAAAAAAAA=="
)
"""The message of `ARROW` without its framing."""

ARROW_FILE = TinyParquet(
    (
        *TWO_COLUMNS,
        Column(
            "struck", timestamp("micros", utc=False), [1_000_000 * year for year in YEARS], optional=False
        ),
    ),
    keys=(("ARROW:schema", ARROW),),
)


OF_RUST = replace(ARROW_FILE, created_by="parquet-rs version 58.0.0")

FIELD_IDS = TinyParquet(
    (
        Column("metal", "string", METALS, field_id=1),
        Column("year", "int64", YEARS, optional=False, field_id=2),
        Column("size", Struct((Member("height", "int32"), Member("width", "int32"))), [{"height": 1, "width": 2}] * len(METALS), field_id=3),
    )
)  # fmt: skip


def _spark(metal: str = "string", year: str = "long", *, name: str = "year", more: bool = True) -> str:
    """The schema of two columns, as written by Spark."""
    fields: list[dict[str, Any]] = [
        {"name": "metal", "type": metal, "nullable": True, "metadata": {}},
        {"name": name, "type": year, "nullable": True, "metadata": {}},
    ]
    return json.dumps({"type": "struct", "fields": fields if more else fields[:1]}, separators=(",", ":"))


def _pandas(index: Any, *, described: bool = True, metal: str = "object") -> str:
    """The frame of two columns with an index, as written by pyarrow."""
    columns: list[dict[str, Any]] = [
        {"name": "metal", "pandas_type": "unicode", "numpy_type": metal, "metadata": None},
        {"name": "year", "pandas_type": "int64", "numpy_type": "int64", "metadata": None},
    ]
    if isinstance(index, str) and described:
        columns.append({**columns[1], "name": index})
    for column in columns:
        column["field_name"] = column["name"]
    return json.dumps({"index_columns": [index], "column_indexes": [], "columns": columns})


RANGE = {"kind": "range", "name": None, "start": 0, "stop": len(METALS), "step": 1}


def _geo(name: str = "place", **changed: Any) -> str:
    """The description of one column in GeoParquet 1.1."""
    column = {"encoding": "WKB", "geometry_types": ["Point"], "bbox": [1, 2, 1, 2], **changed}
    document = {"version": "1.1.0", "primary_column": name, "columns": {name: column}}
    return json.dumps(document)


GEO_FILE = TinyParquet(
    (Column("metal", "string", METALS), Column("place", "binary", [POINT] * len(METALS), optional=False)),
    keys=(("geo", _geo()),),
)

GEO_BOXES = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column(
            "place",
            "geometry",
            [POINT] * len(METALS),
            layout=Layout(
                geospatial=GeospatialStatistics(
                    bbox=BoundingBox(xmin=1.0, xmax=1.0, ymin=2.0, ymax=2.0), geospatial_types=[1]
                )
            ),
        ),
    ),
    keys=(("geo", _geo()),),
)

COVERED = Struct(tuple(Member(bound, "float", optional=False) for bound in ("xmin", "ymin", "xmax", "ymax")))

GEO_COVERED = TinyParquet(
    (
        Column("metal", "string", METALS),
        Column("place", "binary", [POINT] * len(METALS), optional=False),
        Column(
            "box",
            COVERED,
            [{"xmin": 1.0, "ymin": 2.0, "xmax": 1.0, "ymax": 2.0}] * len(METALS),
            optional=False,
        ),
    ),
    keys=(
        ("geo", _geo(covering={"bbox": {member.name: ["box", member.name] for member in COVERED.members}})),
    ),
    statistics=False,
)

DURATIONS = (
    "/////9gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAAB4AAAANAAAAAQAAACk////AAABChAAAAAYAAAABAAAAA"
    "AAAAAGAAAAc3RydWNrAADW////AAACAND///8AAAESEAAAABwAAAAEAAAAAAAAAAQAAAB5ZWFyAAAGAAgABgAGAAAAAAAAABAAFAAIAAYABwAMAAAAEAAQ"
    "AAAAAAABBRAAAAAcAAAABAAAAAAAAAAFAAAAbWV0YWwAAAAEAAQABAAAAAAAAAA="
)
"""Two fields, of which the second is a duration, stored like a number."""

PAIRS = (
    "/////+AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAIAAACEAAAABAAAAJT///8AAAEQFAAAACAAAAAEAAAAAQAAAB"
    "wAAAAFAAAAbWFya3MABgAIAAQABgAAAAIAAADI////AAABAhAAAAAgAAAABAAAAAAAAAAHAAAAZWxlbWVudAAIAAwACAAHAAgAAAAAAAABIAAAABAAFAAI"
    "AAYABwAMAAAAEAAQAAAAAAABBRAAAAAcAAAABAAAAAAAAAAEAAAAbmFtZQAAAAAEAAQABAAAAA=="
)
"""A text, and lists of two numbers."""

TRIPLES = PAIRS.replace("ABgAIAAQABgAAAAIAAADI", "ABgAIAAQABgAAAAMAAADI")
"""A text, and lists of three numbers."""

ARROW_LISTS = TinyParquet(
    (NAME, Column("marks", ListOf("int32"), [[1, 2], None, [3, 4]])), keys=(("ARROW:schema", PAIRS),)
)

SPARK_KEY = "org.apache.spark.sql.parquet.row.metadata"

GOOD = (
    Good("pqf/arrow-schema", "The schema that Arrow keeps says what the Parquet schema says", ARROW_FILE, LEAD, rules=("PQF-111", "PQF-112", "PQF-113", "PQF-114"), since=SINCE),
    Good("pqf/arrow-schema-of-rust", "The schema that Arrow keeps gives a timestamp the unit of its column", OF_RUST, LEAD, rules=("PQF-142",), since=SINCE),
    Good("pqf/spark-schema", "The schema that Spark keeps says what the Parquet schema says", TinyParquet(TWO_COLUMNS, keys=((SPARK_KEY, _spark()),)), LEAD, rules=("PQF-115", "PQF-116", "PQF-117"), since=SINCE),
    Good("pqf/pandas-frame", "pandas keeps the columns of its frame, and that its index is a range", TinyParquet(TWO_COLUMNS, keys=(("pandas", _pandas(RANGE)),)), LEAD, rules=("PQF-118", "PQF-119", "PQF-144"), since=SINCE),
    Good("pqf/geo-document", "A GeoParquet document describes a column of points", GEO_FILE, LEAD, rules=("PQF-120", "PQF-121"), since=SINCE),
    Good("pqf/geo-document-with-boxes", "A GeoParquet document has the box that the column chunk has", GEO_BOXES, LEAD, rules=("PQF-143",), misread_by=("Polars", "Spark"), since=SINCE),
    Good("pqf/geo-document-with-covering", "A GeoParquet document names the columns with the boxes of its geometries", GEO_COVERED, LEAD, rules=("PQF-184",), misread_by=("fastparquet",), since=SINCE),
    Good("pqf/arrow-schema-of-lists", "The schema that Arrow keeps makes lists pairs, and they are", ARROW_LISTS, A, rules=("PQF-185", "PQF-186"), since=SINCE),
    Good("pqf/field-ids", "Columns, and a group, have the ids of the model that they come from", FIELD_IDS, LEAD, rules=("PQF-122", "PQF-123", "PQF-124"), misread_by=("fastparquet",), since=SINCE),
)  # fmt: skip

VALUE = "footer.key_value_metadata[0].value"
CANNOT_OPEN = "pyarrow, Polars and DataFusion cannot open the file."
DATAFUSION = "DataFusion cannot open the file."

_bad = partial(bad, family="pqf", tier="footer", since=SINCE)


def _copy(name: str, title: str, effect: str, parent: str, to: str, rule: str) -> Bad:
    """A case about the value of the first key."""
    return _bad(name, title, effect, parent, set_to(VALUE, to), rule)


BAD = (
    _copy("arrow-schema-no-base64", "ARROW:schema is not base64", CANNOT_OPEN, "arrow-schema", "{}", "PQF-111"),
    _copy("arrow-schema-empty", "ARROW:schema is empty", CANNOT_OPEN, "arrow-schema", "", "PQF-111"),
    _copy("arrow-schema-cut-off", "ARROW:schema ends in the middle of its message", CANNOT_OPEN, "arrow-schema", ARROW[:200], "PQF-111"),
    _copy("arrow-schema-without-head", "ARROW:schema is a message without its length", "pyarrow cannot open the file.", "arrow-schema", ARROW_BARE, "PQF-111"),
    _copy("arrow-schema-field-missing", "ARROW:schema has a field less than the file", DATAFUSION, "arrow-schema", TWO_FIELDS, "PQF-112"),
    _copy("arrow-schema-other-name", "ARROW:schema calls a column by another name", DATAFUSION, "arrow-schema", OTHER_NAME, "PQF-112"),
    _copy("arrow-schema-other-order", "ARROW:schema lists the columns in another order", DATAFUSION, "arrow-schema", OTHER_ORDER, "PQF-112"),
    _copy("arrow-schema-zone", "ARROW:schema gives local times a zone", "DataFusion takes local times for moments.", "arrow-schema", ZONED, "PQF-113"),
    _copy("arrow-schema-time", "ARROW:schema calls numbers a time of day", "DataFusion returns times for numbers.", "arrow-schema", TIME_OF_DAY, "PQF-113"),
    _copy("arrow-schema-bytes", "ARROW:schema calls text bytes", "Polars returns bytes for text.", "arrow-schema", RAW_TEXT, "PQF-113"),
    _copy("arrow-schema-floats", "ARROW:schema calls integers floats", "none: readers take the type of the column", "arrow-schema", FLOATS, "PQF-114"),
    _copy("arrow-schema-millis", "ARROW:schema gives a timestamp of microseconds milliseconds", "Readers take the unit of the column: if that is the false one, moments of 2024 are some of 1970.", "arrow-schema-of-rust", MILLIS, "PQF-142"),
    _bad("arrow-schema-of-triples", "The schema that Arrow keeps makes lists triples, and they are pairs", "pyarrow and DataFusion refuse the column, Polars ends in a panic.", "arrow-schema-of-lists", set_to(VALUE, TRIPLES), "PQF-185", tier="values"),
    _bad("arrow-schema-twice", "The schema that Arrow keeps is there twice, once with numbers and once with durations", "Polars and DataFusion take the last one, others the first.", "arrow-schema", set_to("footer.key_value_metadata", [{"key": "ARROW:schema", "value": ARROW}, {"key": "ARROW:schema", "value": DURATIONS}]), "PQF-186"),
    _copy("spark-schema-no-json", "The schema that Spark keeps is not JSON", "Spark loses the types that only the copy has.", "spark-schema", "StructType(List())", "PQF-115"),
    _copy("spark-schema-column-missing", "The schema that Spark keeps leaves out a column", "Spark does not see the column.", "spark-schema", _spark(more=False), "PQF-116"),
    _bad("spark-schema-other-name", "The schema that Spark keeps calls a column by another name", "Spark returns nulls for it.", "spark-schema", set_to(VALUE, _spark(name="age")), "PQF-116"),
    _copy("spark-schema-binary", "The schema that Spark keeps calls text binary", "Spark returns bytes for text.", "spark-schema", _spark(metal="binary"), "PQF-117"),
    _copy("spark-schema-timestamp", "The schema that Spark keeps calls numbers timestamps", "Spark cannot read the column.", "spark-schema", _spark(year="timestamp"), "PQF-117"),
    _copy("pandas-frame-no-json", "The frame that pandas keeps is not JSON", "pandas cannot read the file.", "pandas-frame", "{", "PQF-118"),
    _copy("pandas-frame-index-unknown", "The frame that pandas keeps has an index that it does not describe", "pandas cannot read the file.", "pandas-frame", _pandas("age", described=False), "PQF-118"),
    _copy("pandas-frame-index-missing", "The frame that pandas keeps has an index that is not in the file", "fastparquet cannot read the file.", "pandas-frame", _pandas("age"), "PQF-119"),
    _copy("pandas-frame-other-type", "The frame that pandas keeps calls text numbers or null", "pandas cannot read the file.", "pandas-frame", _pandas(RANGE, metal="Int64"), "PQF-144"),
    _copy("geo-document-no-json", "The GeoParquet document is not JSON", "Geometries are bytes to DuckDB.", "geo-document", "WKB", "PQF-120"),
    _copy("geo-document-encoding", "The GeoParquet document names an encoding that does not exist", "DuckDB cannot open the file.", "geo-document", _geo(encoding="WKT"), "PQF-120"),
    _copy("geo-document-column-missing", "The GeoParquet document describes a column that is not in the file", "Geometries are bytes to DuckDB.", "geo-document", _geo("site"), "PQF-121"),
    _copy("geo-document-other-box", "The GeoParquet document has a box beside the geometries", "A reader that chooses files by it misses the geometries.", "geo-document-with-boxes", _geo(bbox=[1, 3, 1, 4]), "PQF-143"),
    _bad("geo-document-covering-missing", "The GeoParquet document names columns with boxes that are not in the file", "none: readers read all rows", "geo-document-with-covering", set_to(VALUE, _geo(covering={"bbox": {name: ["bbox", name] for name in ("xmin", "ymin", "xmax", "ymax")}})), "PQF-121"),
    _bad("geo-document-beside-the-places", "The GeoParquet document has a box beside the geometries", "A reader that chooses files by it misses the geometries.", "geo-document", set_to(VALUE, _geo(bbox=[1, 3, 1, 4])), "PQF-182", tier="values"),
    _bad("geo-document-of-polygons", "The GeoParquet document says that a column has polygons, and it has points", "Readers fail at the points.", "geo-document", set_to(VALUE, _geo(geometry_types=["Polygon"])), "PQF-183", tier="values"),
    _bad("geo-document-of-text", "A column that the GeoParquet document describes has text, not well-known binary", "Readers fail at the text.", "geo-document-with-covering", set_to("row_groups[0].columns[1].pages[0].body", texts(*[b"POINT (1 2)"] * len(METALS))), "PQF-183", tier="values"),
    _bad("geo-document-covering-beside", "The box of a row ends before its geometry", "A reader that chooses rows by their boxes misses the geometry.", "geo-document-with-covering", set_to("row_groups[0].columns[5].pages[0].body", FIXED_WIDTH[Type.FLOAT].build(1.5) + FIXED_WIDTH[Type.FLOAT].build(2.0) * (len(METALS) - 1)), "PQF-184", tier="values"),
    _bad("root-not-utf8", "The root of the schema is called by a byte that is not UTF-8", "Polars and DataFusion cannot open the file.", "plain", set_to("footer.schema[0].name", b"\xff"), "PQF-122"),
    _bad("field-id-twice", "Two columns have the same id", "Readers that go by ids take one for the other.", "field-ids", set_to("footer.schema[2].field_id", 1), "PQF-123"),
    _bad("names-that-differ-by-case", "Two columns have names that differ in case alone", "Spark refuses the file; DuckDB gives one another name.", "no-rows", set_to("footer.schema[2].name", "Metal"), "PQF-187"),
    _bad("group-called-like-a-column", "A group has the name of a column beside it", "pyarrow, Polars and DataFusion cannot read the file.", "field-ids", set_to("footer.schema[3].name", "metal"), "PQF-012", "PQF-124"),
)  # fmt: skip
