"""A first look at what a table says of a data file, beside its footer: most tables say of most files what these say of themselves.

The rules are in `pqassay.checks`.  What a table says is compared as its format holds it with what the footer holds, without a claim for each
column; a file whose shape is returned here breaks none of the rules that compare a table with a footer.  How shapes are used is said in
`pqassay.checks.asking`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

from pqassay.tables.claims import Bound, ColumnsSaid, FileClaims, Place
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, NotApplicable, NotChecked
from pqassay.under_test.schemas.known_schemas import Schema
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.column_order import key
from pqassay_spec.parquet.thrift import FileMetaData, Statistics
from pqassay_tables.under_test.claimed_bounds import Form, bound_in

NOT_SOUND = (FormatError, NotApplicable, NotChecked, ValueError, OverflowError)

MOST_PLANS = 8
"""Plans that are remembered; to look for more would take longer than to make one."""

Encloses = Callable[[Any, bytes | None], bool]
"""Whether a bound, as the table holds it, certainly is one of its type and does not exclude a value that the footer stores, if there is one."""


class ClaimedLeaf(NamedTuple):
    """A column of the file of which the table says something.

    Attributes:
        ordinal: Its position among the leaves.
        is_exact: Whether a bound in the footer is a value where the footer does not say it.
        below, above: Compare lower and upper bounds.
    """

    ordinal: int
    is_exact: bool
    below: Encloses
    above: Encloses


Groups = Sequence[Sequence[Statistics | None]]
"""The statistics of each row group, one for each leaf."""


def groups_of(file: FileUnderTest) -> Groups | None:
    """The statistics in a footer; ``None`` where some cannot be looked at. Raises what `ColumnChunks.all` does."""
    chunks = file.part(ColumnChunks)
    _ = chunks.all
    if chunks.left_out:
        return None
    return [[None if (facts := chunk.meta_data) is None else facts.statistics for chunk in group.columns] for group in file.metadata.row_groups]  # fmt: skip


def nulls_in(groups: Groups, ordinal: int) -> int | None:
    """The nulls of a column that a footer counts; ``None`` where a row group does not count them, or below 0."""
    total = 0
    for columns in groups:
        statistics = columns[ordinal]
        counted = None if statistics is None else statistics.null_count
        if counted is None or counted < 0:
            return None
        total += counted
    return total


def is_enclosed(groups: Groups, leaf: ClaimedLeaf, raw: Any, *, above: bool) -> bool:
    """Whether a bound is one, and no value of any row group that a footer stores lies beyond it."""
    ordinal, is_exact, below, encloses = leaf
    if not above:
        encloses = below
    if not groups:
        return encloses(raw, None)
    for columns in groups:
        statistics = columns[ordinal]
        if statistics is None:
            stored = None
        elif above:
            exact = statistics.is_max_value_exact
            stored = statistics.max_value if exact or (exact is None and is_exact) else None
        else:
            exact = statistics.is_min_value_exact
            stored = statistics.min_value if exact or (exact is None and is_exact) else None
        if not encloses(raw, stored):
            return False
    return True


def are_rows(claims: FileClaims, metadata: FileMetaData) -> bool:
    """Whether the count of rows, if there is one, is that of the footer."""
    rows = metadata.num_rows
    return rows >= 0 and (claims.rows is None or claims.rows.value == rows)


def by_law(form: Form, bound_of: Callable[[Any], Bound], *, above: bool) -> Encloses:
    """Compare bounds of a type as the rules do.

    Args:
        form: What values of the column are.
        bound_of: The bound as the table means it. Raises `ValueError` of what is none.
        above: Whether they are upper ones.
    """

    def encloses(raw: Any, stored: bytes | None) -> bool:
        bound = bound_in(form, bound_of(raw), above=above)
        if bound is None or stored is None:
            return True
        if bound.is_beyond or bound.raw is None:
            return not bound.is_beyond
        value, limit = key(bound.order, stored), key(bound.order, bound.raw)
        if value is None or limit is None:
            return False
        return bool(value <= limit if above else limit <= value)

    return encloses


NOWHERE = Place("", 0, ())
"""Of bounds that are made to be compared."""

Plan = TypeVar("Plan")


class Plans:
    """What is to be compared, for each pair of the columns of a table and the schema of files, of which a lake has few."""

    def __init__(self) -> None:
        self._known: list[tuple[object, Schema, Any]] = []

    def of(self, columns: object, schema: Schema, make: Callable[[Any, Schema], Plan]) -> Plan:
        """The plan of a pair, made once while it is remembered."""
        for known, of_file, plan in self._known:
            if known is columns and of_file is schema:
                found: Plan = plan
                return found
        made = make(columns, schema)
        # A list that is replaced as a whole needs no lock.
        self._known = [(columns, schema, made), *self._known[: MOST_PLANS - 1]]
        return made


def screen_of(
    compare: Callable[[FileUnderTest, FileClaims, Any], Hashable | None], kind: type[ColumnsSaid]
) -> Callable[[FileUnderTest], Hashable | None]:
    """The screen of what one format says, which looks once at a file.

    Args:
        compare: The shape of a file of which a table says something of this kind. It may raise `NOT_SOUND`.
        kind: How the format holds it.
    """

    def shape(file: FileUnderTest) -> Hashable | None:
        claims = file.claims
        if claims is None or not isinstance(claims.said, kind):
            return None
        try:
            return compare(file, claims, claims.said)
        except NOT_SOUND:
            return None

    return lambda file: file.part(shape)
