"""Checks of the names and ids that distinguish the members of a group."""

from __future__ import annotations

from collections.abc import Iterator

from pqassay.checks import rule
from pqassay.checks.subjects import SCHEMA
from pqassay.under_test.fields import Field, in_footer
from pqassay.under_test.file import FileUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.thrift import is_text
from pqassay_spec.parquet.schema.tree import SchemaNode, schema_tree


def _element(file: FileUnderTest, place: int) -> Field:
    return in_footer(file, f"schema[{place}]")


@rule("PQF-122", of=SCHEMA)
def names_are_text(file: FileUnderTest) -> Iterator[Violation]:
    """Readers that decode a name fail on the whole file."""
    for place, element in enumerate(file.metadata.schema):
        if not is_text(element.name):
            said = f"element {place} of the schema is called {show(element.name)}, which is not UTF-8"
            yield Violation(said, _element(file, place) / "name", "UTF-8", show(element.name))


def _groups(file: FileUnderTest) -> Iterator[SchemaNode]:
    """The root and all groups below it, if the schema is a tree."""
    _ = file.leaves
    left = [schema_tree(file.metadata.schema)]
    while left:
        node = left.pop()
        left.extend(child for child in reversed(node.children) if not child.is_leaf)
        yield node


def _has_ids(file: FileUnderTest) -> bool:
    return any(element.field_id is not None and element.field_id > 0 for element in file.metadata.schema)


@rule("PQF-123", of=SCHEMA, only=_has_ids)
def members_have_ids_of_their_own(file: FileUnderTest) -> Iterator[Violation]:
    """A reader that uses ids confuses the members. Some writers put 0 or -1 for a missing id."""
    pairs: set[int] = set()
    for group in _groups(file):
        if group.is_map:
            pairs |= {child.place for child in group.children}
        # A schema of Thrift numbers the fields of structs; key and value of a map have no numbers of their own.
        if group.place in pairs:
            continue
        first: dict[int, SchemaNode] = {}
        for child in group.children:
            number = child.element.field_id
            if number is None or number <= 0:
                continue
            earlier = first.setdefault(number, child)
            if earlier is not child:
                said = f"{show(child.name)} has the field_id {number}, like {show(earlier.name)} before it"
                field = _element(file, child.place) / "field_id"
                yield Violation(said, field, "a unique id", str(number), column=child.name)


def _has_cases(file: FileUnderTest) -> bool:
    names = {element.name for element in file.metadata.schema[1:]}
    return len({name.lower() for name in names}) < len(names)


@rule("PQF-187", of=SCHEMA)
def names_differ_by_more_than_case(file: FileUnderTest) -> Iterator[Violation]:
    """Engines that ignore case confuse the two, or refuse the file. PQF-018 and PQF-124 judge equal names."""
    if not _has_cases(file):
        return
    for group in _groups(file):
        first: dict[str, SchemaNode] = {}
        for child in group.children:
            earlier = first.setdefault(child.name.lower(), child)
            if earlier.name != child.name:
                said = f"{show(child.name)} differs from {show(earlier.name)} before it only in case"
                field = _element(file, child.place) / "name"
                yield Violation(said, field, "a unique name", show(child.name), column=child.name)


def _has_groups(file: FileUnderTest) -> bool:
    schema = file.metadata.schema
    return (
        len(schema) > len(file.leaves) + 1 and len({element.name for element in schema[1:]}) < len(schema) - 1
    )


@rule("PQF-124", of=SCHEMA, only=_has_groups)
def groups_have_names_of_their_own(file: FileUnderTest) -> Iterator[Violation]:
    """PQF-018 judges leaves with the same path."""
    for group in _groups(file):
        first: dict[str, SchemaNode] = {}
        for child in group.children:
            earlier = first.setdefault(child.name, child)
            if earlier is child or (earlier.is_leaf and child.is_leaf) or _share_a_name(earlier, child):
                continue
            said = f"{show(child.name)} is the name of two members of one group, and one of them is a group"
            field = _element(file, child.place) / "name"
            yield Violation(said, field, "a unique name", show(child.name), column=child.name)


def _share_a_name(one: SchemaNode, other: SchemaNode) -> bool:
    """Whether two groups have members with the same name; such members have their own finding."""
    return bool({child.name for child in one.children} & {child.name for child in other.children})
