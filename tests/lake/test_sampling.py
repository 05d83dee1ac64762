"""Samples: which files they have, how they grow, what is reported about the others, and how they go on after a kill."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.judge.one_file import Judged
from pqassay.report.model import Report
from pqassay.stores.targets import Target, find
from pqassay_lake.history.incremental import Keeper
from pqassay_lake.sampling import Sampling, Wish, sample_order, stratum_of

GOOD = (GOLDEN_FILES / "pqf/plain/data.parquet").read_bytes()
BAD = GOLDEN_FILES / "sta/bound-cut-in-a-character/data.parquet"
OTHER = next((GOLDEN_FILES / "interop/spark-4.1.4/delta-plain/table").glob("*.parquet"))


@given(st.lists(st.integers(0, 6), max_size=60), st.integers(-9, 9))
def test_every_beginning_of_the_order_has_files_from_all_strata_in_proportion(
    strata: list[int], seed: int
) -> None:
    names = [f"{number}.parquet" for number in range(len(strata))]
    order = sample_order(strata, names, seed)
    assert list(range(len(strata))) == sorted(order)
    sizes, taken = Counter(strata), Counter[int]()
    for count, position in enumerate(order, 1):
        taken[strata[position]] += 1
        # Chance rounds each share up or down; the strata together may be as many files ahead.
        slack = 1 + len(sizes) * max(sizes.values()) / len(strata)
        assert all(abs(taken[one] - count * size / len(strata)) <= slack for one, size in sizes.items())


def test_the_order_follows_from_names_and_seed_and_not_from_the_listing() -> None:
    names = [f"{number}.parquet" for number in range(200)]
    strata = [number % 3 for number in range(200)]
    shuffled = random.Random(5).sample(range(200), 200)
    again = sample_order([strata[one] for one in shuffled], [names[one] for one in shuffled], 4)
    first = sample_order(strata, names, 4)
    assert [names[one] for one in first] == [names[shuffled[one]] for one in again]
    assert first[:50] != sample_order(strata, names, 5)[:50]


def test_each_file_comes_into_a_sample_as_often_as_any_other() -> None:
    strata = [0] * 90 + [1] * 9 + [2]
    names = [f"{number}.parquet" for number in range(100)]
    seen = Counter(position for seed in range(2000) for position in sample_order(strata, names, seed)[:10])
    assert 200 == pytest.approx(seen[99], rel=0.2)
    assert 1800 == pytest.approx(sum(seen[one] for one in range(90, 99)), rel=0.08)


# ------------------------------------------------------------------------------------------------ simulated lakes


def template(path: Path) -> Judged:
    report = pqassay.check(path, tier="footer")
    return report.files[0], report.coverages[report.files[0].coverage]


def verdicts_of(writers: Sequence[str], broken: Sequence[bool]) -> list[Judged]:
    (good, coverage), (bad, _) = template(OTHER), template(BAD)
    good = replace(good, findings=[])
    return [
        (replace(bad if is_bad else good, created_by=writer), coverage)
        for writer, is_bad in zip(writers, broken, strict=True)
    ]


def test_samples_grow_until_the_bound_of_each_frequent_writer_is_reached_and_hold_it() -> None:
    chance = random.Random(26)
    targets = [
        Target(
            f"lake/day={number % 40}/{number}.parquet",
            f"lake/day={number % 40}/{number}.parquet",
            size=1,
            modified=0,
        )
        for number in range(3000)
    ]
    writers = [chance.choices(["common", "frequent", "rare"], [80, 19, 0.2])[0] for _ in targets]
    broken = [writer == "frequent" and number % 40 == 7 for number, writer in enumerate(writers)]
    verdicts = verdicts_of(writers, broken)
    held: Counter[str | None] = Counter()
    for seed in range(20):
        sampling = Sampling(targets, Wish(bound=0.05, seed=seed), "must")
        while sampling.grow(verdicts[one][0] for one in sampling.chosen):
            pass
        told = sampling.conclusions([verdicts[one] for one in sampling.chosen])
        assert told.judged < 700
        tested = {one.writer: one.files for one in told.bounds if one.rule != "STA-018"}
        assert min(tested["common"], tested["frequent"]) >= 59 > tested.get("rare", 0)
        for one in told.bounds:
            own = [bad for bad, writer in zip(broken, writers, strict=True) if one.writer in (None, writer)]
            if one.rule != "STA-018":
                held[one.writer] += one.at_most >= sum(own) / len(own)
    assert min(held["common"], held["frequent"], held[None]) >= 19


def test_where_all_files_were_judged_the_share_is_exact() -> None:
    targets = [Target(f"{number}", f"{number}", size=1, modified=0) for number in range(10)]
    verdicts = verdicts_of(["a"] * 5 + ["b"] * 5, [True] + [False] * 9)
    sampling = Sampling(targets, Wish(bound=0.01), "must")
    told = sampling.conclusions([verdicts[one] for one in sampling.chosen])
    assert {(None, 0.1), ("a", 0.2), ("b", 0.0)} == {
        (one.writer, one.at_most) for one in told.bounds if one.rule != "STA-018"
    }


def test_a_rule_that_was_not_tested_everywhere_has_fewer_files_and_a_wider_bound() -> None:
    verdicts = verdicts_of(["a"] * 30, [True] + [False] * 29)
    untested = replace(verdicts[9][1], not_checked={"STA-018": _why(verdicts)})
    verdicts[9] = verdicts[9][0], untested
    verdicts[8] = replace(verdicts[8][0], error="it cannot be read", outcome="errored"), verdicts[8][1]
    targets = [Target(f"{number}", f"{number}", size=1, modified=0) for number in range(300)]
    told = Sampling(targets, Wish(files=30), "must").conclusions(verdicts)
    assert [("any rule that counts", 29), ("STA-018", 28)] == [(one.rule, one.files) for one in told.bounds]


def _why(verdicts: list[Judged]) -> pqassay.report.model.Untested:
    del verdicts
    return pqassay.report.model.Untested("file", "nothing to compare with")


def test_strata_are_partitions_of_tables_and_folders(tmp_path: Path) -> None:
    live = pqassay.judge.checker.planned(
        GOLDEN_FILES / "interop/spark-4.1.4/delta-partitions/table", tier="footer"
    )
    partitions = {stratum_of(one).partition for one in live.targets if not one.is_table}
    assert len(partitions) > 1
    assert all("=" in one for one in partitions)
    (tmp_path / "a.parquet").write_bytes(GOOD)
    (found,) = find([str(tmp_path)]).targets
    assert ("", str(tmp_path)) == stratum_of(found)


# ------------------------------------------------------------------------------------------------------- commands


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in range(60):
        path = tmp_path / "lake" / f"day={number % 3}" / f"{number}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(GOOD)
    return tmp_path / "lake"


def check(*arguments: str) -> Result:
    common = ["check", "--config", "none", "--tier", "footer", "lake"]
    return CliRunner().invoke(app, [*common, *arguments])


def test_the_same_seed_draws_the_same_files_whenever_they_were_changed(lake: Path) -> None:
    drawn = []
    for days in (0, 1, 400):
        for number, path in enumerate(sorted(lake.rglob("*.parquet"))):
            # Some of them on the day before, as where a job runs across midnight.
            moment = (
                1_709_164_799 + days * 86_400 + number % 2
            )  # a second before 29 February 2024, and the second after
            os.utime(path, (moment, moment))
        report = json.loads(check("--sample", "20", "--format", "json").stdout)
        drawn.append([one["path"] for one in report["files"] if one["outcome"] != "ignored"])
    assert 20 == len(drawn[0])
    assert [drawn[0]] * 3 == drawn


def test_a_sample_is_reproducible_and_the_report_says_what_it_is_about(lake: Path) -> None:
    text = check("--sample", "10%").stdout
    assert text == check("--sample", "10%").stdout
    assert "of 60 files from 3 strata, seed 0; each bound holds in 95 % of samples\n" in text
    assert "  at most 10 % of all files break any rule that counts (none of 20)\n" in text
    assert "ignored: 40 (not checked: not in the sample)" in text
    first, other = (
        json.loads(check("--sample", "6", "--seed", seed, "--format", "json").stdout) for seed in ("1", "2")
    )
    assert (60, 6, 1) == tuple(first["sample"][name] for name in ("files", "judged", "seed"))
    assert {one["path"] for one in first["files"]} != {one["path"] for one in other["files"]}
    assert {2} == set(Counter(Path(one["path"]).parent for one in first["files"]).values())
    assert lake.is_dir()


def test_a_sample_that_was_interrupted_goes_on_where_it_was(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pqassay_lake.history.verdict_cache.SETTLED", -(10**12))
    monkeypatch.setattr("pqassay_lake.sampling.BATCH", 8)
    write, written = Keeper.write, list[int]()

    def interrupted(keeper: Keeper, report: Report, positions: Sequence[int]) -> None:
        write(keeper, report, positions)
        written.append(len(positions))
        if len(written) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Keeper, "write", interrupted)
    common = ["--sample", "10%", "--reuse", "verdicts"]
    assert 130 == check(*common).exit_code
    monkeypatch.setattr(Keeper, "write", write)
    second = check(*common)
    assert "note: 16 of 20 verdicts taken from the table: those files did not change\n" in second.stderr
    assert check("--sample", "10%").stdout == second.stdout
    assert lake.is_dir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sample", "0%"], "write a bound from 0.001% to below 100%"),
        (["--sample", "some"], "write a bound from"),
        (["--sample", "0"], "write a bound from"),
        (["--sample", "1%", "--confidence", "100"], "a confidence is from 50 to below 100 percent"),
        (["--seed", "3"], "--seed is an option of `pqassay sample`"),
        (["--sample", "1%", "--dry-run"], "--dry-run judges nothing; see `pqassay estimate`"),
    ],
)
def test_what_no_sample_can_be_is_refused(lake: Path, arguments: list[str], message: str) -> None:
    result = check(*arguments)
    assert lake.is_dir()
    assert (2, True) == (result.exit_code, message in result.stderr)
