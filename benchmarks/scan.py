"""Speed and thrift of the scan: against pyarrow, DuckDB, Polars and DataFusion, on a local file and behind a slow store.

    python benchmarks/scan.py [--megabytes 150] [--rounds 3] [--delay 30] [--rate MB] [--questions NAME...] [--json FILE]

One sorted file with a page index (150 MB; ``--megabytes 600`` and ``2000`` for larger ones, which are made once and kept). Six
questions: a key, an absent key, a range of keys, twenty keys, a value of a random column, and 1 % of the rows at random. All readers are seen to return the same rows before anything is measured.

Bytes and requests are counted by a server of the benchmark's own, which all of them can read from, DuckDB through a file system in
Python.  For the times behind a store the server waits before each answer, and then takes as long as the bytes take at a rate; by
default they take no time, so that time depends on requests that follow each other.  ``first`` knows nothing of the file, ``again``
has whatever the reader keeps between queries; behind the store each asks again whether the file is what it was.

Then: what a request should be worth in bytes (the gap), the ladder with one rung off after the other, dictionaries, and a file of
500 columns, whose metadata is what takes the time.

Goals: with a gap of 0, the fewest bytes of all; at most 1/5 of pyarrow's time and less than DuckDB's for a key;
behind the store, the least time of all; ahead of DataFusion on many columns with `_pm`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import cached, goal, print_table, seconds
from _range_server import Counted, Pace, Server, running
from _scan_files import Question, make_file, make_long_values, questions
from _scan_readers import OURS, Reader, in_order, ours, ours_remote, readers
from pm_open import described
from thrift import make_file as make_wide_file

from pqassay_reader import scan
from pqassay_reader.query.facts.footer_facts import KEPT_FACTS
from pqassay_reader.query.rungs import TITLES, Rung
from pqassay_reference.pm.write import create
from pqassay_spec.base.sources import write_whole
from pqassay_spec.pm import grammar as pm

RATE = 100e6
"""Bytes a second of one answer, where the gap is chosen: without a limit, reading everything would be the best plan."""

GAPS = (0, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
DISTANT = ("point", "range", "20 points", "unsorted")
"""Questions that are asked behind the store."""

NO_GAP = f"{OURS}, gap 0"
WITH_PM = f"{OURS} with _pm"
PYARROW_SHARE = 1 / 5
"""Goal: of pyarrow's time for a key."""

Results = dict[str, Any]


def require_equal(asked: Sequence[Question], places: Sequence[Mapping[str, Reader]], path: Path) -> None:
    """End the program unless all readers return the same rows, asked in both ways."""
    for question in asked:
        schema = pa.schema([pq.read_schema(path).field(name) for name in question.columns]).remove_metadata()
        expected: pa.Table | None = None
        for name, reader in (pair for place in places for pair in place.items()):
            for ask in reader:
                found = in_order(ask(question), schema)
                expected = found if expected is None else expected
                if not found.equals(expected):
                    raise SystemExit(f"{name} finds other rows for {question.condition}: {len(found):,}")
        if expected is not None and abs(len(expected) - question.rows) > question.rows / 10:
            raise SystemExit(f"{len(expected):,} rows for {question.condition}, not {question.rows:,}")


# ------------------------------------------------------------------------------------------------------ times


def times(asked: Sequence[Question], readers: Mapping[str, Reader], rounds: int) -> Results:
    """Seconds by question, reader and way of asking."""
    return {
        question.name: {
            name: dict(zip(("first", "again"), pair, strict=True))
            for name, pair in _both_ways(question, readers, rounds).items()
        }
        for question in asked
    }


def _both_ways(
    question: Question, readers: Mapping[str, Reader], rounds: int
) -> dict[str, tuple[float, float]]:
    works: dict[str, Callable[[], Any]] = {}
    for name, reader in readers.items():
        works[f"{name} first"] = partial(reader.first, question)
        works[f"{name} again"] = partial(reader.again, question)
    taken = seconds(works, rounds)
    return {name: (taken[f"{name} first"], taken[f"{name} again"]) for name in readers}


