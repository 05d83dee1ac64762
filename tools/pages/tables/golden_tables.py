"""Golden tables as their manifests describe them, and their files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pages.places import GOLDEN_FILES
from pqassay import check
from pqassay_spec.golden.table_case import TABLE_FOLDER, TABLE_MANIFEST
from pqassay_spec.rules import catalogue
from pqassay_spec.rules.catalogue import TABLE_TIER, Tier

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of everything in an archive, so that its bytes are the same on every machine."""

Table = Mapping[str, Any]
"""The manifest of a golden table."""


def manifests(name: str) -> Mapping[str, dict[str, Any]]:
    """The manifests of golden files or tables by id, sorted by id; they are called ``name``."""
    records = (json.loads(path.read_text(encoding="utf-8")) for path in GOLDEN_FILES.rglob(name))
    return {record["id"]: record for record in sorted(records, key=lambda record: record["id"])}


def kind_of_table(table: Table) -> str:
    """The kind of a golden table: ``valid``, ``invalid``, or ``lie`` if only the data files show that the metadata are wrong."""
    if table["kind"] == "valid":
        return "valid"
    rules = [catalogue.rules()[rule] for rule in table["rules"]]
    return "lie" if all(rule.tier != TABLE_TIER for rule in rules) else "invalid"


class Said(NamedTuple):
    """A finding about a golden table: the rule, the message, and the remedy."""

    rule: str
    message: str
    remedy: str


@cache
def findings(table_id: str, tier: Tier) -> Sequence[Said]:
    """The findings about a golden table."""
    path = GOLDEN_FILES / table_id / TABLE_FOLDER
    report = check(path, tier=tier)
    return [Said(one.rule, one.message, one.remedy or "") for file in report.files for one in file.findings]


def command(table: Table) -> str:
    """The command that judges a golden table, from the root folder of the repository."""
    return f"pqassay check golden_files/{table['id']}/{TABLE_FOLDER} --tier {table['tier']}"


def in_folder(file: str) -> str:
    """The path of a file of a table in the folder of its case."""
    return f"{TABLE_FOLDER}/{file}"


def changed_file(table: Table) -> str | None:
    """The file in which a table differs from its parent, relative to the table; ``None`` without a parent."""
    return table["mutation"]["file"] if "mutation" in table else None


def is_compared(table: Table) -> bool:
    """Whether a table differs from its parent in the bytes of a file, and not by a missing file."""
    return "mutation" in table and table["mutation"]["op"] != "drop"


def is_metadata(file: str) -> bool:
    """Whether a file is metadata; all files except data files are."""
    return not file.endswith(".parquet") or "_delta_log/" in file


def sizes(table: Table) -> Sequence[tuple[str, int]]:
    """The files of a table with their sizes, in the order of the manifest, the metadata first."""
    folder = GOLDEN_FILES / table["id"] / TABLE_FOLDER
    names = sorted((one["file"] for one in table["files"]), key=lambda name: not is_metadata(name))
    return [(name, (folder / name).stat().st_size) for name in names]


def zipped(files: Iterable[tuple[str, Path]]) -> bytes:
    """Files under names as one archive, with the same bytes on every machine."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for name, path in files:
            packed.writestr(zipfile.ZipInfo(name, EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def archive(table: Table) -> bytes:
    """A golden table with its manifest as one archive."""
    folder, home = GOLDEN_FILES / table["id"], archive_name(table).removesuffix(".zip")
    names = [TABLE_MANIFEST, *(in_folder(one["file"]) for one in table["files"])]
    return zipped((f"{home}/{name}", folder / name) for name in names)


def archive_name(table: Table) -> str:
    """The name of the archive of a golden table.

    >>> archive_name({"id": "dlt/plain"})
    'dlt-plain.zip'
    """
    return f"{table['id'].replace('/', '-')}.zip"


def mutation_sentence(table: Table) -> str:
    """The single change of a table in words, with code between backticks.

    >>> mutation_sentence({"mutation": {"file": "a.json", "op": "set", "line": 3, "path": "add.size", "to": 5}})
    'in line 3 of `a.json`, **set** `add.size` to `5`'
    >>> mutation_sentence({"mutation": {"file": "a.avro", "op": "bytes", "to": "05", "offset": 33}})
    'in `a.avro`, **set** the bytes from offset 33 on to `05`'
    """
    change = table["mutation"]
    file, line, to = f"`{change['file']}`", change.get("line"), _written(change.get("to"))
    where = file if line is None else f"line {line} of {file}"
    return {
        "set": f"in {where}, **set** `{change.get('path')}` to `{to}`",
        "remove": f"in {where}, **remove** `{change.get('path')}`",
        "write": f"**replace** {where} by `{to}`",
        "insert": f"**insert** `{to}` before {where}",
        "bytes": f"in {file}, **set** the bytes from offset {change.get('offset', 0)} on to `{to}`",
        "drop": f"**remove** the file {file}",
    }[change["op"]]


MOST_WRITTEN = 120
"""The number of characters of a value that are shown."""


def _written(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace("`", "'")
    return text if len(text) <= MOST_WRITTEN else f"{text[:MOST_WRITTEN]}…"
