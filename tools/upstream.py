"""Compare checkouts of the formats' projects with the stored digests of the pinned texts.

    make upstream CHECKOUT="../parquet-format ../iceberg"       list changes, and the rules that cite them
    make upstream CHECKOUT=../iceberg UPSTREAM=--fill           store digests of a checkout at the pinned commit
    make upstream CHECKOUT=../iceberg UPSTREAM=--sentences      store only its normative sentences, at any commit

``docs/data/upstream.json`` stores digests instead of texts: of the sections that rules cite, and of each normative sentence, with
the rules that test it or the reason why no rule does. It also lists the names of files. The exit status is 1 if
anything changed, or if a sentence has neither rule nor reason.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from upstream_texts import Section, digests_of, sections_of, sentences_of, within

from pqassay_spec.base.sources import write_whole
from pqassay_spec.rules.catalogue import rules
from pqassay_spec.rules.documents import SHORT, Document, documents

DATA = Path(__file__).resolve().parent.parent / "docs" / "data" / "upstream.json"

FILES = {
    "apache/parquet-format": ("src/main/thrift/parquet.thrift", ("*.md", "src/main/thrift/*")),
    "apache/iceberg": ("format/spec.md", ("format/*.md",)),
    "delta-io/delta": ("PROTOCOL.md", ("PROTOCOL.md", "protocol_rfcs/**/*.md")),
    "apache/parquet-testing": ("bad_data/README.md", ("data/**/*", "bad_data/**/*")),
}
"""The file that identifies a checkout, and patterns of files whose names are compared."""

ADDRESS = re.compile(r"https://github\.com/(?P<repository>[^/]+/[^/]+)/blob/[0-9a-f]{40}/(?P<path>.+)")

# ------------------------------------------------------------------------------------------------------ what is stored


@dataclass
class Row:
    """A stored sentence: its place, its digest, and the rules that test it or the key of a reason."""

    heading: str
    number: int
    digest: str
    rules: list[str] = field(default_factory=list[str])
    reason: str = ""

    @classmethod
    def read(cls, line: str) -> Row:
        """Read a row such as ``Data Pages | 2 | 0123456789ab | PQF-001``; a reason has ``=`` before its key."""
        heading, number, digest, decision = (word.strip() for word in line.rsplit("|", 3))
        if decision.startswith("="):
            return cls(heading, int(number), digest, reason=decision[1:])
        return cls(heading, int(number), digest, decision.split())

    def __str__(self) -> str:
        decision = f"={self.reason}" if self.reason else " ".join(self.rules)
        return f"{self.heading} | {self.number} | {self.digest} | {decision}"


@dataclass
class Stored:
    """The stored data of a document.

    Attributes:
        copy: The commit of the copy with the sentences.
        scope: Headings whose sentences are stored, including their subsections; empty for all.
        sections: The digests by heading, at the pinned commit; empty until filled.
        sentences: The normative sentences.
    """

    copy: str = ""
    scope: list[str] = field(default_factory=list[str])
    sections: dict[str, str] = field(default_factory=dict[str, str])
    sentences: list[Row] = field(default_factory=list[Row])


@dataclass
class Store:
    """The file ``docs/data/upstream.json``: reasons by key, documents by name, names of files by repository."""

    reasons: dict[str, str] = field(default_factory=dict[str, str])
    documents: dict[str, Stored] = field(default_factory=dict[str, Stored])
    files: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @classmethod
    def read(cls) -> Store:
        """Read the file; a missing file counts as empty."""
        table: dict[str, Any] = json.loads(DATA.read_text("utf-8")) if DATA.exists() else {}
        stored = {
            name: Stored(
                one["copy"], one["scope"], one["sections"], [Row.read(line) for line in one["sentences"]]
            )
            for name, one in table.get("documents", {}).items()
        }
        return cls(table.get("reasons", {}), stored, table.get("files", {}))

    def write(self) -> None:
        """Write the file, a sentence in each line."""
        stored = {
            name: {**vars(one), "sentences": [str(row) for row in one.sentences]}
            for name, one in sorted(self.documents.items())
        }
        table = {"reasons": self.reasons, "documents": stored, "files": self.files}
        write_whole(DATA, (json.dumps(table, indent=1, ensure_ascii=False) + "\n").encode())

    def undecided(self) -> Iterator[str]:
        """Yield sentences that have neither an existing rule nor an existing reason."""
        for name, one in self.documents.items():
            for row in one.sentences:
                if row.reason not in self.reasons and not (row.rules and set(row.rules) <= rules().keys()):
                    yield f"open     {name}, {row.heading}, sentence {row.number}"


# ---------------------------------------------------------------------------------------------------------- checkouts


class Checkout(NamedTuple):
    """A checkout: its folder, its repository, its commit if known, and its documents by path."""

    folder: Path
    repository: str
    commit: str
    documents: Mapping[str, Document]

    @classmethod
    def of(cls, folder: Path) -> Checkout:
        """Identify a checkout from its folder. Raises `ValueError` if it belongs to no known repository."""
        repository = next((name for name, (mark, _) in FILES.items() if (folder / mark).is_file()), None)
        if repository is None:
            marks = ", ".join(mark for mark, _ in FILES.values())
            raise ValueError(f"{folder} is not a checkout of a known repository: it has none of {marks}")
        mine = {
            match["path"]: document
            for document in documents().values()
            if (match := ADDRESS.match(document.address)) and match["repository"] == repository
        }
        git = ["git", "-C", str(folder), "rev-parse", "HEAD"]
        at = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
        return cls(folder, repository, at if (folder / ".git").exists() else "", mine)

    @property
    def title(self) -> str:
        """The repository, its commit and the pinned one."""
        pins = {f"{document.commit[:SHORT]} of {document.date}" for document in self.documents.values()}
        pinned = f", pinned {', '.join(sorted(pins))}" if pins else ""
        return f"{self.repository} at {self.commit[:SHORT] or 'no commit'}{pinned}"

    def sections(self) -> Iterator[tuple[Document, list[Section]]]:
        """Yield the existing documents, with their sections."""
        for path, document in self.documents.items():
            if (self.folder / path).is_file():
                yield document, sections_of(document.name, (self.folder / path).read_text("utf-8"))

    def names(self) -> list[str]:
        """The files whose names are compared."""
        patterns = FILES[self.repository][1]
        found = (path for pattern in patterns for path in self.folder.glob(pattern) if path.is_file())
        return sorted({path.relative_to(self.folder).as_posix() for path in found})


def cited(document: str) -> dict[str, list[str]]:
    """The rules that cite each section of a document."""
    found: dict[str, list[str]] = defaultdict(list)
    for rule in rules().values():
        if rule.origin.document == document:
            found[rule.origin.section].append(rule.id)
    return dict(found)


def changes(checkout: Checkout, store: Store) -> Iterator[str]:
    """Yield the differences from the stored data, one per line."""
    for path, document in checkout.documents.items():
        if not (checkout.folder / path).is_file():
            yield f"gone     {path}: {' '.join(rule for mine in cited(document.name).values() for rule in mine)}"
    for document, sections in checkout.sections():
        stored = store.documents.get(document.name, Stored())
        yield from _changed_sections(document.name, sections, stored)
        yield from _changed_sentences(document.name, sections, stored)
    if checkout.repository not in store.files:
        yield f"unknown  {checkout.repository}: names of files are not stored; --fill stores them"
        return
    for name in checkout.names():
        if name not in store.files[checkout.repository]:
            yield f"new file {name}"


def _changed_sections(name: str, sections: Sequence[Section], stored: Stored) -> Iterator[str]:
    by_section = cited(name)
    now = digests_of(sections, list(by_section))
    if not stored.sections:
        yield f"unknown  {name}: digests of sections are not stored; --fill at the pinned commit stores them"
    for heading, mine in by_section.items():
        if heading not in now:
            yield f"gone     {name}, {heading}: {' '.join(mine)}"
        elif stored.sections and stored.sections.get(heading) != now[heading]:
            yield f"changed  {name}, {heading}: {' '.join(mine)}"


def _changed_sentences(name: str, sections: Sequence[Section], stored: Stored) -> Iterator[str]:
    now = sentences_of(within(sections, stored.scope))
    before, after = {row.digest for row in stored.sentences}, {sentence.digest for sentence in now}
    for sentence in now:
        if sentence.digest not in before:
            yield f"new      {name}, {sentence.heading}: {' '.join(sentence.text.split())}"
    for row in stored.sentences:
        if row.digest not in after:
            yield f"gone     {name}, {row.heading}, sentence {row.number}: {' '.join(row.rules) or row.reason}"


def fill(checkout: Checkout, store: Store, *, sentences_alone: bool = False) -> None:
    """Store digests of a checkout; decisions about sentences are kept.

    Raises:
        ValueError: The checkout is not at the pinned commit, and more than sentences is to be stored.
    """
    for document, sections in checkout.sections():
        if not sentences_alone and checkout.commit != document.commit:
            at = checkout.commit or "no commit"
            raise ValueError(
                f"{checkout.folder} is at {at}, and {document.name} is pinned to {document.commit}"
            )
        stored = store.documents.setdefault(document.name, Stored())
        decided = {row.digest: row for row in stored.sentences}
        stored.copy = checkout.commit or stored.copy
        stored.sentences = []
        for new in sentences_of(within(sections, stored.scope)):
            old = decided.get(new.digest, Row("", 0, ""))
            stored.sentences.append(Row(new.heading, new.number, new.digest, old.rules, old.reason))
        if not sentences_alone:
            stored.sections = digests_of(sections, list(cited(document.name)))
    if not sentences_alone:
        store.files[checkout.repository] = checkout.names()


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare or fill; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkouts", nargs="+", type=Path, metavar="FOLDER", help="checkout of a repository")
    parser.add_argument("--fill", action="store_true", help="store digests of checkouts at the pinned commit")
    parser.add_argument("--sentences", action="store_true", help="store normative sentences of any checkout")
    options = parser.parse_args(arguments)
    store, differences = Store.read(), list[str]()
    try:
        for checkout in map(Checkout.of, options.checkouts):
            if options.fill or options.sentences:
                fill(checkout, store, sentences_alone=options.sentences)
            lines = list(changes(checkout, store))
            differences += lines
            print("\n  ".join([checkout.title, *lines]) if lines else f"{checkout.title}: nothing changed")
    except ValueError as error:
        parser.error(str(error))
    if options.fill or options.sentences:
        store.write()
    undecided = list(store.undecided())
    print("\n".join(undecided) or "Every stored sentence has a rule or a reason.")
    return 1 if differences or undecided else 0


if __name__ == "__main__":
    sys.exit(main())
