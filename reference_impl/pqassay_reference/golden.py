"""The golden generator: writes every case that it owns, the same bytes on every machine.

It owns the cases whose manifest says ``provenance.by = generator``; hand-typed and foreign ones it leaves alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pqassay_reference import golden_idx1, golden_pqf
from pqassay_reference.errors import Refused
from pqassay_reference.golden_cases import Bad, Good, manifest_of_bad, manifest_of_good
from pqassay_spec.mutations import mutate
from pqassay_spec.sources import write_whole

DATA = "data.parquet"
MANIFEST = "case.json"
OWNER = "generator"

CASES: tuple[Good | Bad, ...] = (*golden_pqf.GOOD, *golden_pqf.BAD, *golden_idx1.GOOD, *golden_idx1.BAD)
"""Every case, each parent before its children."""


class GoldenCase(NamedTuple):
    """A case as it is to stand on disk."""

    id: str
    manifest: dict[str, Any]
    data: bytes

    def manifest_text(self) -> str:
        """The text of its ``case.json``."""
        return f"{json.dumps(self.manifest, indent=2)}\n"


def golden_cases() -> Iterator[GoldenCase]:
    """Make every case.

    Raises:
        Inapplicable: A mutation makes no sense for its parent: a mistake in the tables.
    """
    made: dict[str, GoldenCase] = {}
    for case in CASES:
        if case.id in made:
            raise Refused(f"there are two cases called {case.id}")
        if isinstance(case, Good):
            data, manifest = case.file.build(), manifest_of_good(case)
        else:
            parent = made[case.parent]
            data, manifest = mutate(parent.data, case.mutation), manifest_of_bad(case, parent.manifest)
        facts = {"file": DATA, "sha256": hashlib.sha256(data).hexdigest()}
        ordered = {key: value for key, value in manifest.items() if key not in ("expect", "provenance")}
        ordered |= {"input": facts, "expect": manifest["expect"], "provenance": manifest["provenance"]}
        made[case.id] = GoldenCase(case.id, ordered, data)
        yield made[case.id]


class Written(NamedTuple):
    """What a run of the generator did, as ids of cases."""

    changed: list[str]
    unchanged: list[str]
    removed: list[str]


def write_golden_files(folder: Path, *, dry_run: bool = False) -> Written:
    """Bring a folder of golden files up to date.

    Args:
        folder: ``golden_files``; other people's cases in it stay as they are.
        dry_run: Only compare.

    Raises:
        Refused: The folder holds other things than golden files; a case stands where somebody else's does.
        OSError: The folder cannot be written.
    """
    owned = _owned_cases(folder)
    if not owned and any(folder.iterdir()):
        raise Refused(f"{folder} is neither empty nor a folder of golden files")
    written = Written([], [], [])
    for case in golden_cases():
        place = folder / case.id
        if (place / MANIFEST).exists() and case.id not in owned:
            raise Refused(f"{place} holds a case of another provenance")
        same = True
        for name, content in ((DATA, case.data), (MANIFEST, case.manifest_text().encode())):
            path = place / name
            if path.is_file() and path.read_bytes() == content:
                continue
            same = False
            if not dry_run:
                place.mkdir(parents=True, exist_ok=True)
                write_whole(path, content)
        (written.unchanged if same else written.changed).append(case.id)
    for name in sorted(owned - {*written.unchanged, *written.changed}):
        written.removed.append(name)
        if not dry_run:
            _remove(folder / name)
    return written


def _owned_cases(folder: Path) -> set[str]:
    """Ids of the cases in a folder that the generator wrote: those that stand where they say they do."""
    families = {case.id.partition("/")[0] for case in CASES}
    found = [manifest for family in families for manifest in (folder / family).glob(f"*/{MANIFEST}")]
    return {
        name
        for name, manifest in ((path.parent.relative_to(folder).as_posix(), path) for path in found)
        if _owned(manifest, name)
    }


def _remove(place: Path) -> None:
    """Remove a case, and its folder if it holds nothing else."""
    for name in (MANIFEST, DATA):
        (place / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        place.rmdir()


def _owned(manifest: Path, name: str) -> bool:
    """Whether a manifest says that the generator wrote this case."""
    try:
        record: Any = json.loads(manifest.read_text(encoding="utf-8"))
        return (record["provenance"]["by"], record["id"]) == (OWNER, name)
    except (ValueError, KeyError, TypeError):
        return False
