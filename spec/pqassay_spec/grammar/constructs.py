"""Helpers for ``construct``: names of its generic classes, unwrapped declarations, and building structures that may be invalid."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from construct import Construct, Renamed, Subconstruct

if TYPE_CHECKING:
    AnyConstruct: TypeAlias = Construct[Any, Any]
    AnySubconstruct: TypeAlias = Subconstruct[Any, Any, Any, Any]
else:  # generic in their type stubs only
    AnyConstruct, AnySubconstruct = Construct, Subconstruct


Decided = TypeVar("Decided", bound=Callable[..., Any])


def expressed(text: str) -> Callable[[Decided], Decided]:
    """Give the Kaitai Struct expression that decides the same as a function of the context."""

    def declared(function: Decided) -> Decided:
        function.kaitai = text  # type: ignore[attr-defined]  # an attribute of the function
        return function

    return declared


def bare(declaration: Any) -> Any:
    """A declaration without its name and doc: ``"name" / X * "doc"`` wraps X twice."""
    while isinstance(declaration, Renamed):
        declaration = cast("Any", declaration).subcon
    return declaration


def built(declaration: Any, value: Any) -> bytes:
    """Build a structure from its members, even if they are inconsistent: bytes as given, and all given elements."""
    structure = bare(declaration)
    if isinstance(value, bytes):
        return value
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return b"".join(built(member, members[member.name]) for member in structure.subcons)
    if isinstance(value, list):
        return b"".join(built(structure.subcon, one) for one in value)
    return bytes(structure.build(value))
