"""The columns that an IDX1 index is compared with: which they are, and the claims about their values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from idx1_files import Idx1File, companion, edited, parquet, table
from pqassay.under_test.violation import Violation
from pqassay_reference.rewrite.extract import extract
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.thrift import FileMetaData


def rules_of(target: Any, **options: Any) -> set[str]:
    findings = pqassay.check(target, **options).files[0].findings
    return {rule for finding in findings for rule in (finding.rule, *finding.also)}


def test_columns_of_one_name_are_told_apart() -> None:
    data = pa.Table.from_arrays([pa.array(["x", "x"]), pa.array(["y", "y"])], names=["d", "d"])

    assert {"PQF-018"} == rules_of(Idx1File(data=parquet(data), payload=b"y").build())
    assert {"PQF-018"} == rules_of(Idx1File(data=parquet(data), payload=b"x").build())


def test_a_companion_record_means_a_path_not_a_name() -> None:
    table = parquet(pa.table({"a.b": ["x"], "l": [["y"]]}))
    for path in (("a", "b"), ("l", "list", "element")):
        file = Idx1File(data=table, payload=b"x" if path[0] == "a" else b"y")
        data = file.recorded(*path, rows=1, values=1)

        assert {"IDX1-018"} == rules_of(data)
        assert extract(BytesSource(data)).companion is None


def test_a_value_with_a_line_feed_is_reported_even_if_it_is_missing() -> None:
    file = Idx1File(data=parquet(table(["a\nb", "c"])), payload=b"c").build()

    assert {"IDX1-015", "IDX1-016"} == rules_of(file)


def test_a_damaged_magic_of_draft_g1_is_no_draft_g0() -> None:
    file = Idx1File(magic=b"JDX1", keys=[(idx1.KEY, "{offset}"), (idx1.LENGTH_KEY, "36")]).build()

    assert {"IDX1-006", "IDX1-032"} == rules_of(file)


def test_each_draft_length_key_is_compared() -> None:
    keys = [(idx1.KEY, "{offset}"), (idx1.LENGTH_KEY, "36"), (idx1.LENGTH_KEY, "8")]

    assert {"IDX1-031", "IDX1-032", "PQF-006"} == rules_of(Idx1File(keys=keys).build())


@pytest.mark.parametrize(("values", "fits"), [(["x", "y"], True), (["p", "q"], False)])
def test_a_column_that_does_not_decode_may_fit_and_is_no_obstacle_to_one_that_does(
    values: list[str], fits: bool
) -> None:
    data = pa.table({"a": values, "b": [f"{i:040d}" for i in range(2)]})
    content = bytearray(Idx1File(data=parquet(data, compression="zstd"), payload=b"x\ny").build())
    start = content.index(b"\x28\xb5\x2f\xfd", content.index(b"\x28\xb5\x2f\xfd", 60) + 1)
    content[start : start + 12] = bytes(12)
    with pytest.raises(Exception, match=r".+"):
        pq.read_table(pa.BufferReader(bytes(content)), columns=["b"])

    report = pqassay.check(bytes(content))
    (file,), (coverage,) = report.files, report.coverages.values()
    assert ("untrue", ["PQF-070"]) == (file.outcome, [finding.rule for finding in file.findings])
    assert fits == ({"IDX1-016", "IDX1-017"} <= set(coverage.checked))
    assert fits or "PQF-070 is broken" == coverage.reasons["IDX1-016"]


def test_pages_that_are_stored_elsewhere_are_not_looked_for_in_this_file() -> None:
    def move(metadata: FileMetaData) -> None:
        metadata.row_groups[1].columns[0].file_path = "other.parquet"

    data = edited(parquet(pa.table({"n": ["a", "b"], "m": ["p", "q"]}), row_group_size=1), move)
    report = pqassay.check(Idx1File(data=data, payload=b"a").build())
    (coverage,) = report.coverages.values()

    assert ["PQF-023"] == [finding.rule for finding in report.files[0].findings]
    assert (
        "row group 1 of column n is stored in another file, 'other.parquet'"
        == coverage.not_checked["IDX1-016"].reason
    )
    assert {"PQF-023"} == rules_of(Idx1File(data=data, payload=b"p\nq").build())


def test_a_companion_record_counts_for_nothing_where_two_columns_have_the_name() -> None:
    for second in (["y"], [1]):
        columns = pa.Table.from_arrays([pa.array(["x"]), pa.array(second)], names=["d", "d"])
        data = Idx1File(data=parquet(columns), payload=b"x").recorded("d", rows=1, values=1)
        finding, other = pqassay.check(data).files[0].findings

        assert "PQF-018" == other.rule
        assert ("IDX1-018", "several columns are called d; a companion record means one") == (
            finding.rule,
            finding.message,
        )
        assert extract(BytesSource(data)).companion is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (companion()[:-1] + ',"null_count":1}', "no JSON: member 'null_count' occurs twice"),
        (companion()[:-1] + ',"note":{"a":1,"a":2}}', "no JSON: member 'a' occurs twice"),
        (companion()[:-1] + ',"note":NaN}', "no JSON: NaN is not JSON"),
        (companion()[:-1] + ',"note":[-Infinity]}', "no JSON: -Infinity is not JSON"),
    ],
)
def test_a_companion_record_that_readers_take_differently_is_none(text: str, reason: str) -> None:
    file = Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, text)]).build()
    (finding,) = pqassay.check(file).files[0].findings

    assert ("IDX1-020", reason) == (finding.rule, finding.message)


def test_many_carriage_returns_are_counted_not_piled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Idx1File(payload=b"\r\n" * 100_000).build()
    made: list[Violation] = []

    def make(**given: Any) -> Violation:
        made.append(Violation(**given))
        return made[-1]

    monkeypatch.setattr("pqassay.checks.idx1.blob.Violation", make)
    (finding,) = pqassay.check(data, tier="index", only=["IDX1-012", "IDX1-014"]).files[0].findings

    assert ("IDX1-014", 100_000, ["IDX1-012"]) == (finding.rule, finding.count, finding.also)
    assert 4 == len(made)


def test_nulls_of_all_row_groups_are_counted() -> None:
    values = [None, "a", "a", "a", None, "a"]
    file = Idx1File(data=parquet(table(values), row_group_size=2), payload=b"a")
    data = file.recorded("nation", rows=6, values=1, nulls=2)

    assert set() == rules_of(data)


@pytest.mark.parametrize("values", [["a", "a", "", ""], ["", "", "a", "a"]])
def test_a_value_of_any_row_group_shows_that_not_all_are_empty(values: list[str]) -> None:
    data = parquet(table(values), row_group_size=2)

    assert {"IDX1-016"} == rules_of(Idx1File(data=data, payload=b"").build())


def test_a_dictionary_column_holds_what_its_rows_name_not_what_its_dictionary_lists() -> None:
    unused = pa.DictionaryArray.from_arrays(pa.array([0, 2, None]), pa.array(["a", "unused", "b"]))
    file = Idx1File(data=parquet(pa.table({"nation": unused, "year": [1, 2, 3]})), payload=b"a\nb")
    data = file.recorded("nation", rows=3, values=2, nulls=1)

    # pyarrow takes the bounds of the chunk from the dictionary, and calls them exact: no row holds "unused".
    assert {"STA-042"} == rules_of(data)


def test_nulls_of_another_column_are_not_compared_with_the_companion_record() -> None:
    columns = pa.table({"nation": ["a", "b"], "other": ["a", "b"], "holes": ["a", None]})
    file = Idx1File(data=parquet(columns), payload=b"a")
    data = file.recorded("nation", rows=2, values=1)
    report = pqassay.check(data, idx1_column="holes")
    (coverage,) = report.coverages.values()

    assert [] == report.files[0].findings
    assert (
        "the index was compared with holes, but the companion record names nation"
        == coverage.not_checked["IDX1-023"].reason
    )


def test_a_draft_that_would_overlap_pages_is_a_stale_key() -> None:
    keys = [(idx1.KEY, "20"), (idx1.LENGTH_KEY, "8")]
    found = rules_of(Idx1File(payload=None, keys=keys).build(), tier="index")

    assert {"IDX1-007", "IDX1-032"} == found
