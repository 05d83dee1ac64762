"""Bounds of what a sample says about all files, against exact sums and against simulated lakes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pqassay.report.bounds import ANY, SampleBound, Sampled, needed, upper_bound

RISK = 0.05


def tail(broken: int, tested: int, files: int, all_broken: int) -> float:
    """How likely a sample has at most ``broken`` broken files, by whole numbers."""
    ways = sum(
        math.comb(all_broken, number) * math.comb(files - all_broken, tested - number)
        for number in range(broken + 1)
    )
    return ways / math.comb(files, tested)


@pytest.mark.parametrize(
    ("broken", "tested", "bound"),
    [(0, 1000, 0.0029912), (0, 59, 0.0495077), (1, 20, 0.2161068), (5, 100, 0.1022534)],
)
def test_bounds_are_those_of_clopper_and_pearson(broken: int, tested: int, bound: float) -> None:
    assert bound == pytest.approx(upper_bound(broken, tested), abs=2e-6)


@pytest.mark.parametrize(("files", "tested"), [(60, 20), (60, 59), (31, 7), (12, 12)])
def test_of_few_files_the_bound_is_the_greatest_number_that_the_sample_allows(
    files: int, tested: int
) -> None:
    for broken in range(tested + 1):
        fits = [
            number
            for number in range(broken, files - tested + broken + 1)
            if number == broken or tail(broken, tested, files, number) > RISK
        ]
        assert max(fits) / files == upper_bound(broken, tested, files)


@pytest.mark.parametrize("all_broken", [0, 1, 2, 7, 30, 59, 60])
def test_a_bound_is_wrong_in_no_more_samples_than_the_risk(all_broken: int) -> None:
    files, tested = 60, 20
    wrong = sum(
        math.comb(all_broken, broken)
        * math.comb(files - all_broken, tested - broken)
        / math.comb(files, tested)
        for broken in range(max(0, tested - files + all_broken), min(tested, all_broken) + 1)
        if upper_bound(broken, tested, files) < all_broken / files
    )
    assert wrong <= RISK + 1e-12


def test_a_sample_is_as_small_as_its_bound_allows() -> None:
    for bound, files in ((0.003, None), (0.01, 5000), (0.05, 200), (0.5, 3)):
        size = needed(bound, files)
        assert upper_bound(0, size, files) <= bound < upper_bound(0, size - 1, files)
    assert (1, 0) == (needed(0.5, 1), needed(0.1, 0))


def lake(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A million files: how many each writer has in each of 1,500 strata, and how many of these are broken."""
    chance = np.random.default_rng(seed)
    share = chance.dirichlet((6.0, 3.0, 1.0), size=1500)
    sizes = chance.multinomial(1_000_000, chance.dirichlet(np.full(1500, 0.8)))
    files = np.stack([chance.multinomial(size, one) for size, one in zip(sizes, share, strict=True)])
    # What is broken comes in clusters: jobs ran on some days, in some partitions.
    rates = np.where(chance.random(files.shape) < 0.02, chance.random(files.shape), 0.0) * [0.0, 0.3, 1.0]
    return files, chance.binomial(files, rates)


def bounds_of(files: np.ndarray, broken: np.ndarray, size: int, chance: np.random.Generator) -> list[bool]:
    """Whether the bound of each writer holds for a sample in proportion from all strata."""
    sizes = files.sum(axis=1)
    own = np.floor(size * sizes / sizes.sum() + chance.random(len(sizes))).astype(int)
    kinds = np.concatenate([broken, files - broken], axis=1)
    drawn = np.zeros(kinds.shape[1], dtype=int)
    for stratum in np.flatnonzero(own):
        drawn += chance.multivariate_hypergeometric(kinds[stratum], min(own[stratum], sizes[stratum]))
    found, sound = drawn[:3], drawn[3:]
    truth = broken.sum(axis=0) / files.sum(axis=0)
    return [
        upper_bound(int(one), int(one + rest)) >= share
        for one, rest, share in zip(found, sound, truth, strict=True)
    ]


def test_a_sample_of_a_million_files_is_within_its_bound_in_19_of_20_seeds() -> None:
    files, broken = lake(16)
    held = np.array([bounds_of(files, broken, 10_000, np.random.default_rng(seed)) for seed in range(20)])
    assert [True, True, True] == [count >= 19 for count in held.sum(axis=0)]


def test_lines_say_what_is_known_and_round_up() -> None:
    bounds = [
        SampleBound(ANY, 998, 0, 0.0029973),
        SampleBound("STA-041", 1002, 3, 0.00772, "parquet-mr version 1.13.1"),
        SampleBound(ANY, 12, 0, 0.2209, "arrow-go"),
    ]
    assert [
        "sample: 1,014 of 1,000,000 files from 365 strata, seed 7; each bound holds in 95 % of samples",
        "  at most 0.3 % of all files break any rule that counts (none of 998)",
        "  at most 0.78 % of the files of parquet-mr version 1.13.1 break STA-041 (3 of 1,002)",
        "  at most 23 % of the files of arrow-go break any rule that counts (none of 12); more than the 0.3 % that was asked for",
    ] == Sampled(1_000_000, 1014, 365, 7, 0.95, 0.003, bounds).lines
