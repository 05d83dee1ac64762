"""Values at the edges of their types, written with options of which every two meet: nothing is wrong, and each remark is known.

An index that is embedded afterwards changes no verdict, and holds the values.
"""

from __future__ import annotations

import functools
import io
import itertools
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import datafusion
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import EXAMPLES, tries
from edge_tables import (
    ARROW,
    BASIC,
    COMMON,
    MAPS,
    PAGE,
    ROW_GROUP,
    TIMED,
    TIMES_OF_DAY,
    UNSIGNED,
    Kind,
    table,
)
from pairwise import pairwise
from places import GUIDES
from pqassay_reference.directory.embedding import add_indexes
from pqassay_reference.directory.making.entry import Request
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.extract import extract_file
from pqassay_spark.jobs.session import session_settings
from pqassay_spec.directory.codes import IndexType
from written_files import write_datafusion, write_fastparquet
from written_files import write_spark as write_one_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 100
"""Two row groups, of three pages and of two."""

COUNTS = (ROWS, 0, 1)


class Told(NamedTuple):
    """In how many files of a writer a rule is broken, and of how many columns; in those of the few choices, likewise."""

    files: int
    columns: int
    of_few: tuple[int, int] = (0, 0)

    @property
    def expected(self) -> tuple[int, int]:
        """Those of the files that this run writes."""
        return (self.files, self.columns) if EXAMPLES == 1 else self.of_few


class Writer(NamedTuple):
    """Software, how it writes, the columns that it knows, its options, and what is found in its files.

    Attributes:
        remarks: Rules of verdict INFO, WARN or POLICY, which are habits of the writer.
        defects: Rules of verdict FAIL, each explained in the guide ``findings-writers.md``.
        refused: How many choices of options the writer refuses, by part of the error; none of the few.
    """

    write: Callable[..., None]
    kinds: Mapping[str, Kind]
    options: Mapping[str, Sequence[Any]]
    remarks: Mapping[str, Told]
    defects: Mapping[str, Told] = {}
    refused: Mapping[str, int] = {}


def write_pyarrow(
    path: Path, data: pa.Table, *, encoding: str, sorted_by: str | None, **options: Any
) -> None:
    """``encoding`` says how the values are stored, ``sorted_by`` which column the footer says that the rows are sorted by."""
    options |= {"use_dictionary": encoding == "dictionary"}
    if encoding == "delta":
        options["column_encoding"] = {
            "small": "DELTA_BINARY_PACKED",
            "wide": "DELTA_BINARY_PACKED",
            "text": "DELTA_BYTE_ARRAY",
            "bytes": "DELTA_LENGTH_BYTE_ARRAY",
            "fixed_5": "DELTA_BYTE_ARRAY",
            "flag": "RLE",
        }
    if encoding == "split streams":
        options["use_byte_stream_split"] = [
            "single",
            "maybe_double",
            "wide",
            "small",
            "fixed_5",
            "half",
            "price_38",
        ]
    if sorted_by is not None:
        place = data.column_names.index(sorted_by)
        options["sorting_columns"] = [pq.SortingColumn(place, descending=sorted_by == "down")]
    if options["version"] != "2.6":
        options |= {"coerce_timestamps": "ms", "allow_truncated_timestamps": True}
    pq.write_table(data, path, **options)


BLOOM_FILTERS = {
    name: {"ndv": 100, "fpp": 0.01}
    for name in (
        "text",
        "wide",
        "bytes",
        "double",
        "single",
        "fixed_5",
        "price_38",
        "at_us",
        "few",
        "nothing",
        "places.list.element.city",
        "half",
        "unsigned_64",
    )
}

