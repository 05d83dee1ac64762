"""Embedding an index changes nothing for the engines that read the file, whole or by page index and bloom filter."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import pqassay
from damage import EXAMPLES
from engines import (
    ENGINES,
    WHOLE,
    Answers,
    DataFusion,
    DuckDB,
    Limit,
    Query,
    Spark,
    Where,
    engine,
    expected,
    parameters,
)
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.extract import extract_file
from pqassay_spark.jobs.java import JavaMissingError
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import read_footer, read_framing, referenced_ranges
from verdicts import serious
from written_files import (
    NATIONS,
    PYARROW_OPTIONS,
    ROW_COUNT,
    SPARK_OPTIONS,
    WRITERS,
    table,
    write_indexed,
    write_spark,
)

TABLE = table().to_pydict()

INDEXED_WHILE_WRITING = "pyarrow, indexed while writing"

PRESENT = "ключ-05482"
"""The name of row 1."""

ABSENT = "ключ-05483"
"""No name, though every row group has smaller and greater ones: only a bloom filter knows."""

QUERIES = {
    "everything": WHOLE,
    "some columns": Query(columns=("nation", "id")),
    "one id": Query(Where("id", "=", (1_234,))),
    "an id that is not there": Query(Where("id", "=", (ROW_COUNT,))),
    "ids across row groups": Query(Where("id", "between", (2_000, 2_100)), ("name", "price")),
    "a name": Query(Where("name", "=", (PRESENT,))),
    "a name that is not there": Query(Where("name", "=", (ABSENT,))),
    "names": Query(Where("name", "in", (PRESENT, ABSENT, "name-04446", "zzz")), ("name", "price")),
    "a nation": Query(Where("nation", "=", ("日本",)), ("nation", "id")),
    "the empty nation": Query(Where("nation", "=", ("",)), ("nation", "id")),
    "a nation that is not there": Query(Where("nation", "=", ("Quito",)), ("price",)),
    "nations by their code points": Query(Where("nation", "in", ("é", "e\u0301", "Peru")), ("nation", "id")),
    "no nation": Query(Where("nation", "is null"), ("nation", "id")),
    "one amount": Query(Where("amount", "=", (1_234**2,))),
    "no amount": Query(Where("amount", "is null"), ("nation", "id")),
    "amounts beside the nulls": Query(Where("amount", "between", (2_890**2, 3_510**2))),
    "prices": Query(Where("price", "between", (100.0, 120.5)), ("price",)),
}

ROWS = {query: expected(TABLE, query) for query in QUERIES.values()}
"""The rows that each query finds."""

READERS = [*ENGINES, "spark, row by row"]

PARTS = 1 if EXAMPLES == 1 else 6
"""Each file is asked one of this number of queries by a reader, and others by the next one; all by `make damages`."""

PAGE_INDEX = {"column index", "offset index"}
STRUCTURES = {
    "pyarrow": {*PAGE_INDEX, "bloom filter"},
    "pyarrow-v2": {*PAGE_INDEX, "bloom filter"},
    INDEXED_WHILE_WRITING: {*PAGE_INDEX, "bloom filter"},
    "duckdb": {"bloom filter"},
    "polars": PAGE_INDEX,
    "datafusion": {*PAGE_INDEX, "bloom filter"},
    "spark": {*PAGE_INDEX, "bloom filter"},
    "fastparquet": set[str](),
}
"""What each writer adds to the column chunks."""

WITH_PAGE_INDEX = [writer for writer, kinds in STRUCTURES.items() if PAGE_INDEX <= kinds]
WITH_BLOOM_FILTERS = [writer for writer, kinds in STRUCTURES.items() if "bloom filter" in kinds]


LIMITS = {
    ("fastparquet", "pyarrow-v2"): Limit(
        "2026.9.0",
        "the null mask of one V2 page is laid over its whole chunk, which fails if that has several",
        "could not be broadcast together with shapes (256,) () (2048,)",
    ),
}
"""Engine and writer to what goes wrong, at least when everything is read."""


@dataclass(frozen=True)
class Files:
    """One file by each writer, before and after an index of ``nation`` was embedded."""

    before: Mapping[str, Path]
    after: Mapping[str, Path]

    @property
    def paths(self) -> list[Path]:
        """All files, each once."""
        return sorted({*self.before.values(), *self.after.values()})

    def pair(self, writer: str) -> tuple[Path, Path]:
        """One writer's file, before and after. Skips the test if there is no Spark to write one."""
        if writer not in self.before:
            pytest.skip("Spark does not run here")
        return self.before[writer], self.after[writer]


