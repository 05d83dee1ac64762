"""Begin a revision of the golden cases, or freeze it.

    python tools/revisions.py 1.1             list all current golden cases in a new draft
    python tools/revisions.py 1.1 --freeze    freeze it; a frozen revision never changes again

`CURRENT` in `pqassay_spec.golden.revision` names the current revision. `contents` updates the digests of drafts, and adds no case.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from pqassay_spec.base.sources import write_whole
from pqassay_spec.golden.revision import FOLDER, Revision, numbers, revision, written
from pqassay_suite.cases.update_cases import asked_cases

ROOT = Path(__file__).resolve().parent.parent
REVISIONS = f"spec/{FOLDER}"


def kept(draft: Revision, today: Mapping[str, str]) -> Revision:
    """A draft with current digests, without deleted and without new cases."""
    cases = {case: today[case] for case in draft.cases if case in today}
    return Revision(draft.number, "draft", cases)


def contents() -> dict[str, str]:
    """The text of the file of each draft."""
    today = digests()
    drafts = [one for one in map(revision, numbers()) if not one.is_frozen]
    return {f"{REVISIONS}/{one.number}.toml": written(kept(one, today)) for one in drafts}


def digests() -> dict[str, str]:
    """The digests of all current cases by id."""
    return {golden.case.id: golden.asked_sha256 for golden in asked_cases()}


def begun(number: str, before: Revision | None, today: Mapping[str, str], *, is_frozen: bool) -> Revision:
    """The revision with all current cases. Raises `SystemExit` if it is already frozen."""
    if before is not None and before.is_frozen:
        raise SystemExit(f"revision {number} is frozen: cases that are new or changed go into the next one")
    return Revision(number, "frozen" if is_frozen else "draft", today)


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("number")
    parser.add_argument("--freeze", action="store_true", help="the list never changes again")
    options = parser.parse_args()
    before = revision(options.number) if options.number in numbers() else None
    now = begun(options.number, before, digests(), is_frozen=options.freeze)
    path = ROOT / REVISIONS / f"{options.number}.toml"
    write_whole(path, written(now).encode())
    added = len(now.cases.keys() - (before.cases if before else {}))
    print(f"{path.relative_to(ROOT)}: {len(now.cases)} cases, {added} of them new, {now.state}")


if __name__ == "__main__":
    main()
