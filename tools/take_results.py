"""Take in results that others produced with ``pqassay suite run --format json --output FILE``.

    python tools/take_results.py FILE --from https://example.org/run.json --by "Ada" --check    check only
    python tools/take_results.py FILE --from https://example.org/run.json --by "Ada"            check and store

The file must follow the schema, be about the cases of its revision, and agree with its own counts. It is stored as
``docs/data/results/<name>/<version>.json``, marked as submitted.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kept_results import RESULTS, asked_cases, in_the_matrix, place
from kept_results import results as kept_results
from matrix import kept
from submission import problems

from pqassay.errors import UsageError
from pqassay.report.reading import parse
from pqassay.report.run.model import RunReport, Submission
from pqassay.report.run.text import tally
from pqassay_spec.base.sources import write_whole

MOST_BYTES = 64 << 20
"""The largest size of a file in bytes; a run with every answer takes a few megabytes."""


ADDRESS = re.compile(r"https://[\w.-]+(:\d+)?(/[\w./?&=%#@:+~,;!$*-]*)?")
"""A pattern for addresses that a page can link to unchanged."""


class RefusedError(Exception):
    """The results are not accepted; the message has one reason per line."""


def read(path: Path) -> tuple[RunReport, bytes]:
    """The results in a file, and its bytes.

    Raises:
        RefusedError: The file has no results, or another schema.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RefusedError(f"{path}: {error.strerror or error}") from None
    if len(content) > MOST_BYTES:
        raise RefusedError(f"{path}: more than {MOST_BYTES >> 20} MiB")
    try:
        report = parse(content, str(path))
    except UsageError as error:
        raise RefusedError(str(error)) from None
    if not isinstance(report, RunReport):
        raise RefusedError(
            f"{path}: this is a report of pqassay check; results are written by pqassay suite run"
        )
    return report, content


def take(path: Path, url: str, by: str, name: str | None, folder: Path, today: dt.date) -> tuple[Path, bytes]:
    """The path for results, and the content to store.

    Args:
        path: The submitted file.
        url: The address of its publication.
        by: The submitter.
        name: The name of the implementation's folder; by default, the driver's own name.
        folder: The folder of all results.
        today: The day.

    Raises:
        RefusedError: The results are not accepted.
    """
    report, content = read(path)
    if not ADDRESS.fullmatch(url):
        raise RefusedError(f"--from {url}: no address that begins with https://")
    if found := problems(report, asked_cases()):
        raise RefusedError("\n".join(f"{path}: {problem}" for problem in found))
    if report.submitted is not None:
        raise RefusedError(f"{path}: submitted is filled in by this tool")
    called = name or re.sub(r"[^a-z0-9]+", "-", (report.driver.name or "").lower()).strip("-")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", called):
        raise RefusedError(f"--name {called}: lower-case letters, digits and hyphens make a name")
    target = place(called, report.driver.version, folder)
    before = {one.path: one for one in kept_results(folder)}
    if target in before and before[target].report.submitted is None:
        raise RefusedError(f"{target}: `make matrix` asked this version itself; its answers are not replaced")
    mark = Submission(url, by, today.isoformat(), hashlib.sha256(content).hexdigest())
    marked = replace(
        kept(report),
        driver=replace(report.driver, shipped=None),
        date=report.date or today.isoformat(),
        submitted=mark,
    )
    return target, f"{marked.to_json()}\n".encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Store results, or print why not; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--from", dest="url", required=True, help="where the file was published, https://…")
    parser.add_argument("--by", required=True, help="who handed it in")
    parser.add_argument("--name", help="name of the implementation's folder")
    parser.add_argument("--folder", type=Path, default=RESULTS, help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    try:
        target, content = take(
            options.file,
            options.url,
            options.by,
            options.name,
            options.folder,
            dt.datetime.now(dt.UTC).date(),
        )
    except RefusedError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        return 1
    report = read(options.file)[0]
    print(f"{report.driver.label}: {tally(report)}")
    if target.parent.name in {one.name for one in in_the_matrix()}:
        print(f"  {target.parent.name} is asked by `make matrix`, too; this version is kept beside those")
    if options.check:
        print(f"  would be kept as {target}")
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, content)
    print(f"  kept as {target}; docs/implementations/index.md shows it as submitted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
