"""The JSON form of reports: the members of their classes, and the derived JSON Schema."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Hashable
from functools import cache
from typing import Any, cast


def members_json(record: Any, indent: int | None) -> str:
    """A dataclass as ASCII JSON. Optional members with their default value are omitted."""
    return json.dumps(members(record), indent=indent)


def members(value: Any) -> Any:
    """The JSON value of a dataclass: its members in order, without optional members that have their default value."""
    if isinstance(value, str):  # a file name or a value may contain characters that JSON readers refuse
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
    """A text that JSON can represent: characters without an encoding, as in file names, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def _defaults(kind: Any) -> dict[str, Any] | None:
    """The members of a dataclass in order, each with its default value; ``None`` for other types.

    A member without a default has a unique object, which equals no value.
    """
    if not dataclasses.is_dataclass(kind):
        return None
    return {
        declared.name: declared.default
        if declared.default_factory is dataclasses.MISSING
        else declared.default_factory()
        for declared in dataclasses.fields(kind)
    }


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a class or a union of classes, derived from their annotations."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only this needs it

    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(kind).json_schema()}
