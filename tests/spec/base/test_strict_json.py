from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqassay_spec.base import strict_json


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Expecting value"),
        ('{"a": 1, "a": 2}', "member 'a' occurs twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 10_000, "digits"),
        ("{} {}", "Extra data"),
    ],
)
def test_what_is_no_json_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        strict_json.parse(text)


def test_what_is_json_is_read() -> None:
    assert {"a": [1, 2.5, None, True, "é"], "b": {}} == strict_json.parse(
        '{"a": [1, 2.5, null, true, "é"], "b": {}}'
    )


@given(st.text())
def test_nothing_but_a_value_error_is_raised(text: str) -> None:
    with contextlib.suppress(ValueError):
        strict_json.parse(text)