PYARROW = Writer(
    write_pyarrow,
    {**BASIC, **TIMED, **COMMON, **ARROW},
    {
        "rows": COUNTS,
        "compression": ("snappy", "none", "gzip", "zstd", "lz4", "brotli"),
        "encoding": ("dictionary", "plain", "delta", "split streams"),
        "data_page_version": ("1.0", "2.0"),
        "write_page_index": (False, True),
        "write_statistics": (True, False, ["wide", "text", "numbers.list.element"]),
        "max_rows_per_page": (PAGE, 1_000),
        "row_group_size": (ROW_GROUP, None, 25),
        "write_page_checksum": (False, True),
        "bloom_filter_options": (None, BLOOM_FILTERS),
        "version": ("2.6", "2.4", "1.0"),
        "dictionary_pagesize_limit": (None, 64),
        "use_deprecated_int96_timestamps": (False, True),
        "store_decimal_as_integer": (False, True),
        "use_compliant_nested_type": (True, False),
        "sorted_by": (None, "up", "down"),
        "data_page_size": (None, 50),
        "use_content_defined_chunking": (False, True),
    },
    remarks={
        "BLM-011": Told(3, 1, (1, 1)),  # asked for, of moments in INT96
        "PQF-100": Told(21, 1, (5, 1)),  # the greatest and the least number, as moments
        "STA-047": Told(1, 1),  # of text in DELTA_BYTE_ARRAY only the ends are counted
    },
)


DATABASE = {**BASIC, **COMMON, **TIMED, **TIMES_OF_DAY, **MAPS, **UNSIGNED}

MORE_TYPES = """
    md5(coalesce("text", 'none'))::uuid AS id,
    CASE WHEN "up" % 3 > 0 THEN to_days(abs("small" % 1000)::integer) + to_months("up"::integer) END AS took,
    CASE WHEN "up" % 7 > 0 THEN "wide"::hugeint * 3 END AS huge,
    "few"::ENUM ('Peru', 'Perú', '') AS category,
    "at_us"::timestamp_s AS at_s,
    "time_us"::timetz AS time_utc,
    CASE WHEN "up" % 2 = 0 THEN '{"a": [1, null]}'::json END AS json,
    "small"::bit AS bits,
    {'a': "short", 'b': "few"}::variant AS variant,
"""


def polars_options(path: Path, data: pa.Table, **options: Any) -> None:
    frame = pl.from_arrow(data)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path, **options)


def write_duckdb(path: Path, data: pa.Table, **options: Any) -> None:
    """With columns of types that only DuckDB has."""
    told = "".join(f", {name} {value}" for name, value in options.items() if value is not None)
    with duckdb.connect() as connection:
        connection.register("data", data)
        connection.execute(f"COPY (SELECT {MORE_TYPES} * FROM data) TO '{path}' (FORMAT parquet{told})")


DUCKDB = Writer(
    write_duckdb,
    DATABASE,
    {
        "rows": (ROWS, 0, 1, 2_500),
        "compression": ("snappy", "uncompressed", "gzip", "zstd", "lz4_raw", "brotli"),
        "parquet_version": (None, "V2"),
        "row_group_size": (None, 2_048),
        "dictionary_size_limit": (None, 1, 3_000),
        "string_dictionary_page_size_limit": (None, 100),
        "write_bloom_filter": (None, "false"),
        "bloom_filter_false_positive_ratio": (None, 0.3),
    },
    remarks={
        "STA-009": Told(12, 1, (4, 1)),  # both bounds of zeros have the sign of the first
        "STA-012": Told(7, 1, (1, 1)),  # of enumerations: the values of the type are counted
        "STA-014": Told(19, 12, (5, 12)),  # the deprecated bounds are written beside the others
        "STA-045": Told(10, 1, (3, 1)),  # of integers of 128 bits, which become doubles
    },
    defects={"PQF-079": Told(1, 3)},
)

POLARS = Writer(
    polars_options,
    {
        **DATABASE,
        "half": ARROW["half"],
        "fixed_5": ARROW["fixed_5"],
        "category": ARROW["category"],
        "took": ARROW["took"],
        "pair": ARROW["pair"],
        "void": ARROW["void"],
    },
    {
        "rows": COUNTS,
        "compression": ("zstd", "uncompressed", "snappy", "gzip", "lz4", "brotli"),
        "statistics": (True, False, "full"),
        "data_page_size": (None, 64),
        "row_group_size": (ROW_GROUP, None, 25),
    },
    remarks={
        "PIX-044": Told(11, 1, (6, 1)),  # statistics in page headers beside the page index
        "PQF-028": Told(20, 1, (8, 1)),  # moments in UTC have no converted type
    },
)


