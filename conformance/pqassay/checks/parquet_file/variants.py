"""Checks of the values of variants, tier ``values``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pqassay.checks.parquet_file.groups import find_fault
from pqassay.checks.value_rules import value_rule
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import Broken, FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay.values.claims.audit import ValueAudit
from pqassay.values.claims.joined_rows import JoinedRows, RuleOfJoins
from pqassay.values.claims.outcomes import Outcome
from pqassay.values.claims.wording import others
from pqassay_spec.base.errors import FormatError
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.encoding.variant import read_metadata, read_value
from pqassay_spec.parquet.schema.annotated_groups import groups_called
from pqassay_spec.parquet.schema.tree import SchemaNode, schema_tree

if TYPE_CHECKING:
    from pqassay.values.claims.variant_rows import Columns, FirstFault, Looked
    from pqassay.values.decoding.chunk_values import ChunkValues


def _groups(file: FileUnderTest) -> list[SchemaNode]:
    """The groups that are annotated as variants."""
    schema = file.metadata.schema
    if all(element.logicalType is None or element.logicalType.VARIANT is None for element in schema):
        return []
    return list(groups_called(schema_tree(schema), "VARIANT"))


def _has_variants(audit: ValueAudit) -> bool:
    return bool(audit.file.part(_groups))


class _Rows:
    """The variants of a file with sound members, and the faults in the most recent row group.

    Attributes:
        broken: The rule that the members of the other variants break.
        columns: The variants.
    """

    def __init__(self, file: FileUnderTest) -> None:
        from pqassay.values.claims.variant_rows import Columns  # noqa: PLC0415 - numpy, at this tier only

        groups = file.part(_groups)
        self.broken = next((rule for group in groups if (rule := find_fault(group))), None)
        sound = {group.place for group in groups if not find_fault(group)}
        self.columns: list[Columns] = []
        self._looked: dict[int, tuple[int, Looked]] = {}
        ordinal = 0
        left: list[tuple[SchemaNode, tuple[SchemaNode, ...]]] = [(schema_tree(file.metadata.schema), ())]
        open_: dict[int, dict[int, int]] = {}
        while left:
            node, path = left.pop()
            if node.place in sound:
                open_[node.place] = {}
                self.columns.append(Columns(path, open_[node.place]))
            if node.is_leaf:
                for group in path:
                    if group.place in open_:
                        open_[group.place][node.place] = ordinal
                ordinal += 1
            left.extend((child, (*path, child)) for child in reversed(node.children))

    def looked(self, number: int, row_group: int, taken: Mapping[int, Any]) -> Looked:
        """The faults of a variant in a row group, computed once for all rules."""
        from pqassay.values.claims.variant_rows import look  # noqa: PLC0415 - numpy, at this tier only

        known = self._looked.get(number)
        if known is None or known[0] != row_group:
            known = self._looked[number] = row_group, look(self.columns[number], taken)
        return known[1]


class _JoinedVariant(JoinedRows):
    """The column chunks of one variant."""

    def __init__(self, rule: VariantRule, rows: _Rows, number: int) -> None:
        super().__init__(rule.file, rule.outcome)
        self._rule, self._rows, self._number = rule, rows, number
        self.ordinals = frozenset(rows.columns[number].ordinals.values())

    def take(self, values: ChunkValues) -> Any:
        """The values of a column, with the groups and lists around them."""
        from pqassay.values.decoding.nested_columns import nested  # noqa: PLC0415 - numpy, at this tier only

        return nested(values.nested)

    def compare(self, group: int, taken: Mapping[int, Any], /) -> Iterator[Violation]:
        """Violations of the rule in a row group."""
        looked = self._rows.looked(self._number, group, taken)
        columns = self._rows.columns[self._number]
        for fault in looked.faults:
            if fault.kind.name in self._rule.about:
                yield self._violation(columns, group, fault)
        if looked.problem is not None and "VALUE" in self._rule.about:
            raise looked.problem

    def _violation(self, columns: Columns, group: int, fault: FirstFault) -> Violation:
        node = fault.node
        while not node.is_leaf:
            node = node.children[0]
        ordinal = columns.ordinals[node.place]
        chunk = next(
            each
            for each in self.file.part(ColumnChunks).all
            if (each.row_group, each.ordinal) == (group, ordinal)
        )
        where = f"row {fault.row} of row group {group} of column {chunk.column}"
        actual = self._rule.words(fault)
        return Violation(
            f"{where}: {actual}{others(fault.total, 'variant', 'variants')}",
            chunk.fields.body(chunk.data_pages[0]),
            expected=self._rule.expected,
            actual=actual,
            column=chunk.column,
            row_group=group,
        )


class VariantRule(RuleOfJoins):
    """A rule about the rows of variants.

    Attributes:
        about: The names of the kinds of faults that break it.
        expected: The expected content, for messages.
    """

    about: ClassVar[frozenset[str]]
    expected: ClassVar[str]

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        super().__init__(file, outcome)
        rows = file.part(_Rows)
        self._broken = rows.broken
        self.joins = [_JoinedVariant(self, rows, number) for number in range(len(rows.columns))]

    def finish(self) -> Iterable[Violation]:
        """Raise `Broken` if a variant does not have its members."""
        yield from super().finish()
        if self._broken is not None:
            raise Broken(self._broken)

    def words(self, fault: FirstFault, /) -> str:
        """The message about a fault."""
        raise NotImplementedError


def _why(read: Callable[..., object], *args: Any) -> str:
    try:
        read(*args)
    except FormatError as error:
        return error.reason
    return "it cannot be read"


def _raw(raw: bytes | None) -> str:
    return show((raw or b"")[:32])


@value_rule("PQF-176", only=_has_variants)
class MetadataCanBeRead(VariantRule):
    """Without metadata, field names are unknown, and readers refuse the column."""

    about = frozenset(("METADATA",))
    expected = "metadata of a variant"

    def words(self, fault: FirstFault, /) -> str:
        """The message: why the metadata cannot be read."""
        return f"the metadata {_raw(fault.metadata)} cannot be read: {_why(read_metadata, fault.metadata)}"


@value_rule("PQF-177", only=_has_variants)
class ValuesCanBeRead(VariantRule):
    """Readers fail, or read bytes beside the value."""

    about = frozenset(("VALUE",))
    expected = "a variant value"

    def words(self, fault: FirstFault, /) -> str:
        """The message: why the value cannot be read."""
        return f"the value {_raw(fault.value)} cannot be read: {_why(read_value, fault.value)}"


@value_rule("PQF-178", only=_has_variants)
class FieldsAreNamedInOrder(VariantRule):
    """A binary search for a field fails."""

    about = frozenset(("NAMES", "UNSORTED", "UNNAMED"))
    expected = "names of the metadata that ascend"

    def words(self, fault: FirstFault, /) -> str:
        """The message: the names that are out of order."""
        if fault.kind.name == "UNNAMED":
            return f"the metadata {_raw(fault.metadata)} do not have the name of the shredded field {show(fault.node.name)}"
        if fault.value is None:
            return f"the metadata {_raw(fault.metadata)} say that their names are sorted and unique, but they are not"
        why = _why(lambda: read_value(fault.value or b"", read_metadata(fault.metadata)))
        return f"the value {_raw(fault.value)}: {why}"


@value_rule("PQF-179", only=_has_variants)
class ValuesAreShreddedOnce(VariantRule):
    """Readers that use only one of the two columns return different values."""

    about = frozenset(("BESIDE", "COMMON", "UNSHREDDED"))
    expected = "a value or a typed_value, or two parts of one object"

    def words(self, fault: FirstFault, /) -> str:
        """The message: what is stored twice, or in the wrong column."""
        value = f"the value {_raw(fault.value)}"
        return {
            "BESIDE": f"{value} is beside a typed_value",
            "COMMON": f"{value} has a field that is also shredded",
            "UNSHREDDED": f"{value} is an object or array, and its typed_value is null",
        }[fault.kind.name]


@value_rule("PQF-180", only=_has_variants)
class ValuesAreThere(VariantRule):
    """A reader that does not treat it as a variant null fails."""

    about = frozenset(("MISSING",))
    expected = "a value or a typed_value"

    def words(self, _: FirstFault, /) -> str:
        """The message about a row without a value."""
        return "both value and typed_value are missing"
