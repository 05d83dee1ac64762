"""The predictions of ``pqassay check --dry-run``, held against a store that counts."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from golden_cases import golden_cases
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.judge.checker import CheckPlan, planned
from pqassay.judge.one_file import judge
from pqassay.stores import kinds
from pqassay.stores.remote_source import RemoteSource, Tails
from pqassay.stores.table_files import MetadataReads
from pqassay.stores.targets import Target
from pqassay_golden.tiny.parquet import Column, Layout, TinyParquet
from pqassay_lake.cost.estimate import Estimate, StorePace, StorePrices
from pqassay_lake.cost.prediction import LOOKED_AT, predicted
from pqassay_spec.rules.catalogue import Tier

WITHIN = 0.2
"""How far a prediction may be off."""

DLT = GOLDEN_FILES / "dlt/plain/table"

invoke = CliRunner().invoke


class Counter:
    """A store that counts what it is asked for."""

    def __init__(self) -> None:
        self.requests = self.read = 0

    def open(self, data: bytes) -> CountedObject:
        return CountedObject(self, data)


class CountedObject:
    """An object of it."""

    def __init__(self, counter: Counter, data: bytes) -> None:
        self._counter, self._data = counter, data

    def size(self) -> int:
        self._counter.requests += 1
        return len(self._data)

    def read_at(self, nbytes: int, offset: int) -> bytes:
        self._counter.requests += 1
        self._counter.read += nbytes
        return self._data[offset : offset + nbytes]

    def close(self) -> None:
        pass


def counted(plan: CheckPlan, tier: Tier) -> tuple[Counter, Counter]:
    """What judging local files asks for if they are in a store: the first of them, and all."""
    counter, first, tails = Counter(), Counter(), Tails()
    for target in plan.targets:

        def opened(one: Target) -> RemoteSource:
            return RemoteSource(counter.open(Path(one.path).read_bytes()), one.name, tails)

        source = opened(target)
        others = {name: target.beside(name) for name in kinds.beside(target.kind)}
        beside = {name: opened(other) for name, other in others.items() if Path(other.path).is_file()}
        report, _ = judge(replace(target, data=source, kept_beside=beside), replace(plan.settings, tier=tier))
        assert report.outcome in ("conformant", "conformant where checked")
        for one in (source, *beside.values()):
            one.close()
        if not first.requests:
            first.requests, first.read = counter.requests, counter.read
    return first, counter


def written(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, write_page_index=True, **options)
    return out.getvalue()


RANDOM = np.random.default_rng(7)


def narrow(rows: int) -> bytes:
    columns = {f"c{number}": RANDOM.random(rows) for number in range(3)}
    return written(pa.table(columns), use_dictionary=False)


def wide() -> bytes:
    column = pa.array(range(10))
    return written(pa.table({f"c{number:03}": column for number in range(500)}), row_group_size=5)


def heavy() -> bytes:
    """Blooms filters of 20 of 60 columns in 10 row groups, as long as all else."""
    columns = tuple(Column(f"c{number:02}", "int64", range(20)) for number in range(60))
    return TinyParquet(
        columns,
        row_group_rows=2,
        page_index=True,
        bloom_filters=tuple(column.name for column in columns[:20]),
        layout=Layout(bloom_bytes=8 << 10),
    ).build()


def with_large_indexes() -> bytes:
    values = pa.array([f"{number:060}" for number in range(5_000)])
    return written(pa.table({"c": values}), use_dictionary=False, data_page_size=200, write_batch_size=4)


MOST_REQUESTS = {"narrow": 3, "wide": 3, "heavy": 6, "indexes": 3}
"""How many requests a file may take at tier ``index``, that with which it is opened included."""


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of files of one shape each."""
    home = tmp_path_factory.mktemp("lakes")
    shapes = {
        "narrow": [narrow(rows) for rows in (30_000, 60_000, 5_000, 90_000)],
        "wide": [wide()] * 2,
        "heavy": [heavy()] * 2,
        "indexes": [with_large_indexes()] * 2,
    }
    for name, files in shapes.items():
        (home / name).mkdir()
        for number, data in enumerate(files):
            (home / name / f"{number}.parquet").write_bytes(data)
    return home


def of_tier(found: Estimate, tier: Tier) -> tuple[int, int]:
    one = next(given for given in found.tiers if given.tier == tier)
    return one.requests, one.read


@pytest.mark.parametrize(
    ("shape", "tier"),
    [
        *(("narrow", tier) for tier in ("footer", "index", "pages", "values")),
        ("wide", "index"),
        *(("heavy", tier) for tier in ("index", "pages")),
        ("indexes", "index"),
    ],
)
def test_requests_and_bytes_are_those_that_a_store_counts(lakes: Path, shape: str, tier: Tier) -> None:
    plan = planned(lakes / shape, tier=tier)
    first, every = counted(plan, tier)
    requests, read = of_tier(predicted(plan, MetadataReads()), tier)

    assert requests == pytest.approx(every.requests, rel=WITHIN)
    assert read == pytest.approx(every.read, rel=WITHIN)
    if tier == "index":
        assert every.requests - first.requests <= MOST_REQUESTS[shape] * (len(plan.targets) - 1)
        # Nothing is known of the ends of such files then.
        assert first.requests <= MOST_REQUESTS[shape] + 2


