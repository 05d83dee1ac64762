"""Cases made from a user's own Parquet files, without manifests of right answers.

The expected rows of a file are those that two independent readers agree on; if they disagree, only a crash is wrong.
A file must be read if the judge finds no error in it; a file that breaks a rule may also be refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pqassay.report.model import Ignored
from pqassay.report.run.files import Collection as AskedFiles
from pqassay.report.run.files import FileAsked, RowsKnown, left_out_lines
from pqassay.stores import kinds
from pqassay.stores.targets import Found, Target, find
from pqassay_spec import __version__
from pqassay_spec.base.terminal import printable
from pqassay_spec.golden.case import (
    Case,
    CheckExpectation,
    Expect,
    Input,
    Provenance,
    ReadExpectation,
    to_json,
)
from pqassay_spec.golden.literals import Column, Rows
from pqassay_spec.parquet.file import ENCRYPTED_MAGIC, MAGIC, SUMMARY_NAMES
from pqassay_spec.rules.catalogue import DEFAULT_FILE
from pqassay_suite.cases.case import CaseError, GoldenCase, matches
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.protocol import Accept
from pqassay_suite.drivers.side_by_side import in_order
from pqassay_suite.own_files.file_survey import Survey, Surveyor
from pqassay_suite.own_files.second_readers import Confirmed, SecondReaders

DEPRECATED_CODECS = frozenset({"codec.lz4", "codec.lzo"})
"""Codecs that a reader need not support."""

COPY = "data.parquet"
"""The name of the copy that is read."""


@dataclass(frozen=True)
class SurveyLimits:
    """Limits for the files to ask about.

    Attributes:
        size: Most bytes of a file.
        values: Most values of a file: each goes through JSON three times. A damaged file may claim any number.
    """

    size: int
    values: int


@dataclass(frozen=True)
class FileCase(GoldenCase):
    """A case about a user's file.

    Attributes:
        agreed: File with the rows that two readers agree on; ``None`` if they disagree.
    """

    agreed: Path | None = None
    stands_alone: bool = True

    @property
    def rows(self) -> Rows | None:
        """The rows that two readers agree on, loaded again each time: the rows of all files would fill the memory."""
        if self.agreed is None or self.known_facts is None:
            return None
        answer = protocol.read_answer(self.agreed.read_bytes(), "read", strict=False)
        columns = [Column(name, "unknown", nullable=True) for name in self.known_facts.names]
        return Rows(columns, answer.rows or []) if isinstance(answer, Accept) else None


@dataclass
class Files:
    """The files of a folder.

    Attributes:
        folder: The folder.
        targets: The files to ask about, by their paths relative to the folder, in order.
        found: Everything in the folder, and why other files are left out.
        others: Paths of files that were not chosen.
    """

    folder: Path
    targets: dict[str, Target]
    found: Found
    others: frozenset[str] = frozenset()

    @property
    def left_out(self) -> list[Ignored]:
        """The files that are not asked about."""
        return [
            Ignored(entry.reason, entry.count, [_below(self.folder, path) for path in entry.examples])
            for entry in self.found.ignored
        ]

    def chosen(self, patterns: Sequence[str], wanted: Collection[str] | None = None) -> Files:
        """The files that match one of the patterns, or all without patterns, and are wanted.

        Raises:
            CaseError: No file matches a pattern, or no file is left.
        """
        for pattern in patterns:
            if not any(matches(name, pattern) for name in self.targets):
                raise CaseError(f"no file matches {pattern!r}; --list lists them")
        chosen = {
            name: target
            for name, target in self.targets.items()
            if (not patterns or any(matches(name, pattern) for pattern in patterns))
            and (wanted is None or name in wanted)
        }
        if not chosen:
            raise CaseError(f"{self.folder}: no file here is wrong in those results")
        return replace(self, targets=chosen, others=frozenset(self.targets.keys() - chosen.keys()))


def files_in(folder: Path) -> Files:
    """The Parquet files below a folder: by their names, or by their first and last bytes; all files of tables.

    Raises:
        CaseError: It is not a folder, or does not exist.
    """
    if not folder.is_dir():
        raise CaseError(f"{folder}: {'not a folder' if folder.exists() else 'no such folder'}")
    listing = find([], literal=[str(folder)], include=["*"], moment=None)
    targets: dict[str, Target] = {}
    for target in listing.targets:
        reason = target.trouble or _reason_against(target)
        if not reason:
            targets[_below(folder, target.path)] = target
        elif reason != kinds.OTHER:
            listing.ignore(reason, target.path)
    files = Files(folder, targets, listing)
    if not targets:
        told = "".join(f"; {line}" for line in left_out_lines(files.left_out))
        raise CaseError(f"{folder}: there is no Parquet file below it{told}")
    return files


def _below(folder: Path, path: str) -> str:
    """The path of a file relative to the folder, in a form that users can type: unprintable characters are escaped."""
    return printable(Path(path).relative_to(folder).as_posix())


def _reason_against(target: Target) -> str:
    """Why a file is not asked about; `kinds.OTHER` if that is expected."""
    name = os.path.basename(target.path)  # noqa: PTH119 - text, as the finder has it
    kind = kinds.kind_of(name)
    if name in SUMMARY_NAMES:
        return "summaries of other files"
    if name.startswith("."):
        return kinds.OTHER
    try:
        status = os.stat(target.path)  # noqa: PTH116 - as above
        if not stat.S_ISREG(status.st_mode):
            return kinds.SPECIAL
        if kind is None:
            return "" if _looks_like_parquet(target.path, status.st_size) else kinds.OTHER
        with open(target.path, "rb"):  # noqa: PTH123 - as above
            pass
    except OSError as error:
        return f"the file cannot be opened: {error.strerror or error}"
    return "" if kind.name == DEFAULT_FILE else kinds.OTHER


def _looks_like_parquet(path: str, size: int) -> bool:
    """Whether a file has the first and last bytes of a Parquet file."""
    if size < 2 * len(MAGIC):
        return False
    with open(path, "rb") as file:  # noqa: PTH123 - text, as the finder has it
        begin = file.read(len(MAGIC))
        file.seek(-len(MAGIC), os.SEEK_END)
        return begin == file.read() and begin in (MAGIC, ENCRYPTED_MAGIC)


class CollectionCases:
    """Makes cases from files.

    Args:
        readers: The readers that determine the right rows.
        limits: Limits for the files to ask about.
        folder: Folder for the agreed rows.
    """

    def __init__(self, readers: SecondReaders, limits: SurveyLimits, folder: Path) -> None:
        self._readers, self._limits, self._folder = readers, limits, folder
        self._surveyor = Surveyor()

    def close(self) -> None:
        """End all processes."""
        self._surveyor.close()

    def make(
        self, files: Files, jobs: int, progress: Callable[[int, int, str], object] | None = None
    ) -> tuple[list[FileCase], AskedFiles]:
        """The cases, in the order of the paths, and the facts about the files for reports.

        Args:
            files: The files to make cases from.
            jobs: Files to process at the same time.
            progress: Called with the number of completed files, the number of files, and the path of the last one.
        """
        made: list[tuple[FileCase, FileAsked]] = []
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            try:
                every = in_order(pool, self._made, files.targets.items())
                for number, (name, one) in enumerate(zip(files.targets, every, strict=True), 1):
                    if isinstance(one, str):
                        files.found.ignore(one, files.targets[name].path)
                    else:
                        made.append(one)
                    if progress is not None:
                        progress(number, len(files.targets), name)
            except BaseException:
                self._surveyor.stop()
                self._readers.stop()
                pool.shutdown(cancel_futures=True)
                raise
        asked = [about for _, about in made]
        return [case for case, _ in made], AskedFiles(self._readers.names, asked, files.left_out)

    def _made(self, file: tuple[str, Target]) -> tuple[FileCase, FileAsked] | str:
        """A case and the facts about its file for reports; or the reason why it is left out."""
        name, target = file
        path = Path(target.path)
        try:
            if path.stat().st_size > self._limits.size:
                return f"larger than {self._limits.size / (1 << 20):g} MiB; --max-size asks about them"
            content = path.read_bytes()
        except OSError as error:
            return f"the file cannot be opened: {error.strerror or error}"
        with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as place:
            copy = Path(place, COPY)
            copy.write_bytes(content)
            survey = self._surveyor.survey(copy)
            if (survey.is_sound or survey.decoded) and survey.values > self._limits.values:
                return f"more than {self._limits.values} values; --max-values asks about them"
            confirmed = self._readers.confirmed(copy, survey.facts)
            if confirmed.too_large:
                return "its rows make an answer that is too large"
        agreed = None
        if confirmed.rows is not None:
            agreed = self._folder / hashlib.sha256(os.fsencode(name)).hexdigest()
            agreed.write_text(protocol.to_json(confirmed.rows), encoding="ascii")
        case = _manifest(name, path, hashlib.sha256(content).hexdigest(), survey, confirmed)
        kept = json.dumps([to_json(case), asdict(survey)])
        digest = hashlib.sha256(kept.encode()).hexdigest()
        made = FileCase(case, path.parent, digest, known_facts=survey.facts, agreed=agreed)
        known: RowsKnown = "unspecified" if agreed is None else "agreed"
        return made, FileAsked(name, survey.judged, known, confirmed.said, survey.tags)


def _manifest(name: str, path: Path, sha256: str, survey: Survey, confirmed: Confirmed) -> Case:
    must_be_read = confirmed.rows is not None and survey.is_sound and not DEPRECATED_CODECS & set(survey.tags)
    read = ReadExpectation(
        rows="unspecified" if confirmed.rows is None else "own",
        refusal="never" if must_be_read else "allowed",
    )
    return Case(
        id=name,
        family="PQF",
        kind="valid" if survey.is_sound else "invalid",
        since=__version__,
        title=f"{_judged(survey)}; {_known(confirmed)}",
        effect="none",
        requires=["parquet"],
        rules=survey.rules,
        input=Input(file=path.name, sha256=sha256),
        expect=Expect(check=CheckExpectation(rules=survey.rules, tier="values"), read=read),
        provenance=Provenance(by="its owner", oracles=list(confirmed.said)),
    )


def _judged(survey: Survey) -> str:
    if survey.rules:
        return f"A file that breaks {', '.join(survey.rules)}"
    return (
        "A file that cannot be judged" if survey.judged == "errored" else "A file in which nothing is wrong"
    )


def _known(confirmed: Confirmed) -> str:
    if confirmed.rows is None:
        return "its rows are unknown"
    agreed = [name for name, said in confirmed.said.items() if said.endswith((" row", " rows"))]
    return f"{' and '.join(agreed)} read the same {confirmed.said[agreed[0]]}"
