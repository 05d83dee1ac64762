"""Which files a filter leaves: never one too few, and none too many where the values are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from damage import tries
from pqassay_reader.condition.normal import Condition
from pqassay_reader.condition.rows import ExpressionTest, expression_of
from pqassay_reader.lake.filters import condition_of_filter
from pqassay_reader.pages.excluding import EVERY, FileSets
from pqassay_reader.pages.whole_files import FileValues, WholeFiles, indexable

pytestmark = pytest.mark.slow

NATION: Any = pc.field("nation")
YEAR: Any = pc.field("year")
AMOUNT: Any = pc.field("amount")
FIELDS: dict[str, pa.DataType] = {"nation": pa.string(), "year": pa.int64(), "amount": pa.float64()}
SCHEMA = pa.schema(FIELDS)

FILES: list[list[str | None]] = [["Peru", "Chad"], ["Chad"], ["Peru", None], [None], [], ["", "a\nb"]]


def facts_of(
    files: Sequence[Sequence[str | None]],
    schema: pa.Schema = SCHEMA,
    *,
    name: str = "nation",
    first: int = 0,
    in_pieces: bool = False,
) -> WholeFiles:
    """The values of a column in files, as an index table gives them."""
    several = [
        FileValues(
            name, number, tuple(sorted({one for one in values if one is not None})), None in values, in_pieces
        )
        for number, values in enumerate(files, first)
    ]
    return WholeFiles.of(schema, several)


def kept(
    condition: pc.Expression, *facts: WholeFiles, count: int = len(FILES), schema: pa.Schema = SCHEMA
) -> list[int]:
    asked = condition_of_filter(condition, schema)
    columns: dict[str, list[WholeFiles]] = {}
    for one in facts or (facts_of(FILES),):
        columns.setdefault(one.name, []).append(one)
    left = np.ones(count, np.bool_)
    if asked is not None:
        left &= FileSets(columns, np.arange(count), count).row_groups(asked, EVERY)
    return np.flatnonzero(left).tolist()


@pytest.mark.parametrize(
    ("condition", "files"),
    [
        (NATION == "Peru", [0, 2]),
        (NATION != "Peru", [0, 1, 5]),
        (NATION.isin(["Peru", "Oman"]), [0, 2]),
        (~NATION.isin(["Peru", "Chad"]), [2, 3, 5]),
        (NATION.is_valid() & ~NATION.isin(["Peru", "Chad"]), [5]),
        (NATION.is_null(), [2, 3]),
        (NATION.is_valid(), [0, 1, 2, 5]),
        (NATION < "D", [0, 1, 5]),
        ((NATION > "D") & (NATION < "Q"), [0, 2]),
        (pc.starts_with(NATION, "Pe"), [0, 2]),
        (pc.match_like(NATION, "%ha%"), [0, 1]),
        (pc.utf8_length(NATION) == 0, [5]),
        (NATION == "a\nb", [5]),
        (NATION == "a", []),
        ((NATION == "Peru") & (YEAR == 2020), [0, 2]),
        ((NATION == "Oman") & (YEAR == 2020), []),
        ((NATION == "Oman") | (YEAR == 2020), [0, 1, 2, 3, 4, 5]),
        (~((NATION == "Peru") | (YEAR == 2020)), [0, 1, 5]),
        (YEAR == 2020, [0, 1, 2, 3, 4, 5]),
        (pc.scalar(False), []),
        (pc.scalar(True), [0, 1, 2, 3, 4, 5]),
        (NATION.cast(pa.large_string()) == "Peru", [0, 2]),
        (pc.coalesce(NATION, pc.scalar("Peru")) == "Peru", [0, 2, 3]),
        (NATION == pa.scalar(None, pa.string()), []),
    ],
    ids=str,
)
def test_any_condition_on_known_values_is_decided(condition: pc.Expression, files: list[int]) -> None:
    assert files == kept(condition)


@pytest.mark.parametrize(
    "condition",
    [
        NATION.cast(pa.int64()) > 3,
        (NATION.cast(pa.int64()) > 3) & (NATION == "Chad"),
        NATION == 3,
        pc.field("absent") == "Peru",
        NATION + 1 == 2,
    ],
    ids=str,
)
def test_a_condition_that_cannot_be_tried_on_a_value_keeps_every_file_with_rows(
    condition: pc.Expression,
) -> None:
    assert [0, 1, 2, 3, 5] == [number for number in kept(condition) if FILES[number]]


@pytest.mark.parametrize("condition", [NATION.cast(pa.int64()) > 3])
def test_a_conversion_that_works_for_all_values_decides(condition: pc.Expression) -> None:
    assert [1] == kept(condition, facts_of([["1", "2"], ["4"]]), count=2)


def test_files_without_facts_are_kept() -> None:
    facts = facts_of([["Peru"]], first=1)

    assert [0, 2] == kept(NATION == "Chad", facts, count=3)
    assert [0, 1, 2] == kept(YEAR == 2020, facts, count=3)


def test_columns_decide_together() -> None:
    schema = pa.schema({"nation": pa.string(), "city": pa.string()})
    nation = facts_of([["Peru"], ["Peru"], ["Chad"]], schema)
    city = facts_of([["Lima"], ["Cusco"], ["Lima"]], schema, name="city")
    both = (NATION == "Peru") & (pc.field("city") == "Lima")

    assert [0] == kept(both, nation, city, count=3, schema=schema)
    either = (NATION == "Chad") | (pc.field("city") == "Cusco")
    assert [1, 2] == kept(either, nation, city, count=3, schema=schema)


def test_facts_about_other_files_of_the_same_column_stand_beside_each_other() -> None:
    one, two = facts_of([["Peru"]]), facts_of([["Chad"]], first=2)

    assert [1, 2] == kept(NATION == "Chad", one, two, count=3)


@pytest.mark.parametrize(
    "kind",
    [
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("condition", "files"),
    [
        (NATION == "Peru", [0, 2]),
        (NATION.isin(["Peru"]), [0, 2]),
        (NATION != "Peru", [0, 1, 5]),
        (NATION.is_null(), [2, 3]),
        (NATION > "D", [0, 2, 5]),
        (pc.starts_with(NATION, "a\n"), [5]),
    ],
    ids=str,
)
def test_text_is_text_in_whatever_type_the_dataset_has_it(
    kind: pa.DataType, condition: pc.Expression, files: list[int]
) -> None:
    schema = SCHEMA.set(0, pa.field("nation", kind))

    assert files == kept(condition, facts_of(FILES, schema), schema=schema)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_text_that_the_dataset_reads_as_bytes_is_compared_as_bytes(kind: pa.DataType) -> None:
    schema = SCHEMA.set(0, pa.field("nation", kind))

    assert [1] == kept(
        NATION == "日本".encode(), facts_of([["Peru"], ["日本"]], schema), count=2, schema=schema
    )


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        (pa.string(), True),
        (pa.dictionary(pa.int8(), pa.string_view()), True),
        (pa.binary(), True),
        (pa.int64(), False),
        (pa.float64(), False),
        (pa.dictionary(pa.int8(), pa.int64()), False),
        (pa.list_(pa.string()), False),
        (pa.date32(), False),
        (pa.decimal128(10, 2), False),
        (pa.binary(4), False),
    ],
    ids=str,
)
def test_only_text_can_be_compared_with_an_index(kind: pa.DataType, answer: bool) -> None:
    assert answer == indexable(kind)


@pytest.mark.parametrize(
    ("condition", "files"),
    [
        (NATION == "a", [0]),
        (NATION == "c", []),
        (NATION.isin(["b", "x"]), [0, 1]),
        ((NATION == "a") & (YEAR > 3), [0]),
        ((NATION == "c") | (NATION == "b"), [0, 1]),
        (pc.if_else(NATION.is_valid(), NATION.isin(["b"]), pa.scalar(None, pa.bool_())), [0, 1]),
        (NATION == "a\nb", [0, 1]),
        (NATION.isin(["c", "a\nb"]), [0, 1]),
        (NATION != "a", [0, 1]),
        (~(NATION == "a"), [0, 1]),
        (~NATION.isin(["a", "b"]), [0, 1]),
        ((NATION > "a") & (NATION < "b"), [0, 1]),
        (pc.starts_with(NATION, "z"), [0, 1]),
        (pc.if_else(NATION == "c", False, True), [0, 1]),
        (NATION.cast(pa.large_string()) == "c", [0, 1]),
        (NATION.is_null(), [0, 1]),
    ],
    ids=str,
)
def test_pieces_of_values_decide_only_whether_given_texts_occur(
    condition: pc.Expression, files: list[int]
) -> None:
    """The pieces {a, b} may be the one value "a\\nb": then NOT IN (a, b) and a < x < b hold for it."""
    facts = facts_of([["a", "b", None], ["b", None]], in_pieces=True)

    assert files == kept(condition, facts, count=2)


@given(
    values=st.lists(st.text("ab\n", max_size=4), min_size=1, max_size=4),
    literals=st.lists(st.text("ab\n", max_size=4), min_size=1, max_size=3),
    form=st.sampled_from(["=", "in", "not in", "!=", "<", ">="]),
)
@settings(deadline=None)
def test_pieces_never_lose_a_value_that_holds_line_feeds(
    values: list[str], literals: list[str], form: str
) -> None:
    pieces = "\n".join(values).split("\n")
    facts = facts_of([[*pieces, None]], in_pieces=True)
    condition = expression_of([form, "nation", literals if "in" in form else literals[0]], SCHEMA)
    rows = pa.table({"nation": values, "year": [0] * len(values), "amount": [0.0] * len(values)})

    if rows.filter(condition).num_rows:
        assert [0] == kept(condition, facts, count=1)


@pytest.mark.parametrize(
    "amount", [AMOUNT < 5, AMOUNT != 5, ~(AMOUNT < 5), pc.is_nan(AMOUNT), AMOUNT == 0.0, AMOUNT.isin([-0.0])]
)
def test_conditions_on_floats_keep_what_the_texts_keep(amount: pc.Expression) -> None:
    assert [0, 2] == kept((NATION == "Peru") & amount)
    assert [0, 1, 2, 3, 4, 5] == kept((NATION == "Peru") | amount)


@given(
    files=st.lists(
        st.lists(st.sampled_from(["", "a", "b", "ab", "é", None]), min_size=1, max_size=4),
        min_size=1,
        max_size=5,
    ),
    data=st.data(),
)
@tries(150)
def test_a_file_is_kept_exactly_if_one_of_its_values_may_satisfy_the_condition(
    files: list[list[str | None]], data: st.DataObject
) -> None:
    """Exactly, since all other columns are left open: the same condition on the rows themselves is the judge."""
    leaf = st.one_of(
        st.tuples(
            st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.just("nation"), st.sampled_from("ab")
        ),
        st.tuples(
            st.sampled_from(["in", "not in"]),
            st.just("nation"),
            st.lists(st.sampled_from(["", "a", "é"]), max_size=3),
        ),
        st.tuples(st.sampled_from(["is null", "is not null"]), st.just("nation")),
    ).map(list)
    tree = data.draw(
        st.recursive(
            leaf,
            lambda inner: st.one_of(
                inner.map(lambda part: ["not", part]),
                st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
            ),
            max_leaves=4,
        )
    )
    condition = expression_of(tree, SCHEMA)
    expected = []
    for number, values in enumerate(files):
        rows = pa.table({"nation": pa.array(values, pa.string())})
        if rows.filter(condition).num_rows:
            expected.append(number)

    assert expected == kept(condition, facts_of(files), count=len(files))


def test_many_values_are_decided_as_few_are() -> None:
    names = [f"value {number:04}" for number in range(1000)]
    facts = facts_of([names[:500], names[500:], [None]])
    some = NATION.isin(names[480:500])

    assert [0] == kept(some, facts, count=3)
    assert [0] == kept(some & (YEAR == 3), facts, count=3)
    assert [1] == kept(NATION > names[499], facts, count=3)
    assert [0, 1, 2] == kept(some | (YEAR == 3), facts, count=3)
    assert [2] == kept(NATION.is_null(), facts, count=3)
    assert [0, 1, 2] == kept(NATION.cast(pa.int64()) > 3, facts, count=3)


def test_why_a_file_is_kept_or_skipped_is_said_in_words() -> None:
    facts, asked = facts_of(FILES), asked_of(NATION.isin(["Peru", "Chad"]) | NATION.is_null())

    assert (False, "nation holds 'Chad', 'Peru'") == facts.why(0, asked)
    assert (False, "nation holds 'Peru' and may hold null") == facts.why(2, asked)
    assert (False, "nation may hold null") == facts.why(3, asked)
    assert (True, "no value of nation satisfies it") == facts.why(5, asked)
    assert (False, "") == facts.why(6, asked)


def test_an_explanation_names_few_values_and_cuts_long_ones() -> None:
    facts = facts_of([[f"{letter * 200}" for letter in "abcde"]])
    said = f"nation holds {'a' * 60!r}…, {'b' * 60!r}…, {'c' * 60!r}…, …"

    assert (False, said) == facts.why(0, asked_of(NATION.is_valid()))


def asked_of(condition: pc.Expression, schema: pa.Schema = SCHEMA) -> Condition:
    asked = condition_of_filter(condition, schema)
    assert asked is not None
    return asked


@pytest.mark.parametrize(
    "condition", [pc.field(0) == 1, pc.field("a\nb") == 1, pc.field("absent") == 1, YEAR == AMOUNT], ids=str
)
def test_of_a_filter_that_is_not_understood_nothing_is_known(condition: pc.Expression) -> None:
    assert condition_of_filter(condition, SCHEMA) is None


TYPES: list[tuple[Any, Any, bool]] = [
    (pa.int64(), pa.scalar(5, pa.int8()), True),
    (pa.int64(), pa.scalar(0.5), True),
    (pa.int64(), pa.scalar(2.0**60), False),  # Arrow compares doubles, to which 2^60 and 2^60 + 1 are equal
    (pa.int64(), pa.scalar(0.5, pa.float32()), False),
    (pa.float32(), pa.scalar(0.1), True),
    (pa.float64(), pa.scalar(1 << 60), False),
    (pa.decimal128(9, 2), pa.scalar(3), True),
    (pa.decimal128(9, 2), pa.scalar(0.1), False),
    (pa.timestamp("ms"), pa.scalar(1, pa.timestamp("ns")), True),
    (pa.timestamp("ms"), pa.scalar(1, pa.timestamp("ns", "UTC")), False),
    (pa.date32(), pa.scalar(1, pa.timestamp("ns")), False),
    (pa.date32(), pa.scalar(1, pa.date32()), True),
    (pa.binary(2), pa.scalar(b"abc"), True),
    (pa.binary(), pa.scalar("abc"), False),
    (pa.bool_(), pa.scalar(True), True),
]


@pytest.mark.parametrize(("kind", "constant", "is_exact"), TYPES, ids=str)
def test_what_arrow_compares_exactly_is_a_set_of_values_and_the_rest_is_left_to_arrow(
    kind: Any, constant: Any, is_exact: bool
) -> None:
    wrapped: Any = pc.scalar
    condition = pc.field("x") < wrapped(constant)

    assert is_exact == (not isinstance(asked_of(condition, pa.schema({"x": kind})), ExpressionTest))
