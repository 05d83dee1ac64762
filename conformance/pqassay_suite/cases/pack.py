"""Packs of golden files: flat folders that a reader's own tests use without pqassay.

A pack has the structure of public collections of Parquet test files: ``data`` has valid files, ``bad_data`` damaged ones, each with a
``README.md`` that has a row for every file.  ``manifest.json`` has the same facts for programs, and ``SHA256SUMS`` the digest of every
file. The same golden files always give the same bytes, in every release of pqassay.

Seeds for fuzzers are a folder with the same inputs: its folders ``parquet`` and ``pm`` contain only files named by their own SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pqassay_spec.golden.case import Case, to_json
from pqassay_spec.golden.revision import current
from pqassay_spec.rules.catalogue import rules
from pqassay_suite.cases.case import GoldenCase

KIND = "pqassay pack"
"""The member ``kind`` of a manifest, which marks a folder as a pack."""

PACK_VERSION = 2
"""Version of the form of a manifest: 2 has ``edition`` and ``reason``, and does not have the version of pqassay."""

EDITION, EDITION_STATE = 1, "frozen"
"""Edition of the contents: paths, reasons and bytes. ``draft``: they may change; ``frozen``: never again, additions need a new edition."""

MANIFEST, README, LICENSE, SUMS = "manifest.json", "README.md", "LICENSE", "SHA256SUMS"

SEED_FOLDERS = {"": "parquet", "_pm": "pm"}
"""Folders of seeds by file name; files with other names belong to the empty text."""

GOOD, BAD = "data", "bad_data"

PLAIN_NAME = "data.parquet"
"""Name of an input that does not need a special name."""

MOST_BYTES = 32 << 10
"""Greatest size of a file, and of its rows in JSON, in bytes."""

TEMPORARY, REPLACED = ".pqassay-new", ".pqassay-old"
"""Suffixes of two hidden folders beside a pack: one to prepare it, and one for the earlier pack."""


class PackError(Exception):
    """A pack cannot be written. The message names the folder or the case."""


@dataclass(frozen=True)
class PackedFile:
    """A file of a pack.

    Attributes:
        path: Its path within the pack.
        called: The name that software expects.
        content: Its bytes.
    """

    path: str
    called: str
    content: bytes

    def entry(self) -> dict[str, Any]:
        """Its row of the manifest."""
        digest = hashlib.sha256(self.content).hexdigest()
        return {"path": self.path, "called": self.called, "bytes": len(self.content), "sha256": digest}


@dataclass(frozen=True)
class Packed:
    """A case of a pack.

    Attributes:
        golden: The case.
        input: The file that it is about.
        beside: The files beside that file.
        rows: The expected rows for a reader as JSON, if they are known and not too many.
    """

    golden: GoldenCase
    input: PackedFile
    beside: tuple[PackedFile, ...] = ()
    rows: PackedFile | None = None

    @property
    def files(self) -> list[PackedFile]:
        """All of its files."""
        return [self.input, *self.beside, *([self.rows] if self.rows else [])]


def chosen(
    cases: Sequence[GoldenCase], families: Sequence[str] = (), *, whole: bool = False
) -> list[GoldenCase]:
    """The cases of a pack, in the order of their ids.

    Without ``whole``, they are the valid files that stand alone, and for each rule a damaged file with its parents. That file
    breaks the rule and the fewest other rules; among several, the smallest is taken.

    Args:
        cases: All cases.
        families: Prefixes of families; all families if it is empty.
        whole: Include every case that can test a reader.
    """
    mine = [
        golden
        for golden in cases
        if (not families or golden.case.family in families)
        and duties(golden.case)
        and all(
            (golden.folder / given.file).stat().st_size <= MOST_BYTES
            for given in (golden.case.input, *(golden.case.input.beside or ()))
        )
    ]
    if whole:
        return mine
    smallest: dict[str, tuple[int, int, str]] = {}
    for golden in mine:
        if golden.case.kind == "invalid":
            size = (golden.folder / golden.case.input.file).stat().st_size
            key = len(golden.case.rules), size, golden.case.id
            for rule in golden.case.rules:
                smallest[rule] = min(smallest.get(rule, key), key)
    ids = {case for _, _, case in smallest.values()}
    ids |= {golden.case.parent for golden in mine if golden.case.id in ids and golden.case.parent}
    parents = {golden.case.parent for golden in cases}
    ids |= {
        golden.case.id
        for golden in mine
        if golden.case.kind == "valid" and golden.case.parent is None and golden.case.id not in parents
    }
    return [golden for golden in mine if golden.case.id in ids]


def packed(golden: GoldenCase) -> Packed:
    """The files of a case in a pack.

    Raises:
        CaseError: A golden file is damaged.
    """
    case = golden.case
    stem = f"{GOOD if case.kind == 'valid' else BAD}/{case.id.replace('/', '-')}"
    name = case.input.file
    plain = name == PLAIN_NAME
    packed_file = PackedFile(f"{stem}.parquet" if plain else f"{stem}.{name}", name, golden.content())
    beside = tuple(
        PackedFile(f"{stem}.{other}", other, content) for other, content in golden.beside().items()
    )
    read = case.expect.read
    rows = None
    if read is not None and read.rows != "unspecified" and case.expect.rows is not None:
        content = _json(to_json(case.expect.rows))
        if len(content) <= MOST_BYTES:
            rows = PackedFile(f"{stem}.rows.json", f"{name}.rows.json", content)
    return Packed(golden, packed_file, beside, rows)


def duties(case: Case) -> list[str]:
    """The required behavior of software for each file, one sentence each; empty if the file cannot test a reader."""
    return [*_of_reading(case), *_of_structures(case)]


def reason(case: Case) -> str:
    """Why a file is in ``bad_data``: the rules that it breaks, whose ids are never reused; empty for valid files."""
    return "+".join(case.rules) if case.kind != "valid" else ""


_ROWS = {"own": "the expected rows", "parent": "the rows of the undamaged file"}

_READ = {
    "demanded": "Refuse the file: no rows would be right.",
    "allowed": "Read {rows}, or refuse the file.",
    "never": "Read {rows}.",
}

_READ_ANY = {"allowed": "Read the file or refuse it.", "never": "Read the file without an error."}

_SCAN = {
    "exposure": "A query that uses the metadata may lose rows: the metadata are well formed but untrue.",
    "refusal-allowed": "A query returns the same rows with and without the index, or is refused.",
    "same-rows": "A query returns the same rows with and without the index.",
}


def _of_reading(case: Case) -> Iterator[str]:
    read, scan = case.expect.read, case.expect.scan
    if read is not None:
        words = _READ_ANY.get(read.refusal) if read.rows == "unspecified" else None
        yield words or _READ[read.refusal].format(rows=_ROWS.get(read.rows))
    if scan is not None:
        yield _SCAN[scan]


def _of_structures(case: Case) -> Iterator[str]:
    words = {
        "accept": "A reader of the structure reads it.",
        "reject": "A reader of the structure refuses it.",
        "either": "A reader of the structure reads it or ignores it.",
    }
    if case.expect.decode is not None:
        yield words[case.expect.decode]
    for snapshot in case.expect.snapshots or ():
        if snapshot.answer == "reject":
            yield f"No snapshot describes a Parquet file of {to_json(snapshot.parquet_file_size)} bytes."
    if case.expect.prune:
        yield "A reader skips no row group with rows that a query asks for."


def manifest(packs: Sequence[Packed]) -> bytes:
    """The manifest of a pack."""
    listed = current()
    return _json(
        {
            "kind": KIND,
            "version": PACK_VERSION,
            "edition": {"number": EDITION, "state": EDITION_STATE},
            "license": "Apache-2.0",
            "revision": {"number": listed.number, "sha256": listed.sha256},
            "files": [_entry(each) for each in packs],
        }
    )


def _entry(each: Packed) -> dict[str, Any]:
    case, known = each.golden.case, rules()
    scored = current().standing(case.id, each.golden.asked_sha256) == "counted"
    entry: dict[str, Any] = {"id": case.id, **each.input.entry(), "kind": case.kind, "family": case.family}
    entry |= {"title": case.title, "effect": case.effect, "in_revision": scored}
    if why := reason(case):
        entry["reason"] = why
    entry["rules"] = [{"id": rule, "sentence": known[rule].sentence} for rule in case.rules]
    entry["duties"] = duties(case)
    if case.expect.read is not None:
        entry["read"] = to_json(case.expect.read)
    if case.expect.scan is not None:
        entry["scan"] = case.expect.scan
        entry["predicate"] = to_json(case.expect.predicate)
    if case.parent is not None:
        entry["made_from"] = case.parent
    if each.rows is not None:
        entry["rows"] = each.rows.entry()
    if each.beside:
        entry["beside"] = [other.entry() for other in each.beside]
    entry["by"] = case.provenance.by
    return entry


def _json(value: Any) -> bytes:
    return f"{json.dumps(value, indent=1)}\n".encode()


def contents(packs: Sequence[Packed], pages: dict[str, bytes]) -> dict[str, bytes]:
    """All files of a pack by their paths.

    Args:
        packs: Its cases.
        pages: Its pages and licence, by path.

    Raises:
        PackError: Two files have one path.
    """
    files: dict[str, bytes] = {}
    for each in packs:
        for file in each.files:
            if file.path in files:
                raise PackError(f"{each.golden.case.id}: another case has a file {file.path}")
            files[file.path] = file.content
    files |= {**pages, MANIFEST: manifest(packs)}
    lines = (f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in sorted(files.items()))
    return {**files, SUMS: "".join(lines).encode()}


def seeds(packs: Sequence[Packed]) -> dict[str, bytes]:
    """Seeds for fuzzers by their paths: each content once."""
    return {
        f"{SEED_FOLDERS.get(each.input.called, SEED_FOLDERS[''])}/{hashlib.sha256(each.input.content).hexdigest()}": each.input.content
        for each in packs
    }


def write_pack(folder: Path, files: dict[str, bytes]) -> None:
    """Write a pack as a whole or not at all: it is prepared beside the folder, and then renamed.

    Args:
        folder: A folder that does not exist, is empty, or only has an earlier pack or seeds.
        files: The files by their paths in it.

    Raises:
        PackError: The folder has other content.
        OSError: It cannot be written.
    """
    folder = Path(os.path.realpath(folder))
    require_replaceable(folder)
    fresh, old = (folder.with_name(f".{folder.name}{ending}") for ending in (TEMPORARY, REPLACED))
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        for path, content in sorted(files.items()):
            target = fresh / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    finally:
        if not folder.exists() and old.exists():
            old.rename(folder)
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)


def require_replaceable(folder: Path) -> None:
    """Refuse to replace a folder that is not a pack, or that has files which the pack did not write.

    Raises:
        PackError: It cannot be replaced.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise PackError(f"{folder}: there is a file of this name; name a folder")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    if not there:
        return
    brought = _brought(folder / MANIFEST)
    if brought is None and all(_is_seed(folder, path) for path in there):
        return
    if brought is None:
        raise PackError(f"{folder}: has other files than a pack; name a new or empty folder")
    if strange := sorted(there - brought):
        raise PackError(
            f"{folder}: {strange[0]} does not belong to the pack; move it away, or name another folder"
        )


def _is_seed(folder: Path, path: str) -> bool:
    """Whether a file is in a folder of seeds and is named by its content."""
    place, _, name = path.rpartition("/")
    return place in SEED_FOLDERS.values() and name == hashlib.sha256((folder / path).read_bytes()).hexdigest()


def _brought(path: Path) -> set[str] | None:
    """The paths in the manifest of a pack; ``None`` if there is no such manifest."""
    try:
        text = path.read_text("utf-8")
        document = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or cast("dict[str, Any]", document).get("kind") != KIND:
        return None
    pages = {MANIFEST, README, LICENSE, SUMS, f"{GOOD}/{README}", f"{BAD}/{README}"}
    return pages | set(re.findall(r'"path": "([^"]+)"', text))