def datafusion_options(path: Path, data: pa.Table, *, encoding: str | None, **options: Any) -> None:
    """``encoding`` is that of columns without dictionary."""
    if encoding is not None:
        options["dictionary_enabled"] = False
        options["column_specific_options"] = (
            {
                name: datafusion.ParquetColumnOptions(encoding=one)
                for name, one in {
                    "small": "delta_binary_packed",
                    "wide": "delta_binary_packed",
                    "text": "delta_byte_array",
                    "bytes": "delta_length_byte_array",
                    "double": "byte_stream_split",
                    "maybe_double": "byte_stream_split",
                    "fixed_5": "byte_stream_split",
                }.items()
            }
            if encoding == "special"
            else None
        )
    write_datafusion(path, data, **options)


DATAFUSION = Writer(
    datafusion_options,
    {**BASIC, **TIMED, **COMMON, **ARROW},
    {
        "rows": COUNTS,
        "compression": ("zstd(3)", "uncompressed", "snappy", "gzip(6)", "lz4_raw"),
        "encoding": (None, "plain", "special"),
        "writer_version": ("1.0", "2.0"),
        "statistics_enabled": ("page", "chunk", "none"),
        "max_row_group_size": (ROW_GROUP, 1_000, 25),
        "data_page_row_count_limit": (PAGE, 1_000),
        "write_batch_size": (PAGE, 1024),
        "dictionary_page_size_limit": (1 << 20, 64),
        "bloom_filter_on_write": (False, True),
        "bloom_filter_ndv": (100,),
        "statistics_truncate_length": (None, 1, 64),
        "column_index_truncate_length": (64, 3, None),
        "skip_arrow_metadata": (False, True),
    },
    remarks={
        "BLM-011": Told(16, 1, (4, 1)),  # asked for, of all columns
        "PQF-100": Told(16, 1, (4, 1)),  # the greatest and the least number, as moments
        "STA-023": Told(12, 22, (2, 4)),  # bounds are called exact, or not, where there are none
    },
    defects={"PIX-052": Told(7, 5, (1, 5))},
)

FASTPARQUET = Writer(
    write_fastparquet,
    {**BASIC, **TIMED},
    {
        "rows": COUNTS,
        "compression": (None, "SNAPPY", "GZIP", "ZSTD", "BROTLI", "LZ4_RAW"),
        "row_group_offsets": (ROW_GROUP, None, 25),
        "stats": ("auto", True, False),
        "times": ("int64", "int96"),
        "has_nulls": (True, False),
    },
    remarks={
        "PQF-076": Told(14, 20, (6, 20)),  # bytes behind the values, one for each null
        "PQF-100": Told(1, 1, (1, 1)),  # the greatest and the least number, as moments
        "STA-014": Told(1, 4, (1, 4)),  # only the deprecated bounds are written
    },
    refused={
        "Expected an input array of integer or boolean data type": 1
    },  # dictionaries of text in row groups
)


def write_spark(
    spark: SparkSession, path: Path, data: pa.Table, *, settings: Mapping[str, str], **options: str
) -> None:
    """One file, with the session told otherwise meanwhile."""
    with session_settings(spark, settings):
        write_one_file(
            spark, path, data, **{name.replace("__", "."): value for name, value in options.items()}
        )


