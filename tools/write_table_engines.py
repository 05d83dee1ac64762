"""Write into ``docs/guide/tables.md`` what engines do with wrong claims of tables: ``python tools/write_table_engines.py [--ask [FAMILY]]``.

What is written was measured, and is stored in ``benchmarks/table_engines.json``; ``--ask`` measures anew, one family of golden tables (``dlt``, ``ice``) or both, by ``pqassay check --prove`` on each
golden table with a claim that is wrong, with the engines that are installed (``pip install 'pqassay[engines]'``).  Each table is stored
between two comments; all else on the page is written by people.  A test compares them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from page_tables import grid, with_tables

from pqassay_spec.base.sources import write_whole

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "golden_files"
FAMILIES = {"dlt": "engines and delta tables", "ice": "engines and iceberg tables"}
"""Families of golden tables, by what their table in the page is called."""

MEASURED = ROOT / "benchmarks" / "table_engines.json"
PAGE = ROOT / "docs" / "guide" / "tables.md"

NOT_ASKED = "not asked"

Json = dict[str, Any]


def broken_tables(family: str) -> list[Json]:
    """The descriptions of the golden tables of a family that break a rule, in the order of their names."""
    found = [json.loads(path.read_text()) for path in sorted((GOLDEN / family).glob("*/table.json"))]
    return [one for one in found if one["kind"] == "invalid"]


def command(identifier: str) -> str:
    """What asks the engines about a golden table, from the root folder of the repository."""
    return f"pqassay check --prove golden_files/{identifier}/table"


def asked(golden: Json) -> Iterator[Json]:
    """What engines do with a golden table: an entry for each finding that was put to them."""
    arguments = [*command(golden["id"]).split()[1:], "--format", "json"]
    run = subprocess.run(
        [sys.executable, "-m", "pqassay", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if run.returncode not in (0, 1, 4):
        raise SystemExit(f"{golden['id']}: {run.stderr}")
    print(golden["id"], file=sys.stderr, flush=True)
    for file in json.loads(run.stdout)["files"]:
        for finding in file["findings"]:
            proof = finding.get("proof")
            if proof is None or not proof.get("engines"):
                continue
            answers = [
                {key: one[key] for key in ("engine", "version", "verdict", "rows", "lost") if key in one}
                for one in proof["engines"]
                if one["verdict"] != "not installed"
            ]
            yield {
                "rule": finding["rule"],
                "golden": golden["id"],
                "title": golden["title"],
                "query": proof["query"],
                "true_rows": proof["true_rows"],
                "command": command(golden["id"]),
                "engines": answers,
            }


def cell(answer: Json | None) -> str:
    """What an engine did."""
    if answer is None:
        return NOT_ASKED
    verdict: str = answer["verdict"]
    if verdict == "rows lost":
        return f"**{answer['lost']} lost**"
    return verdict if verdict in ("right", "not comparable") else f"**{verdict}**"


def rows(measured: list[Json]) -> Iterator[str]:
    """The table: a row for each rule and golden table, a column for each engine."""
    names = list(dict.fromkeys((one["engine"], one["version"]) for row in measured for one in row["engines"]))
    lines: list[list[str]] = []
    for row in measured:
        answers = {(one["engine"], one["version"]): one for one in row["engines"]}
        lines.append(
            [
                row["rule"],
                f"`{row['golden']}`",
                str(row["true_rows"]),
                *(cell(answers.get(name)) for name in names),
            ]
        )
    yield from grid(
        ["rule", "golden table", "true rows", *(f"{name} {version}" for name, version in names)], lines
    )


def page(text: str, measured: list[Json]) -> str:
    """The page with its tables made anew."""

    def made(family: str) -> Callable[[], Iterator[str]]:
        return lambda: rows([row for row in measured if row["golden"].startswith(f"{family}/")])

    return with_tables(text, {title: made(family) for family, title in FAMILIES.items()})


def main() -> None:
    """Measure if that is wanted, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--ask", nargs="?", const="", choices=["", *FAMILIES], help="ask the engines that are installed"
    )
    family: str | None = parser.parse_args().ask
    if family is not None:
        chosen = [family] if family else list(FAMILIES)
        stored = json.loads(MEASURED.read_text()) if MEASURED.exists() else []
        found = [one for one in stored if one["golden"].partition("/")[0] not in chosen]
        found += [one for name in chosen for golden in broken_tables(name) for one in asked(golden)]
        # A rule may be broken in several columns of one table: the first of them is shown.
        first = {(one["rule"], one["golden"]): one for one in reversed(found)}
        measured = [one for one in found if first[one["rule"], one["golden"]] is one]
        write_whole(MEASURED, f"{json.dumps(measured, indent=1, ensure_ascii=False)}\n".encode())
    measured = json.loads(MEASURED.read_text())
    write_whole(PAGE, page(PAGE.read_text(), measured).encode())


if __name__ == "__main__":
    main()
