"""Judge the Parquet files and tables of a folder, and compare the verdicts with what its owners call good and bad.

    python tools/corpus.py ../parquet-testing                              judge a checkout
    python tools/corpus.py ../parquet-testing --bad '*/fuzzed/*' --json    call more files bad; print JSON
    make corpus DIR=../parquet-testing                                     the same, in the virtual environment

Each file is judged at tier values, and read by two independent readers with a time limit. The lists in the output:

* ``failed``: files and tables that break a rule, though their owners call them good;
* ``passed``: files without findings, though their owners call them bad;
* ``differ``: files from which two readers read different values;
* ``crashed``: files that crash or hang the judge or a reader;
* ``slow``: files that take the judge longer than --slow;
* ``unread``: files that two readers did not read.

Exit codes: 0 only ``unread`` and ``slow`` have entries, 1 another list has entries, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pqassay.judge.checker import check
from pqassay.stores.targets import find
from pqassay_suite.cases.case import CaseError
from pqassay_suite.own_files.collection import COPY, files_in
from pqassay_suite.own_files.file_survey import LIMITS, Surveyor
from pqassay_suite.own_files.second_readers import SecondReaders, TooFewReadersError, second_readers

OWNERS_CALL_BAD = ("*bad_data/*", "*malformed/*", "*corrupt*", "*invalid*")
"""Lower-case patterns of paths that owners mark as bad, as public collections name them."""

TITLES = {
    "failed": "broken, though their owners call them good",
    "passed": "nothing wrong, though their owners call them bad",
    "differ": "two readers read different values",
    "crashed": "the judge or a reader crashed",
    "slow": "slow to judge",
    "unread": "not read by two readers",
}
"""The lists in order, with their titles."""

HARMLESS = frozenset({"slow", "unread"})
"""Lists that do not fail the command."""

MOST_VALUES = 2_000_000
"""The largest number of values of a file that is read."""


@dataclass
class Corpus:
    """The results for a folder.

    Attributes:
        files: The number of judged Parquet files.
        tables: The number of judged tables.
        bad: The number of files that their owners mark as bad.
        agreed: The number of files from which two readers read the same values.
        readers: The readers that were asked, with versions.
        lists: For each key of `TITLES`, the remark about each entry, by path.
    """

    files: int = 0
    tables: int = 0
    bad: int = 0
    agreed: int = 0
    readers: list[str] = field(default_factory=list[str])
    lists: dict[str, dict[str, str]] = field(default_factory=lambda: {name: {} for name in TITLES})

    @property
    def is_clean(self) -> bool:
        """Whether no failing list has entries."""
        return not any(entries for name, entries in self.lists.items() if name not in HARMLESS)

    def text(self) -> str:
        """The lists as text."""
        lines = [
            f"{self.files} files ({self.bad} of them bad by their owners), {self.tables} tables",
            f"{self.agreed} files read alike by two of {', '.join(self.readers) or 'no readers'}",
        ]
        for name, entries in self.lists.items():
            lines += ["", f"{TITLES[name]}: {len(entries)}"] if entries else []
            lines += [f"  {path}  {entry}" for path, entry in entries.items()]
        return "\n".join(lines)


def _entries(
    path: str, surveyor: Surveyor, readers: SecondReaders, *, is_bad: bool, slow: float
) -> tuple[dict[str, str], bool]:
    """The entries about one file by list, and whether two readers read the same values."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder, COPY)
        copy.write_bytes(Path(path).read_bytes())
        begun = time.monotonic()
        survey = surveyor.survey(copy)
        seconds = time.monotonic() - begun
        remarks, agreed = {"": f"more than {MOST_VALUES:,} values"}, False
        if survey.values <= MOST_VALUES or not (survey.is_sound or survey.decoded):
            confirmed = readers.confirmed(copy, survey.facts)
            remarks, agreed = confirmed.said, confirmed.rows is not None
    summary = "; ".join(f"{reader}: {words}" if reader else words for reader, words in remarks.items())
    crashes = [f"{reader} {words}" for reader, words in remarks.items() if words.startswith("crashed")]
    entries: dict[str, str] = {}
    if survey.judged == "errored" and not survey.rules:
        crashes.insert(0, f"pqassay: {survey.error}")
    elif not survey.is_sound and not is_bad:
        entries["failed"] = ", ".join(survey.rules)
    elif survey.is_sound and is_bad:
        entries["passed"] = f"{survey.judged}; {summary}"
    if crashes:
        entries["crashed"] = "; ".join(crashes)
    if any(words.startswith("other rows") for words in remarks.values()):
        entries["differ"] = summary
    elif not agreed and not is_bad:
        entries["unread"] = summary or "no column can be read"
    if seconds > slow:
        entries["slow"] = f"{seconds:.1f} s"
    return entries, agreed


def judge(
    folder: Path,
    bad: Sequence[str] = OWNERS_CALL_BAD,
    *,
    slow: float = 10.0,
    jobs: int = 1,
    readers: SecondReaders | None = None,
) -> Corpus:
    """Judge and read everything below a folder.

    Args:
        folder: The folder.
        bad: Lower-case patterns of paths below it that its owners mark as bad.
        slow: Seconds that judging a file may take.
        jobs: The number of files that are processed at the same time.
        readers: The readers; by default, all installed ones.

    Raises:
        CaseError: The folder has no Parquet file.
        TooFewReadersError: There are fewer than two independent readers.
    """
    files = files_in(folder)
    readers = readers or second_readers(None, None)
    corpus = Corpus(files=len(files.targets))
    with closing(Surveyor()) as surveyor, closing(readers), ThreadPoolExecutor(jobs) as pool:
        looked = pool.map(
            lambda one: _entries(one[1].path, surveyor, readers, is_bad=_is_bad(one[0], bad), slow=slow),
            files.targets.items(),
        )
        for name, (entries, agreed) in zip(files.targets, looked, strict=True):
            corpus.bad += _is_bad(name, bad)
            corpus.agreed += agreed
            for which, entry in entries.items():
                corpus.lists[which][name] = entry
        corpus.readers = readers.names
    for table in (target for target in find([], literal=[str(folder)]).targets if target.is_table):
        corpus.tables += 1
        name = f"{Path(table.path).relative_to(folder).as_posix()}/"
        report = check([], literal=[table.path], tier="values", jobs=1, timeout=LIMITS.seconds)
        rules = dict.fromkeys(
            finding.rule for file in report.files for finding in file.findings if finding.verdict == "FAIL"
        )
        if errors := [file.error for file in report.files if file.error]:
            corpus.lists["crashed"][name] = "; ".join(errors)
        elif rules and not _is_bad(name, bad):
            corpus.lists["failed"][name] = ", ".join(rules)
        elif _is_bad(name, bad) and not rules:
            corpus.lists["passed"][name] = report.files[0].outcome
    return corpus


def _is_bad(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(path.lower(), pattern) for pattern in patterns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder with Parquet files or tables")
    parser.add_argument(
        "--bad", action="append", default=[], metavar="GLOB", help="owners call these bad, too"
    )
    parser.add_argument("--good", action="store_true", help="call bad only what --bad names")
    parser.add_argument(
        "--slow", type=float, default=10.0, metavar="SECONDS", help="list slower files (default: 10)"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="files at the same time"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    bad = [*(() if options.good else OWNERS_CALL_BAD), *map(str.lower, options.bad)]
    try:
        corpus = judge(options.folder, bad, slow=options.slow, jobs=max(1, options.jobs))
    except (CaseError, TooFewReadersError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(asdict(corpus), indent=1) if options.json else corpus.text())
    return 0 if corpus.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
