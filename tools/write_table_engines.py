"""Ask engines about false claims of tables, and store the answers in ``benchmarks/table_engines.json`` for the site.

    python tools/write_table_engines.py --ask             ask about all golden tables with a false claim
    python tools/write_table_engines.py --ask dlt         ask only about Delta tables (ice: Iceberg tables)
    python tools/write_table_engines.py --ask ice --new   skip tables with stored answers that have not changed since

Every engine reads each of these tables and the healthy table that it was made from. The table of observations gets the result for each
rule. All engines must be installed, with Java and a release of Spark for which both formats have packages:

    pip install '.[engines]' daft chdb 'pyspark==4.1.*'
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from table_pairs import FAMILIES as KINDS
from table_pairs import MANIFEST, TableMeasurement, TablePair, observation, table_pairs
from table_pairs import TABLE as TABLE_FOLDER

from pqassay.judge.workers import WorkerLimits
from pqassay.proof.engine_processes import EngineProcesses
from pqassay.proof.engines import Engine
from pqassay.proof.table_proof import proof_of
from pqassay.proof.trial import WORKERS
from pqassay_spec.base.sources import write_whole
from pqassay_spec.rules.catalogue import family_of, file_rules
from pqassay_spec.rules.observed import TABLE, observations, table_text
from pqassay_spec.table.layout import TableKind
from pqassay_tables.proof.moved_table import SHORT
from pqassay_tables.proof.table_sql import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "golden_files"
MEASURED = ROOT / "benchmarks" / "table_engines.json"
TABLE_FILE = ROOT / "spec" / "pqassay_spec" / "rules" / TABLE

SECONDS = 600.0
"""The time limit of a query in seconds: golden tables are small, but Spark starts slowly on a busy machine."""

NO_FILE = "there is no golden table that breaks it"

Json = dict[str, Any]


def require_engines(family: str) -> list[Engine]:
    """The engines of a family, checked to be installed: a missing engine would look harmless in the table."""
    kind = KINDS[family]
    engines = list(proof_of(kind).engines(PACKAGES[kind]))
    lacking = [f"{engine.title}: {how}" for engine in engines if (how := engine.how_to_install) is not None]
    if lacking:
        raise SystemExit("not all engines are here; " + "; ".join(lacking))
    return engines


def ask(families: Sequence[str], *, only_new: bool = False) -> None:
    """Measure some families, and save the results after each table, so that an interruption keeps them.

    Args:
        families: The families of golden tables.
        only_new: Whether to skip golden tables with stored answers of all engines.
    """
    stored: list[Json] = json.loads(MEASURED.read_text()) if MEASURED.exists() else []
    date = dt.datetime.now(dt.UTC).date().isoformat()
    asked: dict[TableKind, Sequence[Engine]] = {KINDS[name]: require_engines(name) for name in families}
    observed = dict(observations())
    with EngineProcesses([], WorkerLimits(WORKERS, timeout=SECONDS)) as running:
        measurement = TableMeasurement(running, asked)
        for family in families:
            pairs = table_pairs(GOLDEN, family)
            if only_new:
                pairs = [each for each in pairs if not is_asked(each, stored, asked[KINDS[family]])]
            for pair, broken in [(each, rule) for each in pairs for rule in each.rules]:
                case, record = pair.case, measurement.ask(pair, broken)
                stored = [row for row in stored if (row["golden"], row["rule"]) != (case, broken)]
                stored += [] if record is None else [{**record, "date": date, "digest": digest_of(case)}]
                stored.sort(key=lambda row: (row["golden"].partition("/")[0], row["golden"], row["rule"]))
                text = f"{json.dumps(stored, indent=1, ensure_ascii=False)}\n"
                write_whole(MEASURED, anywhere(text).encode())
                reason = measurement.reasons.get((case, broken), "")
                print(case, broken, reason, file=sys.stderr, flush=True)
            for rule in file_rules().values():
                if family_of(rule.id).prefix != family.upper():
                    continue
                reasons = [why for (_, other), why in measurement.reasons.items() if other == rule.id]
                is_asked_about = any(row["rule"] == rule.id for row in stored)
                reason = rule.excluded or (reasons[0] if reasons else "" if is_asked_about else NO_FILE)
                observed[rule.id] = observation(rule.id, stored, date, reason)
    write_whole(TABLE_FILE, anywhere(table_text(observed)).encode())


def is_asked(pair: TablePair, stored: Sequence[Json], engines: Sequence[Engine]) -> bool:
    """Whether answers of the engines about the current golden table are stored for each of its broken rules."""
    titles, digest = {engine.title for engine in engines}, digest_of(pair.case)
    mine = [one for one in stored if one["golden"] == pair.case and one.get("digest") == digest]
    answers = {one["rule"]: {answer["engine"] for answer in one["engines"]} for one in mine}
    return all(titles <= answers.get(rule, set()) for rule in pair.rules)


def digest_of(case: str) -> str:
    """A digest of the bytes of a golden table and of its healthy original."""
    described = json.loads((GOLDEN / case / MANIFEST).read_text())
    digest = hashlib.sha256()
    for name in (case, described["parent"]):
        for path in sorted((GOLDEN / name / TABLE_FOLDER).rglob("*")):
            if path.is_file():
                digest.update(f"{path.relative_to(GOLDEN).as_posix()}\n".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def anywhere(text: str) -> str:
    """A message of an engine without this machine's folders of tables and copies.

    >>> anywhere(f"no such file: file://{ROOT}/golden_files/ice/plain")
    'no such file: golden_files/ice/plain'
    """
    root, copies, short = (
        re.escape(str(place).lstrip("/")) for place in (ROOT, tempfile.gettempdir(), SHORT)
    )
    return re.sub(rf"(?:file:(?://)?)?/?(?:{root}|(?:{copies}|{short})/[^/\"' ]+)/", "", text)


def main() -> None:
    """Measure the requested families."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--ask",
        nargs="?",
        const="",
        choices=["", *KINDS],
        required=True,
        help="ask the engines that are installed",
    )
    parser.add_argument(
        "--new",
        action="store_true",
        help="leave out golden tables of which all answers are stored, and that have not changed",
    )
    given = parser.parse_args()
    family: str = given.ask
    ask([family] if family else list(KINDS), only_new=given.new)


if __name__ == "__main__":
    main()
