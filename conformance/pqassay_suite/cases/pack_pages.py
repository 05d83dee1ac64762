"""The pages of a pack, for people who do not know pqassay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from pqassay_spec.golden.revision import CURRENT
from pqassay_spec.rules.catalogue import rules
from pqassay_suite.cases.pack import (
    BAD,
    EDITION,
    EDITION_STATE,
    GOOD,
    LICENSE,
    MANIFEST,
    README,
    SUMS,
    Packed,
    PackError,
    duties,
    reason,
)


def pages(packs: Sequence[Packed]) -> dict[str, bytes]:
    """Pages and licence of a pack, by path.

    Raises:
        PackError: The licence is missing in this installation.
    """
    good = [each for each in packs if each.golden.case.kind == "valid"]
    bad = [each for each in packs if each.golden.case.kind != "valid"]
    return {
        README: _page(_first(len(good), len(bad))),
        f"{GOOD}/{README}": _page(_list("Valid files", VALID, good)),
        f"{BAD}/{README}": _page(_list("Damaged files", DAMAGED, bad)),
        LICENSE: licence().encode(),
    }


VALID = (
    "Nothing is wrong with these files; about some that foreign software wrote there are remarks. A reader gives their rows, unless "
    "the last column says otherwise."
)

DAMAGED = (
    "Each of these files breaks the rules that its row names. Nearly all differ from a valid file in one change. Whatever a "
    "reader does, it never crashes, hangs or takes unbounded memory; the last column says what is right."
)

USE = f"""
`{GOOD}/` holds valid files, `{BAD}/` damaged ones; the README of each has a row for every file. `{MANIFEST}` says the same for
programs, with the SHA-256 and the size of each file. No software but a JSON parser is needed to use them; `sha256sum --check {SUMS}`
shows that they are whole.

- `NAME.parquet` is the file. Where a name of its own matters, that is the end: `NAME._pm` is handed to software as `_pm`, with
  `NAME.data.parquet` beside it as `data.parquet`. The member `called` of the manifest has that name.
- `NAME.rows.json` holds the rows that a reader gives, all of them, in any order: `columns` with name, type and whether
  they may be null, and `rows`. What JSON cannot hold has a tag: `{{"int": "9007199254740993"}}`, `{{"float": "nan"}}`,
  `{{"bytes": "ff"}}`.
- `duties` of the manifest says what software must do. `read` has two members: `rows`, whether the rows are the file's `own`, those
  of its undamaged `parent`, or `unspecified`; and `refusal`: `never` right, `allowed`, or `demanded`.
- `reason` of a damaged file is a stable code: the ids of the rules that it breaks, joined by `+`. An id never gets another meaning.
- `in_revision` says whether the file counts in a score of `pqassay suite run`.
""".strip()


def _first(good: int, bad: int) -> Iterator[str]:
    yield "# Parquet test files with known answers"
    yield (
        f"{good:,} valid and {bad:,} damaged files, chosen from the golden files of pqassay (revision {CURRENT} of the "
        "cases), a conformance kit for the metadata of Parquet files. They were written by `pqassay suite pack`: "
        f"edition {EDITION} ({EDITION_STATE})."
    )
    yield USE
    yield f"The files may be used under the Apache License 2.0, see [{LICENSE}]({LICENSE})."


def _list(title: str, words: str, packs: Sequence[Packed]) -> Iterator[str]:
    yield f"# {title}"
    yield words
    if not packs:
        yield "This pack has none."
        return
    rows = ["| File | Reason | What it shows | What a reader does |", "| --- | --- | --- | --- |"]
    for each in packs:
        case = each.golden.case
        name = Path(each.input.path).name
        shown = [cell(case.title), *(f"{rule}: {cell(rules()[rule].sentence)}" for rule in case.rules)]
        rows.append(
            f"| [`{name}`]({name}) | {reason(case)} | {'<br>'.join(shown)} | {cell(' '.join(duties(case)))} |"
        )
    yield "\n".join(rows)


def cell(text: str) -> str:
    """A text escaped for a cell of a Markdown table."""
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
    return escaped.replace("*", "\\*").replace("[", "\\[")


def _page(parts: Iterator[str]) -> bytes:
    return ("\n\n".join(parts) + "\n").encode()


def licence() -> str:
    """The text of the licence, from a checkout or from the installed distribution.

    Raises:
        PackError: The licence is missing.
    """
    checkout = Path(__file__).resolve().parents[3] / LICENSE
    if checkout.is_file():
        return checkout.read_text("utf-8")
    try:
        text = metadata.distribution("pqassay").read_text(f"licenses/{LICENSE}")
    except metadata.PackageNotFoundError:
        text = None
    if text is None:
        raise PackError("this installation has no LICENSE; install pqassay again")
    return text
