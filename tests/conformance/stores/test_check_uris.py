"""Files that URIs name: ranged reads, listings and patterns in a store, and clear words where it refuses."""

from __future__ import annotations

import json
import random
from collections.abc import Generator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs
from typer.testing import CliRunner

import pqassay
from idx1_files import Idx1File, parquet
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.stores import remote, remote_source
from pqassay.stores.remote_source import RemoteSource, Tails, describe
from pqassay_spec.base.errors import Truncated
from store_server import Requests, StoreServer, store_server

pytestmark = pytest.mark.slow

GOOD = Idx1File().build()
BAD = Idx1File(payload=b"Peru\nSingapura").build()

run = CliRunner().invoke


@pytest.fixture(scope="module")
def server() -> Generator[StoreServer]:
    with store_server() as running:
        yield running


@pytest.fixture
def requests(server: StoreServer, monkeypatch: pytest.MonkeyPatch) -> Requests:
    """The server behind the environment, with one bucket, and no request seen."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    remote.filesystem.cache_clear()
    store().create_dir("lake")
    server.requests.seen.clear()
    return server.requests


def store() -> fs.FileSystem:
    """The store as the environment describes it."""
    return fs.FileSystem.from_uri("s3://lake/?allow_bucket_creation=true")[0]


def put(key: str, content: bytes = GOOD) -> None:
    with store().open_output_stream(f"lake/{key}") as stream:
        stream.write(content)


def paths(target: str, **options: object) -> list[str]:
    return [file.path for file in pqassay.check(target, tier="footer", **options).files]  # type: ignore[arg-type]  # passed on


def test_one_object_is_judged_as_the_same_file_is(requests: Requests) -> None:
    put("one/bad.parquet", BAD)
    put("one/good.parquet")
    bad, good = (pqassay.check(f"s3://lake/one/{name}.parquet") for name in ("bad", "good"))

    assert ["IDX1-016"] == [finding.rule for finding in bad.files[0].findings]
    assert ("s3://lake/one/bad.parquet", len(BAD), "nonconformant") == (
        bad.files[0].path,
        bad.files[0].size,
        bad.files[0].outcome,
    )
    assert ("values", "conformant") == (good.coverages["c1"].tier, good.files[0].outcome)
    assert requests.seen


def test_the_values_are_read_in_a_worker_as_well(requests: Requests) -> None:
    pqassay.check(GOOD, jobs=1)  # workers of a run before must not decide what this one's see
    put("two/bad.parquet", BAD)
    put("two/good.parquet")
    report = pqassay.check("s3a://lake/two", tier="values", jobs=2)

    assert ["nonconformant", "conformant"] == [file.outcome for file in report.files]
    assert report.to_json() == pqassay.check("s3://lake/two", tier="values").to_json()
    assert requests.seen


def test_a_footer_costs_one_look_and_one_read_however_long_the_file(requests: Requests) -> None:
    numbers = pa.table({"n": pa.array(range(300_000)), "m": pa.array(range(300_000))})
    put("long.parquet", parquet(numbers, compression="none", use_dictionary=False))
    put("short.parquet")
    requests.seen.clear()
    long = pqassay.check("s3://lake/long.parquet", tier="footer")
    asked = list(requests.seen)
    requests.seen.clear()
    pqassay.check("s3://lake/short.parquet", tier="index")

    assert 4_000_000 < long.files[0].size
    # one to find it, one to open it, and the magic at the beginning beside the end
    assert ["HEAD", "HEAD", "GET", "GET"] == [line.partition(" ")[0] for line in asked]
    assert ["HEAD", "HEAD", "GET"] == [line.partition(" ")[0] for line in requests.seen]


@pytest.mark.parametrize("name", ["dlt/plain", "dlt/checksummed", "ice/plain"])
def test_a_dry_run_predicts_what_a_table_asks_of_the_store(requests: Requests, name: str) -> None:
    table = GOLDEN_FILES / name / "table"
    for path in table.rglob("*"):
        if path.is_file():
            put(f"{name}/{path.relative_to(table).as_posix()}", path.read_bytes())
    uri = f"s3://lake/{name}"
    told = json.loads(run(app, ["check", uri, "--dry-run", "--format", "json"]).stdout)
    predicted = {tier["tier"]: tier["requests"] for tier in told["tiers"]}
    for tier in ("meta", "footer", "index"):
        requests.seen.clear()
        assert 0 == pqassay.check(uri, tier=tier).exit_code
        asked = [line for line in requests.seen if f"{name}/" in line and "list-type" not in line]
        assert predicted[tier] == len(asked)


def test_a_folder_is_listed_at_once_and_sorted(requests: Requests) -> None:
    for number in range(12):
        put(f"list/day={number % 3}/part {number}%.parquet")
    put("list/_SUCCESS", b"")
    put("list/_temporary/0/x.parquet")
    put("list/.hidden.parquet")
    requests.seen.clear()
    report = pqassay.check("s3://lake/list", tier="footer")
    listings = [line for line in requests.seen if "list-type=2" in line]

    assert 12 == report.summary.conformant
    assert "s3://lake/list/day=0/part%200%25.parquet" == report.files[0].path
    assert sorted(file.path for file in report.files) == [file.path for file in report.files]
    assert {
        "markers and checksums of the writer": 1,
        "folders of unfinished jobs": 1,
        "hidden: the name begins with a dot": 1,
    } == {entry.reason: entry.count for entry in report.ignored}
    assert len(listings) <= 3


def test_patterns_are_expanded_and_existing_keys_win(requests: Requests) -> None:
    for key in (
        "p/y=1/a.parquet",
        "p/y=1/x/b.parquet",
        "p/y=2/[1].parquet",
        "p/y=2/1.parquet",
        "p/notes.txt",
    ):
        put(key)

    assert ["s3://lake/p/y=1/a.parquet"] == paths("s3://lake/p/y=1/*.parquet")
    assert ["s3://lake/p/y=1/a.parquet", "s3://lake/p/y=1/x/b.parquet"] == paths("s3://lake/p/y=1/**")
    assert ["s3://lake/p/y=2/%5B1%5D.parquet"] == paths("s3://lake/p/y=2/[1].parquet")
    assert ["s3://lake/p/y=2/1.parquet", "s3://lake/p/y=2/%5B1%5D.parquet"] == paths("s3://lake/p/y=2/*")
    assert ["s3://lake/p/y=1/x/b.parquet"] == paths("s3://lake/**/x/*.parquet")
    assert ["s3://lake/p/y=1/a.parquet"] == paths("s3://lake/p", exclude=["x", "y=2"])
    assert requests.seen


def test_names_that_are_printed_can_be_pasted_back(requests: Requests) -> None:
    put("odd/50% [a] b?#.parquet")
    put("odd/ts=00%3A00.parquet")
    (first, second) = paths("s3://lake/odd")

    assert [first] == paths(first)
    assert [second] == paths(second)
    assert [second] == paths("s3://lake/odd/ts=00%3A00.parquet")  # as other programs print it
    assert requests.seen


def test_options_may_stand_in_the_uri_and_credentials_are_never_printed(
    server: StoreServer, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("o/a.parquet", BAD)
    for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    host = f"{server.host}:{server.port}"
    uri = f"s3://me:hunter2@lake/o?endpoint_override={host}&scheme=http&region=us-east-1"
    report = pqassay.check(uri, tier="values")

    assert ["s3://lake/o/a.parquet"] == [file.path for file in report.files]
    assert 1 == report.exit_code
    assert "hunter2" not in report.to_json()
    assert requests.seen


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("s3://nowhere/a.parquet", "s3://nowhere/a.parquet: there is no bucket nowhere"),
        ("s3://lake/nothing.parquet", "s3://lake/nothing.parquet: no such file"),
        ("s3://lake/nothing/*.parquet", "s3://lake/nothing/*.parquet: no such file"),
        ("s3://lake/one/*.orc", "s3://lake/one/*.orc: no file matches"),
        ("ftp://host/a.parquet", "there is no access to ftp://; s3, gs, hdfs, abfss and file are known"),
        ("s3:///a.parquet", "Missing bucket name"),
        ("s3://lake/a?nonsense=1", "nonsense"),
    ],
)
def test_a_uri_that_leads_nowhere_is_wrong_usage(uri: str, words: str, requests: Requests) -> None:
    put("one/good.parquet")
    result = run(app, ["check", uri])

    assert 2 == result.exit_code
    assert words in result.stderr
    assert 1 == len(result.stderr.splitlines())
    assert requests.seen


def test_a_store_that_cannot_be_reached_is_errored_in_plain_words(
    requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    result = run(app, ["check", "s3://lake/a.parquet?endpoint_override=127.0.0.1:1&scheme=http"])

    assert 4 == result.exit_code
    assert "s3://lake/a.parquet: errored" in result.stdout
    assert "not judged: the store cannot be reached; is its endpoint right?" in result.stdout
    assert [] == requests.seen


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("AWS Error ACCESS_DENIED during HeadObject operation: No response body.", "denies access"),
        ("AWS Error UNKNOWN (HTTP status 403) during ListObjectsV2", "denies access"),
        ("AWS Error NO_SUCH_BUCKET during ListObjectsV2 operation", "there is no such bucket"),
        ("Unable to load libjvm\ndlopen(/usr/lib) failed", "HDFS needs Java"),
        ("Something else\n  happened (Request ID: ABC)", "Something else happened"),
    ],
)
def test_errors_of_stores_are_told_in_one_line(message: str, words: str) -> None:
    told = describe(OSError(message))

    assert words in told
    assert "\n" not in told


def test_file_uris_are_local_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b%.parquet").write_bytes(GOOD)
    expected = [str(tmp_path / "a b%.parquet")]

    assert expected == paths(f"file://{tmp_path}")
    assert expected == paths(f"file://{tmp_path}/a%20b%25.parquet")
    assert expected == paths(f"file://{tmp_path}/*.parquet")
    with pytest.raises(UsageError, match="no such file"):
        paths(f"file://{tmp_path}/c.parquet")


# ------------------------------------------------------------------------------------------------ the source


class Ranged:
    """A file that notes what is read of it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.reads: list[tuple[int, int]] = []

    def size(self) -> int:
        return len(self.data)

    def read_at(self, nbytes: int, offset: int) -> bytes:
        self.reads.append((offset, nbytes))
        return self.data[offset : offset + nbytes]

    def close(self) -> None:
        self.data = b""


