"""Run the fakes, drivers that are wrong on purpose, and write what they score.

    python tools/null_scores.py              write conformance/implementations/null_scores.toml anew
    python tools/null_scores.py --check hang compare one of them (all, if none is named) with what is there

A score means something only beside what a program gets that does nothing right.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pqassay_suite.cases.case import GoldenCase, golden_folder, load, select
from pqassay_suite.drivers.process import Limits
from pqassay_suite.running.runner import Settings, run

ROOT = Path(__file__).resolve().parent.parent
FAKES = ROOT / "tests" / "suite" / "fakes"
SCORES = ROOT / "conformance" / "implementations" / "null_scores.toml"


class Fake(NamedTuple):
    """A driver that is wrong on purpose: what it does, the cases that it is asked about, and its time for each."""

    does: str
    cases: tuple[str, ...] = ()
    seconds: float = 10.0


SLICE = ("*/p*", "interop/questdb-9.4.3/o3-*")
"""Cases of all families: those are enough to see what becomes of a driver that is started for each request."""

FAKE_DRIVERS = {
    "accept_all": Fake("accepts everything, unread: an empty set, no rows, no row groups, no file written"),
    "reject_all": Fake("refuses everything, unread"),
    "crash_all": Fake("ends with exit status 1, as after an uncaught exception", SLICE),
    "garbage": Fake("writes what is no JSON", SLICE),
    "lying": Fake("declares every capability and then supports none", SLICE),
    "off_by_one": Fake(
        "reads the payload of an index one byte too short; of _pm takes the snapshot before, leaves the last row group out, fetches a byte too few"
    ),
    "ignore_index": Fake(
        "reads and scans rightly without the index, and keeps all row groups; knows only read, scan and prune",
        ("idx1/companion", "idx1/p*", "pqf/p*", "interop/questdb-9.4.3/*"),
    ),
    "hang": Fake("never answers", ("idx1/plain",), 0.02),
}
"""By the name of their file. Slow ones are asked about few cases."""

IN_PART = ("accept_all", "reject_all")
"""Fakes whose scores over the slice are kept as well: `make test` compares those, and `make damages` the scores over all."""


# The fakes begin with `#!/usr/bin/env python3`: that is to be the Python that runs this.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def score(name: str, golden_files: Sequence[GoldenCase], *, in_part: bool = False) -> dict[str, Any]:
    """Run one fake, over the slice alone if that is said; return what is about it in the file."""
    fake = FAKE_DRIVERS[name]
    if in_part:
        fake = fake._replace(cases=SLICE)
    cases = select(golden_files, fake.cases)
    report = run(cases, Settings([str(FAKES / name)], Limits(seconds=fake.seconds)))
    row: dict[str, Any] = {"does": fake.does}
    if fake.cases:
        row["cases"] = list(fake.cases)
    row["exit_code"] = report.exit_code
    for given in report.scores:
        row[f"{given.family} {given.operation}"] = {"asked": given.asked, **given.outcomes}
    return row


def _value(value: Any) -> str:
    if isinstance(value, dict):
        members = ", ".join(f"{_key(str(key))} = {_value(member)}" for key, member in value.items())
        return f"{{ {members} }}"
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() else f'"{key}"'


def main() -> int:
    """Write or compare; return the exit status."""
    checking = sys.argv[1:2] == ["--check"]
    names = sys.argv[2:] or list(FAKE_DRIVERS)
    golden_files = load(golden_folder())
    scores = {name: score(name, golden_files) for name in names}
    parts = {name: score(name, golden_files, in_part=True) for name in names if name in IN_PART}
    scores |= {f"{name} in part": row for name, row in parts.items()}
    if checking:
        pinned = tomllib.loads(SCORES.read_text(encoding="utf-8"))
        differing = [name for name in scores if pinned.get(name) != scores[name]]
        for name in differing:
            print(
                f"{name} scores {scores[name]}, pinned is {pinned.get(name)}; `python {sys.argv[0]}` pins anew"
            )
        return 1 if differing else 0
    tables = [
        f"[{_key(name)}]\n" + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in row.items())
        for name, row in scores.items()
    ]
    head = "# What drivers score that are wrong on purpose. Written by tools/null_scores.py.\n"
    SCORES.write_text("\n".join([head, *tables]), encoding="utf-8")
    print(SCORES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
