"""Checks of the metadata file of an Iceberg table, tier ``meta``: whether it can be read, and its claims about snapshots and columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, cast

from pqassay.checks import rule
from pqassay.under_test.file import Broken, NotApplicable
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import Malformed
from pqassay_spec.table.iceberg import (
    BRANCH,
    MAIN,
    MOST_PRECISION,
    PRIMITIVE_TYPES,
    REQUIRED_IN_1,
    REQUIRED_SINCE,
    ROW_IDS_SINCE,
    TAG,
)
from pqassay_tables.checks.iceberg_table.subjects import TABLE, broken_by_reading
from pqassay_tables.metadata import repairs
from pqassay_tables.metadata.delta.actions import object_of
from pqassay_tables.metadata.iceberg.metadata import EMPTY
from pqassay_tables.metadata.iceberg.schema import (
    DECIMAL,
    DEEPEST,
    FIXED,
    columns_of,
    objects,
    partition_fields,
)
from pqassay_tables.under_test.iceberg_table import IcebergTable
from pqassay_tables.under_test.table import metadata_field


def has_snapshot(table: IcebergTable) -> bool:
    """Whether the table is not empty; also true if its metadata cannot be read."""
    try:
        return table.state.snapshot is not None
    except Malformed:
        return True


@rule("ICE-001", of=TABLE)
def metadata_can_be_read(table: IcebergTable) -> Iterator[Violation]:
    """A reader that cannot parse the metadata does not read the table."""
    return broken_by_reading(table, "ICE-001")


@rule("ICE-002", of=TABLE, only=has_snapshot)
def the_snapshot_is_there(table: IcebergTable) -> Iterator[Violation]:
    """Without the snapshot, the files of the table are unknown."""
    return broken_by_reading(table, "ICE-002")


@rule("ICE-003", of=TABLE, only=has_snapshot)
def the_manifest_list_can_be_read(table: IcebergTable) -> Iterator[Violation]:
    """Every query reads it first."""
    return broken_by_reading(table, "ICE-003")


@rule("ICE-004", of=TABLE, only=has_snapshot)
def manifests_can_be_read(table: IcebergTable) -> Iterator[Violation]:
    """Only the manifest lists its files."""
    return broken_by_reading(table, "ICE-004")


def _wrong(table: IcebergTable, path: tuple[str, ...], said: str, expected: str, actual: str) -> Violation:
    field = metadata_field(table.file, table.state.file, *path)
    return Violation(said, field, expected, actual, remedy=repairs.ICEBERG_METADATA.text)


@rule("ICE-050", of=TABLE)
def the_main_branch_is_the_current_snapshot(table: IcebergTable) -> Iterator[Violation]:
    """Some readers use the branch, and others the current snapshot."""
    metadata = table.state.metadata
    refs: Any = metadata.get("refs")
    main: Any = object_of(refs).get(MAIN)
    if not isinstance(main, dict):
        raise NotApplicable
    current, named = metadata.get("current-snapshot-id"), cast("dict[str, Any]", main).get("snapshot-id")
    if named != current and not (named in EMPTY and current in EMPTY):
        said = f"current-snapshot-id is {current}, but the branch {MAIN} is at snapshot {named}"
        yield _wrong(table, ("refs", MAIN, "snapshot-id"), said, str(current), str(named))


@rule("ICE-078", of=TABLE)
def required_members_are_there(table: IcebergTable) -> Iterator[Violation]:
    """Many readers refuse the whole table."""
    metadata, version = table.state.metadata, table.state.version
    required = [name for name, since in REQUIRED_SINCE.items() if since <= version]
    for name in (*required, *(REQUIRED_IN_1 if version == 1 else ())):
        if metadata.get(name) is None:
            said = f"the metadata are of version {version}, but have no {name}"
            field = metadata_field(table.file, table.state.file, name)
            yield Violation(said, field, f"a {name}", "none", remedy="a commit that rewrites the metadata")


def _given(table: IcebergTable, name: str) -> Any:
    """A required member of the metadata."""
    found = table.state.metadata.get(name)
    if found is None:
        raise Broken("ICE-078")
    return found


@rule("ICE-051", of=TABLE)
def the_last_column_id_is_the_highest(table: IcebergTable) -> Iterator[Violation]:
    """The next column gets the id of an existing column, and readers find its values there."""
    last, greatest = _given(table, "last-column-id"), table.state.schema.greatest
    if type(last) is not int or last < greatest:
        said = f"last-column-id is {last}, but a schema has a column with the id {greatest}"
        yield _wrong(table, ("last-column-id",), said, f"{greatest} or more", str(last))


@rule("ICE-052", of=TABLE)
def the_last_sequence_number_is_the_highest(table: IcebergTable) -> Iterator[Violation]:
    """The next snapshot gets an existing number, and its deletes do not apply to older files."""
    metadata = table.state.metadata
    given = [one.get("sequence-number") for one in objects(metadata, "snapshots")]
    numbers = [one for one in given if type(one) is int]
    if table.state.version < 2 or not numbers:
        raise NotApplicable
    last, greatest = _given(table, "last-sequence-number"), max(numbers)
    if type(last) is not int or last < greatest:
        said = f"last-sequence-number is {last}, but a snapshot has the sequence number {greatest}"
        yield _wrong(table, ("last-sequence-number",), said, f"{greatest} or more", str(last))


@rule("ICE-074", of=TABLE)
def the_last_partition_id_is_the_highest(table: IcebergTable) -> Iterator[Violation]:
    """The next partition field gets the id of an existing field, and readers find its values there."""
    metadata = table.state.metadata
    ids = [field.id for spec in table.state.schema.specs.values() for field in spec]
    if not ids or (metadata.get("last-partition-id") is None and table.state.version < 2):
        raise NotApplicable
    last = _given(table, "last-partition-id")
    if type(last) is not int or last < max(ids):
        said = f"last-partition-id is {last}, but a partition field has the id {max(ids)}"
        yield _wrong(table, ("last-partition-id",), said, f"{max(ids)} or more", str(last))


@rule("ICE-075", of=TABLE)
def types_are_known(table: IcebergTable) -> Iterator[Violation]:
    """A reader that does not know a type refuses the table."""
    state = table.state
    for column in state.schema.columns.values():
        since = first_version(column.type)
        if since is None or since > state.version:
            fault = "is not known" if since is None else f"is of version {since}"
            said = f"column {column.name} has the type {column.type[:40]}, which {fault}"
            schemas = "schemas" if "schemas" in state.metadata else "schema"
            yield _wrong(table, (schemas,), said, f"a type of version {state.version}", column.type[:40])
    for _, path, field in fields_of(state.schema.newest):
        kind, default = field.get("type"), field.get("initial-default")
        if default is None or not isinstance(kind, str):
            continue
        is_value = isinstance(default, JSON_TYPES.get(kind, str)) and isinstance(default, bool) is (kind == "boolean")  # fmt: skip
        if state.version < ROW_IDS_SINCE or not is_value or (kind == "int" and abs(default) >> 31):
            said = (
                f"column {'.'.join(path)}, of type {kind[:40]}, has the initial-default {str(default)[:40]}"
            )
            yield _wrong(table, ("schemas",), said, f"a value of its type, in version {ROW_IDS_SINCE}", str(default)[:40])  # fmt: skip


JSON_TYPES: Mapping[str, Any] = {"boolean": bool, "int": int, "long": int, "float": (int, Decimal), "double": (int, Decimal)}  # fmt: skip
"""What defaults are in JSON, by the types of their columns; texts of other types."""


def first_version(kind: str) -> int | None:
    """The first version of the format that has a type; ``None`` if no version has it."""
    match = NAME.fullmatch(kind)
    if match is None:
        return None
    if match[1] == "decimal":
        digits = DECIMAL.fullmatch(kind)
        is_known = digits is not None and 0 < int(digits[1]) <= MOST_PRECISION and int(digits[2]) <= int(digits[1])  # fmt: skip
    elif match[1] == "fixed":
        is_known = FIXED.fullmatch(kind) is not None
    else:
        is_known = match[2] is None or match[1] in ("geometry", "geography")
    return PRIMITIVE_TYPES.get(match[1]) if is_known else None


NAME = re.compile(r"([a-z_]+)\s*([(\[].*[)\]])?", re.ASCII | re.DOTALL)
"""A pattern for a type: its name, and its optional parameters in brackets."""


@rule("ICE-080", of=TABLE)
def references_are_of_snapshots(table: IcebergTable) -> Iterator[Violation]:
    """Readers refuse the table, or find no rows under the name."""
    metadata = table.state.metadata
    refs: Any = metadata.get("refs")
    if not isinstance(refs, dict) or not refs:
        raise NotApplicable
    ids = {one.get("snapshot-id") for one in objects(metadata, "snapshots")}
    for name, given in cast("dict[str, Any]", refs).items():
        ref: dict[str, Any] = object_of(given)
        kind, snapshot = ref.get("type"), ref.get("snapshot-id")
        if kind not in (BRANCH, TAG):
            said = f"the reference {name[:40]} is a {str(kind)[:40]}"
            yield _wrong(table, ("refs", name, "type"), said, f"{BRANCH} or {TAG}", str(kind)[:40])
        if snapshot not in ids and not (name == MAIN and snapshot in EMPTY):
            said = f"the reference {name[:40]} is at snapshot {snapshot}, which is not in the metadata"
            yield _wrong(table, ("refs", name, "snapshot-id"), said, "a snapshot of the table", str(snapshot)[:40])  # fmt: skip


@rule("ICE-081", of=TABLE)
def ids_of_columns_are_unique(table: IcebergTable) -> Iterator[Violation]:
    """Readers find the values of one column in the other."""
    metadata = table.state.metadata
    lists: list[tuple[tuple[str, ...], Any]] = [
        (("schemas", f"[{place}]"), one) for place, one in enumerate(objects(metadata, "schemas"))
    ]
    lists += [] if lists or "schema" not in metadata else [(("schema",), metadata["schema"])]
    for path, schema in lists:
        fields = list(fields_of(schema))
        named = (("name", ".".join(names)) for _, names, _ in fields)
        for (what, value), count in Counter([*(("id", str(one)) for one, _, _ in fields), *named]).items():
            if count > 1:
                said = f"{count} fields of schema {schema.get('schema-id', 0)} have the {what} {value}"
                yield _wrong(table, (*path, "fields"), said, f"one field of the {what}", f"{count} fields")
        given: Any = schema.get("identifier-field-ids")
        for number in given if isinstance(given, list) else ():
            if actual := _unfit_identifier(fields, number):
                said = f"identifier {number} of schema {schema.get('schema-id', 0)} is {actual}"
                yield _wrong(table, (*path, "identifier-field-ids"), said, IDENTIFIER, actual)


IDENTIFIER = "a required primitive field that is neither float nor double, in required structs alone"


def _unfit_identifier(fields: list[tuple[int, tuple[str, ...], dict[str, Any]]], number: Any) -> str:
    """What makes a field no identifier of rows; empty if nothing does."""
    path, declared = next(
        (each[1:] for each in fields if each[0] == number), ((), {"type": "not in the schema"})
    )
    if not path or declared.get("type") in ("float", "double"):
        return str(declared["type"])
    if isinstance(declared.get("type"), dict):
        return "a struct, a list or a map"
    around = [item for _, names, item in fields if names == path[: len(names)]]
    if all(item.get("required") for item in around):
        return ""
    return "in a list or a map" if any(not item for item in around) else "optional, or in an optional struct"


def fields_of(kind: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[int, tuple[str, ...], dict[str, Any]]]:
    """The fields in a type, nested ones included: the id, the names and the declaration of each, empty in lists and maps."""
    if not isinstance(kind, dict) or len(path) > DEEPEST:
        return
    declared = cast("dict[str, Any]", kind)
    for one in objects(declared, "fields"):
        below = (*path, str(one.get("name")))
        yield one["id"], below, one
        yield from fields_of(one.get("type"), below)
    for member in ("element", "key", "value"):
        if f"{member}-id" in declared:
            yield declared[f"{member}-id"], (*path, member), {}
            yield from fields_of(declared.get(member), (*path, member))


DEPRECATED = (("schema", "schemas", "current-schema-id", "schema-id"), ("partition-spec", "partition-specs", "default-spec-id", "spec-id"))  # fmt: skip
"""Members of version 1 that repeat one item of a list: the member, the list, the selecting member, and the item's id."""