def test_reads_near_each_other_are_one_request() -> None:
    data = bytes(range(256)) * 4096
    file = Ranged(data)
    source = RemoteSource(file, "x")
    end = len(data)
    for offset, length in ((end - 8, 8), (end - 5000, 4992), (100, 10), (110, 60_000), (end - 65_536, 1)):
        assert data[offset : offset + length] == source.read(offset, length)

    assert [(end - remote_source.TAIL, remote_source.TAIL), (100, remote_source.AHEAD)] == file.reads


def test_of_nothing_nothing_is_fetched() -> None:
    for file in (Ranged(b""), Ranged(bytes(10))):
        assert b"" == RemoteSource(file, "x").read(0, 0)
        assert [] == file.reads


def test_a_large_read_is_one_request_and_is_not_kept() -> None:
    length = remote_source.KEPT + 1
    file = Ranged(bytes(2 * length))
    source = RemoteSource(file, "x")
    for _ in range(2):
        assert length == len(source.read(0, length))

    assert [(0, length)] * 2 == file.reads


def test_what_was_fetched_in_pieces_is_not_fetched_again() -> None:
    data = bytes(range(256)) * 4096
    file = Ranged(data)
    source = RemoteSource(file, "x")
    ahead = remote_source.AHEAD
    for offset in (ahead, 0, 2 * ahead):
        source.read(offset, 1)
    for offset, length in ((0, 3 * ahead), (100, 2 * ahead), (ahead - 1, 2), (5, 0)):
        assert data[offset : offset + length] == source.read(offset, length)
    assert 3 == len(file.reads)

    assert data[: 4 * ahead] == source.read(0, 4 * ahead)
    assert (3 * ahead, 2 * ahead) == file.reads[-1]
    source.read(9 * ahead, 1)
    source.read(0, 14 * ahead)
    assert (0, 14 * ahead) == file.reads[-1]  # most of it is missing in two places: one request


