"""The columns of a data file of which a table says something, and what the footer says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pqassay.tables.claims import Bound, ColumnClaims, FileClaims, Place
from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.fields import Field
from pqassay.under_test.file import FileUnderTest, NotApplicable, Remembered
from pqassay.under_test.schemas.known_schemas import Schema
from pqassay_spec.parquet.schema.leaf_columns import SchemaLeaf
from pqassay_tables.under_test.claimed_bounds import Form, StoredBound, bound_in, form_of
from pqassay_tables.under_test.table import claim_field

NESTED = ("array", "map", "list", "struct", "variant")
"""Types of tables whose columns are more than one in a file, or none."""


class Ordinals(NamedTuple):
    """The positions of the leaves of a schema by their ids, by their paths, and by these without regard to upper and lower case."""

    by_id: dict[int, int]
    by_path: dict[tuple[str, ...], int]
    folded: dict[tuple[str, ...], int]

    def of(self, field_id: int | None, path: tuple[str, ...]) -> int | None:
        """The position of a column; ``None`` if there is none.

        Args:
            field_id: The id by which it is found; in a file without ids, and without one, it is found by its path.
            path: Its names; empty if it is not found by them.
        """
        if field_id is not None and (self.by_id or not path):
            return self.by_id.get(field_id)
        found = self.by_path.get(path)
        # some engines take no heed of upper and lower case
        return self.folded.get(tuple(name.casefold() for name in path)) if found is None else found


def ordinals_of(schema: Schema) -> Ordinals:
    """The positions of the leaves of a schema."""
    found = Ordinals({}, {}, {})
    for number, leaf in enumerate(schema.leaves):
        found.by_path.setdefault(leaf.path, number)
        found.folded.setdefault(tuple(name.casefold() for name in leaf.path), number)
        if leaf.element.field_id is not None:
            found.by_id.setdefault(leaf.element.field_id, number)
    return found


def forms_of(schema: Schema) -> list[Form]:
    """What the values of each leaf of a schema are."""
    return [form_of(leaf.element) for leaf in schema.leaves]


class ClaimedColumn:
    """A column of which a table says something.

    Attributes:
        owner: The file.
        claims: What is said.
        leaf: The column of the file; ``None`` where there is none.
        ordinal: Its position among the leaves.
    """

    def __init__(self, owner: ClaimedFile, claims: ColumnClaims, ordinal: int | None) -> None:
        self.owner = owner
        self.claims = claims
        self.ordinal = ordinal
        self.leaf: SchemaLeaf | None = None if ordinal is None else owner.file.leaves[ordinal]

    @Remembered
    def chunks(self) -> Sequence[ColumnChunkUnderTest]:
        """Its chunks. Raises what `ColumnChunks.all` does."""
        return () if self.ordinal is None else self.owner.chunks_by_column.get(self.ordinal, ())

    def field(self, place: Place) -> Field:
        """A field of the table's metadata."""
        return claim_field(self.owner.file, place)

    def stored(self, bound: Bound, *, above: bool) -> StoredBound | None:
        """A bound in the form of this column; see `bound_in`."""
        if self.ordinal is None:
            raise NotApplicable
        return bound_in(self.owner.file.schema.view(forms_of)[self.ordinal], bound, above=above)

    def sides(self) -> Sequence[Side]:
        """The bounds, each with its side."""
        both = (self.claims.lower, False), (self.claims.upper, True)
        return [Side(bound, above) for bound, above in both if bound is not None]


class Side(NamedTuple):
    """A bound, and whether it is an upper one."""

    bound: Bound
    above: bool

    @property
    def name(self) -> str:
        """What the table calls it, for messages."""
        return "upper bound" if self.above else "lower bound"


class ClaimedFile:
    """A data file with what its table says of it: a part of the file, ``file.part(ClaimedFile)``."""

    def __init__(self, file: FileUnderTest) -> None:
        self.file = file

    @Remembered
    def claims(self) -> FileClaims:
        """What the table says. Raises `NotApplicable` for a file without a table."""
        if self.file.claims is None:
            raise NotApplicable
        return self.file.claims

    @Remembered
    def columns(self) -> list[ClaimedColumn]:
        """The columns of which something is said, but for lists and maps. Raises what the leaves do."""
        return [
            ClaimedColumn(self, claims, self.ordinal_of(claims.field_id, claims.path))
            for claims in self.claims.columns
            if claims.type not in NESTED
        ]

    @Remembered
    def chunks_by_column(self) -> dict[int, list[ColumnChunkUnderTest]]:
        """The chunks of each column, by its position among the leaves. Raises what `ColumnChunks.all` does."""
        found: dict[int, list[ColumnChunkUnderTest]] = {}
        for chunk in self.file.part(ColumnChunks).all:
            found.setdefault(chunk.ordinal, []).append(chunk)
        return found

    def ordinal_of(self, field_id: int | None, path: tuple[str, ...]) -> int | None:
        """The position of a column among the leaves; see `Ordinals.of`. Raises what the leaves do."""
        return self.file.schema.view(ordinals_of).of(field_id, path)

    @property
    def has_ids(self) -> bool:
        """Whether the file gives ids to its columns."""
        return bool(self.file.schema.view(ordinals_of).by_id)

    @Remembered
    def present(self) -> list[ClaimedColumn]:
        """Those of them that the file has."""
        return [column for column in self.columns if column.leaf is not None]

    @property
    def name(self) -> str:
        """The file, as the table calls it."""
        return self.claims.path
