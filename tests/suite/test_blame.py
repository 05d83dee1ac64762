"""Blame by minimal difference, on small columns that are made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pqassay.report.run.model import Result
from pqassay_suite.results.blame import Judge, failure_of, kinds
from pqassay_suite.results.columns import Column

FEATURES = {
    "int": frozenset({"physical.int32"}),
    "long": frozenset({"physical.int64"}),
    "bytes": frozenset({"physical.byte-array"}),
    "text": frozenset({"logical.string"}),
    "list": frozenset({"logical.list"}),
    "plain": frozenset({"encoding.plain"}),
    "delta": frozenset({"encoding.delta-binary-packed"}),
    "zstd": frozenset({"codec.zstd"}),
    "none": frozenset({"codec.uncompressed"}),
}


def column(*names: str) -> Column:
    """A column with these features; the first is that of its first element."""
    tags = frozenset[str]().union(*(FEATURES[name] for name in names))
    return Column(tags, FEATURES[names[0]])


PLAIN_INT = column("int", "plain", "none")
PLAIN_LONG = column("long", "plain", "none")
DELTA_INT = column("int", "delta", "none")
DELTA_LONG = column("long", "delta", "none")
TEXT = column("text", "bytes", "plain", "none")
BYTES = column("bytes", "plain", "none")
LIST = column("list", "int", "plain", "none")
ZSTD_INT = column("int", "plain", "zstd")

EVERY = (PLAIN_INT, PLAIN_LONG, DELTA_INT, DELTA_LONG, TEXT, BYTES, LIST, ZSTD_INT)


def culprits(
    failing: Mapping[str, Column], passed: Sequence[Column], difference: str | None = None
) -> set[str]:
    """The features to blame for the failure of one file, where a reader reads files of these columns."""
    failure = failure_of(Result("case", "PQF", "read", "failed", first_difference=difference), failing)
    read = {str(place): [one] for place, one in enumerate(passed)}
    return Judge([failure], read, kinds(FEATURES, EVERY)).culprits(failure)


def test_a_pair_that_differs_in_one_feature_blames_it() -> None:
    assert {"delta"} == culprits({"n": DELTA_INT}, [PLAIN_INT, PLAIN_LONG])
    assert {"zstd"} == culprits({"n": ZSTD_INT}, [PLAIN_INT, DELTA_INT])
    assert {"list"} == culprits({"n": LIST}, [PLAIN_INT])


def test_columns_that_differ_in_two_features_blame_none() -> None:
    assert set() == culprits({"n": DELTA_INT}, [PLAIN_LONG])
    assert set() == culprits({"n": ZSTD_INT}, [TEXT])


def test_a_neighbour_is_not_tainted() -> None:
    """The list is wrong; the numbers beside it came back rightly, and are even the other half of the pair."""
    assert {"list"} == culprits({"n": PLAIN_INT, "l": LIST}, [], "column l")


@pytest.mark.parametrize("difference", ["column l, with a comma", "row_groups[0]", None])
def test_without_a_named_column_all_that_are_not_read_elsewhere_must_agree(difference: str | None) -> None:
    file = {"n": PLAIN_INT, "l": LIST}

    assert {"list"} == culprits(file, [PLAIN_INT, TEXT], difference)
    assert set() == culprits({"z": ZSTD_INT, "l": LIST}, [PLAIN_INT, TEXT], difference)
    assert {"delta"} == culprits({"n": DELTA_INT, "m": DELTA_LONG}, [PLAIN_INT, PLAIN_LONG], difference)


def test_a_file_all_of_whose_columns_are_read_elsewhere_blames_nothing() -> None:
    assert set() == culprits({"n": PLAIN_INT, "t": TEXT}, [PLAIN_INT, PLAIN_LONG, TEXT, BYTES])


def test_where_an_equal_column_is_read_values_blame_the_type_alone() -> None:
    assert {"int"} == culprits({"n": DELTA_INT}, [DELTA_INT, PLAIN_INT, DELTA_LONG])
    assert set() == culprits({"n": DELTA_INT}, [DELTA_INT, PLAIN_INT])
    assert {"list"} == culprits({"n": LIST}, [LIST, PLAIN_INT])


def test_a_variety_is_blamed_rather_than_its_kind() -> None:
    assert {"text"} == culprits({"n": TEXT}, [BYTES, PLAIN_INT])
    assert {"text"} == culprits({"n": TEXT}, [PLAIN_INT])
    assert {"bytes"} == culprits({"n": BYTES}, [PLAIN_INT])


def test_of_two_pairs_the_feature_whose_cases_fail_most_often_is_blamed() -> None:
    passed = [PLAIN_INT] * 5 + [DELTA_LONG]

    assert {"delta"} == culprits({"n": DELTA_INT}, passed)
    assert {"int"} == culprits({"n": DELTA_INT}, [PLAIN_INT, *[DELTA_LONG] * 5])
