"""Records of manifest lists and manifests, with access to fields by id."""

from __future__ import annotations

from typing import Any, cast

from pqassay_spec.base.errors import Unsupported
from pqassay_spec.table.avro import fields_of
from pqassay_spec.table.json_objects import JsonObject
from pqassay_tables.metadata.avro import Container

Json = dict[str, Any]


class Layout:
    """The positions of the fields in decoded records of one kind, which are lists.

    Attributes:
        places: The position of a field, by id.
        names: The writer's name of a field, by id.
        schemas: The schema of a field without null, by id.
        misnumbered: Fields with a declared name but another id: the id, and the declared id.
    """

    def __init__(self, container: Container, schema: Any, declared: JsonObject | None) -> None:
        if not isinstance(schema, dict) or cast("Json", schema).get("type") != "record":
            raise container.broken(f"its objects are not records{f' of {declared.name}' if declared else ''}")
        self.places: dict[int, int] = {}
        self.names: dict[int, str] = {}
        self.schemas: dict[int, Any] = {}
        self.misnumbered: dict[str, tuple[int, int]] = {}
        by_name = {} if declared is None else {one.name: one.id for one in declared.members}
        for place, one in enumerate(fields_of(cast("Json", schema))):
            identifier = one.get("field-id", by_name.get(one["name"]))
            declared_id = by_name.get(one["name"], identifier)
            if type(declared_id) is int and type(identifier) is int and identifier != declared_id:
                self.misnumbered[one["name"]] = identifier, declared_id
            if type(identifier) is int:
                self.places.setdefault(identifier, place)
                self.names.setdefault(identifier, one["name"])
                self.schemas.setdefault(identifier, without_null(one.get("type")))
        if declared is not None:
            self._compare(container, declared)

    def _compare(self, container: Container, declared: JsonObject) -> None:
        for member in declared.members:
            identifier = member.id or 0
            if identifier not in self.places:
                if member.presence == "required":
                    raise container.broken(f"{declared.name} has no field {identifier}, {member.name}")
                continue
            given = self.schemas[identifier]
            if not is_of_type(given, member.type):
                told = f"field {identifier}, {member.name}, of {declared.name} is not of type {member.type}"
                raise container.broken(told)

    def value(self, record: list[Any], identifier: int) -> Any:
        """The value of a field of a record; ``None`` if absent."""
        place = self.places.get(identifier)
        return None if place is None else record[place]

    def name(self, identifier: int) -> str:
        """The writer's name of a field."""
        return self.names.get(identifier, str(identifier))


def without_null(schema: Any) -> Any:
    """The type of a nullable schema."""
    if isinstance(schema, list):
        others = [one for one in schema if one != "null"]
        return others[0] if len(others) == 1 else cast("Any", schema)
    return schema


def is_of_type(schema: Any, wanted: str) -> bool:
    """Whether a schema is of a type named as in `JsonMember.type`. Raises `Unsupported` for maps in another form."""
    schema = without_null(schema)
    kind = cast("Json", schema).get("type") if isinstance(schema, dict) else schema
    if wanted in ("int", "long"):
        return kind in ("int", "long")
    if wanted == "record":
        return kind == "record"
    if wanted.startswith("list of "):
        inner = wanted.removeprefix("list of ").removesuffix("s")
        return kind == "array" and is_of_type(cast("Json", schema).get("items"), inner)
    if wanted.startswith("map of int to "):
        items = without_null(cast("Json", schema).get("items")) if kind == "array" else None
        if not isinstance(items, dict):
            return False
        value = wanted.rpartition(" ")[2]
        types = [(one.get("name"), one.get("type")) for one in fields_of(cast("Json", items))]
        if types in ([("key", "int"), ("value", value)], [("key", "long"), ("value", value)]):
            return True
        raise Unsupported("a map has a form that pqassay does not read")
    return kind == wanted
