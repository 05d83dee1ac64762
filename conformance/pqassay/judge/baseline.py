"""Baselines: known findings that do not count, so that a check can be introduced before all findings are fixed.

An entry names a file, a rule and a column, not a place: places move whenever a file is rewritten. It has the number of places instead, and
a finding with more places counts again. Gaps (parts that could not be checked) are accepted the same way: by file, obstacle, and number of
columns.

If new files arrive every night, entries that name files are valid for only a day.  An entry may name a writer
instead, by `created_by` of footers. It then covers all present and future files of this writer until it
expires, and has a reason.
"""

# ruff: noqa: PTH100, PTH118, PTH120, PTH123 - paths are text here, of any bytes
from __future__ import annotations

import dataclasses
import datetime as dt
import fnmatch
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pqassay.errors import UsageError
from pqassay.report import expiry
from pqassay.report.baseline_state import BaselineState, StaleEntry
from pqassay.report.json_form import members
from pqassay.report.model import (
    GAP,
    HIDING,
    UNJUDGED,
    Coverage,
    FileReport,
    Finding,
    Report,
    Threshold,
    counts,
    outcome_of,
    summarise,
)
from pqassay.report.pin import pinned
from pqassay.stores.targets import is_uri
from pqassay_spec import __version__
from pqassay_spec.base.sources import write_whole
from pqassay_spec.rules.catalogue import ID_PATTERN, RELEASES, minor_release


@dataclass(frozen=True)
class KnownEntry:
    """One known finding or gap.

    ``path`` is a URI, or the path of the file relative to the folder of the baseline, with slashes; ``rule`` is the rule id, or for a gap
    ``gap:`` and its obstacle. ``count`` is the number of known places. For a gap, it is the number of columns, or of rules if the gap does
    not concern columns.
    """

    path: str
    rule: str
    count: int
    column: str | None = None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """The key that distinguishes entries."""
        return self.path, self.rule, self.column


@dataclass(frozen=True)
class WriterEntry:
    """A known finding of a writer, in present and future files.

    ``created_by`` is a pattern for the writer that the footer names, with the wildcards of file names; ``rule`` is as in `Entry`, and
    without ``column``, any column matches. ``expires`` is the last valid day in UTC, such as ``"2027-01-31"``.
    """

    created_by: str
    rule: str
    reason: str
    column: str | None = None
    expires: str | None = None

    def covers(self, created_by: str | None, name: str, column: str | None) -> bool:
        """Whether the entry covers a finding or gap with this name in a file of this writer.

        >>> WriterEntry("parquet-mr*", "STA-041", "reported upstream").covers("parquet-mr version 1.8.1", "STA-041", "price")
        True
        """
        return (
            self.rule == name
            and self.column in (None, column)
            and fnmatch.fnmatchcase(created_by or "", self.created_by)
        )

    def has_expired(self, today: dt.date) -> bool:
        """Whether its last valid day is over."""
        return self.expires is not None and dt.date.fromisoformat(self.expires) < today


@dataclass(frozen=True)
class BaselineFile:
    """The content of a baseline.

    ``pqassay`` is the version that wrote it. ``rules`` is the newest release whose rules that version had.
    """

    schema_version: Literal[1]
    kind: Literal["baseline"]
    pqassay: str
    findings: list[KnownEntry]
    writers: list[WriterEntry] = field(default_factory=list[WriterEntry])
    rules: str | None = None