def print_times(measured: Results, title: str) -> None:
    """Milliseconds, first and again, and how many times that of the scan the latter is."""
    print(f"\n{title}\n")
    rows: list[tuple[str, ...]] = []
    for question, by_reader in measured.items():
        base = by_reader[OURS]["again"]
        for at, (name, taken) in enumerate(by_reader.items()):
            rows.append(
                (
                    question if not at else "",
                    name,
                    f"{taken['first'] * 1e3:.1f}",
                    f"{taken['again'] * 1e3:.1f}",
                    f"{taken['again'] / base:.1f}",
                )
            )
    print_table(("", "reader", "first, ms", "again, ms", f"times {OURS}"), rows)


# ------------------------------------------------------------------------------------------ bytes and requests


def counts(
    asked: Sequence[Question], server: Server, readers: Mapping[str, Reader]
) -> dict[str, dict[str, Counted]]:
    """What the server sends to each reader that knows nothing of the file."""
    counted: dict[str, dict[str, Counted]] = {}
    for question in asked:
        counted[question.name] = {}
        for name, reader in readers.items():
            server.counted()
            reader.first(question)
            counted[question.name][name] = server.counted()
    return counted


def print_counts(counted: Mapping[str, Mapping[str, Counted]]) -> None:
    """Megabytes and requests."""
    print("\nMegabytes and requests, with nothing known of the file\n")
    names = list(next(iter(counted.values())))
    rows = [
        (name, *(f"{one[name].length / 1e6:.2f} in {one[name].requests}" for one in counted.values()))
        for name in names
    ]
    print_table(("", *counted), rows)


# ---------------------------------------------------------------------------------------------- the scan by itself


def gaps(
    asked: Sequence[Question], path: Path, server: Server, pace: Pace, rounds: int
) -> dict[str, Results]:
    """Bytes, requests and seconds of the scan by gap: behind the store, and on a local file with the page index known."""
    by_question: dict[str, Results] = {}
    for question in asked:
        local = {gap: ours(path, gap=gap) for gap in GAPS}
        remote = {gap: ours_remote(server, path.name, gap=gap) for gap in GAPS}
        server.counted()
        near = seconds({str(gap): partial(reader.again, question) for gap, reader in local.items()}, rounds)
        server.counted(pace)
        far = seconds({str(gap): partial(reader.first, question) for gap, reader in remote.items()}, rounds)
        by_question[question.name] = {}
        for gap, reader in remote.items():
            server.counted()
            reader.first(question)
            counted = server.counted()
            by_question[question.name][str(gap)] = {
                "length": counted.length,
                "requests": counted.requests,
                "local": near[str(gap)],
                "store": far[str(gap)],
            }
    return by_question


def print_gaps(measured: Mapping[str, Results], pace: Pace) -> None:
    """A row for each gap."""
    print("\nWhat a request is worth: bytes between two ranges that are fetched along\n")
    rows = [
        (
            question if not at else "",
            f"{int(gap) >> 10} KiB",
            f"{figures['length'] / 1e6:.2f}",
            str(figures["requests"]),
            f"{figures['local'] * 1e3:.1f}",
            f"{figures['store'] * 1e3:.0f}",
        )
        for question, by_gap in measured.items()
        for at, (gap, figures) in enumerate(by_gap.items())
    ]
    print_table(("", "gap", "MB", "requests", "local, ms", f"{in_words(pace)}, ms"), rows)


def in_words(pace: Pace) -> str:
    """The pace in words."""
    words = f"{pace.delay * 1e3:g} ms a request"
    return words if math.isinf(pace.rate) else f"{words} and {pace.rate / 1e6:g} MB/s"


def ladder(question: Question, path: Path, rounds: int) -> dict[str, Results]:
    """Bytes, requests and seconds of the scan that knows nothing of the file, with one rung off after the other."""
    switched: dict[str, tuple[Rung, ...]] = {"": ()}
    switched |= {str(rung): (rung,) for rung in Rung}
    switched["all"] = tuple(Rung)

    def run(without: Sequence[Rung]) -> Any:
        done = scan(path, question.tree, question.columns, without=without)
        done.to_table()
        return done.counters

    taken = seconds({name: partial(run, without) for name, without in switched.items()}, rounds)
    by_rung: dict[str, Results] = {}
    for name, without in switched.items():
        KEPT_FACTS.clear()
        counters = run(without)
        by_rung[name] = {
            "metadata": counters.metadata.length,
            "data": counters.data.length,
            "requests": counters.metadata.requests + counters.data.requests,
            "seconds": taken[name],
        }
    return by_rung