SPARK = Writer(
    write_spark,
    {**BASIC, **COMMON, **MAPS, "at_us": TIMED["at_us"]},
    {
        "rows": COUNTS,
        "compression": ("snappy", "zstd", "lz4_raw"),
        "parquet__writer__version": ("v1", "v2"),
        "parquet__enable__dictionary": ("true", "false"),
        "parquet__page__row__count__limit": (str(PAGE), "1000"),
        "parquet__page__size__row__check__min": ("10",),
        "parquet__block__row__count__limit": (str(ROW_GROUP), "1000"),
        "parquet__bloom__filter__enabled": ("false", "true"),
        "parquet__bloom__filter__expected__ndv": ("100",),
        "parquet__columnindex__truncate__length": ("64", "3"),
        "parquet__statistics__truncate__length": ("2147483647", "3"),
        "parquet__column__statistics__enabled": ("true", "false"),
        "parquet__page__write-checksum__enabled": ("true", "false"),
        "settings": tuple(
            {"spark.sql.parquet.outputTimestampType": moments, "spark.sql.parquet.writeLegacyFormat": legacy}
            for moments, legacy in (
                ("INT96", "false"),
                ("TIMESTAMP_MICROS", "true"),
                ("TIMESTAMP_MILLIS", "false"),
            )
        ),
    },
    remarks={
        "BLM-011": Told(4, 3, (1, 1)),  # asked for, of all columns
        "STA-007": Told(5, 9, (2, 7)),  # NaN among the values is a bound
        "STA-011": Told(4, 1, (1, 1)),  # statistics of more than 4 KiB are left out
        "STA-016": Told(1, 2),  # INT96 with one value has bounds
    },
    defects={"BLM-007": Told(4, 1, (1, 1)), "PQF-064": Told(3, 48)},
)

WRITERS = {
    "pyarrow": PYARROW,
    "duckdb": DUCKDB,
    "polars": POLARS,
    "datafusion": DATAFUSION,
    "fastparquet": FASTPARQUET,
}


class Found(NamedTuple):
    """What the files of a writer turned out to be like; see `Writer`."""

    remarks: Mapping[str, tuple[int, int]]
    defects: Mapping[str, tuple[int, int]]
    refused: Mapping[str, int]
    errors: Sequence[str]


INDEXED = None if EXAMPLES == 1 else 1
"""This number of files of each writer get an index; all by `make damages`, but for those that hold no more than an empty text."""

OF_INDEXES = {"IDX1-009", "IDX1-016", "IDX1-017", "IDX1-022", "IDX1-023"}
OF_SETS = {"DIR-016", "DIR-020", "DIR-022"}


def indexed(path: Path, kinds: Mapping[str, Kind]) -> Path:
    """A copy with an index of a column, and one of a member of a struct where there is one."""
    copy = path.with_name(f"indexed-{path.name}")
    shutil.copyfile(path, copy)
    embed_file(copy, "few")
    if "place" in kinds:
        add_indexes(copy, [Request(IndexType.DISTINCT_SET, (("place", "city"),))])
    return copy


