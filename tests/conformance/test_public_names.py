"""The names that users import, which stay where they are whatever rooms there are behind them."""

from __future__ import annotations

import doctest
import importlib

import pytest

import pqassay
import pqassay_reader
from pqassay.cli.check.options import OPTIONS
from pqassay.judge.options import CheckOptions, declared


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


def test_the_example_of_the_package_runs_as_it_is() -> None:
    assert (0, 4) == tuple(doctest.testmod(pqassay, globs={}))


def test_names_are_listed_before_they_are_imported() -> None:
    assert sorted(pqassay.__all__) == dir(pqassay)


def test_a_report_is_one_line() -> None:
    report = pqassay.check(b"x")

    assert "<Report: 1 file, 0 conformant, 1 nonconformant, 0 errored>" == repr(report)


def test_options_are_called_as_on_the_command_line_and_old_names_work() -> None:
    new, old = {"rule": ["PQF-*"], "skip_rule": ["PQF-001"]}, {"only": ["PQF-*"], "skip": ["PQF-001"]}
    reports = [pqassay.check(b"x", **options) for options in (new, old)]  # type: ignore[arg-type]

    assert reports[0] == reports[1]
    assert {option.name for option in declared(CheckOptions)} <= {option.name for option in OPTIONS.values()}
    assert all(option.keyword.replace("_", "-") == option.name for option in OPTIONS.values())
