"""The scores of fakes: drivers that are wrong on purpose.

A score is meaningful only in comparison with the score of a program that does nothing right.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pqassay_suite.cases.case import GoldenCase, golden_folder, load, select
from pqassay_suite.drivers.process import Limits
from pqassay_suite.running.runner import Settings, run

ROOT = Path(__file__).resolve().parent.parent
FAKES = ROOT / "tests" / "suite" / "fakes"
SCORES = "conformance/implementations/null_scores.toml"


class Fake(NamedTuple):
    """A driver that is wrong on purpose.

    Attributes:
        does: Its behavior.
        cases: The cases; by default all.
        seconds: The time limit of each case.
        jobs: The number of processes: one if an answer depends on the previous one.
    """

    does: str
    cases: tuple[str, ...] = ()
    seconds: float = 10.0
    jobs: int = os.cpu_count() or 1


SLICE = ("*/p*", "interop/questdb-9.4.3/o3-*")
"""Cases of all families, enough to test a driver that is started for each request."""

FAKE_DRIVERS = {
    "accept_all": Fake("accepts everything, unread: an empty set, no rows, no row groups, no file written"),
    "reject_all": Fake("refuses everything, unread"),
    "crash_all": Fake("ends with exit status 1, as after an uncaught exception", SLICE),
    "garbage": Fake("writes what is not JSON", SLICE),
    "lying": Fake("declares every capability and then supports none", SLICE),
    "off_by_one": Fake(
        "reads the payload of an index one byte too short; of _pm takes the snapshot before, leaves the last row group out, fetches a byte too few"
    ),
    "ignore_index": Fake(
        "reads and scans rightly without the index, and keeps all row groups; knows only read, scan and prune",
        ("idx1/companion", "idx1/p*", "pqf/p*", "interop/questdb-9.4.3/*"),
    ),
    "shy": Fake("answers queries for what is not null alone, rightly", ("pix/n*",)),
    "repeats": Fake("answers as it did the first time", ("pix/no-pages*",), jobs=1),
    "bleeding": Fake("puts rows into the answer behind a refusal", ("pqf/pa*",), jobs=1),
    "every_fifth": Fake("answers every fifth time without rows", ("pix/no-pages*",), jobs=1),
    "looks_up": Fake("reads nothing: has the rows of golden cases, by the digest of the file", ("pqf/p*",)),
    "asked_twice": Fake(
        "skips by an index of its own, which lacks the last row, when it is asked the same again",
        ("pix/no-pages*",),
        jobs=1,
    ),
    "narrows": Fake("reads half floats wrongly, and does not declare them", ("pqf/half", "pqf/p*")),
    "hang": Fake("never answers", ("idx1/plain",), 0.02),
}
"""The fakes by file name. Slow ones are asked about few cases."""

# The fakes begin with `#!/usr/bin/env python3`, which must be the Python that runs this.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def score(name: str, golden_files: Sequence[GoldenCase]) -> dict[str, Any]:
    """Run one fake; return its entry in the file."""
    fake = FAKE_DRIVERS[name]
    cases = select(golden_files, fake.cases)
    report = run(cases, Settings([str(FAKES / name)], Limits(seconds=fake.seconds), jobs=fake.jobs))
    row: dict[str, Any] = {"does": fake.does}
    if fake.cases:
        row["cases"] = list(fake.cases)
    row["exit_code"] = report.exit_code
    for given in report.scores:
        row[f"{given.family} {given.operation}"] = {
            "cases": given.cases,
            "asked": given.asked,
            **given.outcomes,
        }
    return row


def _value(value: Any) -> str:
    if isinstance(value, dict):
        members = ", ".join(f"{_key(str(key))} = {_value(member)}" for key, member in value.items())
        return f"{{ {members} }}"
    return json.dumps(value)  # everything but tables has the same form in JSON and TOML


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() else f'"{key}"'


def contents() -> dict[str, str]:
    """The text of the file."""
    golden_files = load(golden_folder())
    tables = ["# What drivers score that are wrong on purpose. Written by `make generate`.\n"]
    for name in FAKE_DRIVERS:
        row = score(name, golden_files)
        tables.append(
            f"[{_key(name)}]\n" + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in row.items())
        )
    return {SCORES: "\n".join(tables)}
