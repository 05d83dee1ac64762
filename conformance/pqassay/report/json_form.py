"""Reports in JSON: what their classes are there, and the JSON Schema that follows from them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Hashable
from functools import cache
from typing import Any, cast


def members_json(record: Any, indent: int | None) -> str:
    """A dataclass as JSON text in ASCII. Optional members that have their default are left out."""
    return json.dumps(members(record), indent=indent)


def members(value: Any) -> Any:
    """Value that stands for a dataclass in JSON: its members in order, optional ones only where they say something."""
    if isinstance(value, str):  # a file name or a value may hold what JSON readers refuse
        return value if value.isascii() else encodable(value)
    if (defaults := _defaults(cast("Hashable", type(value)))) is not None:
        return {
            name: members(member)
            for name, default in defaults.items()
            if (member := getattr(value, name)) != default
        }
    if isinstance(value, list):
        return [members(item) for item in value]
    if isinstance(value, dict):
        return {key: members(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def encodable(text: str) -> str:
    """A text as it is in JSON: what has no encoding, as in names of files, is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def _defaults(kind: Any) -> dict[str, Any] | None:
    """The members of a dataclass in order, each with its default: what equals nothing else if it has none; ``None`` of other types."""
    if not dataclasses.is_dataclass(kind):
        return None
    return {
        declared.name: declared.default
        if declared.default_factory is dataclasses.MISSING
        else declared.default_factory()
        for declared in dataclasses.fields(kind)
    }


def schema_of(kind: Any) -> dict[str, Any]:
    """JSON Schema of a class or a union of classes, derived from their annotations."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only this needs it

    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(kind).json_schema()}
