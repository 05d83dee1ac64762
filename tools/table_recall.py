"""Change one fact of the metadata of golden tables at a time, and list the changes that no rule names.

    python tools/table_recall.py                 all facts of all tables that are listed here
    python tools/table_recall.py ice/evolved     those of one table

A fact is a value in a commit, a checkpoint, a version checksum file, a metadata file, a manifest list or a manifest.  Numbers get one more
or one less, texts and bytes another last character, truth the opposite, and what is not there stays so.  The lengths that other files give of a
changed manifest are made right again, so that one fact is false and no other.  Each table is judged at tier ``values``; what is
reported beyond what the good table has counts as found.  A fact that nobody finds needs a reason in
``docs/data/table_recall_reasons.toml``: without one, this ends with exit status 1.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from construct import Container, ListContainer
from rich.progress import track

import pqassay
from pqassay_spec.table.avro import BLOCK_HEADER, CONTAINER_HEADER, SCHEMA_KEY, SYNC, grammar_of
from pqassay_spec.table.json_places import members

ROOT = Path(__file__).resolve().parent.parent
GOLDEN_FILES = ROOT / "golden_files"
REASONS = ROOT / "docs" / "data" / "table_recall_reasons.toml"

TABLES = (
    *("dlt/plain", "dlt/partitioned", "dlt/beside-its-log", "dlt/checksummed", "dlt/tracked", "dlt/deleted"),
    *("dlt/materialized", "dlt/widened", "dlt/domains", "dlt/checkpointed"),
    *("ice/plain", "ice/partitioned", "ice/evolved", "ice/shapes", "ice/deletes", "ice/vectors"),
)
"""The good golden tables whose facts are changed; together they have every member that is declared."""

LIST, MANIFEST_LENGTH = "snap-1.avro", "manifest_length"


class Fact(NamedTuple):
    """One changed fact.

    Attributes:
        table: The golden table.
        name: The field, without numbers: what counts as one kind.
        change: What happens to it.
        files: The files that become others.
    """

    table: str
    name: str
    change: str
    files: Mapping[str, bytes]


# --------------------------------------------------------------------------------------------------------- values


def others(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield other values, each with what happens to it."""
    if isinstance(value, bool):
        yield "opposite", not value
    elif isinstance(value, int):
        yield "one more", value + 1
        yield "one less", value - 1
    elif isinstance(value, float):
        yield "more", value + 1
        yield "less", value - 1
    elif isinstance(value, str) and value:
        if value.lstrip("-").isdecimal():
            yield "one more", str(int(value) + 1)
        else:
            yield "other text", value[:-1] + ("y" if value[-1] != "y" else "x")
    elif isinstance(value, bytes) and value:
        yield "more", value[:-1] + bytes([value[-1] + 1 & 0xFF])
        yield "less", value[:-1] + bytes([value[-1] - 1 & 0xFF])


def of_json(file: str, data: bytes) -> Iterator[tuple[str, str, Mapping[str, bytes]]]:
    """Yield the facts of a file of lines of JSON, or of one object."""
    start = 0
    for line in data.split(b"\n"):
        for one in members(line) if line.strip() else ():
            for change, new in others(one.value):
                low, high = (start + place for place in one.span)
                written = json.dumps(new, ensure_ascii=False)
                if data[low - 1 : low] == b"\\" or data[low : low + 1] == b"\\":
                    written = json.dumps(written, ensure_ascii=False)[1:-1]
                yield _kind(one.path), change, {file: data[:low] + written.encode() + data[high:]}
        start += len(line) + 1


def _kind(path: Sequence[str]) -> str:
    return re.sub(r"\.?\[\d+\]", "[]", ".".join(path))


# ----------------------------------------------------------------------------------------------------------- Avro


def of_avro(files: Mapping[str, bytes], file: str) -> Iterator[tuple[str, str, Mapping[str, bytes]]]:
    """Yield the facts of a manifest or a manifest list without compression."""
    header, records = _records(files[file])
    for number, record in enumerate(records):
        for path, value in _leaves(record):
            for change, new in others(value):
                if (
                    isinstance(new, int)
                    and not isinstance(new, bool)
                    and isinstance(value, int)
                    and abs(new) >= 1 << 62
                ):
                    continue
                changed = list(records)
                changed[number] = _with(record, path, new)
                try:
                    data = _built(header, changed)
                except (ValueError, StopIteration):
                    continue
                yield _kind_of(path, record), change, _listed(files, file, data)


def _records(data: bytes) -> tuple[Any, list[Any]]:
    header = CONTAINER_HEADER.parse(data)
    position, found = len(CONTAINER_HEADER.build(header)), list[Any]()
    grammar = grammar_of(json.loads(header.metadata[SCHEMA_KEY]))
    while position < len(data):
        block = BLOCK_HEADER.parse(data[position:])
        position += len(BLOCK_HEADER.build(block))
        start = position
        for _ in range(block.count):
            record = grammar.parse(data[start:])
            start += len(grammar.build(record))
            found.append(record)
        position += block.size + SYNC
    return header, found


