"""Three nights of the job over a table into which bad writers write, so that you see it at work.

    python three_nights.py [--with-spark]

The first night is red, what it found is accepted, the second one is green, the third one is red again, for another writer alone.
With --with-spark, the plan of the third night is run then, and the check is green.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nightly  # type: ignore[import-not-found]  # beside this file, as is the next one
import writers  # type: ignore[import-not-found]


def show(text: str) -> None:
    """Print what comes next, before the commands print."""
    print(f"\n=== {text}", flush=True)


def three_nights() -> list[int]:
    """The exit codes of three nights; what the first one found is accepted after it."""
    show("Night 1: load_prices writes")
    writers.load_prices("2026-11-20")
    codes = [nightly.night()]
    show("In the morning: what was found is accepted, by the software that wrote it")
    nightly.accept()
    show("Night 2: load_prices writes again")
    writers.load_prices("2026-11-21")
    codes.append(nightly.night())
    show("Night 3: load_labels writes as well")
    writers.load_prices("2026-11-22")
    writers.load_labels("2026-11-22")
    codes.append(nightly.night())
    return codes


def repaired() -> int:
    """Run the plan by Spark; return the exit code of a check of the whole table, whatever is known."""
    import repair  # type: ignore[import-not-found]  # noqa: PLC0415 - needs Spark

    show("The plan of night 3 is run by Spark")
    code = int(repair.main())
    show("All of the table is checked, with nothing taken for known")
    return code or nightly.pqassay("check")


def main(arguments: list[str]) -> int:
    """Do three nights; fail if one ends otherwise than it should."""
    if Path("lake").exists():
        print("there is a lake already; `make clean` removes it", file=sys.stderr)
        return 2
    codes, expected = three_nights(), [1, 0, 1]
    if "--with-spark" in arguments:
        codes.append(repaired())
        expected.append(0)
    show(f"Exit codes: {codes}, expected: {expected}")
    return 0 if codes == expected else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
