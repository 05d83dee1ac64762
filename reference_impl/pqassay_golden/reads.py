"""The expected result of reading all rows of a case, and of a scan if its table does not give it.

Both follow from the rules that the case breaks (`expected_read`, `expected_scan`).  If the rules do not decide it, the table
`EXEMPTIONS` does, with a reason for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pqassay_spec.golden.case import ReadExpectation, Refusal, RowsToRead, Scan
from pqassay_spec.golden.literals import (
    BinaryLiteral,
    Date,
    Decimal,
    Float,
    List,
    Rows,
    Time,
    Timestamp,
    Written,
)
from pqassay_spec.rules.catalogue import Effect
from pqassay_spec.rules.catalogue import rules as catalogue

OWN = ReadExpectation(rows="own", refusal="never")
"""The expectation for a valid file."""

NOTHING_TO_READ = ReadExpectation(rows="unspecified", refusal="demanded")
"""The expectation for a file without any rows that a reader could return."""


@dataclass(frozen=True)
class Exemption:
    """A case whose expected rows do not follow from its rules.

    Attributes:
        rows, refusal: See `ReadExpectation`.
        reason: Why.
        changed: For rows of its own, the values that differ from the parent's rows, by row and column.
        row_count: For rows of its own, how many of the parent's rows there are; by default all.
    """

    rows: RowsToRead
    refusal: Refusal
    reason: str
    changed: Mapping[tuple[int, str], Written] = field(default_factory=dict[tuple[int, str], Written])
    row_count: int | None = None

    def rows_of(self, parent: Rows) -> Rows:
        """The expected rows for a reader, from the rows of the parent."""
        names = parent.names()
        rows = [
            [self.changed.get((place, name), value) for name, value in zip(names, row, strict=True)]
            for place, row in enumerate(parent.rows[: self.row_count])
        ]
        return replace(parent, rows=rows)


def _each(names: str, exemption: Exemption) -> dict[str, Exemption]:
    """The same exemption for several cases of PQF, whose names are separated by spaces."""
    return {f"pqf/{name}": exemption for name in names.split()}


def _refused(reason: str, names: str) -> dict[str, Exemption]:
    return _each(names, Exemption("unspecified", "demanded", reason))


def _refusable(reason: str, names: str) -> dict[str, Exemption]:
    return _each(names, Exemption("parent", "allowed", reason))


def _anything(reason: str, names: str) -> dict[str, Exemption]:
    return _each(names, Exemption("unspecified", "allowed", reason))


def _otherwise_read(reason: str, changed: Mapping[tuple[int, str], Written]) -> Exemption:
    """An exemption for rows that differ from the parent's, and may be refused."""
    return Exemption("own", "allowed", reason, changed)


NAN = Float("nan")
TWO_READ = "What is stored is plain to see, though the type forbids it; at least two engines read it."

