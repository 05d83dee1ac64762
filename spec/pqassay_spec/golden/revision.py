"""Revisions: which golden cases count in a score, and what each case asked when the revision was made.

Golden cases are added all the time.  Scores are comparable over years because a score counts only the cases of a
numbered revision.  ``spec/revisions/<number>.toml`` lists them, each with a digest.  A case that was added
later is asked and reported, and counts from the next revision on.

The digest covers the question to an implementation and the criteria for its answer: the bytes, and the members
of the manifest in `ASKED`.  The texts of a case (title, story, provenance) may be improved at any time, and
the judge's report about it grows with its rules.

    >>> current().number == CURRENT, current().standing("pix/of-tomorrow", "00")
    (True, 'added')
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, cast

import pqassay_spec

CURRENT = "1.0"
"""The revision that scores runs."""

FOLDER = "revisions"
"""The name of the folder with the lists: inside an installed package, beside the package in a checkout, as for chapters."""

ASKED = ("id", "family", "kind", "parent", "requires", "column", "input", "expect")
"""Members of a manifest that its digest covers; ``expect`` is covered without ``check``."""

State = Literal["draft", "frozen"]
"""``draft``: the list may still be rewritten; ``frozen``: it never changes again."""

Standing = Literal["counted", "added", "changed"]
"""Whether a case counts; if not, it was added after the revision or has changed since."""


class RevisionError(Exception):
    """There is no such revision."""


@dataclass(frozen=True)
class Revision:
    """The cases that count.

    Attributes:
        number: Its number.
        state: Whether its list may still change.
        cases: The digest of each case, see `case_digest`, by id, in the order of the ids.
    """

    number: str
    state: State
    cases: Mapping[str, str]

    @property
    def is_frozen(self) -> bool:
        """Whether its list never changes again."""
        return self.state == "frozen"

    @cached_property
    def sha256(self) -> str:
        """SHA-256 over its ids and digests, equal exactly for equal lists of the same number."""
        lines = "".join(f"{case} {digest}\n" for case, digest in sorted(self.cases.items()))
        return hashlib.sha256(lines.encode()).hexdigest()

    def standing(self, case: str, digest: str) -> Standing:
        """Whether a case with this digest counts, and why not."""
        if case not in self.cases:
            return "added"
        return "counted" if self.cases[case] == digest else "changed"

    def differences(self, digests: Mapping[str, str]) -> list[str]:
        """Changed and removed cases of the revision, in a line each; cases that were added since are not included.

        Args:
            digests: The digests of all current cases by id.
        """
        texts: list[str] = []
        for case, digest in self.cases.items():
            if case not in digests:
                texts.append(f"{case} is in revision {self.number}, and there is no such case any more")
            elif digests[case] != digest:
                texts.append(
                    f"{case} is not what it was in revision {self.number}: its bytes or answers differ"
                )
        return texts


def case_digest(manifest: Mapping[str, Any], wishes: Any = None) -> str:
    """SHA-256 over the question of a case and the criteria for its answer.

    Args:
        manifest: Its manifest as JSON.
        wishes: The task of a writer, if it is not part of the manifest.
    """
    asked = {name: manifest[name] for name in ASKED if name in manifest}
    if isinstance(expect := asked.get("expect"), dict):
        asked["expect"] = {
            name: value for name, value in cast("dict[str, Any]", expect).items() if name != "check"
        }
    if wishes is not None:
        asked["wishes"] = wishes
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def written(revision: Revision) -> str:
    """The text of a revision's file."""
    head = (
        f"# Revision {revision.number} of the golden cases: what counts in a score. Written by `make generate`.\n\n"
        f'revision = "{revision.number}"\nstate = "{revision.state}"\n\n[cases]\n'
    )
    return head + "".join(f'"{case}" = "{digest}"\n' for case, digest in sorted(revision.cases.items()))


@cache
def revision(number: str) -> Revision:
    """The revision with this number.

    Raises:
        RevisionError: There is no such revision.
    """
    path = _folder() / f"{number}.toml"
    if number not in numbers():
        raise RevisionError(f"there is no revision {number}; there are {', '.join(numbers())}")
    document = tomllib.loads(path.read_text("utf-8"))
    return Revision(document["revision"], document["state"], dict(sorted(document["cases"].items())))


def _folder() -> Path:
    package = Path(pqassay_spec.__file__).parent
    installed = package / FOLDER
    return installed if installed.is_dir() else package.parent / FOLDER


def current() -> Revision:
    """The revision that scores runs."""
    return revision(CURRENT)


@cache
def numbers() -> list[str]:
    """The numbers of all revisions, the oldest first."""
    found: Iterable[str] = (path.name for path in _folder().iterdir() if path.name.endswith(".toml"))
    return sorted(
        (name.removesuffix(".toml") for name in found), key=lambda number: [int(n) for n in number.split(".")]
    )
