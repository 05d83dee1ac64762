"""Golden cases: those of this repository, and some made for a test, in a folder of its own."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from idx1_files import NATIONS, Idx1File
from places import GOLDEN_FILES
from pqassay_suite.cases.case import GoldenCase, load

ROWS = {
    "columns": [
        {"name": "nation", "type": "string", "nullable": True},
        {"name": "year", "type": "int64", "nullable": True},
    ],
    "rows": [[nation, year] for year, nation in enumerate(NATIONS)],
}
VALUES = sorted({nation for nation in NATIONS if nation is not None})


@functools.cache
def golden_cases() -> list[GoldenCase]:
    """All golden cases, whose hundreds of manifests are read once for all modules of tests."""
    return load(GOLDEN_FILES)


def write_case(
    folder: Path, name: str, expect: dict[str, Any], content: bytes | None = None, **members: Any
) -> Path:
    """Write one case below ``folder``; what is not given is that of a valid file with an index of ``nation``."""
    home = folder / name
    home.mkdir(parents=True)
    data = Idx1File().build() if content is None else content
    (home / "data.parquet").write_bytes(data)
    rules = expect.get("check", {}).get("rules", [])
    manifest = {
        "id": name,
        "family": "IDX1",
        "kind": "invalid" if rules else "valid",
        "since": "0.1.0",
        "title": f"The case {name}",
        "effect": "none",
        "requires": ["idx1"],
        "rules": rules,
        "column": "nation",
        "input": {"file": "data.parquet", "sha256": hashlib.sha256(data).hexdigest()},
        "expect": {"check": {"rules": [], "tier": "values"}, **expect},
        "provenance": {"by": "a test", "oracles": []},
        **members,
    }
    (home / "case.json").write_text(json.dumps(manifest))
    return home


def valid_case(folder: Path, name: str = "made/good", **expect: Any) -> Path:
    """A valid case about which everything is asked, unless ``expect`` says otherwise."""
    everything: dict[str, Any] = {
        "decode": "accept",
        "value": {"values": VALUES},
        "lint": "accept",
        "encode": "accept",
        "scan": "same-rows",
        "predicate": ["=", "nation", "Peru"],
        "rows": ROWS,
    }
    return write_case(folder, name, expect or everything)


def broken_case(folder: Path, name: str = "made/broken", **members: Any) -> Path:
    """An index whose magic is damaged."""
    check = {"rules": ["IDX1-006"], "tier": "values"}
    expect = {"check": check, "decode": "reject", "lint": "reject"}
    return write_case(folder, name, expect, Idx1File(magic=b"IDX2").build(), **members)


def write_driver(folder: Path, body: str, *, hello: list[str] | None = None) -> list[str]:
    """A driver in sh: ``body`` sees ``$op``, the paths ``$1`` and ``$2``, and ``answer TEXT``; hello is given or exits with 3."""
    greeting = "exit 3"
    if hello is not None:
        told = {"answer": "accept", "name": "made", "version": "1", "language": "sh", "capabilities": hello}
        greeting = f"answer '{json.dumps(told)}'"
    path = folder / "driver"
    path.write_text(
        "#!/bin/sh\n"
        'op=$(sed -n \'s/.*"op": "\\([^"]*\\)".*/\\1/p\' "$1")\n'
        "reply=$2\n"
        'answer() { printf \'%s\' "$1" > "$reply"; }\n'
        f"[ $op = hello ] && {{ {greeting}; exit 0; }}\n{body}\n"
    )
    path.chmod(0o755)
    return [str(path)]
