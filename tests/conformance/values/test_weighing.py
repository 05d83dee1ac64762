"""Where values and metadata contradict each other, the side that is likelier to be wrong is named, with what speaks for it."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import weighing
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import EXAMPLES, tries
from golden_cases import golden_cases
from idx1_files import edited
from places import GOLDEN_FILES
from pqassay.report.model import Finding
from pqassay.report.renderers.details import details
from pqassay.report.renderers.text import render
from pqassay.report.weighing import SIDES, Weighing, worst
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, Options
from pqassay.under_test.pages.walk import PageUnderTest
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.thrift import FileMetaData, Statistics

ROWS = 60
KINDS: dict[str, tuple[pa.DataType, str, Callable[[np.random.Generator], Any]]] = {
    "int32": (pa.int32(), "<i4", lambda draw: draw.integers(-500, 5000, ROWS)),
    "int64": (pa.int64(), "<i8", lambda draw: draw.integers(1_000, 9_000, ROWS)),
    "float": (pa.float32(), "<f4", lambda draw: draw.normal(20, 5, ROWS).round(2)),
    "double": (pa.float64(), "<f8", lambda draw: draw.normal(-3, 5, ROWS).round(2)),
    "time": (pa.timestamp("us"), "<i8", lambda draw: draw.integers(16 * 10**14, 17 * 10**14, ROWS)),
}
"""Types of columns, each with the form of its values as bytes."""

Damage = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]

DAMAGES: dict[str, Damage] = {
    "reversed": lambda rows: rows[:, ::-1],
    "shifted to the front": lambda rows: np.append(rows.reshape(-1)[1:], 0).astype(np.uint8),
    "shifted to the back": lambda rows: np.append(1, rows.reshape(-1)[:-1]).astype(np.uint8),
    "split into streams": lambda rows: rows.T,
    "put together": lambda rows: rows.reshape(rows.shape[1], -1).T,
}
"""What may happen to the bytes of a page."""


def made_false(values: np.ndarray[Any, Any]) -> dict[str, Statistics]:
    """Bounds that are false over true values, by how."""
    ordered = np.sort(values)

    def bounds(low: Any, high: Any) -> Statistics:
        raws = [values.dtype.type(raw).tobytes() for raw in (low, high)]
        return Statistics(null_count=0, min_value=raws[0], max_value=raws[1])

    return {
        "upper of half": bounds(ordered[0], ordered[ROWS // 2]),
        "upper of the one before": bounds(
            ordered[0], ordered[-2] if ordered[-2] < ordered[-1] else ordered[0]
        ),
        "lower a little too great": bounds(ordered[0] + 1, ordered[-1]),
        "both a little too narrow": bounds(ordered[0] + 1, ordered[-1] - 1),
        "nothing": bounds(0, 0),
    }


def written(kind: str, seed: int, **options: Any) -> tuple[bytes, np.ndarray[Any, Any]]:
    """A file of one column without levels, and its values."""
    data_type, form, drawn = KINDS[kind]
    values = drawn(np.random.default_rng(seed)).astype(form)
    schema = pa.schema([pa.field("a", data_type, nullable=False)])
    table = pa.Table.from_arrays([pa.array(values).view(data_type)], schema=schema)
    out = io.BytesIO()
    pq.write_table(table, out, compression="none", use_dictionary=False, **options)
    return out.getvalue(), values


def pages(data: bytes) -> list[PageUnderTest]:
    (chunk,) = FileUnderTest(BytesSource(data), Options("values")).part(ColumnChunks).all
    return list(chunk.data_pages)


def damaged(data: bytes, width: int, damage: Damage) -> bytes:
    """The file with other bytes in its first page."""
    page = pages(data)[0]
    end = page.body_start + page.header.compressed_page_size
    rows = np.frombuffer(data[page.body_start : end], np.uint8).reshape(-1, width)
    return data[: page.body_start] + np.ascontiguousarray(damage(rows)).tobytes() + data[end:]


def findings(data: bytes) -> list[Finding]:
    return [each for each in pqassay.check(data, tier="values").files[0].findings if each.verdict == "FAIL"]


def sides(data: bytes) -> set[str | None]:
    return {None if each.weighed is None else each.weighed.wrong for each in findings(data)}


STEP = 3 * EXAMPLES - 2
"""One of this number of golden files and trials is looked at; all by `make damages`."""


@tries(15)
@given(
    st.sampled_from(sorted(KINDS)),
    st.integers(0, 1 << 30),
    st.sampled_from(sorted(DAMAGES)),
    st.booleans(),
    st.booleans(),
)
def test_damage_in_a_page_is_named(kind: str, seed: int, how: str, has_index: bool, has_filter: bool) -> None:
    filters = {"bloom_filter_options": {"a": {"ndv": ROWS, "fpp": 0.001}}} if has_filter else {}
    data, values = written(kind, seed, write_page_index=has_index, **filters)
    spoilt = damaged(data, values.itemsize, DAMAGES[how])

    assert [] == findings(data)
    assert {"values"} == sides(spoilt)
    # One damage is one finding, and no remedy removes what shows it.
    (finding,) = findings(spoilt)
    assert finding.remedy is None
    assert finding.also


@tries(15)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 1 << 30), st.booleans())
def test_false_bounds_stay_the_ones_to_blame(kind: str, seed: int, has_index: bool) -> None:
    data, values = written(kind, seed, write_page_index=has_index)
    named: Counter[tuple[str, str | None]] = Counter()
    for how, false in made_false(values).items():

        def change(metadata: FileMetaData, false: Statistics = false) -> None:
            facts = metadata.row_groups[0].columns[0].meta_data
            assert facts is not None
            facts.statistics = false

        named.update((how, side) for side in sides(edited(data, change)))

    assert set() == {(how, side) for how, side in named if side != "metadata"}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_wrong_crc_speaks_for_all_that_contradicts_the_values(kind: str) -> None:
    data, values = written(kind, 7, write_page_checksum=True, write_page_index=True)
    (finding,) = findings(damaged(data, values.itemsize, DAMAGES["reversed"]))

    assert ("PQF-063", "values") == (finding.rule, finding.weighed and finding.weighed.wrong)
    assert {"STA-040", "STA-041", "PIX-050", "PIX-051"} & set(finding.also)
    assert "the CRC of page 0 is wrong" in (finding.weighed.reasons if finding.weighed else [])


def test_a_value_far_beyond_two_structures_is_damage_and_one_beside_a_bound_is_not() -> None:
    data, values = written("int64", 3, write_page_index=True)

    def with_value(value: int) -> bytes:
        return damaged(data, 8, lambda rows: np.append(np.int64(value), rows.reshape(-1).view("<i8")[1:]))

    assert {"values"} == sides(with_value(1 << 62))
    assert "values" not in sides(with_value(int(values.max()) + 1))


def test_a_number_that_one_bit_keeps_beyond_the_bounds_is_damage_and_another_far_number_is_not() -> None:
    data, values = written("int64", 3)

    def with_value(value: int) -> bytes:
        return damaged(data, 8, lambda rows: np.append(rows.reshape(-1).view("<i8")[:-1], np.int64(value)))

    assert {"values"} == sides(with_value(int(values[0]) ^ 1 << 40))
    assert {"metadata"} == sides(with_value(999_999))


def test_a_page_that_is_there_twice_is_damage() -> None:
    data, _ = written("double", 5, write_page_index=True, data_page_size=1, write_batch_size=ROWS // 3)
    first, second, _ = pages(data)
    size = first.header.compressed_page_size
    twice = data[: second.body_start] + data[first.body_start :][:size] + data[second.body_start + size :]

    assert {"values"} == sides(twice)
    (finding,) = findings(twice)
    assert finding.weighed is not None
    assert "pages 0 and 1 have the same values" in finding.weighed.reasons


@pytest.mark.parametrize("how", ["values of another column", "bounds of another column"])
def test_columns_that_are_confused_are_told_apart(how: str) -> None:
    setting = weighing.Setting(
        has_index=True, has_filter=False, pages=1, has_dictionary=False, is_nullable=False
    )
    file = weighing.written("int32", setting)
    draw = np.random.default_rng(1)
    if how == "values of another column":
        spoilt = weighing.with_damaged_values(file, how, draw, in_all=True)
        assert {"values"} == sides(spoilt)
    else:
        assert {"metadata"} == sides(weighing.with_false_claims(file, how, "both"))


def test_the_figures_of_the_guide_are_those_of_this_weighing() -> None:
    kept = {(kind["wrong"], kind["how"]): kind for kind in json.loads(weighing.FIGURES.read_text())}
    trials = [*islice(weighing.trials(["int32"]), 0, None, 11 * STEP)]
    answers = [(trial.wrong, weighing.answered(trial.data)) for trial in trials]
    right = [wrong == side for wrong, side in answers if side is not None]

    assert {(trial.wrong, trial.how) for trial in trials} <= kept.keys()
    assert sum(right) / len(right) > 0.85
    for side in ("values", "metadata"):
        mine = [kind for (wrong, _), kind in kept.items() if wrong == side]
        assert sum(kind[side] for kind in mine) > 0.9 * sum(kind[each] for kind in mine for each in SIDES)


@pytest.mark.slow
def test_golden_files_of_false_metadata_blame_the_metadata() -> None:
    damages = {"sta/streams-split-twice", "sta/bytes-of-values-reversed", "sta/page-of-zeros"}
    named = {
        (golden.case.id, each.weighed.wrong)
        for number, golden in enumerate(golden_cases())
        if golden.case.family in ("STA", "PIX", "BLM") and golden.case.kind == "invalid"
        if number % STEP == 0 or golden.case.id in damages
        for each in pqassay.check(golden.content(), tier="values").files[0].findings
        if each.weighed is not None
    }

    assert damages == {case for case, side in named if side == "values"}
    assert set() == {case for case, side in named if side == "either"}
    assert len(named) > 70 // STEP


def test_the_finding_says_what_speaks_for_it() -> None:
    path = Path(GOLDEN_FILES / "sta/streams-split-twice/data.parquet")
    (finding,) = pqassay.check(path, tier="values").files[0].findings
    shown = dict(details(finding))

    assert ["PIX-051", "STA-040", "STA-041"] == finding.also
    assert shown["likelier"].startswith(
        "pages damaged, metadata true: the values of page 0 lie within the bounds"
    )
    assert shown["first"].startswith("compare the values with their source")
    assert "remedy" not in shown


def test_of_several_row_groups_the_damage_counts() -> None:
    false, damage = Weighing("metadata", ["a"]), Weighing("values", ["b"])

    assert damage == worst([false, damage, Weighing("either", ["c"])])
    assert worst([]) is None


def test_a_report_says_where_no_page_has_a_crc(tmp_path: Path) -> None:
    def lines(*files: bytes, tier: Any = "values") -> list[str]:
        paths = [tmp_path / f"{number}.parquet" for number in range(len(files))]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        stream = io.StringIO()
        render(pqassay.check(paths, tier=tier), stream)
        return [line for line in stream.getvalue().splitlines() if "CRC" in line]

    without, with_crc = written("int64", 1)[0], written("int64", 1, write_page_checksum=True)[0]
    blind = "damage inside values is only visible if other data contradict it"

    assert [f"no page has a CRC: {blind}"] == lines(without)
    assert [f"no CRC in the pages of 1 file: {blind}"] == lines(without, with_crc)
    assert [] == lines(with_crc) + lines(without, tier="footer")
