"""How soon the checker in the browser is ready, and how long a file takes it then.

    python benchmarks/browser_checker.py [--megabytes 66] [--rounds 3]

A headless Chromium opens the checker's page from a server on this machine, each time with a new profile, so that nothing is kept from the time before.
Measured is what a visitor waits for: from opening a golden file by its address until its verdict is shown (most of it is Python's start;
a network would add the megabytes that are printed), then a file of many megabytes at each tier.  Needs Chromium, and npm with a registry.

Goals: the first verdict within 10 seconds; the file judged at tier `index` within half a second, and of its bytes less than one in a hundred read.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import cached, goal, medians, print_table, share

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "tools")]

from pages.files import checker  # noqa: E402 - found by the line above

from browser import Browser, Tab, installed, served  # noqa: E402
from checker_site import write_checker_site  # noqa: E402

READY, INDEX, SHARE = 10.0, 0.5, 0.01
"""The goals: seconds, seconds, share of the bytes."""

TIERS = ("footer", "index", "pages")

TOLD = re.compile(r"Judged in ([\d.]+) s(?:; ([\d,]+) bytes)?")


def write_file(path: Path, *, size: int) -> None:
    """Write random doubles in eight columns, with an index and a CRC of every page."""
    random = np.random.default_rng(11)
    table = pa.table({f"measure_{n}": random.random(size // 8 // 8) for n in range(8)})
    pq.write_table(
        table,
        path,
        compression="none",
        use_dictionary=False,
        write_page_index=True,
        write_page_checksum=True,
        row_group_size=100_000,
    )


def judge(tab: Tab, file: Path, tier: str) -> tuple[float, int]:
    """Choose a file in the page; how many seconds the page says it took, and how many bytes it read."""
    tab.evaluate(f"document.getElementById('checker-golden').elements.tier.value = '{tier}'")
    tab.evaluate("document.getElementById('checker-told').textContent = ''")
    # The same file is a change only after none was chosen.
    tab.evaluate("document.getElementById('checker-file').value = ''")
    tab.choose_files("#checker-file", file)
    tab.wait("/^Judged/.test(document.getElementById('checker-told').textContent)")
    found = TOLD.match(str(tab.evaluate("document.getElementById('checker-told').textContent")))
    if found is None:
        raise AssertionError("the page does not say how long it took")
    whole = file.stat().st_size  # where the page names no bytes, all of them were read
    return float(found[1]), whole if found[2] is None else int(found[2].replace(",", ""))


def cold(address: str, folder: Path, file: Path, judged: dict[str, list[tuple[float, int]]]) -> float:
    """Seconds until a new browser shows the first verdict; notes meanwhile what a file takes it."""
    profile = Path(tempfile.mkdtemp(dir=folder))
    with Browser(profile) as browser:
        started = time.perf_counter()
        tab = browser.open(f"{address}check/index.html#blm/zeroed")
        tab.wait("document.querySelector('#checker-verdict:not([hidden]) h2')")
        taken = time.perf_counter() - started
        for tier in TIERS:
            judge(tab, file, tier)
            judged[tier].append(judge(tab, file, tier))
    return taken


def main(arguments: list[str]) -> int:
    """Measure and print; 1 if a goal was missed, 2 if it cannot be measured here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=66, help="length of the file")
    parser.add_argument("--rounds", type=int, default=3, help="how often a new browser begins")
    options = parser.parse_args(arguments)
    runtime = checker.runtime()
    if installed() is None or runtime is None:
        print("This needs Chromium, and npm with a registry or a kept package of Pyodide.", file=sys.stderr)
        return 2
    size = options.megabytes * 1_000_000
    file = cached(f"browser-{size}-pyarrow-{pa.__version__}.parquet", partial(write_file, size=size))
    content = [data for name, data in runtime.items() if name != "README.md"]
    weight = sum(len(gzip.compress(data)) for data in (*content, checker.archive()))
    judged: dict[str, list[tuple[float, int]]] = {tier: [] for tier in TIERS}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        site = Path(folder, "site")
        write_checker_site(site)
        with served(site) as address:
            work = partial(cold, address, Path(folder), file, judged)
            ready = medians({"cold": work}, options.rounds)["cold"]
    best = {tier: min(of) for tier, of in judged.items()}
    rows = [[tier, f"{taken * 1000:.0f}", f"{read:,}"] for tier, (taken, read) in best.items()]
    print(f"Python and the judge: {weight / 1e6:.1f} MB compressed; first verdict after {ready:.1f} s")
    print(f"A file of {file.stat().st_size / 1e6:.0f} MB, already loaded:\n")
    print_table(["tier", "ms", "bytes read"], rows)
    goals = {
        f"the first verdict comes within {READY:.0f} s ({ready:.1f})": ready <= READY,
        f"tier index takes at most {INDEX} s ({best['index'][0]:.2f})": best["index"][0] <= INDEX,
        f"and reads less than {SHARE:.0%} of the file": best["index"][1] < SHARE * file.stat().st_size,
    }
    print()
    for sentence, reached in goals.items():
        print(goal(sentence, reached=reached))
    print(f"The machine left {share(2):.0%} of its processors to this.")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
