"""The page ``docs/recall.md`` and the results that it is made of: what is found of false facts in files, and in the metadata of tables.

`recall` and `table_recall` measure; what they found is stored in ``docs/data``, beside the reasons why some is not found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recall_answers import (
    Answer,
    Found,
    Kind,
    Reason,
    answers_of,
    by_field,
    by_writer,
    reasons_in,
    rows_of,
    unseen_table,
    without_reason,
)
from recall_kinds import CASES
from table_recall_facts import TABLES, WRITERS

DOCS = Path(__file__).resolve().parent.parent / "docs"
DATA, TABLE_DATA = DOCS / "data" / "recall.json", DOCS / "data" / "table_recall.json"
REASONS, TABLE_REASONS = DOCS / "data" / "recall_reasons.toml", DOCS / "data" / "table_recall_reasons.toml"
PAGE = "docs/recall.md"

# -------------------------------------------------------------------------------------------------------- the results


def keep(found: Found, damages: int) -> None:
    """Store what is found in files, and how many random damages were tried."""
    DATA.write_text(f'{{"damages": {damages},\n"kinds": {rows_of(found)}}}\n', encoding="utf-8")


def stored() -> tuple[dict[Kind, dict[str, Answer]], int]:
    """What is stored of files, and the number of random damages; nothing where nothing was measured."""
    record: dict[str, Any] = {"kinds": [], "damages": 0}
    if DATA.exists():
        record = json.loads(DATA.read_text(encoding="utf-8"))
    return answers_of(record["kinds"]), record["damages"]


def keep_tables(found: Found) -> None:
    """Store what is found in the metadata of tables."""
    TABLE_DATA.write_text(f'{{"kinds": {rows_of(found)}}}\n', encoding="utf-8")


def stored_tables() -> dict[Kind, dict[str, Answer]]:
    """What is stored of tables."""
    return answers_of(json.loads(TABLE_DATA.read_text(encoding="utf-8"))["kinds"])


def reasons() -> list[Reason]:
    """The reasons why kinds in files are not found."""
    return reasons_in(REASONS)


def table_reasons() -> list[Reason]:
    """The reasons why kinds in the metadata of tables are not found."""
    return reasons_in(TABLE_REASONS)


def unexplained(found: Found) -> list[Kind]:
    """The kinds in files that are not found, and for which no reason is given."""
    return without_reason(found, reasons())


# ------------------------------------------------------------------------------------------------------- the page

HEAD = """# What is found, and what is not

A judge of files is worth what it finds. This page is made by `make recall`, which puts one false fact at a time into
files that are good: every field of every structure gets a value that is false, is removed, doubled, or changes places with
another, in files of {writers}. The grammar that the judge reads files by says which fields there are, so that none is
forgotten. Each file is checked at tier `values`, and what is reported beyond what the good file has counts as
found.

{mutants:,} kinds of changes in the files of one writer were tried. Where a kind was tried at several places of them, its **weakest** answer
counts. Besides, {damages:,} files with random damage were checked: none ended in an error of pqassay itself.

| Answer | Meaning |
| --- | --- |
| FAIL | the change is found, and the file is nonconformant |
| errored | pqassay says that the file cannot be judged, and why |
| WARN, POLICY, INFO | the change is found, and the file stays conformant |
| not checked | a rule that was checked before is now named as not checked |
| valid | nothing is found, and nothing is to be found: the changed file is valid, too |
| unseen | the change is not found, though the file is no longer true |

"""


TABLES_HEAD = """# Tables

The same was done to the metadata of {tables} good Delta and Iceberg tables, those of pqassay-ref and those that Spark wrote: each member of commits, checkpoints, version checksums and
metadata files, each field of manifest lists and manifests and what their headers say, and the footers of Puffin files. {mutants:,} kinds of changes in the tables of one writer and format were
tried, at one place of each table that has such a field, and the weakest answer counts. `python tools/table_recall.py` makes this part.
"""

LETTERS = """How many changes of a field got which answer, by the writer of the files: `4F 1u` are four FAIL and one unseen.
`E` is errored, `W` WARN, `P` POLICY, `I` INFO, `n` not checked, `v` valid. The rules are those that answer most often."""


def rendered(found: Found, damages: int, of_tables: Found) -> str:
    """The page.

    Args:
        found: What is found in files.
        damages: How many random damages were tried.
        of_tables: What is found in tables.
    """
    given = reasons()
    writers = list(CASES)
    words = f"{', '.join(writers[:-1])} and {writers[-1]}"
    total = sum(map(len, found.values()))
    lines = [HEAD.format(writers=words, mutants=total, damages=damages).rstrip("\n"), ""]
    lines += ["## By writer", "", *by_writer(found, given, writers, "Files of")]
    for title, valid in SECTIONS:
        lines += [f"## {title}", "", *unseen_table(found, given, valid=valid)]
    lines += ["## By field", "", LETTERS, "", *by_field(found, given, writers)]
    return "\n".join([*lines, "", *_of_tables(of_tables)]) + "\n"


SECTIONS = (("What is not found", False), ("What is not to be found", True))
"""Titles of the tables of what is unseen, and whether they tell of what keeps a file valid."""


def _of_tables(found: Found) -> Iterator[str]:
    given, writers = table_reasons(), list(WRITERS)
    head = TABLES_HEAD.format(tables=len(TABLES), mutants=sum(map(len, found.values())))
    yield from (*head.split("\n"), "## Tables by writer", "")
    yield from by_writer(found, given, writers, "Tables of")
    for title, valid in SECTIONS:
        yield from (f"## {title} in tables", "", *unseen_table(found, given, valid=valid))
    yield from ("## By field of the metadata", "", *by_field(found, given, writers))


def contents() -> dict[str, str]:
    """The page of the results that are stored."""
    return {PAGE: rendered(*stored(), stored_tables())}