def test_who_reads_on_and_on_fetches_ever_more() -> None:
    data = bytes(64 << 20)
    file = Ranged(data)
    source = RemoteSource(file, "x")
    for offset in range(0, 30 << 20, 1000):
        source.read(offset, 1000)

    assert 13 == len(file.reads)
    assert max(length for _, length in file.reads) == remote_source.MOST_AHEAD
    assert sum(length for _, length in file.reads) <= (30 << 20) + remote_source.MOST_AHEAD


def test_the_next_object_of_a_table_is_fetched_as_far_as_was_needed_of_the_last() -> None:
    tails, wide = Tails(), Ranged(bytes(8 << 20))

    def reads(name: str) -> list[tuple[int, int]]:
        wide.reads.clear()
        source = RemoteSource(wide, name, tails)
        for start, end in ((8, 0), (400_000, 8), (700_000, 400_000)):
            assert start - end == len(source.read(source.size - start, start - end))
        source.close()
        wide.data = bytes(8 << 20)
        return list(wide.reads)

    assert [3, 1, 1, 3] == [
        len(reads(name))
        for name in ("t/day=1/a.parquet", "t/day=2/b.parquet", "t/c.parquet", "other/a.parquet")
    ]
    assert 700_000 < tails.of("t/d.parquet") < 900_000
    assert [remote_source.TAIL] * 2 == [tails.of("t/_pm"), tails.of("u/a.parquet")]


