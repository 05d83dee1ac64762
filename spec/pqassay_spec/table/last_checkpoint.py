"""The checksum of ``_last_checkpoint``, the file of a Delta log that names the newest checkpoint.

>>> checksum_of({"k1": "v1", "checksum": "any", "k3": 23}) == hashlib.md5(b'"k1"="v1","k3"=23').hexdigest()
True

Source: the Delta protocol, "JSON checksum".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import quote

CHECKSUM = "checksum"
"""The member for the checksum."""


def checksum_of(content: Mapping[str, Any]) -> str:
    """MD5, in hex, of the canonical form of all members except ``checksum``: the path and value of each leaf, in the order of the paths.

    Args:
        content: The JSON object; numbers with a fraction or an exponent are `decimal.Decimal`, which keeps their spelling.
    """
    members = {name: value for name, value in content.items() if name != CHECKSUM}
    leaves = sorted(_leaves(members), key=lambda leaf: leaf[0].encode())
    text = ",".join(f"{path}={value}" for path, value in leaves)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _leaves(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each value without members after its path; without recursion, because a file may be nested deeply."""
    rest: list[tuple[Any, str]] = [(value, _text(name)) for name, value in content.items()]
    while rest:
        value, path = rest.pop()
        if isinstance(value, Mapping):
            members = cast("Mapping[str, Any]", value).items()
            rest += [(inner, f"{path}+{_text(name)}") for name, inner in members]
        elif isinstance(value, list):
            elements = enumerate(value)
            rest += [(inner, f"{path}+{number}") for number, inner in elements]
        else:
            yield path, _text(value) if isinstance(value, str) else _word(value)


def _word(value: Any) -> str:
    """A number in its original spelling, or ``true``, ``false`` or ``null``."""
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _text(value: str) -> str:
    return f'"{quote(value, safe="", errors="replace")}"'