def print_ladder(question: Question, measured: Mapping[str, Results]) -> None:
    """A row for each rung."""
    print(f"\nThe ladder, one rung off: {question.name}\n")
    titles = {"": "nothing", "all": "everything"} | {str(rung): f"{rung}: {TITLES[rung]}" for rung in Rung}
    base = measured[""]["seconds"]
    rows = [
        (
            titles[name],
            f"{figures['metadata'] / 1e6:.2f}",
            f"{figures['data'] / 1e6:.2f}",
            str(figures["requests"]),
            f"{figures['seconds'] * 1e3:.1f}",
            f"{figures['seconds'] / base:.1f}",
        )
        for name, figures in measured.items()
    ]
    print_table(("without", "metadata, MB", "pages, MB", "requests", "again, ms", "times"), rows)


# ------------------------------------------------------------------------------------------------- dictionaries

DICTIONARIES = """
import statistics, sys, time
import pyarrow as pa
from pqassay_reader import scan
without, path = sys.argv[1:]
taken = []
for turn in range(4):
    started = time.perf_counter()
    table = scan(path, None, ["text"], without=[without] if without else []).to_table()
    taken.append(time.perf_counter() - started)
print(statistics.median(taken[1:]), table.nbytes, pa.default_memory_pool().max_memory())
"""


