"""Measure what pqassay finds of false facts, and write ``docs/data/recall.json`` and the page ``docs/recall.md``.

    python tools/recall.py                      measure all kinds, then 100,000 random damages
    python tools/recall.py --damages 2000       as many random damages; 0 for none
    python tools/recall.py --render             write the page anew from the results that are stored

A kind is one field of one structure and what happens to it; `recall_kinds` makes the mutations.  Each is checked at tier
``values``; what is reported beyond what the good file has counts as found.  A kind that nobody finds needs a
reason in ``docs/data/recall_reasons.toml``: without one, this ends with exit status 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import recall_kinds
from recall_kinds import CASES, Base, Kind, Site, data_of
from rich.progress import track

import pqassay
from pqassay.report.model import FileReport
from pqassay_spec.base.errors import FormatError
from pqassay_spec.mutation.mutations import Inapplicable, Mutation, mutate
from pqassay_spec.mutation.possible import mutations_of

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "data" / "recall.json"
REASONS = ROOT / "docs" / "data" / "recall_reasons.toml"
PAGE = ROOT / "docs" / "recall.md"

UNSEEN = "unseen"
STRENGTH = ("FAIL", "errored", "WARN", "POLICY", "INFO", "not checked", UNSEEN)
"""What can come of a mutation, the clearest answer first. A kind counts by the weakest answer at its places."""

MOST_RULES = 3
"""Rules that are stored of one answer."""

Answer = tuple[str, list[str]]
"""What came of a kind in the files of a writer, and the rules that said so."""

# --------------------------------------------------------------------------------------------------- one mutation


@dataclass(frozen=True)
class Judged:
    """What a check says: findings by rule, column and verdict, rules that were not checked, and whether it gave up."""

    findings: Counter[tuple[str, str | None, str]]
    not_checked: frozenset[str]
    error: bool


def judged(data: bytes, base: Base) -> Judged:
    """Check what a file has become at tier ``values``; a ``_pm`` file beside its Parquet file, where there is one."""
    if base.form == "pm":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, base.name)
            path.write_bytes(data)
            if base.beside is not None:
                Path(folder, base.beside.name).write_bytes(base.beside.read_bytes())
            report = pqassay.check(path, tier="values")
    else:
        report = pqassay.check(data, tier="values")
    (file,) = report.files
    findings = Counter[tuple[str, str | None, str]]()
    for finding in file.findings:
        findings[finding.rule, finding.column, finding.verdict] += finding.count
    coverage = report.coverages[file.coverage]
    return Judged(findings, frozenset(coverage.not_checked), file.error is not None)


@cache
def of_base(base: Base) -> Judged:
    """What is said of the good file."""
    return judged(data_of(base), base)


def answer(site: Site) -> Answer | None:
    """What is found of a mutation; ``None`` where it makes no sense or changes nothing."""
    base, mutation = site
    try:
        data = mutate(data_of(base), mutation, base.form)
    except (Inapplicable, FormatError):
        return None
    if data == data_of(base):
        return None
    before, after = of_base(base), judged(data, base)
    new = after.findings - before.findings
    verdict = next((name for name in STRENGTH if any(name == key[2] for key in new)), UNSEEN)
    rules = sorted({key[0] for key in new if key[2] == verdict})
    if verdict != "FAIL" and after.error and not before.error:
        return "errored", []
    if verdict == UNSEEN and (unchecked := after.not_checked - before.not_checked):
        return "not checked", sorted(unchecked)[:MOST_RULES]
    return verdict, rules[:MOST_RULES]


def weakest(sites: Sequence[Site]) -> Answer | None:
    """The weakest answer at some places."""
    found = [one for one in map(answer, sites) if one is not None]
    return max(found, key=lambda one: STRENGTH.index(one[0]), default=None)


# ------------------------------------------------------------------------------------------------------ all kinds


def measured() -> dict[Kind, dict[str, Answer]]:
    """What is found of every kind in the files of every writer."""
    asked = [(kind, writer, sites) for writer in CASES for kind, sites in recall_kinds.sites(writer).items()]
    found: dict[Kind, dict[str, Answer]] = defaultdict(dict)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(weakest, [sites for _, _, sites in asked], chunksize=16)
        for (kind, writer, _), one in zip(asked, _shown(answers, len(asked), "kinds"), strict=True):
            if one is not None:
                found[kind][writer] = one
    return dict(sorted(found.items()))


def _shown(items: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    yield from track(items, what, total, disable=not sys.stderr.isatty())


def stored(found: Mapping[Kind, Mapping[str, Answer]], damages: int) -> str:
    """The results as they are stored: a line for each kind, by writer the answer and its rules."""
    rows = [
        json.dumps([*kind, {writer: " ".join([one, *rules]) for writer, (one, rules) in writers.items()}])
        for kind, writers in found.items()
    ]
    return f'{{"damages": {damages},\n"kinds": [\n' + ",\n".join(rows) + "\n]}\n"


def read(text: str) -> tuple[dict[Kind, dict[str, Answer]], int]:
    """The results that are stored, and the number of random damages."""
    record = json.loads(text)
    found = {
        Kind(field, change): {writer: _answer(cell) for writer, cell in writers.items()}
        for field, change, writers in record["kinds"]
    }
    return found, record["damages"]


def _answer(cell: str) -> Answer:
    name = next(name for name in STRENGTH if cell.startswith(name))
    return name, cell.removeprefix(name).split()


# -------------------------------------------------------------------------------------------------------- reasons


@dataclass(frozen=True)
class Reason:
    """Why nothing is found.

    Attributes:
        field: A pattern of fields.
        reason: The reason, in a sentence.
        change: A pattern of changes.
        valid: Whether the change keeps the file valid, so that there is nothing to find.
    """

    field: str
    reason: str
    change: str = "*"
    valid: bool = False

    def fits(self, kind: Kind) -> bool:
        """Whether it is about a kind."""
        return fnmatchcase(kind.field, self.field) and fnmatchcase(kind.change, self.change)


def reasons() -> list[Reason]:
    """The reasons, in the order of the file; the first that fits counts."""
    return [Reason(**row) for row in tomllib.loads(REASONS.read_text(encoding="utf-8"))["reason"]]


def reason_of(kind: Kind, given: Sequence[Reason]) -> Reason | None:
    """The reason why a kind is not found; ``None`` where none is given."""
    return next((one for one in given if one.fits(kind)), None)


def unseen(found: Mapping[Kind, Mapping[str, Answer]]) -> list[Kind]:
    """The kinds that are not found in the files of some writer."""
    return [kind for kind, writers in found.items() if any(one == UNSEEN for one, _ in writers.values())]


def unexplained(found: Mapping[Kind, Mapping[str, Answer]]) -> list[Kind]:
    """The kinds that are not found, and for which no reason is given."""
    given = reasons()
    return [kind for kind in unseen(found) if reason_of(kind, given) is None]


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


def rendered(found: Mapping[Kind, Mapping[str, Answer]], damages: int) -> str:
    """The page."""
    given = reasons()
    writers = list(CASES)
    words = f"{', '.join(writers[:-1])} and {writers[-1]}"
    total = sum(map(len, found.values()))
    lines = [HEAD.format(writers=words, mutants=total, damages=damages).rstrip("\n"), ""]
    lines += [*_by_writer(found, given), *_unseen_table(found, given), *_by_field(found, given)]
    return "\n".join(lines) + "\n"


SHOWN = ("FAIL", "errored", "WARN", "POLICY", "INFO", "not checked", "valid", UNSEEN)


def _class(kind: Kind, one: Answer, given: Sequence[Reason]) -> str:
    """The answer, with what need not be found told apart."""
    why = reason_of(kind, given) if one[0] == UNSEEN else None
    return "valid" if why is not None and why.valid else one[0]


def _by_writer(found: Mapping[Kind, Mapping[str, Answer]], given: Sequence[Reason]) -> Iterator[str]:
    counts: dict[str, Counter[str]] = {writer: Counter() for writer in CASES}
    for kind, writers in found.items():
        for writer, one in writers.items():
            counts[writer][_class(kind, one, given)] += 1
    yield from ("## By writer", "", _row("Files of", *SHOWN), _row(*["---"] * (len(SHOWN) + 1)))
    for writer, counted in counts.items():
        yield _row(writer, *(f"{counted[name]:,}" if counted[name] else "" for name in SHOWN))
    whole = sum(counts.values(), Counter[str]())
    yield _row("all", *(f"{whole[name]:,}" for name in SHOWN))
    yield ""


def _unseen_table(found: Mapping[Kind, Mapping[str, Answer]], given: Sequence[Reason]) -> Iterator[str]:
    for title, valid in (("## What is not found", False), ("## What is not to be found", True)):
        by_reason: dict[str, list[Kind]] = defaultdict(list)
        for kind in unseen(found):
            why = reason_of(kind, given)
            if (why is not None and why.valid) == valid:
                by_reason["" if why is None else why.reason].append(kind)
        yield from (title, "", _row("Field", "Change", "Reason"), _row("---", "---", "---"))
        for reason, kinds in by_reason.items():
            changes: dict[str, list[str]] = defaultdict(list)
            for kind in kinds:
                changes[kind.field].append(kind.change)
            for field, names in changes.items():
                yield _row(f"`{field}`", ", ".join(names), reason)
        yield ""


def _by_field(found: Mapping[Kind, Mapping[str, Answer]], given: Sequence[Reason]) -> Iterator[str]:
    yield from ("## By field", "")
    yield "How many changes of a field got which answer, by the writer of the files: `4F 1u` are four FAIL and one unseen."
    yield "`E` is errored, `W` WARN, `P` POLICY, `I` INFO, `n` not checked, `v` valid. The rules are those that answer most often."
    letters = dict(zip(SHOWN, "FEWPInvu", strict=True))
    fields: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, writers in found.items():
        for writer, one in writers.items():
            fields[kind.field][writer][_class(kind, one, given)] += 1
            rules[kind.field].update(one[1])
    yield from ("", _row("Field", *CASES, "Rules"), _row(*["---"] * (len(CASES) + 2)))
    for field, counted in fields.items():
        cells = (
            " ".join(f"{counted[writer][name]}{letters[name]}" for name in SHOWN if counted[writer][name])
            for writer in CASES
        )
        most = ", ".join(
            rule for rule, _ in sorted(rules[field].items(), key=lambda item: (-item[1], item[0]))[:4]
        )
        yield _row(f"`{field}`", *cells, most)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |".replace("  ", " ")


# ------------------------------------------------------------------------------------------------- random damages

SMALL = (
    *("blm/audited", "blm/lists", "blm/types", "pix/audited", "pix/three-pages-of-lists", "pix/total-order"),
    *(
        "pqf/dictionary",
        "pqf/nested",
        "pqf/sorted-rows",
        "pqf/three-pages-and-a-dictionary",
        "pqf/times-of-day",
    ),
    *(
        "sta/audited-box",
        "sta/audited-page-headers",
        "sta/counted",
        "sta/int96",
        "sta/lists",
        "sta/orders-of-types",
    ),
    *("idx1/companion", "idx1/plain", "interop/duckdb-2.0.0/nested", "interop/datafusion-55.2/two-values"),
)
"""The small files that are damaged at random."""


@cache
def _mutations(case: str) -> list[Mutation]:
    return list(mutations_of(data_of(Base(case, "parquet"))))


def damaged(seed: int) -> bytes:
    """A small file with one or two mutations that the grammar suggests, or with a few bytes changed, or both."""
    chance = Random(seed)
    case = chance.choice(SMALL)
    data = data_of(Base(case, "parquet"))
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        try:
            data = mutate(data, chance.choice(_mutations(case)))
        except (Inapplicable, FormatError):
            continue
    changed = bytearray(data)
    for _ in range(chance.choice((0, 1, 1, 2))):
        place = chance.randrange(4, max(len(changed) - 8, 5))
        width = chance.choice((1, 1, 1, 2, 4, 8))
        changed[place : place + width] = chance.choice(_CHANGES)(
            bytes(changed[place : place + width]), chance
        )
    return bytes(changed)


_CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    lambda old, chance: chance.randbytes(len(old)),
    lambda old, chance: bytes(byte ^ 1 << chance.randrange(8) for byte in old),
    lambda old, _: b"\xff" * len(old),
    lambda old, _: bytes(len(old)),
    lambda old, _: old + old,
    lambda _, __: b"",
)
"""What may happen to a run of bytes: what keeps its length more often than what does not."""


def mistake(seed: int) -> str | None:
    """What is wrong with the report on a damaged file, in words; ``None`` if there is nothing."""
    try:
        (file,) = pqassay.check(damaged(seed), tier="values").files
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is looked for
        return f"seed {seed}: {error!r}"
    return _wrong(file, seed)


def _wrong(file: FileReport, seed: int) -> str | None:
    if "mistake in pqassay" in (file.error or ""):
        return f"seed {seed}: {file.error}"
    long = [
        finding.rule for finding in file.findings if len(finding.message) > 1_000 or "\n" in finding.message
    ]
    return f"seed {seed}: the message of {long[0]}" if long else None


def mistakes(count: int) -> list[str]:
    """What is wrong with the reports on so many damaged files."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(mistake, range(count), chunksize=64)
        return [one for one in _shown(found, count, "random damages") if one is not None]


# ---------------------------------------------------------------------------------------------------------- main


def main() -> int:
    """Measure, write, and say what is not explained; return the exit status."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--damages", type=int, default=100_000, help="random damages (100,000)")
    options.add_argument("--render", action="store_true", help="write the page from the stored results")
    asked = options.parse_args()
    wrong: list[str] = []
    if not asked.render:
        found = measured()
        before = read(DATA.read_text(encoding="utf-8"))[1] if DATA.exists() else 0
        wrong = mistakes(asked.damages)
        DATA.write_text(stored(found, asked.damages or before), encoding="utf-8")
    found, damages = read(DATA.read_text(encoding="utf-8"))
    PAGE.write_text(rendered(found, damages), encoding="utf-8")
    wrong += [f"no reason is given for {kind.field}, {kind.change}" for kind in unexplained(found)]
    print("\n".join([*wrong, str(PAGE)]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
