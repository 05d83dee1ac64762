"""Ask every implementation about every golden file, and what each writes about all that read: ``make matrix``.

    python tools/matrix.py [NAME ...] [--no-exchange]

Without names, all implementations that stand built are asked.  The results go to ``docs/data/results``: one file for each
implementation and version, with what was not passed, what well-formed lies did, digests, tools and the date; and
``exchange.json``, in which files of each writer are read by each reader.  What is skipped is said.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kept_results import EXCHANGE, NOT_IN_THE_MATRIX, RESULTS, asked_cases, in_the_matrix, newest, results

from pqassay.report.run_model import Result, RunReport
from pqassay.report.run_text import exposed, tally
from pqassay.report.side_by_side import side_by_side
from pqassay.report.side_by_side_text import render_scores
from pqassay.suite.cases import GoldenCase
from pqassay.suite.causes import without_folders
from pqassay.suite.driver import Settings
from pqassay.suite.excerpt import TELLING
from pqassay.suite.expectations import Expectations, parse, written
from pqassay.suite.implementations import EXPECTATIONS, Implementation, implementation
from pqassay.suite.process import Limits
from pqassay.suite.runner import run
from pqassay.suite.writer_cases import case_of_written, writer_cases
from pqassay_spec.base.sources import write_whole

ROOT = Path(__file__).resolve().parent.parent

VERSIONS: Mapping[str, Sequence[str]] = {
    "go": ("go", "version"),
    "cargo": ("cargo", "--version"),
    "java": ("java", "-version"),
    "node": ("node", "--version"),
}
"""Commands that print the versions of tools."""


def tools(one: Implementation) -> dict[str, str]:
    """The versions of the tools that an implementation was built and run with."""
    found: dict[str, str] = {}
    for need in one.needs:
        if need in VERSIONS:
            done = subprocess.run(VERSIONS[need], capture_output=True, text=True, check=False)
            version = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
            found[need] = version[0] if version else "unknown"
    if any(need.startswith("python:") for need in one.needs):
        found["python"] = platform.python_version()
    return found


def asked(one: Implementation, cases: Sequence[GoldenCase], written: Path | None = None) -> RunReport:
    """Run an implementation; files that it writes rightly go to a folder."""
    settings = Settings(
        one.argv,
        Limits(one.timeout),
        shipped=one.name,
        shown=one.command,
        queries=one.queries,
        fresh=one.fresh,
        written=written,
    )

    def progress(done: int, total: int, case: str) -> None:
        if sys.stderr.isatty():
            print(f"\r{one.name}: {done} of {total} {case[:50]:50}", end="", file=sys.stderr)

    report = run(cases, settings, progress=progress)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return replace(report, date=dt.datetime.now(dt.UTC).date().isoformat(), tools=tools(one))


ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


def anonymous(text: str | None) -> str | None:
    """A text without what is another in every run, and on every machine."""
    return text and ADDRESS.sub("0x…", without_folders(text))


def kept(report: RunReport) -> RunReport:
    """A result without what passed, of which the scores tell, and without the paths of this machine."""
    results = [
        replace(
            result,
            reason=anonymous(result.reason) or "",
            actual=anonymous(result.actual),
            stderr=anonymous(result.stderr),
            cause=anonymous(result.cause),
        )
        for result in report.results
        if result.outcome != "passed"
    ]
    exposures = [replace(one, detail=anonymous(one.detail)) for one in report.exposures]
    return replace(report, results=results, exposures=exposures)


def keep(name: str, report: RunReport) -> Path:
    """Write a result to its place; those of other versions stay."""
    version = re.sub(r"[^\w.+-]", "_", report.driver.version or "unknown")
    path = RESULTS / name / f"{version}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f"{kept(report).to_json()}\n".encode())
    return path


def foretell(one: Implementation, report: RunReport) -> None:
    """Write what an implementation got wrong as its expectations; what people wrote about it stays."""
    path = one.folder / EXPECTATIONS
    head = f"# What {one.title} {report.driver.version} gets wrong. Written by tools/matrix.py; reasons may be bettered by hand.\n\n"
    before = parse(path.read_bytes()) if path.exists() else Expectations()
    results = [
        replace(result, reason=": ".join(filter(None, (result.reason, told(result)))))
        for result in report.results
    ]
    write_whole(path, (head + written(results, before)).encode())


MOST_TOLD = 160
"""Characters of an answer that a reason tells."""


def told(result: Result) -> str:
    """What came, in a line; of a crash, the first line that tells of it."""
    lines = (result.stderr or result.actual or "").splitlines()
    text = next((line for line in lines if TELLING.search(line)), lines[0] if lines else "")
    return " ".join(text.split())[:MOST_TOLD]


def exchanged(readers: Sequence[Implementation], files: Mapping[str, Path]) -> dict[str, Any]:
    """Have each reader read and scan the files of each writer.

    Returns:
        By writer and reader: how many questions were asked and passed, and what was wrong.
    """
    by_id = {golden.case.id: golden.case for golden in writer_cases()}
    found: dict[str, Any] = {}
    for writer, folder in files.items():
        with tempfile.TemporaryDirectory() as name:
            cases = []
            for number, path in enumerate(sorted(folder.rglob("*.parquet"))):
                case = by_id[path.relative_to(folder).with_suffix("").as_posix()]
                place = Path(name, str(number))
                place.mkdir()
                cases.append(case_of_written(case, writer, path.read_bytes(), place))
            if not cases:
                continue
            found[writer] = {"files": len(cases), "readers": {}}
            for reader in readers:
                report = asked(reader, cases)
                wrong = [
                    {"case": result.case, "operation": result.operation, "outcome": result.outcome}
                    | {"because": result.reason, "actual": (result.actual or result.stderr or "")[:200]}
                    for result in kept(report).results
                    if not result.is_good
                ]
                if not report.summary.results:
                    continue  # it reads nothing
                passed = report.summary.outcomes.get("passed", 0)
                told = {"version": report.driver.version, "asked": report.summary.results, "passed": passed}
                found[writer]["readers"][reader.name] = told | ({"wrong": wrong} if wrong else {})
                print(f"{writer} → {reader.name}: {passed} of {report.summary.results}")
    return found


def main() -> int:
    """Ask, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--no-exchange", action="store_true", help="leave out what writers write for readers")
    parser.add_argument(
        "--expectations", action="store_true", help="write the expectations of each implementation anew"
    )
    options = parser.parse_args()
    chosen = [implementation(name) for name in options.names] if options.names else in_the_matrix()
    chosen = [one for one in chosen if one.name not in NOT_IN_THE_MATRIX]
    skipped = {one.name: "needs " + ", ".join(one.missing) for one in chosen if one.missing}
    skipped |= {
        one.name: "not built; `make drivers`" for one in chosen if not one.missing and not one.is_built
    }
    ready = [one for one in chosen if one.name not in skipped]
    cases = asked_cases()
    with tempfile.TemporaryDirectory() as name:
        written: dict[str, Path] = {}
        versions: dict[str, str | None] = {}
        for one in ready:
            folder = Path(name, one.name)
            report = asked(one, cases, folder)
            if options.expectations:
                foretell(one, kept(report))
            print(f"{one.name}: {tally(report)}; lies: {exposed(report)}")
            print(f"  {keep(one.name, report).relative_to(ROOT)}")
            if any(folder.rglob("*.parquet")):
                written[one.name], versions[one.name] = folder, report.driver.version
        if not options.no_exchange:
            found = exchanged(ready, written)
            path = RESULTS / EXCHANGE
            before = json.loads(path.read_text()) if path.exists() else {}
            for writer, told in found.items():
                readers = {**before.get(writer, {}).get("readers", {}), **told["readers"]}
                before[writer] = {"version": versions[writer], **told, "readers": readers}
            write_whole(path, f"{json.dumps(before, indent=1)}\n".encode())
    now = newest(results())
    print()
    render_scores(side_by_side([one.report for one in now], [one.name for one in now]), sys.stdout)
    print("\nWhat is behind it: pqassay report docs/data/results/*/*.json --format html --output matrix.html")
    for name, why in skipped.items():
        print(f"SKIPPED {name}: {why}", file=sys.stderr)
    return 1 if skipped and not options.names else 0


if __name__ == "__main__":
    sys.exit(main())