@rule("ICE-084", of=TABLE)
def version_1_says_the_same_twice(table: IcebergTable) -> Iterator[Violation]:
    """Readers that know only the older members see other columns, or other partitions."""
    metadata = table.state.metadata
    if table.state.version > 1:
        raise NotApplicable
    known = False
    for name, holder, choice, key in DEPRECATED:
        chosen = metadata.get(choice)
        of_list = next((one for one in objects(metadata, holder) if one.get(key) == chosen), None)
        if name not in metadata or of_list is None:
            continue
        known = True
        if _compared(name, metadata[name]) != _compared(
            name, of_list if name == "schema" else of_list.get("fields")
        ):
            said = f"{name} differs from the {holder} that {choice} {chosen} selects"
            yield _wrong(table, (name,), said, f"the one of {choice} {chosen}", "another one")
    if not known:
        raise NotApplicable


def _compared(name: str, given: Any) -> Any:
    """The content of a schema or a partition spec in comparable form; ``None`` if it is not readable."""
    try:
        if name == "schema":
            return columns_of(given)
        return sorted((one.source, one.transform, one.parameter, one.name) for one in partition_fields(objects({"fields": given}, "fields")))  # fmt: skip
    except Malformed:
        return None


CHOSEN = (
    ("current-schema-id", "schemas", "schema-id"),
    ("default-spec-id", "partition-specs", "spec-id"),
    ("default-sort-order-id", "sort-orders", "order-id"),
    ("", "snapshots", "snapshot-id"),
)
"""Members that select one item of a list by id; other rules judge those that select a snapshot."""


@rule("ICE-069", of=TABLE)
def what_is_chosen_is_there(table: IcebergTable) -> Iterator[Violation]:
    """Readers do not know the columns of the table, or writers do not know how to write it."""
    metadata = table.state.metadata
    for name, holder, key in CHOSEN:
        given, ids = metadata.get(name), [one.get(key) for one in objects(metadata, holder)]
        known = ids or [0] * (key == "order-id")  # some writers do not list the order of rows without one
        if given is not None and holder in metadata and given not in known:
            said = f"{name} is {given}, which is not among the {holder}"
            yield _wrong(table, (name,), said, f"one of {', '.join(map(str, ids[:20]))}", str(given)[:80])
        counted = Counter(str(one[key]) for one in objects(metadata, holder) if key in one)
        for given, count in counted.items():
            if count > 1:
                said = f"{count} of the {holder} have the {key} {given}"
                yield _wrong(table, (holder,), said, "one of each id", f"{count} of {given}")
