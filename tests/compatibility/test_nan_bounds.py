"""Bounds that are NaN: what is reported of them, and what DataFusion, which takes NaN for the greatest value, makes of them."""

from __future__ import annotations

import math
import struct
from itertools import product
from pathlib import Path
from typing import Literal, get_args

import datafusion
import pytest

import pqassay
from damage import EXAMPLES
from pqassay_golden.tiny.parquet import Column, Layout, TinyParquet
from pqassay_spec.mutation.mutations import Mutation, mutate

Values = list[float | None]
Kind = Literal["float", "double", "float16"]
Place = Literal["statistics", "deprecated", "both", "unordered", "page index"]

FORMS: dict[Kind, str] = {"float": "<f", "double": "<d", "float16": "<e"}
FACTS = "footer.row_groups[0].columns[0].meta_data.statistics"
INDEX = "row_groups[0].columns[0].column_index"

NUMBERS: Values = [1.0, 2.0, 3.0]
BESIDE_NAN: Values = [1.0, math.nan, 2.0, 3.0]
WITH_NULL: Values = [1.0, None, 2.0, 3.0]


def not_a_number(kind: Kind, *, negative: bool) -> bytes:
    raw = bytearray(struct.pack(FORMS[kind], math.nan))
    raw[-1] = raw[-1] & 0x7F | negative << 7
    return bytes(raw)


def written(
    kind: Kind, values: Values, place: Place, bounds: dict[str, bool], *, exact: bool = False
) -> bytes:
    """A file some of whose bounds, ``min`` and ``max``, are NaN of a sign."""
    layout = Layout(exact=exact, deprecated=place in ("deprecated", "both"), bounds=place != "deprecated")
    file = TinyParquet((Column("x", kind, values),), layout=layout, page_index=place == "page index")
    data = file.build()
    if place == "unordered":
        data = mutate(data, Mutation("remove", "footer.column_orders"))
    for side, negative in bounds.items():
        raw = not_a_number(kind, negative=negative)
        paths = {
            "deprecated": [f"{FACTS}.{side}"],
            "both": [f"{FACTS}.{side}", f"{FACTS}.{side}_value"],
            "page index": [f"{INDEX}.{side}_values[0]"],
        }.get(place, [f"{FACTS}.{side}_value"])
        for path in paths:
            data = mutate(data, Mutation("set", path, raw))
    return data


def reported(data: bytes) -> dict[str, str]:
    """The verdicts on bounds that are NaN, by rule."""
    (file,) = pqassay.check(data, only=["STA-007", "STA-042", "STA-089", "PIX-030", "PIX-086"]).files
    return {finding.rule: finding.verdict for finding in file.findings}


def loses(path: Path, data: bytes) -> bool:
    """Whether DataFusion finds fewer rows than there are."""
    path.write_bytes(data)
    context = datafusion.SessionContext()
    context.register_parquet("t", path)
    counts = [
        context.sql(f"SELECT x FROM t WHERE x {condition}").count()
        for condition in ("= 2.0", "< 4.0", "> 0.5")
    ]
    return counts[0] < 1 or counts[1] < 3 or counts[2] < 3


BOUNDS = [
    *({side: negative} for side, negative in product(("min", "max"), (False, True))),
    {"min": False, "max": False},
    {"min": True, "max": True},
]


PLACES: tuple[Place, ...] = get_args(Place)

PART = 1 if EXAMPLES == 1 else 5
"""Each kind and place looks at one of this number of values with their bounds, and others than its neighbors; all by `make damages`."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["float", "double", "float16"])
def test_a_nan_is_a_warning_where_it_leaves_out_numbers_and_a_remark_elsewhere(
    kind: Kind, place: Place, tmp_path: Path
) -> None:
    of_place = ("PIX-030", "PIX-086") if place == "page index" else ("STA-007", "STA-089")
    first = PLACES.index(place) + list(FORMS).index(kind)
    for values, bounds in list(product((NUMBERS, BESIDE_NAN, WITH_NULL), BOUNDS))[first % PART :: PART]:
        data = written(kind, values, place, bounds)
        verdicts = reported(data)
        excluding = bounds.get("min") is False or bounds.get("max") is True

        assert excluding == loses(tmp_path / "a.parquet", data), (values, bounds)
        assert ("WARN" if excluding else None) == verdicts.get(of_place[1]), (values, bounds)
        assert excluding or {of_place[0]: "INFO"} == verdicts, (values, bounds)


@pytest.mark.parametrize("kind", ["float", "double", "float16"])
def test_bounds_that_are_numbers_are_no_matter_of_these_rules(kind: Kind) -> None:
    assert {} == {
        (place, rule): verdict
        for place in PLACES
        for rule, verdict in reported(written(kind, BESIDE_NAN, place, {})).items()
    }


@pytest.mark.parametrize("place", ["statistics", "deprecated", "unordered"])
def test_a_chunk_of_nothing_but_nan_has_bounds_that_leave_out_no_number(place: Place) -> None:
    data = written("double", [math.nan, None, math.nan], place, {"min": False, "max": False})

    assert {"STA-007": "INFO"} == reported(data)


def test_two_equal_bounds_of_nan_are_all_values_to_datafusion(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(written("double", NUMBERS, "statistics", {"min": False, "max": False}))
    context = datafusion.SessionContext()
    context.register_parquet("t", path)
    (batch,) = context.sql("SELECT x FROM t").collect()

    assert ["nan"] * 3 == [str(value) for value in batch.column(0).to_pylist()]


@pytest.mark.parametrize(("values", "expected"), [(NUMBERS, "FAIL"), (BESIDE_NAN, None)])
def test_a_nan_that_is_called_exact_occurs(values: Values, expected: str | None) -> None:
    data = written("double", values, "statistics", {"max": False}, exact=True)

    assert expected == reported(data).get("STA-042")
