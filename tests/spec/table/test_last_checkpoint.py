"""The checksum of the last checkpoint file is the one that the protocol gives of its example, and that Spark writes."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from each import each
from places import GOLDEN_FILES
from pqassay_spec.table.last_checkpoint import CHECKSUM, checksum_of

EXAMPLE = {
    "k0": "'v 0'",
    "checksum": "adsaskfljadfkjadfkj",
    "k1": {"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]},
}


def test_the_example_of_the_protocol_has_its_checksum() -> None:
    assert "6a92d155a59bf2eecbd4b4ec7fd1f875" == checksum_of(EXAMPLE)


@pytest.mark.parametrize("table", ["delta-partitions", "delta-vectors"])
def test_spark_writes_the_same(table: str) -> None:
    path = GOLDEN_FILES / "interop/spark-4.1.4" / table / "table/_delta_log/_last_checkpoint"
    held: dict[str, Any] = json.loads(path.read_text())

    assert held[CHECKSUM] == checksum_of(held)


@each("value", [None, True, -1, Decimal("1.50"), "é/ \ud800", [], {"a": [None]}, [[], {}]])
def test_every_value_has_a_checksum(value: Any) -> None:
    assert 32 == len(checksum_of({"a": value}))


def test_members_have_no_order_and_numbers_stay_as_they_are_written() -> None:
    assert checksum_of({"a": 1, "b": 2}) == checksum_of({"b": 2, "a": 1})
    assert checksum_of({"a": Decimal("1.0")}) != checksum_of({"a": Decimal("1.00")})


def test_a_value_may_be_nested_as_deeply_as_it_likes() -> None:
    value: Any = 1
    for _ in range(5000):
        value = {"a": [value]}

    assert 32 == len(checksum_of({"a": value}))
