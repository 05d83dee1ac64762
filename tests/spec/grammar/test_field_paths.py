"""Field paths: taken apart, followed, set."""

from __future__ import annotations

from typing import Any

import pytest

from pqassay_spec.grammar.field_paths import get, put, steps
from pqassay_spec.parquet.thrift import KeyValue


def structure() -> dict[str, Any]:
    return {"a": [KeyValue(key="x", value=None), KeyValue(key="y", value="z")], "b": {"c": 1}}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a", ["a"]),
        ("a.b", ["a", "b"]),
        ("a[0].b[12]", ["a", 0, "b", 12]),
        ("a[0][1]", ["a", 0, 1]),
        ("", []),
    ],
)
def test_a_path_is_taken_apart(path: str, expected: list[str | int]) -> None:
    assert expected == list(steps(path))


@pytest.mark.parametrize("path", ["a[", "a[x]", "a..b", "[-1]", "a]"])
def test_what_is_no_path_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match="is not a field path"):
        steps(path)


@pytest.mark.parametrize(("path", "expected"), [("a[1].value", "z"), ("a[0].value", None), ("b.c", 1)])
def test_a_path_is_followed(path: str, expected: Any) -> None:
    assert expected == get(structure(), path)


@pytest.mark.parametrize("path", ["a[2]", "a.key", "b.d", "b[0]", "a[0].nothing", "b.c.d", "a[0][1]"])
def test_a_path_that_leads_nowhere_is_named(path: str) -> None:
    with pytest.raises(KeyError) as read:
        get(structure(), path)
    with pytest.raises(KeyError) as written:
        put(structure(), path, 1)

    assert (path, path) == (read.value.args[0], written.value.args[0])


def test_what_is_put_is_got() -> None:
    owner = structure()
    for path in ("a[0].value", "b.c", "a[1]"):
        put(owner, path, "new")
        assert "new" == get(owner, path)