@pytest.fixture(scope="module")
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("embedding")
    before = {writer: folder / f"{writer}.parquet" for writer in WRITERS}
    for writer, (write, options) in WRITERS.items():
        write(before[writer], table(), **options)
    try:
        session = request.getfixturevalue("spark")
    except (JavaMissingError, ImportError):  # the tests that need it say so themselves
        pass
    else:
        before["spark"] = folder / "spark.parquet"
        write_spark(session, before["spark"], table(), **SPARK_OPTIONS)
    after = {writer: folder / f"{writer}.indexed.parquet" for writer in before}
    for writer, path in before.items():
        shutil.copyfile(path, after[writer])
        embed_file(after[writer], "nation")
    before[INDEXED_WHILE_WRITING] = before["pyarrow"]
    after[INDEXED_WHILE_WRITING] = folder / "while-writing.parquet"
    write_indexed(after[INDEXED_WHILE_WRITING], table(), "nation", **PYARROW_OPTIONS)
    return Files(before, after)


def structures(path: Path) -> dict[str, set[str]]:
    """Kinds of structures beside the column chunks, and the columns that have one in every row group."""
    with FileSource(path) as source:
        metadata, _ = read_footer(source, read_framing(source))
        found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for place in referenced_ranges(metadata, source):
            if place.kind != "column chunk":
                found[place.kind][place.column] += 1
        return {
            kind: {column for column, count in columns.items() if count == len(metadata.row_groups)}
            for kind, columns in found.items()
        }


@pytest.mark.parametrize("writer", parameters(STRUCTURES))
def test_the_files_have_what_their_writers_can_add(files: Files, writer: str) -> None:
    before, after = files.pair(writer)

    assert STRUCTURES[writer] == set(structures(before))
    assert structures(before) == structures(after)
    for columns in structures(after).values():
        assert {"id", "name", "nation"} <= columns


@pytest.mark.parametrize("writer", parameters(STRUCTURES))
def test_the_judge_finds_nothing_before_and_after_and_the_index_is_complete(
    files: Files, writer: str
) -> None:
    before, after = files.pair(writer)
    reports = pqassay.check([before, after], tier="values")

    assert [("conformant", []), ("conformant", [])] == [(f.outcome, serious(f)) for f in reports.files]
    found = extract_file(after)
    assert (set(NATIONS) - {None}, ()) == (set(found.values), found.lost)
    assert found.companion is not None


@pytest.mark.parametrize("name", parameters(READERS))
def test_every_engine_reads_the_rows_that_were_written(
    files: Files, name: str, request: pytest.FixtureRequest
) -> None:
    reader = engine(name, lambda: request.getfixturevalue("spark"))
    limits = {
        path: limit
        for (engine_name, writer), limit in LIMITS.items()
        if engine_name == name
        for path in files.pair(writer)
    }

    found: Answers = {}
    for part in range(PARTS):
        asked = list(QUERIES.values())[(part + READERS.index(name)) % PARTS :: PARTS]
        found |= reader.read_all(files.paths[part::PARTS], asked)

    assert len(files.paths) * len(QUERIES) <= len(found) * PARTS + len(QUERIES)
    assert ({*files.paths}, {*QUERIES.values()}) == (
        {path for path, _ in found},
        {query for _, query in found},
    )
    assert {} == {
        (path.name, query): answer
        for (path, query), answer in found.items()
        if answer != ROWS[query] and not (path in limits and limits[path].explains(answer))
    }


@pytest.mark.parametrize(("name", "writer"), parameters(LIMITS))
def test_a_limit_of_an_engine_still_holds(files: Files, name: str, writer: str) -> None:
    for (path, _), answer in engine(name).read_all(files.pair(writer), [WHOLE]).items():
        assert LIMITS[name, writer].explains(answer), path.name


