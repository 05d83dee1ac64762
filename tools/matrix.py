"""Ask every implementation about every golden file, and every reader about the files of every writer: ``make matrix``.

    python tools/matrix.py                          ask all implementations that are built
    python tools/matrix.py duckdb polars            ask only these two; exchange files with all others
    python tools/matrix.py duckdb --expectations    update its expected failures, too

The results are stored in ``docs/data/results``: one file for each implementation and version, without passed cases, and
``exchange.json`` with the answers of each reader about the files of each writer. Skipped implementations are listed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import difflib
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import kept_results
from kept_results import (
    EXCHANGE,
    NOT_IN_THE_MATRIX,
    ONLY_READERS,
    RESULTS,
    Kept,
    in_the_matrix,
    newest,
    results,
)

from pqassay.report.run.model import Result, RunReport
from pqassay.report.run.outcomes import TELLING, Operation
from pqassay.report.run.text import exposed, tally
from pqassay.report.side_by_side.model import side_by_side
from pqassay.report.side_by_side.text import render_scores
from pqassay_spec.base.sources import write_whole
from pqassay_spec.golden.case import (
    Case,
    CheckExpectation,
    Expect,
    Input,
    Provenance,
    ReadExpectation,
    to_json,
)
from pqassay_spec.golden.revision import Revision, current
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.cases.expectations import Expectations, parse, written
from pqassay_suite.cases.writer_cases import ROOM, writer_cases
from pqassay_suite.drivers.driver import Settings
from pqassay_suite.drivers.implementations import EXPECTATIONS, JAVA, Implementation, implementation
from pqassay_suite.drivers.process import Limits
from pqassay_suite.judging.causes import without_folders
from pqassay_suite.running.runner import run

ROOT = Path(__file__).resolve().parent.parent

VERSIONS: Mapping[str, Sequence[str]] = {
    "go": ("go", "version"),
    "cargo": ("cargo", "--version"),
    "java": ("java", "-version"),
    "node": ("node", "--version"),
}
"""Commands that print the versions of build tools."""


def tools(driver: Implementation) -> dict[str, str]:
    """The versions of the tools with which an implementation was built and run."""
    versions: dict[str, str] = {}
    for need in driver.needs:
        name = need.partition(":")[0]
        if name in VERSIONS:
            program, *rest = VERSIONS[name]
            command = [driver.filled("{java}/bin/java") if need.startswith(JAVA) else program, *rest]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            version = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
            versions[name] = version[0] if version else "unknown"
    if any(need.startswith("python:") for need in driver.needs):
        versions["python"] = platform.python_version()
    return versions


def asked(
    driver: Implementation,
    cases: Sequence[GoldenCase],
    written: Path | None = None,
    only: Sequence[Operation] = (),
    revision: Revision | None = None,
) -> RunReport:
    """Run an implementation; its valid written files go to a folder."""
    settings = Settings(
        driver.argv,
        Limits(driver.timeout),
        jobs=driver.jobs or os.cpu_count() or 1,
        shipped=driver.name,
        shown=driver.command,
        queries=driver.queries,
        fresh=driver.fresh,
        written=written,
        only=only,
    )

    def progress(done: int, total: int, case: str) -> None:
        if sys.stderr.isatty():
            print(f"\r{driver.name}: {done} of {total} {case[:50]:50}", end="", file=sys.stderr)

    varying = tuple(entry for entry in expectations(driver).entries if entry.varies)
    report = run(cases, settings, Expectations(varying, narrowed=True), revision=revision, progress=progress)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return replace(report, date=dt.datetime.now(dt.UTC).date().isoformat(), tools=tools(driver))


ADDRESS = re.compile(r"\b0x(?:[0-9a-fA-F]{6,}|[0-9a-fA-F]+(?=\?))")
THREAD = re.compile(r"(?<=') \(\d+\)(?= panicked at )")


def anonymous(text: str | None) -> str | None:
    """A text without parts that differ between runs or machines."""
    return text and THREAD.sub("", ADDRESS.sub("0x…", without_folders(text)))


def kept(report: RunReport) -> RunReport:
    """A result without passed cases, which the scores count, and without paths of this machine."""
    results = [
        replace(
            result,
            reason=anonymous(result.reason) or "",
            actual=anonymous(result.actual),
            stderr=anonymous(result.stderr),
            cause=anonymous(result.cause),
            pin=None if result.is_good else result.pin,  # which no expectation compares
        )
        for result in report.results
        if result.outcome != "passed"
    ]
    exposures = [replace(one, detail=anonymous(one.detail)) for one in report.exposures]
    return replace(report, results=results, exposures=exposures)


def keep(name: str, report: RunReport, folder: Path = RESULTS) -> Path | None:
    """Write a result to its place; results of other versions, and submitted results, stay.

    Returns:
        The path; ``None`` if submitted results of this version exist.
    """
    path = kept_results.place(name, report.driver.version, folder)
    if any(one.path == path and one.is_submitted for one in results(folder)):
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f"{kept(report).to_json()}\n".encode())
    return path


def expectations(driver: Implementation) -> Expectations:
    """The expected failures of an implementation."""
    path = driver.folder / EXPECTATIONS
    return parse(path.read_bytes()) if path.exists() else Expectations()


def foretell(driver: Implementation, report: RunReport) -> list[str]:
    """Write the failures of an implementation as its expectations; comments by people stay if the failure is the same.

    Returns:
        The lines of a diff of the files.
    """
    path = driver.folder / EXPECTATIONS
    head = f"# What {driver.title} {report.driver.version} gets wrong. Written by tools/matrix.py; reasons may be bettered by hand.\n\n"
    before = expectations(driver)
    results = [
        replace(result, reason=": ".join(filter(None, (result.reason, answer_line(result)))))
        for result in kept(report).results
    ]
    text = head + written(results, before)
    old = path.read_text("utf-8") if path.exists() else ""
    write_whole(path, text.encode())
    return list(difflib.unified_diff(old.splitlines(), text.splitlines(), "before", "now", lineterm=""))


def submitted(kept: Sequence[Kept]) -> list[str]:
    """A line for each submitted result: submitter, source, and digest of the file."""
    return [
        f"submitted: {one.name} {one.version} by {mark.by}, {mark.url}, {mark.date}, SHA-256 {mark.sha256}"
        for one in kept
        if (mark := one.report.submitted) is not None
    ]


MOST_TOLD = 160
"""The number of characters of an answer in a reason."""


def answer_line(result: Result) -> str:
    """The actual answer in a line; for a crash, the first line that reports it."""
    lines = (result.stderr or result.actual or "").splitlines()
    text = next((line for line in lines if TELLING.search(line)), lines[0] if lines else "")
    return " ".join(text.split())[:MOST_TOLD]


def exchanged(readers: Sequence[Implementation], files: Mapping[str, Path]) -> dict[str, Any]:
    """Let each reader read and scan the files of each writer.

    Returns:
        By writer and reader: the numbers of asked and passed questions, and the wrong answers.
    """
    by_id = {golden.case.id: golden.case for golden in writer_cases()}
    answers: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        cases: list[GoldenCase] = []
        for writer, folder in files.items():
            paths = sorted(folder.rglob("*.parquet")) if writer not in ONLY_READERS else []
            ids = [path.relative_to(folder).with_suffix("").as_posix() for path in paths]
            # Writers of indexes also rewrite golden files, about which every reader was already asked.
            tables = [(by_id[one], path) for one, path in zip(ids, paths, strict=True) if one in by_id]
            for case, path in tables:
                place = Path(name, str(len(cases)))
                place.mkdir()
                cases.append(case_of_written(case, writer, path.read_bytes(), place))
            if tables:
                answers[writer] = {"files": len(tables), "readers": {}}
        for reader in readers if cases else ():
            report = asked(reader, cases)
            for writer, entry in answers.items():
                results = [result for result in report.results if writer_of(result.case) == writer]
                if results:  # else it reads nothing
                    entry["readers"][reader.name] = reading(results, report)
                    passed, of = entry["readers"][reader.name]["passed"], len(results)
                    print(f"{writer} → {reader.name}: {passed} of {of}")
    return answers


WRITTEN = "written"
"""The prefix of case ids about written files."""


def writer_of(name: str) -> str | None:
    """The writer in a case id; ``None`` if the case is not about a written file."""
    room, *rest = name.split("/")
    return rest[0] if room == WRITTEN else None


def case_of_written(case: Case, by: str, content: bytes, folder: Path) -> GoldenCase:
    """A valid case about a file that a writer wrote, which every reader of a run is asked to read and to scan.

    Args:
        case: The original case of the writer.
        by: The writer.
        content: The file.
        folder: An empty folder for the file.
    """
    (folder / "data.parquet").write_bytes(content)
    of_reader = Case(
        id=f"{WRITTEN}/{by}/{case.id.removeprefix(f'{ROOM}/')}",
        family=case.family,
        kind="valid",
        since=case.since,
        title=f"{by}: {case.title}",
        effect="none",
        requires=["parquet"],
        rules=[],
        input=Input(file="data.parquet", sha256=hashlib.sha256(content).hexdigest()),
        expect=Expect(
            check=CheckExpectation(rules=[], tier="values"),
            read=ReadExpectation(rows="own", refusal="never"),
            scan="same-rows",
            rows=case.expect.rows,
        ),
        provenance=Provenance(by=by, oracles=[]),
    )
    digest = hashlib.sha256(json.dumps(to_json(of_reader)).encode()).hexdigest()
    return GoldenCase(of_reader, folder, digest)


def reading(results: Sequence[Result], report: RunReport) -> dict[str, Any]:
    """The answers of a reader about the files of one writer, in the form of ``exchange.json``."""
    wrong = [
        {"case": result.case, "operation": result.operation, "outcome": result.outcome}
        | {"because": result.reason, "actual": (result.actual or result.stderr or "")[:200]}
        for result in kept(replace(report, results=list(results), exposures=[])).results
        if not result.is_good
    ]
    passed = sum(result.outcome == "passed" for result in results)
    told = {"version": report.driver.version, "asked": len(results), "passed": passed}
    return told | ({"wrong": wrong} if wrong else {})


def exchange(
    readers: Sequence[Implementation], files: Mapping[str, Path], versions: Mapping[str, str | None]
) -> None:
    """Let readers read files of writers, and store the answers in ``exchange.json``.

    Earlier answers of other readers about the same version of a writer are kept.
    """
    path = RESULTS / EXCHANGE
    before = json.loads(path.read_text()) if path.exists() else {}
    for writer, told in exchanged(readers, files).items():
        earlier = before.get(writer, {})
        stays = earlier.get("readers", {}) if earlier.get("version") == versions[writer] else {}
        before[writer] = {"version": versions[writer], **told, "readers": {**stays, **told["readers"]}}
    write_whole(path, f"{json.dumps(before, indent=1)}\n".encode())


def report_on(driver: Implementation, report: RunReport) -> None:
    """Store the results of an implementation, and print a summary."""
    lies = f"; lies: {told}" if (told := exposed(report)) else ""
    print(f"{driver.label}: {tally(report)}{lies}")
    path = keep(driver.name, report)
    taken = f"not kept: others submitted results of {report.driver.version}; remove their file first"
    print(f"  {path.relative_to(ROOT) if path else taken}")


def main() -> int:
    """Ask the implementations, and store the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument(
        "--expectations",
        action="store_true",
        help="write the expectations of each implementation again, and print what changes",
    )
    parser.add_argument(
        "--older", action="store_true", help="build and ask the older releases as well that drivers list"
    )
    options = parser.parse_args()
    chosen = [implementation(name) for name in options.names] if options.names else in_the_matrix()
    chosen = [driver for driver in chosen if driver.name not in NOT_IN_THE_MATRIX]
    older = [
        driver.of_release(old)
        for driver in chosen
        if options.older and not driver.missing
        for old in driver.older
    ]
    for driver in [driver for driver in chosen if driver.release] + older:
        driver.make()
        report_on(driver, asked(driver, kept_results.asked_cases(), revision=current()))
    chosen = [driver for driver in chosen if not driver.release]
    skipped = why_skipped(chosen)
    ready = [driver for driver in chosen if driver.name not in skipped]
    with tempfile.TemporaryDirectory() as name:
        written: dict[str, Path] = {}
        versions: dict[str, str | None] = {}
        for driver in ready:
            folder = written[driver.name] = Path(name, driver.name)
            report = asked(driver, kept_results.asked_cases(), folder, revision=current())
            versions[driver.name] = report.driver.version
            if options.expectations:
                changed = foretell(driver, report)
                print(f"{driver.folder.name}/{EXPECTATIONS}: {'' if changed else 'nothing changes'}")
                for line in changed:
                    print(f"  {line}")
            report_on(driver, report)
        if ready:
            others = [driver for driver in in_the_matrix() if driver not in chosen]
            others = [driver for driver in others if driver.name not in why_skipped(others)]
            exchange(others, written, versions)
            for driver in others:
                folder = written[driver.name] = Path(name, driver.name)
                versions[driver.name] = asked(driver, writer_cases(), folder, only=["encode"]).driver.version
            exchange(ready, written, versions)
    now = newest(results())
    print()
    render_scores(
        side_by_side([driver.report for driver in now], [driver.name for driver in now]), sys.stdout
    )
    for line in submitted(now):
        print(line)
    print("\nWhat is behind it: pqassay report docs/data/results/*/*.json --format html --output matrix.html")
    for name, why in skipped.items():
        print(f"SKIPPED {name}: {why}", file=sys.stderr)
    return 1 if skipped and not options.names else 0


def why_skipped(chosen: Sequence[Implementation]) -> dict[str, str]:
    """The implementations that cannot be asked on this machine, and what they lack."""
    needing = {one.name: "needs " + ", ".join(one.missing) for one in chosen if one.missing}
    unbuilt = [one.name for one in chosen if not one.missing and not one.is_built]
    return needing | dict.fromkeys(unbuilt, "not built; `make drivers`")


if __name__ == "__main__":
    sys.exit(main())
