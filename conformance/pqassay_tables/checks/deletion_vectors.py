"""Shared checks of the bytes of deletion vectors, tier ``footer``, for the families of both formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pqassay.checks.subjects import Subject
from pqassay.under_test.file import Broken, FileUnderTest, NotChecked
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_spec.table import deletion_vector as grammar
from pqassay_spec.table.delta import DESCRIPTOR_VECTOR
from pqassay_spec.table.layout import TableKind
from pqassay_tables.metadata import repairs
from pqassay_tables.under_test.table import claim_field

if TYPE_CHECKING:
    from pqassay_tables.values.deletion_vector import DeletionVector


class VectorTerms(NamedTuple):
    """The terms of a format for deletion vectors.

    Attributes:
        length: Its term for the length of the vector, for messages.
        place: The place of a vector, for messages.
        cardinality: Its term for the number of rows.
        removes: The effect of vectors on rows, in words.
        counted, named: The field of that number, and the field of the data file.
        restated, restored: The repair of claims about a vector, and the repair of the vector itself.
    """

    length: str
    place: str
    cardinality: str
    removes: str
    counted: str
    named: str
    restated: str
    restored: str


TERMS: dict[TableKind, VectorTerms] = {
    "delta": VectorTerms(
        "the log says that the deletion vector at {offset} of {name} has {claimed} bytes",
        "of {path} in {name}",
        "the log says that a deletion vector removes {claimed} rows",
        "removes",
        "cardinality",
        DESCRIPTOR_VECTOR,
        repairs.DELTA_VECTOR.text,
        repairs.DELTA_BEFORE.text,
    ),
    "iceberg": VectorTerms(
        (
            "the manifest says that the deletion vector at {offset} of {name} has {claimed} "
            "bytes without length and checksum"
        ),
        "at {offset} of {name}",
        "the manifest says that a deletion vector deletes {claimed} rows",
        "deletes",
        "record_count",
        "referenced_data_file",
        repairs.ICEBERG_BEFORE.text,
        repairs.ICEBERG_BEFORE.text,
    ),
}


def vectors_of(table: TableKind, name: str) -> Subject[DeletionVector]:
    """The subject of deletion vectors for data files in tables of a format."""

    def find(file: FileUnderTest) -> list[DeletionVector]:
        claims = file.claims
        if claims is None or claims.table != table or claims.deleted is None:
            return []
        try:
            from pqassay_tables.values.deletion_vector import DeletionVector  # noqa: PLC0415 - numpy, where there is one
        except ImportError:
            raise NotChecked(
                "decoding a deletion vector needs numpy, which is not installed", "tool"
            ) from None
        return [file.part(DeletionVector)]

    return Subject(name, find)


def _terms(one: DeletionVector) -> VectorTerms:
    return TERMS["delta" if one.file.claims is None else one.file.claims.table]


def wrong_length(one: DeletionVector) -> Iterator[Violation]:
    """Yield a violation if the length before the vector differs from the table's."""
    size, claimed, terms = one.stored.size, one.claims.length, _terms(one)
    if size != claimed:
        said = terms.length.format(offset=one.claims.offset, name=one.name, claimed=claimed)
        field = one.field("size", -grammar.SIZE_SIZE, grammar.SIZE_SIZE)
        yield Violation(f"{said}, and it says {size}", field, str(claimed), str(size), remedy=terms.restored)


def wrong_checksum(one: DeletionVector) -> Iterator[Violation]:
    """Yield a violation if the checksum does not match the bytes of the vector."""
    stored = one.stored
    if stored.size != one.claims.length:
        raise Broken(one.rules.length)
    actual = grammar.checksum(stored.vector)
    if actual != stored.checksum:
        given, true = f"{stored.checksum:#010x}", f"{actual:#010x}"
        vector = f"the deletion vector at {one.claims.offset} of {one.name}"
        said = f"the checksum of {vector} is {given}, but its bytes have {true}"
        field = one.field("checksum", one.claims.length, grammar.CHECKSUM_SIZE)
        yield Violation(said, field, true, given, remedy=_terms(one).restored)


def no_bitmap(one: DeletionVector) -> Iterator[Violation]:
    """Yield a violation if the bytes of the vector are not a bitmap."""
    try:
        _ = one.bitmap
    except Malformed as error:
        if error.rule != one.rules.bitmap:
            raise
        path = one.file.claims.path if one.file.claims else ""
        place = _terms(one).place.format(path=path, offset=one.claims.offset, name=one.name)
        said = f"the deletion vector {place} is not a bitmap: {error.reason}"
        field = one.field(error.field or "bitmap", error.offset or 0, error.length)
        yield Violation(said, field, error.expected, error.actual, remedy=_terms(one).restored)


def wrong_cardinality(one: DeletionVector) -> Iterator[Violation]:
    """Yield a violation if the number of positions differs from the table's."""
    count, claimed, terms = one.bitmap.count, one.claims.cardinality, _terms(one)
    if count != claimed:
        said = f"{terms.cardinality.format(claimed=claimed)}, but it holds {count} positions"
        field = claim_field(one.file, one.claims.place.below(terms.counted))
        yield Violation(said, field, str(count), str(claimed), remedy=terms.restated)


def positions_beyond_rows(one: DeletionVector) -> Iterator[Violation]:
    """Yield a violation if positions are beyond the rows of the data file."""
    rows, greatest, terms = one.file.metadata.num_rows, one.bitmap.greatest, _terms(one)
    if rows < 0:
        raise Broken("PQF-015")
    if greatest is not None and greatest >= rows:
        said = f"a deletion vector {terms.removes} row {greatest} of a file of {rows} rows"
        field = claim_field(one.file, one.claims.place.below(terms.named))
        yield Violation(said, field, f"positions less than {rows}", str(greatest), remedy=terms.restored)