def _built(header: Any, records: list[Any]) -> bytes:
    grammar = grammar_of(json.loads(header.metadata[SCHEMA_KEY]))
    plain = b"".join(grammar.build(one) for one in records)
    block = BLOCK_HEADER.build({"count": len(records), "size": len(plain)})
    whole: bytes = CONTAINER_HEADER.build(header) + block + plain + header.sync
    return whole


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, Container):
        for name, member in value.items():
            if name != "_io":
                yield from _leaves(member, (*path, name))
    elif isinstance(value, list | ListContainer):
        for number, member in enumerate(value):
            yield from _leaves(member, (*path, number))
    else:
        yield path, value


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = Container(value) if isinstance(value, Container) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _kind_of(path: tuple[Any, ...], record: Any) -> str:
    """The field of a leaf; of a map, the name of the map and what of it."""
    _ = record
    return ".".join("[]" if isinstance(one, int) else str(one) for one in path).replace(".[]", "[]")


def _listed(files: Mapping[str, bytes], file: str, data: bytes) -> Mapping[str, bytes]:
    """A changed file, and the manifest list with its new length."""
    changed = {file: data}
    if not file.endswith(LIST):
        place = next(name for name in files if name.endswith(LIST))
        header, records = _records(files[place])
        for record in records:
            if record.manifest_path.endswith(file):
                record[MANIFEST_LENGTH] = len(data)
        changed[place] = _built(header, records)
    return changed


# --------------------------------------------------------------------------------------------------------- judging


def facts_of(table: str) -> list[Fact]:
    """The changed facts of a golden table."""
    folder = GOLDEN_FILES / table / "table"
    files = {one.relative_to(folder).as_posix(): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}  # fmt: skip
    found: list[Fact] = []
    for file, data in files.items():
        if file.endswith((".json", ".crc")):
            sort = "crc" if file.endswith(".crc") else "checkpoint" if "checkpoint" in file else "commit" if table.startswith("dlt") else "metadata"  # fmt: skip
            found += [
                Fact(table, f"{sort}: {name}", change, new) for name, change, new in of_json(file, data)
            ]
        elif file.endswith(".avro"):
            sort = "manifest list" if file.endswith(LIST) else "manifest"
            found += [Fact(table, f"{sort}: {name}", change, new) for name, change, new in of_avro(files, file)]  # fmt: skip
    return found


def answer(fact: Fact) -> tuple[str, list[str]]:
    """The clearest verdict on a changed fact, and the rules that say so."""
    before, after = _found(fact.table, {}), _found(fact.table, fact.files)
    new = after - before
    for verdict in ("FAIL", "errored", "WARN", "POLICY", "INFO"):
        rules = sorted({rule for rule, one in new if one == verdict})
        if rules:
            return verdict, rules
    return "unseen", []


def _found(table: str, changed: Mapping[str, bytes]) -> Counter[tuple[str, str]]:
    folder = GOLDEN_FILES / table / "table"
    with tempfile.TemporaryDirectory() as place:
        for one in sorted(folder.rglob("*")):
            name = one.relative_to(folder).as_posix()
            target = Path(place, "t", name)
            if one.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(changed.get(name, one.read_bytes()))
        try:
            report = pqassay.check(Path(place, "t"), tier="values")
        except pqassay.errors.UsageError:
            return Counter({("", "errored"): 1})
    found = Counter[tuple[str, str]]()
    found.update((finding.rule, finding.verdict) for file in report.files for finding in file.findings)
    found.update(("", "errored") for file in report.files if file.error)
    return found


def main() -> int:
    """Measure, print what is unseen, and say whether all of it has a reason."""
    facts = [fact for table in (sys.argv[1:] or TABLES) for fact in facts_of(table)]
    reasons = tomllib.loads(REASONS.read_text("utf-8"))["reason"] if REASONS.exists() else []
    seen: Counter[str] = Counter()
    unseen: dict[str, set[str]] = defaultdict(set)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        answers = pool.map(answer, facts, chunksize=8)
        for fact, (verdict, _) in zip(facts, track(answers, "facts", len(facts), disable=not sys.stderr.isatty()), strict=True):  # fmt: skip
            seen[verdict] += 1
            if verdict == "unseen":
                unseen[fact.name].add(f"{fact.change} in {fact.table}")
    print(f"{len(facts)} facts: {', '.join(f'{count} {verdict}' for verdict, count in seen.most_common())}")
    without = 0
    for name, places in sorted(unseen.items()):
        reason = next((one["reason"] for one in reasons if fnmatchcase(name.replace("[", "<"), one["fact"].replace("[", "<"))), "")  # fmt: skip
        without += not reason
        print(f"{name}: {reason or 'WITHOUT A REASON; ' + ', '.join(sorted(places)[:3])}")
    return 1 if without else 0


if __name__ == "__main__":
    sys.exit(main())
