"""Names for the generic classes of ``construct``, and a declaration without its wrapping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from construct import Construct, Renamed, Subconstruct

if TYPE_CHECKING:
    AnyConstruct: TypeAlias = Construct[Any, Any]
    AnySubconstruct: TypeAlias = Subconstruct[Any, Any, Any, Any]
else:  # generic in their type stubs only
    AnyConstruct, AnySubconstruct = Construct, Subconstruct


def bare(declaration: Any) -> Any:
    """A declaration without its name and doc: ``"name" / X * "doc"`` wraps X twice."""
    while isinstance(declaration, Renamed):
        declaration = cast("Any", declaration).subcon
    return declaration