@dataclass
class Baseline:
    """Known findings, with the path of the baseline.

    ``today`` is the day for expiry of all files, even if a run passes midnight. ``release`` is the newest release whose rules it can list;
    empty if unknown.

    >>> Baseline("known.json").entries
    {}
    """

    path: str
    entries: dict[tuple[str, str, str | None], KnownEntry] = field(
        default_factory=dict[tuple[str, str, str | None], KnownEntry]
    )
    writers: list[WriterEntry] = field(default_factory=list[WriterEntry])
    today: dt.date = field(default_factory=expiry.today, compare=False)
    release: str = RELEASES[-1]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Baseline:
        """Read a baseline.

        Raises:
            UsageError: The file cannot be read, or is not a baseline.
        """
        name = os.fspath(path)
        try:
            with open(name, "rb") as file:
                content = file.read()
        except OSError as error:
            hint = "; `pqassay baseline` writes one" if isinstance(error, FileNotFoundError) else ""
            raise UsageError(f"baseline {name}: {error.strerror or error}{hint}") from None
        parsed = _parsed(name, content)
        entries: dict[tuple[str, str, str | None], KnownEntry] = {}
        for entry in parsed.findings:
            if entry.key in entries:
                raise UsageError(f"baseline {name}: {entry.rule} of {entry.path} is listed twice")
            entries[entry.key] = entry
        return cls(name, entries, parsed.writers, release=_release(parsed))

    @classmethod
    def of(
        cls,
        report: Report,
        path: str | os.PathLike[str],
        *,
        keep: Baseline | None = None,
        by_writer: bool = False,
    ) -> Baseline:
        """Make a baseline of all findings of a report, except findings of rules that are newer than the pinned release.

        A finding that does not fail the check yet must not count as known later.

        Args:
            report: The report.
            path: The path of the new baseline; paths in it are relative to its folder.
            keep: A baseline to merge: its entries about files that the report does not cover are kept, and its writer entries that have not expired.
            by_writer: Whether entries name the writers of files instead of the files, if the footers name a writer.
        """
        made = cls(os.fspath(path))
        if keep is not None:
            made.writers.extend(one for one in keep.writers if not one.has_expired(made.today))
        for file in report.files:
            found = [
                (finding.rule, finding.count, _column(finding))
                for finding in file.findings
                if finding.known or report.pin is None or finding.rule not in report.pin.later
            ]
            for name, count, column in [*found, *((gap.name, gap.count, None) for gap in file.gaps)]:
                if made._writer_knows(file, name, column):
                    continue
                if by_writer and file.created_by:
                    pattern = _literally(_clean(file.created_by))
                    made.writers.append(WriterEntry(pattern, name, WHEN_WRITTEN, column))
                else:
                    entry = KnownEntry(made._path_of(file.path), name, count, column)
                    made.entries[entry.key] = entry
        if keep is not None:
            for entry, status in keep.statuses(report, ()):
                if status is _UNSEEN:
                    moved = dataclasses.replace(entry, path=made._path_of(keep.name_of(entry.path)))
                    made.entries.setdefault(moved.key, moved)
        return made

    def write(self) -> None:
        """Write the baseline atomically, sorted.

        Raises:
            OSError: The folder cannot be written.
        """
        entries = sorted(
            self.entries.values(), key=lambda entry: (entry.path, entry.rule, entry.column or "")
        )
        writers = sorted(self.writers, key=lambda one: (one.created_by, one.rule, one.column or ""))
        content = members(BaselineFile(1, "baseline", __version__, entries, writers, RELEASES[-1]))
        write_whole(self.path, f"{json.dumps(content, indent=2)}\n".encode())

    def applied(self, report: Report, level: Threshold, roots: Sequence[str] = ()) -> Report:
        """Mark the known findings of a report, and add the status of the baseline.

        Args:
            report: The report of a run without a baseline.
            level: The lowest verdict that counts.
            roots: Names of the folders that the run read completely: files missing from them no longer exist.
        """
        files = [self._marked(file, level) for file in report.files]
        stale: list[StaleEntry] = []
        unseen = 0
        for entry, status in self.statuses(report, roots):
            if status is _UNSEEN:
                unseen += 1
            elif status:
                stale.append(StaleEntry(entry.path, entry.rule, status, entry.column))
        for writer in self.writers:
            if writer.has_expired(self.today):
                about = f"files by {writer.created_by}"
                stale.append(
                    StaleEntry(about, writer.rule, f"it expired after {writer.expires}", writer.column)
                )
        summary = summarise(files, report.ignored)
        state = BaselineState(
            self.path, summary.known, unseen, stale, self.release, self._later(files, level)
        )
        marked = dataclasses.replace(report, files=files, summary=summary, baseline=state, threshold=level)
        return marked.at(report.gate)

    def _later(self, files: Iterable[FileReport], level: Threshold) -> int:
        """The number of findings that count and whose rules are newer than this baseline."""
        if not self.release:
            return 0
        found = [finding for file in files for finding in file.findings if counts(finding, level)]
        later = pinned(self.release, found).later
        return sum(finding.rule in later for finding in found)

    def _marked(self, file: FileReport, level: Threshold) -> FileReport:
        if not file.findings and not file.gaps:
            return file
        path = self._path_of(file.path)
        findings = [
            dataclasses.replace(
                finding,
                known=self._knows(path, finding.rule, finding.count, _column(finding))
                or self._writer_knows(file, finding.rule, _column(finding)),
            )
            for finding in file.findings
        ]
        gaps = [
            dataclasses.replace(
                gap, known=self._knows(path, gap.name, gap.count) or self._writer_knows(file, gap.name, None)
            )
            for gap in file.gaps
        ]
        outcome = file.outcome if file.outcome in UNJUDGED else outcome_of(findings, gaps, level)
        return dataclasses.replace(file, findings=findings, gaps=gaps, outcome=outcome)

    def _knows(self, path: str, name: str, count: int, column: str | None = None) -> bool:
        entry = self.entries.get((path, name, column))
        return entry is not None and count <= entry.count

    def _writer_knows(self, file: FileReport, name: str, column: str | None) -> bool:
        created_by = None if file.created_by is None else _clean(file.created_by)
        covering = (one for one in self.writers if one.covers(created_by, name, column))
        return any(not one.has_expired(self.today) for one in covering)

    def statuses(self, report: Report, roots: Sequence[str]) -> Iterator[tuple[KnownEntry, str]]:
        """Yield each entry with the reason why it is stale. The text is empty if it is not stale, and `_UNSEEN` if that is unknown."""
        files = {self._path_of(file.path): file for file in report.files}
        folders = [self._path_of(root) for root in roots]
        for entry in self.entries.values():
            file = files.get(entry.path)
            if file is None:
                yield entry, self._why_gone(entry.path, folders)
            else:
                yield entry, _why_stale(entry, file, report.coverages[file.coverage])

    def _why_gone(self, path: str, folders: Iterable[str]) -> str:
        if is_uri(path):
            below = any(path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
            return "the file is gone" if below else _UNSEEN
        return _UNSEEN if os.path.lexists(self.name_of(path)) else "the file is gone"

    def _folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.path))

    def _path_of(self, name: str) -> str:
        """The name in an entry for a file that a report calls ``name``."""
        if is_uri(name) or name.startswith("<"):
            return name
        return _clean(os.path.relpath(os.path.abspath(name), self._folder())).replace(os.sep, "/")

    def name_of(self, path: str) -> str:
        """The path of an entry's file."""
        return path if is_uri(path) else os.path.join(self._folder(), path)


