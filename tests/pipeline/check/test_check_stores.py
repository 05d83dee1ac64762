"""The check on Spark of what is in an object store: executors list and read it with pyarrow."""

from __future__ import annotations

import time
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import pqassay
from idx1_files import Idx1File
from pqassay.judge.checker import planned
from pqassay.stores import remote
from pqassay_lake.history import verdict_cache
from pqassay_lake.history.findings_table import PART
from pqassay_lake.running import carried_out
from pqassay_spark.check.executor_judging import Means
from pqassay_spark.check.run import OnExecutors, check
from pqassay_spark.check.spark_listing import SparkListing
from store_server import StoreServer, store_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pqassay.report.model import Report

pytestmark = pytest.mark.spark

GOOD = Idx1File().build()
BAD = Idx1File(payload=b"Peru\nSingapura").build()


class Store:
    """A bucket ``lake`` of a server in this process, and what the server is asked."""

    def __init__(self, server: StoreServer) -> None:
        self.server = server
        self.options = server.options
        self.seen = server.requests.seen
        self._system = fs.FileSystem.from_uri(
            f"s3://key:secret@lake/?{self.options}&allow_bucket_creation=true"
        )[0]
        self._system.create_dir("lake")

    def uri(self, path: str, scheme: str = "s3") -> str:
        """What names a path: with all that executors need to know."""
        return f"{scheme}://key:secret@lake/{path}?{self.options}"

    def put(self, key: str, content: bytes = GOOD) -> None:
        """Write an object."""
        with self._system.open_output_stream(f"lake/{key}") as stream:
            stream.write(content)


@pytest.fixture(scope="module")
def store() -> Generator[Store]:
    with store_server() as server:
        yield Store(server)


@pytest.fixture(scope="module")
def lake(store: Store) -> str:
    """20 folders on two levels, hidden and odd names, and a ``_pm`` without data."""
    for number in range(20):
        store.put(
            f"all/n={number % 4}/day={number}/part 50% [{number}].parquet", BAD if number == 7 else GOOD
        )
    for key in ("_pm", "_metadata", "_under.parquet", ".hidden.parquet", "_temporary/x.parquet", "_SUCCESS"):
        store.put(f"all/n=0/{key}", GOOD)
    store.put("all/top.parquet")
    store.put("all/deep/er/and/deep/er/still.parquet")
    return store.uri("all")


def test_the_report_on_a_store_is_that_of_the_judge(spark: SparkSession, lake: str) -> None:
    expected = pqassay.check(lake, tier="values")
    found = check(spark, lake.replace("s3://", "s3a://"), tier="values", tasks=2)
    assert 25 == expected.summary.files
    assert expected.to_json() == found.to_json()
    assert "secret" not in found.to_json()


def test_executors_list_what_one_listing_would(spark: SparkSession, store: Store, lake: str) -> None:
    place = remote.find(remote.parse(lake))
    assert not isinstance(place, str)
    store.seen.clear()
    found = list(SparkListing(lambda: spark)(place))

    assert list(remote.listing(place)) == found
    assert 28 == len(found)
    assert all(entry.modified for entry in found)
    assert len([line for line in store.seen if "list-type=2" in line]) > 3


def test_a_store_that_does_not_answer_is_errored_in_plain_words(
    spark: SparkSession, lake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> bytes:
        from pqassay_spark.jobs.spark_jobs import packed

        return packed("the store denies access")

    refuse.__module__ = "__main__"
    monkeypatch.setattr("pqassay_spark.check.spark_listing.list_task", refuse)
    report = check(spark, lake, tier="footer")

    assert 4 == report.exit_code
    assert "the store denies access" == report.files[-1].error


def test_an_object_that_was_written_again_unchanged_is_known_by_its_etag(
    spark: SparkSession, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        store.put(f"etag/{name}.parquet", BAD)
        store.server.make_older("lake", f"etag/{name}.parquet", timedelta(minutes=1))
    table = tmp_path / "table"
    monkeypatch.setattr(
        verdict_cache, "SETTLED", -(10**12)
    )  # what was written a moment ago counts as settled

    def run() -> tuple[Report, list[str], list[dict[str, Any]]]:
        plan = planned(store.uri("etag"), tier="index")
        work = OnExecutors(lambda: spark, Means())
        _, report, notes = carried_out(plan, work, started=time.time_ns(), table=table, is_reused=True)
        return report, notes, pq.read_table(table / PART, filters=[("kind", "=", "file")]).to_pylist()

    _, notes, rows = run()
    assert [] == notes
    assert 1 == len({row["etag"] for row in rows})
    assert None not in {row["etag"] for row in rows}
    assert all(row["reusable"] for row in rows)

    times = [row["modified_ns"] for row in rows]
    store.put("etag/a.parquet", BAD)
    store.put(
        "etag/b.parquet", GOOD + bytes(len(BAD) - len(GOOD)) if len(BAD) > len(GOOD) else GOOD[: len(BAD)]
    )
    store.seen.clear()
    report, notes, later = run()
    read = {line.split()[1] for line in store.seen if line.startswith("GET /lake/etag/")}

    # a is known by its etag, c by its time
    assert ["2 of 3 verdicts taken from the table: those files did not change"] == notes
    assert pqassay.check(store.uri("etag"), tier="index") == report
    assert [True, True, False] == [
        row["modified_ns"] != before for row, before in zip(later, times, strict=True)
    ]
    assert {"/lake/etag/b.parquet"} == read