def few(choices: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The choices with a value that none before them has: they have all values of all options."""
    met: set[tuple[str, str]] = set()
    kept: list[Mapping[str, Any]] = []
    for choice in choices:
        values = {(name, repr(value)) for name, value in choice.items()}
        if not values <= met:
            kept.append(choice)
            met |= values
    return kept


def known_part(message: str, known: Mapping[str, int]) -> str:
    """The known part of a message, or all of it."""
    return next((part for part in known if part in message), message)


def found(writer: Writer, folder: Path) -> Found:
    """Write with a few choices of options, by `make damages` with all, and judge with all values and checksums, some with an index."""
    paths, twins, refused, errors = list[Path](), dict[str, Path](), Counter[str](), list[str]()
    choices = pairwise(writer.options)
    for number, choice in enumerate(choices if EXAMPLES == 1 else few(choices)):
        path = folder / f"{number}.parquet"
        options = {name: value for name, value in choice.items() if name != "rows"}
        data = table(writer.kinds, choice["rows"])
        try:
            writer.write(path, data, **options)
        except Exception as error:  # noqa: BLE001 - writers share no class of errors
            refused[known_part(f"{choice}: {error!r}", writer.refused)] += 1
        else:
            paths.append(path)
            held = {value for value in data["few"].to_pylist() if value is not None}
            if held != {""} and len(twins) != INDEXED:  # the index holds no empty text alone
                twins[str(path)] = indexed(path, writer.kinds)
                assert held == set(extract_file(twins[str(path)]).values)
    report = pqassay.check([*paths, *twins.values()], tier="values", crc=True)
    files = {file.path: file for file in report.files}
    for name, twin in twins.items():
        after = files.pop(str(twin))
        before, since = (
            [(one.rule, one.column, one.count) for one in file.findings] for file in (files[name], after)
        )
        assert before == since
        checked = OF_INDEXES | (OF_SETS if "place" in writer.kinds else set())
        assert checked <= set(report.coverages[after.coverage].checked)
    places: dict[tuple[bool, str], set[tuple[str, str | None]]] = defaultdict(set)
    for file in files.values():
        if file.error is not None:
            errors.append(f"{file.path}: {file.error}")
        for finding in file.findings:
            places[finding.verdict == "FAIL", finding.rule].add((file.path, finding.column))
    told = {
        key: (len({path for path, _ in at}), len({column for _, column in at})) for key, at in places.items()
    }
    remarks, defects = (
        {rule: seen for (is_defect, rule), seen in sorted(told.items()) if is_defect == wanted}
        for wanted in (False, True)
    )
    return Found(remarks, defects, dict(refused), errors)


def pinned(writer: Writer) -> Found:
    remarks, defects = (
        {rule: told.expected for rule, told in rules.items() if told.expected != (0, 0)}
        for rules in (writer.remarks, writer.defects)
    )
    return Found(remarks, defects, writer.refused if EXAMPLES == 1 else {}, [])


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_writer_writes_is_right_but_for_what_is_known(name: str, tmp_path: Path) -> None:
    assert pinned(WRITERS[name]) == found(WRITERS[name], tmp_path)


@pytest.mark.spark
def test_what_spark_writes_is_right_but_for_what_is_known(spark: SparkSession, tmp_path: Path) -> None:
    writer = SPARK._replace(write=functools.partial(SPARK.write, spark))

    assert pinned(writer) == found(writer, tmp_path)


def test_every_defect_stands_in_the_guide() -> None:
    guide = (GUIDES / "findings-writers.md").read_text()
    rules = {rule for writer in (*WRITERS.values(), SPARK) for rule in writer.defects}

    assert [] == sorted(rule for rule in rules if f"#{rule.lower()})" not in guide)


def test_of_every_two_options_all_values_meet() -> None:
    options = {"a": (1, 2, 3), "b": (4, 5), "c": (6, 7, 8, 9)}
    chosen = pairwise(options)

    assert {"a": 1, "b": 4, "c": 6} == chosen[0]
    assert 12 <= len(chosen) <= 14
    for one, other in itertools.combinations(options, 2):
        met = {(choice[one], choice[other]) for choice in chosen}
        assert set(itertools.product(options[one], options[other])) == met


# ---------------------------------------------------------------------------------------------------- any column at all

VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.float16(): st.floats(width=16),
    pa.string(): st.text(max_size=80),
    pa.binary(): st.binary(max_size=80),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.decimal128(20, 3): st.decimals(-(10**16), 10**16, places=3),
    pa.list_(pa.string()): st.lists(st.none() | st.text(max_size=3), max_size=4),
    pa.list_(pa.list_(pa.float64())): st.lists(
        st.none() | st.lists(st.none() | st.floats(), max_size=2), max_size=3
    ),
}
"""Types, and any of their values."""

COLUMNS = st.sampled_from(list(VALUES)).flatmap(
    lambda kind: st.lists(st.none() | VALUES[kind], max_size=30).map(lambda values: pa.array(values, kind))
)


@given(
    column=COLUMNS,
    size=st.integers(1, 31),
    page=st.integers(1, 8),
    version=st.sampled_from(["1.0", "2.0"]),
    has_dictionary=st.booleans(),
    bloom_filter=st.booleans(),
)
@tries(60)
def test_any_column_of_pyarrow_is_right(
    column: pa.Array[Any],
    size: int,
    page: int,
    version: Literal["1.0", "2.0"],
    *,
    has_dictionary: bool,
    bloom_filter: bool,
) -> None:
    sink = io.BytesIO()
    filtered = bloom_filter and not pa.types.is_nested(column.type) and column.type != pa.bool_()
    pq.write_table(
        pa.table({"c": column}),
        sink,
        row_group_size=size,
        max_rows_per_page=page,
        data_page_version=version,
        use_dictionary=has_dictionary,
        bloom_filter_options={"c": {"ndv": 30}} if filtered else None,
        write_page_index=True,
        write_page_checksum=True,
    )
    (file,) = pqassay.check(sink.getvalue(), tier="values", crc=True).files

    assert ("conformant", []) == (file.outcome, file.findings)