def test_the_queries_find_what_they_say() -> None:
    found = {name: ROWS[query].total() for name, query in QUERIES.items()}

    assert {name for name, count in found.items() if not count} == {
        "an id that is not there",
        "a name that is not there",
        "a nation that is not there",
    }
    assert (1, 1, 2) == (found["one id"], found["a name"], found["names"])
    assert (101, 600) == (found["ids across row groups"], found["no amount"])


ONE_AMOUNT, ABSENT_NAME, ABSENT_NATION, NULLS = (
    QUERIES["one amount"],
    QUERIES["a name that is not there"],
    QUERIES["a nation that is not there"],
    QUERIES["no amount"],
)


@pytest.mark.parametrize("writer", parameters(WITH_PAGE_INDEX))
@pytest.mark.parametrize("query", [ONE_AMOUNT, NULLS], ids=["one amount", "nulls"])
def test_datafusion_skips_the_same_pages_before_and_after(files: Files, writer: str, query: Query) -> None:
    before, after = (DataFusion().skipped(path, query)["page_index"] for path in files.pair(writer))

    assert before == after
    assert 0 < after[0] < after[1]


@pytest.mark.parametrize("writer", parameters(WITH_BLOOM_FILTERS))
@pytest.mark.parametrize("query", [ABSENT_NAME, ABSENT_NATION], ids=["name", "nation"])
def test_datafusion_excludes_every_row_group_by_its_bloom_filter_before_and_after(
    files: Files, writer: str, query: Query
) -> None:
    before, after = (DataFusion().skipped(path, query) for path in files.pair(writer))

    assert before == after
    assert {"statistics": (3, 3), "bloom_filter": (0, 3), "page_index": (0, 0)} == after


@pytest.mark.parametrize("writer", parameters(WITH_BLOOM_FILTERS))
@pytest.mark.parametrize("query", [ABSENT_NAME, ABSENT_NATION], ids=["name", "nation"])
def test_duckdb_excludes_every_row_group_by_its_bloom_filter_before_and_after(
    files: Files, writer: str, query: Query
) -> None:
    before, after = (DuckDB().row_groups_read(path, query) for path in files.pair(writer))

    assert ((0, 3), (0, 3)) == (before, after)


def test_without_a_bloom_filter_no_engine_knows_that_the_name_is_absent(files: Files) -> None:
    _, after = files.pair("polars")

    assert (3, 3) == DuckDB().row_groups_read(after, ABSENT_NAME)
    assert (0, 0) != DataFusion().skipped(after, ABSENT_NAME)["page_index"]


@pytest.mark.spark
@pytest.mark.parametrize("query", [ONE_AMOUNT, NULLS], ids=["one amount", "nulls"])
def test_spark_skips_the_same_pages_before_and_after(
    files: Files, query: Query, request: pytest.FixtureRequest
) -> None:
    scans = [
        (path, query, without)
        for writer in WITH_PAGE_INDEX
        for before, after in [files.pair(writer)]
        for path, without in ((before, []), (after, []), (after, ["columnindex"]))
    ]
    decoded = Spark(request.getfixturevalue("spark")).rows_decoded(scans)

    for writer, before, after, without_index in zip(
        WITH_PAGE_INDEX, decoded[::3], decoded[1::3], decoded[2::3], strict=True
    ):
        assert before == after, writer
        assert 0 < after < without_index, writer


@pytest.mark.spark
def test_spark_excludes_every_row_group_by_its_bloom_filter_before_and_after(
    files: Files, request: pytest.FixtureRequest
) -> None:
    others = ["dictionary", "columnindex"]  # they would do it as well
    scans = [
        (path, ABSENT_NAME, without)
        for writer in WITH_BLOOM_FILTERS
        for before, after in [files.pair(writer)]
        for path, without in ((before, others), (after, others), (after, [*others, "bloom"]))
    ]
    decoded = Spark(request.getfixturevalue("spark")).rows_decoded(scans)

    assert dict.fromkeys(WITH_BLOOM_FILTERS, (0, 0, ROW_COUNT)) == {
        writer: tuple(decoded[3 * number :][:3]) for number, writer in enumerate(WITH_BLOOM_FILTERS)
    }
