"""Measure which false facts pqassay finds, and write ``docs/data/recall.json`` for the page ``docs/recall.md``.

    python tools/recall.py                   measure all kinds, then 100,000 random damages
    python tools/recall.py --damages 2000    try fewer random damages; 0 for none

A kind is one field of one structure and its change: `recall_kinds` makes mutations of fields, `recall_inside` those of other parts.
Each file is checked at tier ``values``; findings that the good file does not have count. A kind without a finding needs a reason in
``docs/data/recall_reasons.toml``; otherwise the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random

import recall_answers
import recall_inside
import recall_kinds
from recall_answers import OF_FILES, Answer, Judged, Kind, compared, in_parallel, judged_of, without_reason
from recall_inside import Inside
from recall_kinds import CASES, Base, Site, data_of

import pqassay
from pqassay_spec.base.errors import FormatError
from pqassay_spec.mutation.mutations import Inapplicable, Mutation, mutate
from pqassay_spec.mutation.possible import mutations_of

# --------------------------------------------------------------------------------------------------- one mutation


def judged(data: bytes, base: Base) -> Judged:
    """The findings at tier ``values`` about a changed file; a ``_pm`` file is checked with its Parquet file, if any."""
    if base.form == "pm":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, base.name)
            path.write_bytes(data)
            if base.beside is not None:
                Path(folder, base.beside.name).write_bytes(base.beside.read_bytes())
            report = pqassay.check(path, tier="values")
    else:
        report = pqassay.check(data, tier="values")
    return judged_of(report)


@cache
def of_good(data: bytes, base: Base) -> Judged:
    """The findings about the good file."""
    return judged(data, base)


def answer(site: AnySite) -> Answer | None:
    """The answer to a mutation; ``None`` if it is impossible or changes nothing."""
    try:
        data = site.made()
    except (Inapplicable, FormatError):
        return None
    if data == site.good:
        return None
    return compared(of_good(site.good, site.base), judged(data, site.base))


def weakest(sites: Sequence[AnySite]) -> Answer | None:
    """The weakest answer at some places; ``None`` if there are none."""
    answers = [one for one in map(answer, sites) if one is not None]
    return recall_answers.weakest(answers) if answers else None


# ------------------------------------------------------------------------------------------------------ all kinds


AnySite = Site | Inside


def sites_of(writer: str) -> Mapping[Kind, Sequence[AnySite]]:
    """The places in a writer's files where each kind is tried."""
    return {**recall_kinds.sites(writer), **recall_inside.sites(writer)}


def measured() -> dict[Kind, dict[str, Answer]]:
    """The answers of every kind in the files of every writer."""
    asked = [(kind, writer, sites) for writer in CASES for kind, sites in sites_of(writer).items()]
    found: dict[Kind, dict[str, Answer]] = defaultdict(dict)
    answers = in_parallel(weakest, [sites for _, _, sites in asked], "kinds")
    for (kind, writer, _), one in zip(asked, answers, strict=True):
        if one is not None:
            found[kind][writer] = one
    return dict(sorted(found.items()))


# ------------------------------------------------------------------------------------------------- random damages

SMALL = (
    "blm/audited", "blm/lists", "blm/types", "pix/audited", "pix/three-pages-of-lists", "pix/total-order",
    "pqf/dictionary", "pqf/nested", "pqf/sorted-rows", "pqf/three-pages-and-a-dictionary",
    "pqf/times-of-day", "sta/audited-box", "sta/audited-page-headers", "sta/counted", "sta/int96",
    "sta/lists", "sta/orders-of-types", "idx1/companion", "idx1/plain", "interop/duckdb-2.0.0/nested",
    "interop/datafusion-55.2/two-values",
)  # fmt: skip
"""The small files for random damage."""


@cache
def mutations(case: str) -> list[Mutation]:
    """The mutations of a file that the grammar suggests."""
    return list(mutations_of(data_of(Base(case, "parquet"))))


def damaged(seed: int) -> bytes:
    """A small file with one or two suggested mutations, with a few changed bytes, or both."""
    chance = Random(seed)
    case = chance.choice(SMALL)
    data = data_of(Base(case, "parquet"))
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        try:
            data = mutate(data, chance.choice(mutations(case)))
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
"""The possible changes of a run of bytes; those that keep its length are more frequent."""


def mistake(seed: int) -> str | None:
    """The mistake in the report on a damaged file, in words; ``None`` if there is none."""
    try:
        (file,) = pqassay.check(damaged(seed), tier="values").files
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is looked for
        return f"seed {seed}: {error!r}"
    if "mistake in pqassay" in (file.error or ""):
        return f"seed {seed}: {file.error}"
    long = [
        finding.rule for finding in file.findings if len(finding.message) > 1_000 or "\n" in finding.message
    ]
    return f"seed {seed}: the message of {long[0]}" if long else None


def mistakes(count: int) -> list[str]:
    """The mistakes in the reports on a number of damaged files."""
    found = in_parallel(mistake, range(count), "random damages", 64)
    return [one for one in found if one is not None]


# ---------------------------------------------------------------------------------------------------------- main


def main() -> int:
    """Measure, write, and print unexplained kinds; return the exit status."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--damages", type=int, default=100_000, help="random damages (100,000)")
    asked = options.parse_args()
    found, wrong = measured(), mistakes(asked.damages)
    OF_FILES.keep(found, asked.damages or OF_FILES.damages)
    unexplained = without_reason(found, OF_FILES.reasons)
    wrong += [f"no reason is given for {kind.field}, {kind.change}" for kind in unexplained]
    print("\n".join([*wrong, f"{OF_FILES.data}; now: make generate"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
