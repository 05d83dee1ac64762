"""Golden cases in their folders: the same writer for files and for tables.

It owns the cases with ``provenance.by = generator`` in their manifest; it does not change hand-typed and foreign ones.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pqassay_reference.errors import Refused
from pqassay_spec.base.sources import write_whole
from pqassay_spec.golden.case import GENERATOR, to_json
from pqassay_spec.golden.table_case import TABLE_FOLDER


class GoldenCase(NamedTuple):
    """A case with its id, the name of its manifest, and the names and bytes of everything in its folder, the manifest last."""

    id: str
    manifest: str
    contents: Mapping[str, bytes]


class Written(NamedTuple):
    """The outcome of a run of the generator, as ids of cases."""

    changed: list[str]
    unchanged: list[str]
    removed: list[str]


def golden_case(manifest: Any, files: Mapping[str, bytes], name: str) -> GoldenCase:
    """A case from its manifest, its files, and the name of its manifest."""
    text = f"{json.dumps(to_json(manifest), indent=2)}\n"
    return GoldenCase(manifest.id, name, {**files, name: text.encode()})


def update(
    folder: Path, cases: Iterable[GoldenCase], owned: Mapping[str, list[str]], *, dry_run: bool
) -> Written:
    """Write the cases that differ, and remove owned ones that are not among them.

    Args:
        folder: ``golden_files``; cases of others in it stay as they are.
        cases: All cases.
        owned: The files of the cases in the folder, see `owned_cases`.
        dry_run: Only compare.

    Raises:
        Refused: A case is in the place of another owner's.
        OSError: The folder cannot be written.
    """
    written = Written([], [], [])
    for case in cases:
        place = folder / case.id
        if (place / case.manifest).exists() and case.id not in owned:
            raise Refused(f"{place} holds a case of another provenance")
        stale = set(owned.get(case.id, ())) - set(case.contents)
        changed = [
            name
            for name, content in case.contents.items()
            if not (place / name).is_file() or (place / name).read_bytes() != content
        ]
        (written.changed if changed or stale else written.unchanged).append(case.id)
        if not dry_run:
            for name in changed:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(place / name, case.contents[name])
            _remove(place, stale)
    for name in sorted(set(owned) - {*written.unchanged, *written.changed}):
        written.removed.append(name)
        if not dry_run:
            _remove(folder / name, owned[name])
    return written


def owned_cases(folder: Path, families: Iterable[str], manifest: str) -> dict[str, list[str]]:
    """The files of the cases in a folder that the generator wrote, by id; only cases in the right place count."""
    found = [path for family in families for path in (folder / family).glob(f"*/{manifest}")]
    owned = {path.parent.relative_to(folder).as_posix(): _owned_files(path, folder) for path in found}
    return {name: files for name, files in owned.items() if files}


def _owned_files(manifest: Path, folder: Path) -> list[str]:
    """The names of a case's files, its manifest first; empty if the generator did not write it."""
    try:
        record: Any = json.loads(manifest.read_text(encoding="utf-8"))
        if record["provenance"]["by"] != GENERATOR or folder / record["id"] != manifest.parent:
            return []
        if "files" in record:
            files = (manifest.parent / TABLE_FOLDER).rglob("*")
            names = [path.relative_to(manifest.parent).as_posix() for path in files if path.is_file()]
        else:
            described = [record["input"], *record["input"].get("beside", [])]
            names = [name for file in described if Path(name := str(file["file"])).name == name]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    return [manifest.name, *names]


def _remove(place: Path, files: Collection[str]) -> None:
    """Remove files of a case, and its folder if that is then empty."""
    for name in files:
        (place / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        place.rmdir()


__all__ = ["GoldenCase", "Written", "golden_case", "owned_cases", "update"]