def test_of_the_end_of_an_object_no_more_is_fetched_than_is_said() -> None:
    tails = Tails()
    for needed in (1, 1 << 30):
        tails.note("t/a.parquet", needed)
        assert remote_source.TAIL <= tails.of("t/a.parquet") <= remote_source.MOST_TAIL
    for number in range(3 * Tails.MOST_TABLES):
        tails.note(f"{number}/a.parquet", 1)
    assert remote_source.TAIL == tails.of("t/a.parquet")


def test_whatever_is_kept_what_is_read_is_what_the_object_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("TAIL", 64), ("AHEAD", 32), ("KEPT", 300)):
        monkeypatch.setattr(remote_source, name, size)
    chance = random.Random(0)
    data = chance.randbytes(1000)
    source = RemoteSource(Ranged(data), "x")
    for _ in range(3000):
        offset = chance.randrange(len(data))
        length = chance.randrange(min(len(data) - offset, chance.choice([10, 100, 1000])) + 1)
        assert data[offset : offset + length] == source.read(offset, length)
        assert sum(map(len, source._blocks.values())) <= 300


def test_an_object_that_became_shorter_is_truncated() -> None:
    file = Ranged(bytes(1000))
    source = RemoteSource(file, "x")
    file.data = bytes(10)

    with pytest.raises(Truncated, match="became shorter"):
        source.read(990, 10)
    with pytest.raises(Truncated, match="outside"):
        source.read(990, 11)


def test_an_object_that_cannot_be_read_leaves_the_file_unjudged(
    requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("gone.parquet")

    def refuse(*_: object) -> bytes:
        raise OSError("AWS Error ACCESS_DENIED during GetObject")

    monkeypatch.setattr(RemoteSource, "_range_to_fetch", refuse)
    report = pqassay.check("s3://lake/gone.parquet", tier="footer")

    assert 4 == report.exit_code
    assert "ACCESS_DENIED" in (report.files[0].error or "")
    assert requests.seen
