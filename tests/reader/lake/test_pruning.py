"""Which files a filter leaves over: never one too few, and none too many where the values are known."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.fs as pafs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from damage import tries
from pqassay_reader.condition.rows import expression_of
from pqassay_reader.lake import pruning
from pqassay_reader.lake.expression_tree import (
    Call,
    Column,
    Constant,
    columns_of,
    only_looks_up,
    tree_of,
)
from pqassay_reader.lake.pruning import ColumnFacts, Decision, Facts, decide, indexable

pytestmark = pytest.mark.slow

NATION: Any = pc.field("nation")
YEAR: Any = pc.field("year")
AMOUNT: Any = pc.field("amount")
FIELDS: dict[str, pa.DataType] = {"nation": pa.string(), "year": pa.int64(), "amount": pa.float64()}
SCHEMA = pa.schema(FIELDS)

FILES: list[list[str | None]] = [["Peru", "Chad"], ["Chad"], ["Peru", None], [None], [], ["", "a\nb"]]


def facts_of(
    files: Sequence[Sequence[str | None]], schema: pa.Schema = SCHEMA, **changes: Any
) -> ColumnFacts:
    """The facts as an index table gives them, whose values may hold line feeds."""
    held = [sorted({value for value in values if value is not None}) for values in files]
    flat = pa.array([value for values in held for value in values], pa.string()).dictionary_encode()
    members: dict[str, Any] = {
        "files": np.arange(len(files)),
        "starts": np.cumsum([0, *map(len, held)]),
        "codes": flat.indices.to_numpy().astype(np.int64),
        "values": flat.dictionary,
        "may_be_null": np.array([None in values for values in files]),
        "pieces": np.zeros(len(files), np.bool_),
    }
    return ColumnFacts(schema, "nation", **(members | changes))


def joined(values: Iterable[str]) -> str | None:
    """Values as an index holds them."""
    return "\n".join(sorted(values)) if values else None


def decided(condition: pc.Expression, *columns: ColumnFacts, count: int = len(FILES)) -> Decision:
    return decide(count, columns or (facts_of(FILES),), condition)


def kept(condition: pc.Expression, *columns: ColumnFacts, count: int = len(FILES)) -> list[int]:
    return decided(condition, *columns, count=count).kept.nonzero()[0].tolist()


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
        ((NATION == "Oman") | (YEAR == 2020), [0, 1, 2, 3, 5]),
        (~((NATION == "Peru") | (YEAR == 2020)), [0, 1, 2, 3, 5]),  # for null Arrow does not go on
        (YEAR == 2020, [0, 1, 2, 3, 4, 5]),
        (pc.scalar(False), []),
        (pc.scalar(True), [0, 1, 2, 3, 5]),
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
def test_a_condition_that_cannot_be_tried_on_a_value_keeps_every_file(condition: pc.Expression) -> None:
    assert list(range(len(FILES))) == kept(condition)


@pytest.mark.parametrize("condition", [NATION.cast(pa.int64()) > 3])
def test_a_conversion_that_works_for_all_values_decides(condition: pc.Expression) -> None:
    assert [1] == kept(condition, facts_of([["1", "2"], ["4"]]), count=2)


def test_files_without_facts_are_kept() -> None:
    facts = ColumnFacts.of(SCHEMA, "nation", [Facts(1, "Peru", may_be_null=False)])

    assert [0, 2] == kept(NATION == "Chad", facts, count=3)
    assert decide(3, [], NATION == "Chad").kept.all()


def test_several_columns_decide_each_on_its_own() -> None:
    schema = pa.schema({"nation": pa.string(), "city": pa.string()})
    nation = ColumnFacts.of(
        schema, "nation", [Facts(n, v, False) for n, v in enumerate(("Peru", "Peru", "Chad"))]
    )
    city = ColumnFacts.of(
        schema, "city", [Facts(n, v, False) for n, v in enumerate(("Lima", "Cusco", "Lima"))]
    )

    assert [0] == kept((NATION == "Peru") & (pc.field("city") == "Lima"), nation, city, count=3)
    assert [0, 1, 2] == kept((NATION == "Peru") | (pc.field("city") == "Lima"), nation, city, count=3)


def test_facts_about_other_files_of_the_same_column_stand_beside_each_other() -> None:
    one = ColumnFacts.of(SCHEMA, "nation", [Facts(0, "Peru", may_be_null=False)])
    two = ColumnFacts.of(SCHEMA, "nation", [Facts(2, "Chad", may_be_null=False)])

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

    assert files == kept(condition, facts_of(FILES, schema))


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_text_that_the_dataset_reads_as_bytes_is_compared_as_bytes(kind: pa.DataType) -> None:
    facts = facts_of([["Peru"], ["日本"]], SCHEMA.set(0, pa.field("nation", kind)))

    assert [1] == kept(NATION == "日本".encode(), facts, count=2)


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
    facts = ColumnFacts.of(
        SCHEMA,
        "nation",
        [Facts(0, "a\nb", may_be_null=True, pieces=True), Facts(1, "b", may_be_null=True, pieces=True)],
    )

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
    facts = ColumnFacts.of(SCHEMA, "nation", [Facts(0, joined(pieces), may_be_null=True, pieces=True)])
    condition = expression_of([form, "nation", literals if "in" in form else literals[0]], SCHEMA)
    rows = pa.table({"nation": values, "year": [0] * len(values), "amount": [0.0] * len(values)})

    if rows.filter(condition).num_rows:
        assert [0] == kept(condition, facts, count=1)


@pytest.mark.parametrize(
    "amount", [AMOUNT < 5, AMOUNT != 5, ~(AMOUNT < 5), pc.is_nan(AMOUNT), AMOUNT == 0.0, AMOUNT.isin([-0.0])]
)
def test_conditions_on_floats_keep_what_the_texts_keep(amount: pc.Expression) -> None:
    assert [0, 2] == kept((NATION == "Peru") & amount)
    assert [0, 1, 2, 3, 5] == kept((NATION == "Peru") | amount)


@given(
    files=st.lists(
        st.lists(st.sampled_from(["", "a", "b", "ab", "é", None]), max_size=4), min_size=1, max_size=5
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning, "MANY", 0)  # as if they were many values
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


def test_a_column_named_by_its_number_is_not_mistaken_for_the_one_with_many_values() -> None:
    schema = pa.schema({"city": pa.string(), "nation": pa.string()})
    values = [f"value {number}" for number in range(pruning.MANY)]
    facts = ColumnFacts.of(schema, "nation", [Facts(0, joined(values), may_be_null=False)])

    assert [0] == kept(pc.field(0) == "Lima", facts, count=1)
    assert [] == kept(pc.field("nation") == "Lima", facts, count=1)


def test_why_a_file_is_kept_or_skipped_is_said_in_words() -> None:
    decision = decided(NATION.isin(["Peru", "Chad"]) | NATION.is_null())

    assert "nation holds 'Chad', 'Peru'" == decision.why(0, otherwise="")
    assert "nation holds 'Peru' and may hold null" == decision.why(2, otherwise="")
    assert "nation may hold null" == decision.why(3, otherwise="")
    assert "no value of nation satisfies it" == decision.why(5, otherwise="")
    assert "who knows" == decide(7, [facts_of(FILES)], NATION == "Peru").why(6, otherwise="who knows")


def test_an_explanation_names_few_values_and_cuts_long_ones() -> None:
    facts = facts_of([[f"{letter * 200}" for letter in "abcde"]])

    assert f"nation holds {'a' * 60!r}…, {'b' * 60!r}…, {'c' * 60!r}…, …" == decided(
        NATION.is_valid(), facts, count=1
    ).why(0, otherwise="")


def test_facts_can_be_sent_to_another_process() -> None:
    facts = facts_of(FILES)
    kept(NATION == "Peru", facts)

    assert [0, 2] == kept(NATION == "Peru", pickle.loads(pickle.dumps(facts)))


def test_the_tree_of_an_expression_is_what_it_was_made_of() -> None:
    condition = (NATION == "it's") & ~pc.field("a", "b").isin([1, None]) & (YEAR > 3)
    tree = tree_of(condition)

    assert {("nation",), ("a", "b"), ("year",)} == columns_of(tree) if tree else None
    assert isinstance(tree, Call)
    left, right = tree.arguments
    assert Call("greater", (Column(("year",)), Constant(3)), {}) == right
    assert isinstance(left, Call)
    assert Call("equal", (Column(("nation",)), Constant("it's")), {}) == left.arguments[0]


@pytest.mark.parametrize(
    "condition", [pc.field(0) == 1, pc.field("a\nb") == 1], ids=["by position", "two lines"]
)
def test_an_expression_that_is_not_understood_has_no_tree(condition: pc.Expression) -> None:
    assert tree_of(condition) is None
    assert not only_looks_up(condition, "nation")


def test_arrow_still_raises_what_is_guarded_against() -> None:
    """What the decision works around; where one of these fails, Arrow has changed and the guard may go."""
    nowhere, parquet = pafs.LocalFileSystem(), pads.ParquetFileFormat()
    fragment = parquet.make_fragment("x", nowhere, NATION == "abc")
    dataset = pads.FileSystemDataset([fragment], SCHEMA, parquet, nowhere)

    with pytest.raises(pa.ArrowInvalid):
        list(dataset.get_fragments(NATION.cast(pa.int64()) > 3))
