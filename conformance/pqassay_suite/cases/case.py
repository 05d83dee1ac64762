"""Golden cases: their folders, and the selection for a run. `pqassay_suite.cases.manifest` describes their content.

A case is a folder below ``golden_files`` with its manifest, its input and the files beside it. Its id is the path of the folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from pqassay.stores.patterns import PathPattern
from pqassay_spec.golden.case import MANIFEST, Case
from pqassay_spec.golden.folder import golden_files
from pqassay_spec.golden.literals import Rows
from pqassay_spec.golden.revision import case_digest
from pqassay_suite.cases.file_facts import FileFacts, facts_of
from pqassay_suite.cases.manifest import ManifestError, read_manifest
from pqassay_suite.drivers.protocol import Wishes


class CaseError(Exception):
    """A golden folder, a manifest or an input is wrong. The message names it."""


@dataclass(frozen=True)
class GoldenCase:
    """A case with the folder that it was loaded from.

    Attributes:
        case: Its manifest.
        folder: Its path.
        manifest_sha256: Digest of its manifest.
        asked_sha256: Digest of its questions, see `pqassay_spec.golden.revision.case_digest`.
        parent: The valid case that it was made from.
        wishes: The requested structure for a writer.
        known_facts: Facts about its file, if the caller has them; otherwise they are read from it.
        stands_alone: Whether a right answer counts by itself; otherwise it needs a right answer about a valid file.
        data: Its input, if that is not in a file: a derived case has another input than its source, and a writer's case has none.
    """

    case: Case
    folder: Path
    manifest_sha256: str
    asked_sha256: str = ""
    parent: GoldenCase | None = None
    wishes: Wishes | None = None
    known_facts: FileFacts | None = None
    stands_alone: bool = False
    data: bytes | None = None

    def content(self) -> bytes:
        """The bytes of its input.

        Raises:
            CaseError: They do not match the manifest.
        """
        if self.data is not None:
            return self.data
        return self._read(self.case.input.file, self.case.input.sha256)

    def beside(self) -> dict[str, bytes]:
        """Names and bytes of the files beside its input.

        Raises:
            CaseError: See `content`.
        """
        return {given.file: self._read(given.file, given.sha256) for given in self.case.input.beside or ()}

    def _read(self, name: str, sha256: str) -> bytes:
        path = self.folder / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CaseError(f"{path}: {error.strerror or error}") from None
        if hashlib.sha256(data).hexdigest() != sha256:
            raise CaseError(f"{path} is not the expected file: its SHA-256 differs")
        return data

    @cached_property
    def facts(self) -> FileFacts:
        """The facts about its file: for a damaged file those of the valid one, for a ``_pm`` those of the Parquet file beside it."""
        if self.known_facts is not None:
            return self.known_facts
        if self.parent is not None:
            return self.parent.facts
        is_pm = self.case.family == "PM"
        return facts_of(next(iter(self.beside().values()), b"") if is_pm else self.content())

    @property
    def rows(self) -> Rows | None:
        """The expected rows for a reader: its own, or those of its parent; ``None`` if they are unknown."""
        if self.case.expect.rows is not None or self.parent is None:
            return self.case.expect.rows
        read = self.case.expect.read
        return None if read is not None and read.rows == "unspecified" else self.parent.rows


def golden_folder() -> Path:
    """The golden files of this installation.

    Raises:
        CaseError: This installation has none.
    """
    folder = golden_files()
    if folder is None:
        raise CaseError("this installation has no golden files; name their folder with --cases")
    return folder


def load(folder: Path) -> list[GoldenCase]:
    """Every case below a folder, in the order of the ids.

    Raises:
        CaseError: There are no cases, or a manifest is wrong.
    """
    found = [_load(folder, path) for path in folder.rglob(MANIFEST)]
    if not found:
        raise CaseError(f"{folder} contains no {MANIFEST}")
    by_id = {golden.case.id: golden for golden in sorted(found, key=lambda golden: golden.case.id)}
    for golden in by_id.values():
        if golden.case.parent is not None and golden.case.parent not in by_id:
            raise CaseError(f"{golden.case.id}: its parent {golden.case.parent} does not exist")
    return [
        golden if golden.case.parent is None else replace(golden, parent=by_id[golden.case.parent])
        for golden in by_id.values()
    ]


def _load(root: Path, path: Path) -> GoldenCase:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror or error}") from None
    try:
        case, digest, asked = _read(text, path.parent.relative_to(root).as_posix())
    except ManifestError as error:
        raise CaseError(f"{path}: {error}") from None
    return GoldenCase(case, path.parent, digest, asked)


@cache
def _read(text: bytes, name: str) -> tuple[Case, str, str]:
    """The case of a manifest, the digest of the manifest, and the digest of its questions; cached by content."""
    case = read_manifest(text, name)
    return case, hashlib.sha256(text).hexdigest(), case_digest(json.loads(text))


def matches(name: str, pattern: str) -> bool:
    """Whether a path of names matches a pattern; ``*`` stays within a name, ``**`` spans any number of names.

    >>> matches("idx1/plain", "idx1/*"), matches("interop/a/b", "interop/*"), matches("interop/a/b", "interop/**")
    (True, False, True)
    """
    return name == pattern or PathPattern(pattern.split("/")).matches(name.split("/"))


def select(cases: Sequence[GoldenCase], patterns: Sequence[str]) -> list[GoldenCase]:
    """The cases that match one of the patterns (all, if there are no patterns), and the parents that their credit needs.

    Raises:
        CaseError: No case matches a pattern.
    """
    for pattern in patterns:
        if not any(matches(golden.case.id, pattern) for golden in cases):
            raise CaseError(f"no case matches {pattern!r}; `pqassay suite run --list` lists them")
    chosen = {
        golden.case.id
        for golden in cases
        if not patterns or any(matches(golden.case.id, pattern) for pattern in patterns)
    }
    chosen |= {golden.case.parent for golden in cases if golden.case.id in chosen and golden.case.parent}
    return [golden for golden in cases if golden.case.id in chosen]


def manifests_digest(cases: Iterable[GoldenCase]) -> str:
    """SHA-256 over ids and manifests, which identifies the suite."""
    return _digest(f"{golden.case.id} {golden.manifest_sha256}" for golden in cases)


def inputs_digest(cases: Iterable[GoldenCase]) -> str:
    """SHA-256 over ids, inputs and the files beside them, which identifies the golden files."""
    return _digest(
        line
        for golden in cases
        for line in (
            f"{golden.case.id} {golden.case.input.sha256}",
            *(f"{golden.case.id}/{given.file} {given.sha256}" for given in golden.case.input.beside or ()),
        )
    )


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()