EXEMPTIONS: Mapping[str, Exemption] = {
    # Nothing but a refusal is right.
    **_refused("It is not a whole Parquet file, or its footer cannot be found.", "empty too-short tail-magic truncated footer-length-zero footer-length-beyond"),
    **_refused("The footer cannot be parsed.", "footer-length-short schema-no-tree required-field-missing text-too-long list-too-long"),
    **_refused("What is missing says how the values are stored, and nothing else says it.", "chunk-missing chunk-without-metadata page-header-without-type no-type-length repetition-missing repetition-unknown"),
    **_refused("The format does not define the codec, or the encoding for such a type.", "no-such-codec encoding-of-another-type"),
    **_refused("Values that the file counts are not in it: a reader that returns them has invented them.", "values-missing levels-missing index-beyond-dictionary differences-of-seven rows-of-lists"),
    **_refused("Text that is not UTF-8 is not a value of the protocol, and with replaced characters it is another text.", "text-of-another-code text-cut-within-a-character"),
    **_refused("The rows are in another file, and that one is not there.", "summary-without-path"),
    # Readers may refuse, though no MUST is broken.
    **_refusable("Thrift strings are UTF-8: readers whose Thrift library says so cannot do anything else.", "key-not-utf8 value-not-utf8"),
    **_refusable("The value is optional, but Spark's reader of batches has never taken a key without one.", "key-without-value"),
    **_refusable("What the format does not define may be of a later version: readers may refuse it.", "type-unknown converted-type-unknown time-unit-unknown no-such-encoding-of-levels"),
    **_refusable("The chunk is said to be in a file that is not there.", "chunk-elsewhere"),
    **_refusable("The two annotations of a column contradict each other.", "converted-scale"),
    **_refusable("Readers ignore an annotation that does not fit its column, since https://github.com/apache/parquet-format/pull/606; those from before refuse the file.", "integer-of-7-bits integer-too-wide uuid-on-a-number"),
    **_refusable("With such a page the chunk does not hold the values of all its rows.", "page-of-no-values"),
    **_refusable("A reader that takes the levels for what they are called finds none that fit the values.", "levels-bit-packed"),
    # Readers disagree, or the right result is not defined.
    **_anything("Columns are asked for by name, and here two have the same.", "name-twice group-called-like-a-column names-that-differ-by-case"),
    **_anything("LogicalTypes.md leaves the behaviour undefined for integers beyond the width of their type.", "integer-of-9-bits integer-below-zero integer-of-17-bits"),
    **_anything("The type says that there is no value, and there is one: null and the stored number are both right.", "unknown-with-a-value"),
    **_anything("No engine reads a time of day outside of the day as another does.", "time-below-zero time-of-the-next-day"),
    **_anything("The run repeats an invalid boolean; engines take it for true, for false, or refuse it.", "flag-of-2"),
    **_anything("The nanoseconds are those of another day; engines add them to the day or drop them.", "moment-before-midnight"),
    **_anything("Levels that no list has; engines make different lists of them.", "list-goes-on-as-null empty-list-goes-on"),
    **_anything("The rows are in another file; who reads a summary believes it or looks there.", "summary-stale"),
    **_anything("Keys and values are of different lists; engines go by the one or by the other.", "values-of-other-maps"),
    **_anything("The bytes are the damaged ones for a reader without the annotation, and another value or none for one with it.", "variant-names-cut-off variant-with-a-shredded-field variant-names-not-sorted variant-missing variant-field-without-name variant-object-not-shredded variant-with-more-bytes variant-fields-descend variant-of-version-2 variant-beside-its-number variant-cut-off reference-of-other-members reference-at-text geo-document-covering-beside geo-document-of-text geometry-as-text geometry-cut-off geometry-with-a-reference-system logical-type-unknown"),
    **{f"sta/{name}": Exemption("unspecified", "allowed", "The bytes of the values are damaged: the values are lost.") for name in ("bytes-of-values-reversed", "streams-split-twice", "page-of-zeros")},
    # Lawful rows of its own.
    "pqf/row-group-unlisted": Exemption("own", "allowed", "What the footer does not list is not part of the file.", row_count=4),
    "pqf/null-list-of-two": _otherwise_read("A list whose first entry is null is null; DuckDB writes and reads it so.", {(0, "marks"): None}),
    "pqf/decimal-of-5-digits": _otherwise_read(TWO_READ, {(1, "price"): Decimal("100.00")}),
    "pqf/decimal-of-5-digits-in-bytes": _otherwise_read(TWO_READ, {(0, "amount"): Decimal("-100.00")}),
    "pqf/json-with-single-quotes": _otherwise_read("Readers that do not parse JSON return the text.", {(0, "facts"): "{'a': 1}"}),
    "pqf/json-of-two-values": _otherwise_read("Readers that do not parse JSON return the text.", {(0, "facts"): "[1", (1, "facts"): "2]"}),
    "pqf/json-nan": _otherwise_read("Readers that do not parse JSON return the text.", {(0, "facts"): '{"a": NaN}'}),
    "pqf/bson-cut-off": _otherwise_read("Readers that do not parse BSON return the bytes.", {(3, "document"): BinaryLiteral("0c00000010610007000000")}),
    "pqf/date-of-the-year-10000": _otherwise_read("The format allows the date; not every library has one for it.", {(1, "day"): Date("2932897")}),
    "pqf/timestamp-infinite": _otherwise_read("The format allows the moment; not every library has one for it.", {(1, "micros"): Timestamp(f"{(1 << 63) - 1}000")}),
    "pqf/time-at-the-end": _otherwise_read("DuckDB writes this time and reads it back; not every library has one for it.", {(1, "micros"): Time("86400000000000")}),
    "pix/page-begins-within-a-row": _otherwise_read("The levels are those of other lists.", {(5, "marks"): List([None, 12]), (6, "marks"): List([13]), (7, "marks"): List([14])}),
    "pix/page-of-nan": Exemption("own", "never", "The values are NaN; only the index should not be there.", {(2, "grade"): NAN, (3, "grade"): NAN}),
    "pix/page-of-nan-counted": _otherwise_read("The values are NaN; only the index should not be there.", {(0, "grade"): NAN, (1, "grade"): NAN}),
}  # fmt: skip
"""The exemptions, by case."""


def expected_read(case: str, broken: Sequence[str], *, is_older: bool = False) -> ReadExpectation:
    """The expected result of reading a damaged file.

    Without an exemption these are the parent's rows: a reader may only refuse a file that breaks a MUST.

    Args:
        case: The id of the case.
        broken: The rules that it breaks.
        is_older: Whether the rules do not yet oblige the writer, according to the marks of the file.
    """
    if exemption := EXEMPTIONS.get(case):
        return ReadExpectation(rows=exemption.rows, refusal=exemption.refusal)
    lawful = not is_older and any(catalogue()[rule].level == "MUST" for rule in broken)
    return ReadExpectation(rows="parent", refusal="allowed" if lawful else "never")


def rows_to_read(case: str, parent: Rows | None) -> Rows | None:
    """The expected rows for a reader of a damaged file; the rows of the parent if there is no exemption."""
    exemption = EXEMPTIONS.get(case)
    return parent if parent is None or exemption is None else exemption.rows_of(parent)


MISLEADING: Sequence[Effect] = ("rows lost", "wrong rows")
"""Possible effects of a lie on a reader that believes it."""


def expected_scan(
    read: ReadExpectation, broken: Iterable[str], misleading: Sequence[Effect] = MISLEADING
) -> Scan | None:
    """The expected result of a scan of a damaged file, if the table of the case does not give it.

    A lie about rows is shown, and not scored: readers cannot be blamed for believing it.  If a file misleads no reader, a scan
    has the same expectation as a read of all rows; ``None`` if no rows are known.
    """
    if read.rows == "unspecified":
        return None
    if any(catalogue()[rule].could in misleading for rule in broken):
        return "exposure"
    return "same-rows" if read.refusal == "never" else "refusal-allowed"
