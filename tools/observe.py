"""Measure the behavior of engines on files that break a rule, and write ``observed.json``: ``make observe``.

python tools/observe.py [RULE...]

Without arguments, all rules about files are measured; otherwise, the entries of other rules stay. Rules about tables are measured by
``tools/write_table_engines.py --ask``, with the engines that read tables. Every engine of ``pqassay prove`` is asked, including Java, one
after the other in separate processes.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from minimal_pairs import observe

from pqassay.judge.workers import WorkerLimits
from pqassay.proof.engine_processes import EngineProcesses
from pqassay.proof.engines import ENGINES
from pqassay.proof.trial import WORKERS
from pqassay_spec.base.sources import write_whole
from pqassay_spec.rules.catalogue import family_of, file_rules
from pqassay_spec.rules.observed import TABLE, Observation, observations, table_text

ROOT = Path(__file__).resolve().parent.parent
TABLE_FILE = ROOT / "spec" / "pqassay_spec" / "rules" / TABLE
GOLDEN_FILES = ROOT / "golden_files"

SECONDS = 15.0
"""The time limit of a query in seconds, since golden files are small."""

AT_ONCE = 20
"""The number of rules after which the table is saved."""


def require_engines() -> None:
    """Make sure that every engine is installed: a missing engine would look harmless in the table."""
    lacking = [f"{engine.title}: {how}" for engine in ENGINES if (how := engine.how_to_install) is not None]
    if lacking:
        raise SystemExit("not all engines are here; " + "; ".join(lacking))


FINDING = re.compile(r"  (?:FAIL|WARN|POLICY|INFO) (\S+)")
"""A pattern for the first line of a finding in a report."""

LABEL = "    observed  "

OF_SHAPE = f"{LABEL}on a similar file"
"""The beginning of lines that depend on the file; `tools/guide_sessions.py` updates these."""


def refreshed(text: str, entries: Mapping[str, Observation]) -> str:
    """A page with updated reports, for lines that depend only on the rule."""
    lines = text.split("\n")
    rule = ""
    for number, line in enumerate(lines):
        if (found := FINDING.match(line)) is not None:
            rule = found[1]
        elif line and not line.startswith(" "):  # the finding ends with the block, or at the next topic
            rule = ""
        elif line.startswith(LABEL) and rule in entries and not line.startswith(OF_SHAPE):
            lines[number] = f"{LABEL}{entries[rule].summary.sentence}"
    return "\n".join(lines)


def contents() -> dict[str, str]:
    """Every page with observations, in its updated form."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in pages}
    return {name: refreshed(text, observations()) for name, text in texts.items() if LABEL in text}


def main(ids: Sequence[str]) -> None:
    """Measure some rules, or all without arguments, and write the table."""
    if unknown := [rule for rule in ids if rule not in file_rules()]:
        raise SystemExit(f"there is no rule {unknown[0]}")
    if told := [rule for rule in ids if family_of(rule).is_about_tables]:
        raise SystemExit(f"{told[0]} is about tables: python tools/write_table_engines.py --ask")
    require_engines()
    begun = time.monotonic()
    entries = {rule: observation for rule, observation in observations().items() if rule in file_rules()}
    measured = [
        rule
        for rule in file_rules().values()
        if (not ids or rule.id in ids) and not family_of(rule.id).is_about_tables
    ]
    date = dt.datetime.now(dt.UTC).date().isoformat()
    with EngineProcesses(ENGINES, WorkerLimits(WORKERS, timeout=SECONDS)) as running:
        for number, (rule, observation) in enumerate(observe(measured, GOLDEN_FILES, running, date), start=1):
            entries[rule] = observation
            print(f"{number} of {len(measured)}: {rule} {observation.summary.sentence}", flush=True)
            if number % AT_ONCE == 0:  # an interruption keeps the measurements so far
                write_whole(TABLE_FILE, table_text(entries).encode())
    write_whole(TABLE_FILE, table_text(entries).encode())
    print(
        f"{len(measured)} rules in {time.monotonic() - begun:.0f} s; {TABLE_FILE.relative_to(ROOT)}; now: make generate"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
