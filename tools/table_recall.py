"""Measure which false facts in the metadata of tables pqassay finds, and write ``docs/data/table_recall.json``.

The page ``docs/recall.md`` shows it on the site.

A kind is one field and its change; `table_recall_facts` makes the false facts. Each table is judged at tier ``values``; findings beyond
those of the good table count. A kind without a finding needs a reason in ``docs/data/table_recall_reasons.toml``. A missing or an unneeded
reason leads to exit status 1.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from recall_answers import (
    OF_TABLES,
    Answer,
    Judged,
    Kind,
    compared,
    for_nothing,
    in_parallel,
    judged_of,
    weakest,
    without_reason,
)
from table_recall_facts import TABLES, Fact, facts_of, files_of, writer_of

import pqassay

# ------------------------------------------------------------------------------------------------------------ judging


@cache
def of_good(table: str) -> Judged:
    """The findings about a good table."""
    return judged(files_of(table))


def judged(files: dict[str, bytes]) -> Judged:
    """The findings at tier ``values`` about a table of some files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            target = Path(folder, "t", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        try:
            return judged_of(pqassay.check(Path(folder, "t"), tier="values"))
        except pqassay.errors.UsageError:
            return Judged(Counter(), frozenset(), error=True, failing=Counter())


def answer(fact: Fact) -> Answer | None:
    """The answer about a false fact; ``None`` if it changes nothing."""
    good = files_of(fact.table)
    if all(good[name] == data for name, data in fact.files.items()):
        return None
    return compared(of_good(fact.table), judged({**good, **fact.files}))


def measured() -> dict[Kind, dict[str, Answer]]:
    """The answers of every kind in the tables of every writer."""
    places: dict[tuple[Kind, str], list[Answer]] = defaultdict(list)
    facts = [fact for table in TABLES for fact in facts_of(table)]
    for fact, one in zip(facts, in_parallel(answer, facts, "facts"), strict=True):
        if one is not None:
            places[fact.kind, writer_of(fact.table)].append(one)
    found: dict[Kind, dict[str, Answer]] = defaultdict(dict)
    for (kind, writer), answers in sorted(places.items()):
        found[kind][writer] = weakest(answers)
    return dict(found)


def main() -> int:
    """Measure, write, and print unexplained kinds; return the exit status."""
    found, given = measured(), OF_TABLES.reasons
    OF_TABLES.keep(found)
    counts = Counter(answer.name for answers in found.values() for answer in answers.values())
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()))
    wrong = [f"no reason is given for {kind.field}, {kind.change}" for kind in without_reason(found, given)]
    wrong += [f"nothing needs the reason of {one.field}, {one.change}" for one in for_nothing(found, given)]
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
