"""Checks of the members of groups that are annotated as a variant or as a reference to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import SCHEMA
from pqassay.under_test.fields import in_footer
from pqassay.under_test.file import FileUnderTest, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.parquet.schema.annotated_groups import (
    GroupFault,
    file_faults,
    groups_called,
    shredding_faults,
    variant_faults,
)
from pqassay_spec.parquet.schema.tree import SchemaNode, schema_tree


def _has_groups(file: FileUnderTest) -> bool:
    """Whether a group has a logical type; most groups have none, or are lists and maps."""
    return any(
        element.type is None and element.logicalType is not None for element in file.metadata.schema[1:]
    )


def _faults(
    file: FileUnderTest, kind: str, find: Callable[[SchemaNode], Iterator[GroupFault]]
) -> Iterator[Violation]:
    _ = file.leaves  # the tree is sound
    groups = list(groups_called(schema_tree(file.metadata.schema), kind))
    if not groups:
        raise NotApplicable
    for group in groups:
        for fault in find(group):
            field = in_footer(file, f"schema[{fault.node.place}]")
            actual = f"has {fault.actual}"
            if fault.node is not group:
                actual = f"its {show(fault.node.name)} is {fault.actual}"
            said = f"{show(group.name)} is annotated as {kind}, and {actual}"
            yield Violation(said, field, fault.expected, fault.actual, column=group.name)


@rule("PQF-173", of=SCHEMA, only=_has_groups)
def variants_have_their_members(file: FileUnderTest) -> Iterator[Violation]:
    """A reader finds the members by name, and refuses the file if they are missing."""
    return _faults(file, "VARIANT", variant_faults)


@rule("PQF-174", of=SCHEMA, only=_has_groups)
def references_to_files_have_their_members(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that knows the annotation refuses the file."""
    return _faults(file, "FILE", file_faults)


@rule("PQF-175", of=SCHEMA, only=_has_groups)
def shredded_values_have_types_of_variants(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that reassembles the value does not know its type."""
    return _faults(file, "VARIANT", shredding_faults)


def find_fault(group: SchemaNode) -> str | None:
    """The rule that the members of a variant break; ``None`` if they are sound."""
    if any(variant_faults(group)):
        return "PQF-173"
    return "PQF-175" if any(shredding_faults(group)) else None
