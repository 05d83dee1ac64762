"""The names that users import, which stay where they are whatever rooms there are behind them."""

from __future__ import annotations

import importlib

import pytest

import pqassay
import pqassay_reader


@pytest.mark.parametrize("name", ["Finding", "Report", "UsageError", "__version__", "check"])
def test_the_package_has_its_public_names(name: str) -> None:
    assert name in pqassay.__all__
    assert getattr(pqassay, name)


def test_public_modules_are_imported_by_their_names() -> None:
    from pqassay.baseline import Baseline
    from pqassay.pytest_plugin import pqassay_check
    from pqassay.report import Coverage, FileReport, Finding, Position, Report
    from pqassay.strategies import records

    assert "pqassay.judge.baseline" == Baseline.__module__
    assert {"pqassay.report.model"} == {
        kind.__module__ for kind in (Coverage, FileReport, Finding, Position, Report)
    }
    assert all(map(callable, (pqassay_check, records)))


@pytest.mark.parametrize("old", ["pqassay_reference", "pqassay_reference.lake.indexed_dataset"])
def test_what_has_moved_works_and_says_where_it_went(old: str) -> None:
    module = importlib.import_module(old)

    with pytest.warns(
        DeprecationWarning,
        match=r"open_indexed is pqassay_reader\S*open_indexed now; this name goes with 1.0",
    ):
        found = module.open_indexed

    assert found is pqassay_reader.open_indexed


def test_an_option_that_a_check_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="a check has no option 'teir'"):
        pqassay.check(b"", teir="index")  # type: ignore[call-arg]