def test_of_rules_that_need_no_filter_none_is_predicted(lakes: Path) -> None:
    every, few = (
        predicted(planned(lakes / "heavy", tier="index", only=only), MetadataReads())
        for only in ((), ("PIX-*", "PQF-*"))
    )

    assert of_tier(every, "index")[1] > 2 * 200 * (8 << 10) > 2 * of_tier(few, "index")[1]


def test_a_pm_is_predicted_with_the_file_beside_it(tmp_path: Path) -> None:
    pairs = [case for case in golden_cases() if case.case.family == "PM" and case.case.kind == "valid"]
    pairs = [case for case in pairs if case.case.input.file == "_pm" and case.beside()][:6]
    for number, case in enumerate(pairs):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, data in {"_pm": case.content(), **case.beside()}.items():
            (folder / name).write_bytes(data)
    plan = planned(sorted(tmp_path.rglob("_pm")), tier="index")
    _, every = counted(plan, "index")

    assert 6 == len(plan.targets)
    assert (every.requests, every.read) == of_tier(predicted(plan, MetadataReads()), "index")


def test_files_of_many_folders_stand_for_each_other(tmp_path: Path) -> None:
    sizes = [(100 + 37 * number % 900) * 100 for number in range(LOOKED_AT + 8)]
    for number, rows in enumerate(sizes):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "a.parquet").write_bytes(written(pa.table({"c": np.arange(rows)})))
    plan = planned(tmp_path, tier="pages")
    found, (_, truth) = predicted(plan, MetadataReads()), counted(plan, "pages")

    assert LOOKED_AT >= found.looked_at > 0
    assert of_tier(found, "pages") == pytest.approx((truth.requests, truth.read), rel=WITHIN)


def test_damaged_files_are_looked_at_and_not_judged(tmp_path: Path) -> None:
    (tmp_path / "none.parquet").write_bytes(b"no Parquet")
    (tmp_path / "empty.parquet").write_bytes(b"")
    good = narrow(10)
    (tmp_path / "cut.parquet").write_bytes(good[:-9])
    (tmp_path / "footer.parquet").write_bytes(good[:-40] + bytes(32) + good[-8:])
    (tmp_path / "nowhere.parquet").symlink_to("nothing")
    found = predicted(planned(tmp_path, tier="index"), MetadataReads())

    assert found.looked_at == 4
    assert 4 <= of_tier(found, "index")[0] <= 16


def test_time_and_money_follow_from_what_is_assumed(lakes: Path) -> None:
    plan = planned(lakes / "narrow", tier="index")
    pace, prices = StorePace(latency_ms=10_000, mb_per_second=0.1), StorePrices(requests=1000, gb=1e9)
    one = next(given for given in predicted(plan, MetadataReads(), pace=pace, prices=prices).tiers)
    alone, shared = (
        next(given for given in predicted(plan, MetadataReads(), jobs=jobs, pace=pace).tiers)
        for jobs in (1, 4)
    )

    assert one.dollars == one.requests + one.read
    assert one.seconds == pytest.approx(10 * one.requests + one.read / 1e5, rel=0.01)
    assert alone.seconds / shared.seconds == pytest.approx(4, rel=0.1)


# ---------------------------------------------------------------------------------------------------- the command


def test_a_dry_run_says_what_it_assumes_and_judges_nothing(lakes: Path) -> None:
    command = [
        "check",
        str(lakes / "narrow"),
        "--dry-run",
        "--tier",
        "index",
        "--latency",
        "5",
        "--jobs",
        "2",
    ]
    text = invoke(app, command)
    lines = text.stdout.splitlines()
    data = json.loads(invoke(app, [*command, "--format", "json"]).stdout)

    assert 0 == text.exit_code
    assert lines[0].startswith("4 files to judge, ")
    assert (
        "predicted from the footers of 4 of them, for 2 workers and a store with 5 ms to the first byte, 80 MB/s, "
        "$0.0004 for 1,000 requests, nothing for bytes:"
    ) == lines[1]
    assert ["tier", "footer", "index", "pages", "values"] == [line.split()[0] for line in lines[2:7]]
    assert lines[4].endswith("<- this check")
    assert "nothing was judged" == lines[-1]
    assert {"latency_ms": 5.0, "mb_per_second": 80.0} == data["pace"]
    assert ["footer", "index", "pages", "values"] == [tier["tier"] for tier in data["tiers"]]


def test_of_a_table_the_metadata_is_in_it(tmp_path: Path) -> None:
    output = tmp_path / "estimate.json"
    result = invoke(app, ["estimate", str(DLT), "--format", "json", "--output", str(output)])
    data = json.loads(output.read_text())
    meta = data["tiers"][0]

    assert (0, "") == (result.exit_code, result.stdout)
    assert (1, 2, "meta") == (data["tables"], data["files"], meta["tier"])
    assert sum(path.stat().st_size for path in (DLT / "_delta_log").iterdir()) == meta["read"]
    assert all(tier["requests"] > meta["requests"] for tier in data["tiers"][1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--latency", "5"], "--latency is an option of `pqassay estimate`"),
        (["--gb-price", "0.09"], "--gb-price is an option of `pqassay estimate`"),
        (
            ["--dry-run", "--format", "html"],
            "an estimate is only printed in the formats text, json, not html",
        ),
        (["--dry-run", "--write-baseline", "b.json"], "--dry-run judges nothing; see `pqassay estimate`"),
    ],
)
def test_what_contradicts_a_dry_run_is_refused(options: list[str], message: str) -> None:
    result = invoke(app, ["check", str(DLT), *options])

    assert 2 == result.exit_code
    assert message in result.stderr
