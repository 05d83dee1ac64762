"""Write the list of a revision: ``python tools/write_revision.py [NUMBER]``.

    python tools/write_revision.py               the current revision, of the golden cases of today
    python tools/write_revision.py --listed      only the cases that it has already: new digests, and those that have gone leave
    python tools/write_revision.py 1.0 --freeze  a revision whose list never changes again

A frozen revision is not written anew.  Which revision is the current one says `CURRENT` in `pqassay_spec.golden.revision`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from pqassay_spec.base.sources import write_whole
from pqassay_spec.golden.revision import CURRENT, FOLDER, Revision, parse, written
from pqassay_suite.cases.writer_cases import asked_cases

ROOT = Path(__file__).resolve().parent.parent
REVISIONS = ROOT / "spec" / FOLDER


def made(
    number: str, before: Revision | None, digests: Mapping[str, str], *, listed: bool, freeze: bool
) -> Revision:
    """The revision as it will be.

    Args:
        number: Its number.
        before: What it is so far, if anything.
        digests: The digests of all cases of today by id.
        listed: Leave out what it does not list so far.
        freeze: Whether this is its last list.

    Raises:
        SystemExit: It is frozen, or it has no list to begin with.
    """
    if before is not None and before.is_frozen:
        raise SystemExit(f"revision {number} is frozen: cases that are new or changed go into the next one")
    if listed and before is None:
        raise SystemExit(f"there is no revision {number} whose cases could be kept; leave out --listed")
    kept = {
        case: digest
        for case, digest in digests.items()
        if not listed or before is None or case in before.cases
    }
    return Revision(number, "frozen" if freeze else "draft", kept)


def main() -> None:
    """Write, and say what became of the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("number", nargs="?", default=CURRENT)
    parser.add_argument("--listed", action="store_true", help="add no case")
    parser.add_argument("--freeze", action="store_true", help="the list never changes again")
    options = parser.parse_args()
    path = REVISIONS / f"{options.number}.toml"
    before = parse(path.read_text("utf-8"), path.name) if path.exists() else None
    digests = {golden.case.id: golden.asked_sha256 for golden in asked_cases()}
    now = made(options.number, before, digests, listed=options.listed, freeze=options.freeze)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, written(now).encode())
    old = before.cases if before else {}
    print(f"{path.relative_to(ROOT)}: {len(now.cases)} cases, {now.state}")
    for word, cases in (
        ("new", [case for case in now.cases if case not in old]),
        ("changed", [case for case, digest in now.cases.items() if old.get(case, digest) != digest]),
        ("gone", [case for case in old if case not in now.cases]),
    ):
        if cases:
            print(f"  {len(cases)} {word}: {', '.join(cases[:5])}{' …' if cases[5:] else ''}")


if __name__ == "__main__":
    main()