def dictionaries(path: Path) -> dict[str, Results]:
    """Seconds, bytes of the result and the most that Arrow held at once, with the rung and without; each in a process of its own."""
    found: dict[str, Results] = {}
    for name, without in (("kept", ""), ("not kept", Rung.DICTIONARIES.value)):
        command = [sys.executable, "-c", DICTIONARIES, without, os.fspath(path)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        found[name] = {"seconds": float(output[0]), "length": int(output[1]), "most": int(output[2])}
    return found


def print_dictionaries(measured: Mapping[str, Results]) -> None:
    """Two rows."""
    print("\nA column of 100 long values, 500,000 times: its dictionaries\n")
    rows = [
        (name, f"{one['seconds'] * 1e3:.0f}", f"{one['length'] / 1e6:.1f}", f"{one['most'] / 1e6:.0f}")
        for name, one in measured.items()
    ]
    print_table(("", "ms", "result, MB", "Arrow's memory at most, MB"), rows)


# ------------------------------------------------------------------------------------------------- many columns


def make_wide(folder: Path, columns: int, row_groups: int, *, has_pm: bool) -> None:
    """Write a file of many columns and few values, if wanted with its `_pm` beside it."""
    folder.mkdir()
    path = folder / "data.parquet"
    make_wide_file(path, columns=columns, row_groups=row_groups)
    if has_pm:
        (folder / pm.FILE_NAME).write_bytes(create(described(path)))


def wide(columns: int, row_groups: int, rounds: int) -> Results:
    """Seconds for one value of a file of many columns, by its footer and by the `_pm` beside it."""
    question = Question("value", f"column_0000 = {row_groups // 2 * 1000}", ("column_0000", "column_0001"))
    shape = f"{columns}-columns-{row_groups}-row-groups"
    paths = {
        has_pm: cached(
            f"scan-{shape}{'-pm' if has_pm else ''}",
            partial(make_wide, columns=columns, row_groups=row_groups, has_pm=has_pm),
        )
        / "data.parquet"
        for has_pm in (False, True)
    }
    connections: list[duckdb.DuckDBPyConnection] = []
    found = dict(readers(paths[False], None, connections))
    found[WITH_PM] = ours(paths[True], metadata="pm")
    require_equal([question], [found], paths[False])
    taken = times([question], found, rounds)
    for connection in connections:
        connection.close()
    return taken


# --------------------------------------------------------------------------------------------------------- goals


def goals(
    local: Results, remote: Results, columns: Results, counted: Mapping[str, Mapping[str, Counted]]
) -> dict[str, bool]:
    """What was to be reached, and whether it is."""
    reached: dict[str, bool] = {}
    for question, by_reader in counted.items():
        least = min(figures.length for name, figures in by_reader.items() if not name.startswith(OURS))
        ours = by_reader[NO_GAP].length
        sentence = f"{question}: fewest bytes; {ours / 1e6:.2f} MB, the next {least / 1e6:.2f}"
        reached[sentence] = ours <= least
    for way in ("first", "again") if "point" in local else ():
        ours = local["point"][OURS][way]
        for name, most in (("pyarrow", PYARROW_SHARE), ("DuckDB", 1.0)):
            share = ours / local["point"][name][way]
            reached[f"point, {way}: at most {most:g} of the time of {name}; it is {share:.2f}"] = (
                share <= most
            )
    for question, by_reader in remote.items():
        for way in ("first", "again"):
            ours = by_reader[OURS][way]
            best = min((figures[way], name) for name, figures in by_reader.items() if name != OURS)
            sentence = f"{question} behind the store, {way}: least time; {ours * 1e3:.0f} ms, {best[1]} {best[0] * 1e3:.0f}"
            reached[sentence] = ours <= best[0]
    ours, other = columns["value"][WITH_PM]["first"], columns["value"]["DataFusion"]["first"]
    sentence = f"many columns with _pm: less time than DataFusion; {ours * 1e3:.0f} ms and {other * 1e3:.0f}"
    reached[sentence] = ours <= other
    return reached


def main() -> int:
    """Measure and print; the exit status says whether the goals were reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", nargs="+", metavar="NAME", help="those that are asked; all by default")
    parser.add_argument("--delay", type=float, default=30, help="milliseconds a request to the store takes")
    parser.add_argument("--rate", type=float, default=math.inf, help="megabytes a second of each answer")
    parser.add_argument("--columns", type=int, default=500, help="of the file of many columns")
    parser.add_argument("--json", type=Path, help="where the figures are written, too")
    options = parser.parse_args()
    pace = Pace(options.delay / 1e3, options.rate * 1e6)
    metered = Pace(pace.delay, min(pace.rate, RATE))
    make = partial(make_file, megabytes=options.megabytes)
    path = cached(f"scan-sorted-{options.megabytes}-mb.parquet", make)
    named = {question.name: question for question in questions(path, options.megabytes)}
    if options.questions is not None:
        named = {name: named[name] for name in options.questions}
    asked = list(named.values())
    connections: list[duckdb.DuckDBPyConnection] = []
    results: Results = {}
    with running(path.parent) as server:
        near, far = readers(path, None, connections), readers(path, server, connections)
        require_equal(asked, [near, far], path)
        counted = counts(asked, server, {NO_GAP: ours_remote(server, path.name, gap=0), **far})
        local = times(asked, near, options.rounds)
        server.counted(pace)
        remote = times([named[name] for name in DISTANT if name in named], far, options.rounds)
        some = [named[name] for name in ("point", "20 points") if name in named]
        by_gap = gaps(some, path, server, metered, options.rounds)
        server.counted()
        for connection in connections:
            connection.close()
    some = [named[name] for name in ("point", "unsorted") if name in named]
    steps = {question.name: ladder(question, path, options.rounds) for question in some}
    texts = dictionaries(cached("scan-long-values.parquet", make_long_values))
    columns = wide(options.columns, 20, options.rounds)

    metadata = pq.read_metadata(path)
    print(
        f"{path.stat().st_size / 1e6:.0f} MB, {metadata.num_rows:,} rows in {metadata.num_row_groups} row groups, "
        f"{os.cpu_count()} processors"
    )
    print_times(local, "On a local file")
    print_counts(counted)
    print_times(remote, f"Behind a store: {in_words(pace)}")
    print_gaps(by_gap, metered)
    for name, measured in steps.items():
        print_ladder(named[name], measured)
    print_dictionaries(texts)
    print_times(columns, f"One value of a file of {options.columns} columns")
    print()
    reached = goals(local, remote, columns, counted)
    for sentence, is_reached in reached.items():
        print(goal(sentence, reached=is_reached))
    results = {
        "size": path.stat().st_size,
        "rows": metadata.num_rows,
        "row_groups": metadata.num_row_groups,
        "processors": os.cpu_count(),
        "local": local,
        "counted": {
            question: {name: vars(one) for name, one in by_reader.items()}
            for question, by_reader in counted.items()
        },
        "store": {"pace": in_words(pace), "times": remote},
        "gaps": {"pace": in_words(metered), "by gap": by_gap},
        "ladder": steps,
        "dictionaries": texts,
        "wide": columns,
        "goals": reached,
    }
    if options.json is not None:
        write_whole(options.json, f"{json.dumps(results, indent=1)}\n".encode())
    return 0 if all(reached.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
