"""The plugin of pytest, in test runs of its own within this process."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tomllib

import pytest

import pqassay
import pqassay_spec
from idx1_files import Idx1File
from places import GUIDES, ROOT

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]

# A test run within this process forgets what it was first to import.  Imported again, an exception would be another class to
# a process that knows the first one: so everything is there before.
for package in (pqassay, pqassay_spec):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
pqassay.check(Idx1File().build(), tier="values")  # and what that loads when it needs it


NAME = "pqassay.pytest_plugin"

DRIVER = """
import json, sys
request = json.load(open(sys.argv[1]))
if request["op"] != "lint": sys.exit(3)
json.dump({"answer": "reject", "message": "no"}, open(sys.argv[2], "w"))
"""


def outcomes(pytester: pytest.Pytester, *arguments: str) -> tuple[dict[str, int], str]:
    """What became of a test run, and what it printed."""
    result = pytester.runpytest_inprocess("-p", NAME, "-p", "no:cacheprovider", "-p", "no:xdist", *arguments)
    found = result.parseoutcomes()
    found.pop("warnings", None)  # that the plugin is here already
    return found, str(result.stdout)


def test_the_package_declares_the_plugin() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]

    assert {
        "pytest11": {NAME: NAME, "pqassay_suite.pytest_plugin": "pqassay_suite.pytest_plugin"}
    } == declared


def test_the_fixture_passes_good_files_and_fails_with_the_findings_of_others(
    pytester: pytest.Pytester,
) -> None:
    (pytester.path / "good.parquet").write_bytes(Idx1File().build())
    (pytester.path / "bad.parquet").write_bytes(Idx1File(payload=b"Peru\nSingapura").build())
    pytester.makepyfile(
        """
        from pathlib import Path

        def test_good(pqassay_check):
            report = pqassay_check(Path("good.parquet"))
            assert report.summary.conformant == 1

        def test_bad(pqassay_check):
            pqassay_check("bad.parquet")

        def test_shallow(pqassay_check):
            pqassay_check("bad.parquet", tier="footer")

        def test_several(pqassay_check):
            pqassay_check([Path("good.parquet"), "bad.parquet"], tier="values")

        def test_bytes(pqassay_check):
            pqassay_check(b"no Parquet file")

        def test_missing(pqassay_check):
            pqassay_check("missing.parquet")
        """
    )
    found, text = outcomes(pytester)

    assert {"passed": 2, "failed": 4} == found
    assert "  FAIL IDX1-016\n" in text
    assert "remedy    pqassay embed bad.parquet --column nation" in text
    assert "FAIL PQF-001" in text
    assert "missing.parquet: no such file" in text
    assert "conformance/pqassay" not in text  # no traceback into the plugin


def test_the_example_of_the_guide_passes(pytester: pytest.Pytester) -> None:
    guide = (GUIDES / "ci.md").read_text("utf-8")
    pytester.makepyfile(guide.partition('```python title="test_writer.py"\n')[2].partition("```")[0])

    assert {"passed": 1} == outcomes(pytester)[0]


def test_a_driver_is_tested_case_by_case(pytester: pytest.Pytester) -> None:
    driver = pytester.makepyfile(driver=DRIVER)
    command = f"{sys.executable} {driver}"
    chosen = ("--pqassay-driver", command, "--pqassay-case", "idx1/offset-underscore")
    found, text = outcomes(pytester, "-v", *chosen)

    # It refuses the valid parent, and so earns nothing for refusing the other.
    assert found.items() >= {"failed": 2, "passed": 1}.items()
    assert {"failed", "passed", "skipped"} == set(found)
    assert "pqassay/idx1/offset-underscore/lint FAILED" in text
    assert "no credit" in text
    assert "repeat    pqassay suite run --case idx1/offset-underscore --operation lint" in text

    expectations = pytester.path / "expectations.toml"
    expectations.write_text(
        '[[expectation]]\ncase = "idx1/offset-underscore"\noutcome = "no credit"\noperation = "lint"\n'
        '[[expectation]]\ncase = "idx1/plain"\noutcome = "failed"\noperation = "lint"\n'
    )
    found, text = outcomes(pytester, *chosen, "--pqassay-expectations", str(expectations))
    assert {"passed": 1, "xfailed": 2, "skipped": found["skipped"]} == found
    assert "FAILED" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--pqassay-case", "idx1/*"), "need --pqassay-driver"),
        (("--pqassay-driver", "x", "--pqassay-case", "no/such"), "no case"),
        (("--pqassay-driver", "x", "--pqassay-expectations", "missing.toml"), "missing.toml"),
        (("--pqassay-driver", "'"), "No closing quotation"),
        (("--pqassay-driver", ""), ""),
    ],
)
def test_wrong_usage_is_said(pytester: pytest.Pytester, arguments: tuple[str, ...], words: str) -> None:
    result = pytester.runpytest_inprocess("-p", NAME, "-p", "no:cacheprovider", *arguments)

    assert result.ret in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
    assert words in f"{result.stdout}{result.stderr}"


def test_a_driver_that_does_not_exist_fails_its_tests(pytester: pytest.Pytester) -> None:
    found, text = outcomes(pytester, "--pqassay-driver", "no-such-program", "--pqassay-case", "idx1/plain")

    assert {"failed"} == set(found)
    assert "there is no program no-such-program" in text