_UNSEEN = "not looked at"

WHEN_WRITTEN = "known when this baseline was written"
"""The reason of writer entries in a baseline that a check wrote."""


def _release(file: BaselineFile) -> str:
    """The newest release whose rules a baseline can list; empty if this version of pqassay does not know that release."""
    release = file.rules or minor_release(file.pqassay)
    return release if release in RELEASES else ""


def _literally(text: str) -> str:
    """A pattern that matches only this text."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in text)


def _why_stale(entry: KnownEntry, file: FileReport, coverage: Coverage) -> str:
    """The reason why an entry about a file of this run is stale; empty if it is not."""
    mine = [
        finding
        for finding in file.findings
        if finding.rule == entry.rule and _column(finding) == entry.column
    ]
    if mine or any(gap.name == entry.rule for gap in file.gaps):
        return ""
    if file.outcome in UNJUDGED or entry.rule in coverage.not_checked:
        return _UNSEEN
    if entry.rule.startswith(GAP):
        return "the file no longer has unchecked parts"
    return "the file no longer breaks the rule"


def _clean(text: str) -> str:
    """Text that JSON can represent; a path or a column may have bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def _column(finding: Finding) -> str | None:
    return None if finding.column is None else _clean(finding.column)


def _parsed(name: str, content: bytes) -> BaselineFile:
    import re  # noqa: PLC0415 - these are needed where there is a baseline

    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - as above

    try:
        entries = TypeAdapter(BaselineFile).validate_json(content, strict=False)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"baseline {name}: {f'{place}: ' if place else ''}{first['msg']}; `pqassay baseline` writes one"
        ) from None
    both: list[KnownEntry | WriterEntry] = [*entries.findings, *entries.writers]
    for entry in both:
        if re.fullmatch(ID_PATTERN, entry.rule) is None and entry.rule not in [
            f"{GAP}{obstacle}" for obstacle in HIDING
        ]:
            raise UsageError(f"baseline {name}: {entry.rule!r} is not a rule id")
    for writer in entries.writers:
        try:
            writer.has_expired(expiry.today())
        except ValueError:
            raise UsageError(
                f"baseline {name}: {writer.expires!r} is not a date such as 2027-01-31"
            ) from None
        if not writer.reason.strip():
            raise UsageError(f"baseline {name}: {writer.rule} of {writer.created_by} has no reason")
    return entries


def json_schema() -> dict[str, Any]:
    """JSON Schema of a baseline, derived from the classes."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only this needs it

    schema = TypeAdapter(BaselineFile).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
