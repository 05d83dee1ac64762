from __future__ import annotations

import pytest

from each import each


def test_a_test_runs_with_each_row_and_an_error_names_its_row() -> None:
    seen: list[tuple[int, str]] = []

    @each(("number", "text"), [(1, "a"), (2, "b"), (3, "c")])
    def sees(text: str, number: int) -> None:
        seen.append((number, text))
        assert number < 2

    with pytest.raises(AssertionError) as caught:
        sees()
    assert [(1, "a"), (2, "b")] == seen
    assert ["row 1: (2, 'b')"] == caught.value.__notes__
