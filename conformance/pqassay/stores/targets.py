"""The list of files to judge, from paths, folders, patterns and URIs, in a deterministic order.

Files that are not judged are counted with the reason, so a report shows what it does not cover.
"""

# ruff: noqa: PTH109, PTH116 - paths stay the text that the user wrote, and there may be very many
from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pqassay.errors import UsageError
from pqassay.report.model import Ignored
from pqassay.stores import kinds as file_kinds
from pqassay.stores import table_files
from pqassay.stores.formats import NEWEST, Moment
from pqassay.stores.listed_tables import listed_tables, root_in
from pqassay.stores.patterns import NamePatterns, PathPattern, States, has_wildcard, split
from pqassay.stores.table_files import TableAt
from pqassay.stores.target import Target
from pqassay_spec.base.terminal import printable

if TYPE_CHECKING:
    from pqassay.stores.remote import ListedFile, StorePlace, Uri

__all__ = ["Found", "Listing", "Target", "find", "is_uri"]

EXAMPLES = 3
"""The number of example paths in an entry about ignored files."""

SHOWN_PROBLEMS = 20
"""The number of wrong paths that an error lists."""

Listing = Callable[["StorePlace"], Iterable["ListedFile"]]
"""A function that lists everything below a folder of a store."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL)


def is_uri(text: str) -> bool:
    """Whether a text is a URI of a store rather than a local path."""
    return _URI.match(text) is not None


@dataclass
class Found:
    """The files to judge, and counts of the others.

    Attributes:
        targets: The files to judge, in order, without duplicates.
        roots: Names of the folders that were read completely.
    """

    targets: list[Target] = field(default_factory=list[Target])
    roots: list[str] = field(default_factory=list[str])
    _ignored: dict[str, Ignored] = field(default_factory=dict[str, Ignored])

    def reduced(self, positions: Collection[int], reason: str) -> Found:
        """A copy with only some of the targets; the others are ignored, and deletions from folders are unknown.

        Args:
            positions: Positions of the targets that are kept.
            reason: The reason why the others are not judged.
        """
        kept, reduced = set(positions), Found(_ignored=dict(self._ignored))
        for position, target in enumerate(self.targets):
            if position in kept:
                reduced.targets.append(target)
            else:
                reduced.ignore(reason, target.name)
        return reduced

    def ignore(self, reason: str, name: str) -> None:
        """Count a file or folder that is not judged."""
        before = self._ignored.get(reason, Ignored(reason, 0, []))
        self._ignored[reason] = Ignored(reason, before.count + 1, [*before.examples, name][:EXAMPLES])

    @property
    def ignored(self) -> list[Ignored]:
        """Files and folders that are not judged, most frequent reason first."""
        return sorted(self._ignored.values(), key=lambda entry: (-entry.count, entry.reason))


def find(
    paths: Iterable[str],
    *,
    literal: Iterable[str] = (),
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    listing: Listing | None = None,
    moment: Moment | None = NEWEST,
) -> Found:
    """Find the files and tables to judge.

    Args:
        paths: Paths of files and folders, patterns (``lake/**/*.parquet``), URIs. If a file exists with the name of a pattern, the file is used.
        literal: Further paths, in which wildcards have no special meaning.
        include: Patterns of additional files in folders to judge, beside files with known names.
        exclude: Patterns of files and folders to exclude; explicitly named files are still judged.
        listing: The function that lists folders of stores, in the order of the default, `pqassay.stores.remote.listing`.
        moment: The state of tables to judge; ``None`` to judge a table's folder as files.

    Raises:
        UsageError: A path or pattern matches nothing; the message lists all of these.
    """
    finder = _Finder(NamePatterns(include), NamePatterns(exclude), listing, moment)
    for text in paths:
        finder.add(text, is_literal=False)
    for text in literal:
        finder.add(text, is_literal=True)
    if problems := finder.problems:
        if (more := len(problems) - SHOWN_PROBLEMS) > 0:
            problems[SHOWN_PROBLEMS:] = [f"and {more} more of this kind"]
        raise UsageError("\n".join(problems))
    return finder.found


class _Finder:
    def __init__(
        self, include: NamePatterns, exclude: NamePatterns, listing: Listing | None, moment: Moment | None
    ) -> None:
        self.found = Found()
        self.problems: list[str] = []
        self._include = include
        self._exclude = exclude
        self._listing = listing
        self._moment = moment
        self._folders_read: set[tuple[int, int]] = set()
        self._keys: set[str] = set()
        self._here = os.getcwd()

    def add(self, text: str, *, is_literal: bool) -> None:
        if "\0" in text:
            self.problems.append(f"{printable(text)!r} is not a path")
        elif is_uri(text):
            self._add_uri(text, is_literal=is_literal)
        else:
            self._add_path(text, is_literal=is_literal)

    # -------------------------------------------------------------------------------- common to local and remote files

    def _take(self, target: Target, against: str = "") -> None:
        """Add a file once, unless there is a reason against it."""
        if against:
            self.found.ignore(against, target.name)
            return
        # "./a" and "a" are one file, but "b/../a" may be another if b is a link, so dots stay.
        key = target.name
        if not target.store:
            key = "/".join(split(key if key.startswith("/") else f"{self._here}/{key}"))
        if key in self._keys:
            self.found.ignore(file_kinds.TWICE, target.name)
        else:
            self._keys.add(key)
            self.found.targets.append(target)

    def _named(self, target: Target) -> None:
        """Add a file that the user named."""
        kind = file_kinds.kind_of(target.path.rpartition("/")[2])
        self._take(target, "" if kind is None else kind.ignored)

    def _take_table(self, table: TableAt) -> None:
        """Add a table."""
        self._take(Target(table.name, table.path, table.store, size=0, kind=table.kind, table=table))

    def _met(self, target: Target, names: Sequence[str]) -> None:
        """Add a file of a folder."""
        self._take(target, self._reason_against_file(names))

    def _reason_against_file(self, names: Sequence[str]) -> str:
        if self._exclude.match(names):
            return file_kinds.EXCLUDED
        if self._include.match(names):
            return ""
        if names[-1].startswith("."):
            return file_kinds.HIDDEN
        kind = file_kinds.kind_of(names[-1])
        return file_kinds.OTHER if kind is None else kind.ignored

    def _reason_against_folder(self, names: Sequence[str]) -> str:
        if self._exclude.match(names):
            return file_kinds.EXCLUDED
        return file_kinds.why_folder_is_left_out(names[-1])

    # -------------------------------------------------------------------------------------------- local paths

    def _add_path(self, path: str, *, is_literal: bool) -> None:
        try:
            status = os.stat(path)
        except OSError as error:
            if error.errno not in _ABSENT:
                reason = f"the file cannot be opened: {error.strerror or error}"
                self._take(_local(path, size=-1, trouble=reason))
            elif has_wildcard(path) and not is_literal:
                self._add_pattern(path)
            else:
                self.problems.append(f"{_shown(path)}: no such file")
            return
        if stat.S_ISDIR(status.st_mode):
            self._add_folder(path)
        elif stat.S_ISREG(status.st_mode):
            if (table := self._named_table(path)) is not None:
                self._take_table(table)
            else:
                self._named(_local(path, size=status.st_size))
        else:
            self.problems.append(f"{_shown(path)} is not a regular file")

    def _named_table(self, path: str) -> TableAt | None:
        """The table of which the user named a metadata file."""
        named = None if self._moment is None else table_files.named_by(path)
        if named is None:
            return None
        folder, kind, moment = named
        return TableAt(kind, folder, folder, moment=moment)

    def _add_folder(self, root: str) -> None:
        self.found.roots.append(root)
        self._read_folder(root)

    def _read_folder(self, root: str) -> None:
        """Add the files of a folder and of its subfolders."""
        # A list instead of recursion: folders may be nested deeper than Python calls.
        waiting: list[tuple[str, tuple[str, ...], bool]] = [(root, (), True)]
        while waiting:
            path, names, is_folder = waiting.pop()
            if not is_folder:
                self._met(_local(path), names)
                continue
            if names and (reason := self._reason_against_folder(names)):
                self.found.ignore(reason, path)
                continue
            if not self._is_first_visit(path):
                self.found.ignore(file_kinds.SEEN_FOLDER, path)
                continue
            entries = self._entries(path)
            if (found := self._table_in(path, entries)) is not None:
                self._take_table(found)
                continue
            for entry in reversed(entries):
                below, kind = _joined(path, entry.name), _type_of(entry)
                if kind == "special":
                    self.found.ignore(file_kinds.SPECIAL, below)
                else:
                    waiting.append((below, (*names, entry.name), kind == "folder"))

    def _table_in(self, folder: str, entries: Sequence[os.DirEntry[str]]) -> TableAt | None:
        """The table in a folder; ``None`` if there is no table, or its files are judged individually."""
        if self._moment is None:
            return None
        kind = table_files.kind_of_folder(folder, frozenset(entry.name for entry in entries))
        return None if kind is None else TableAt(kind, folder, folder, moment=self._moment)

    def _is_first_visit(self, folder: str) -> bool:
        """Whether a folder was not read before, under this or another name, since links may form circles."""
        try:
            status = os.stat(folder)
        except OSError:
            return True  # listing the folder will report the error
        key = (status.st_dev, status.st_ino)
        if key in self._folders_read:
            return False
        self._folders_read.add(key)
        return True

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        """The entries of a folder, sorted by name; if it cannot be listed, the folder becomes a target that cannot be judged."""
        try:
            with os.scandir(folder or ".") as listing:
                return sorted(listing, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            reason = f"the folder cannot be listed: {error.strerror or error}"
            self._take(Target(folder, folder, size=-1, kind="folder", trouble=reason))
            return []

    def _add_pattern(self, text: str) -> None:
        """Expand wildcards; the matching files count as named, as if a shell had expanded them."""
        parts = split(text)
        base = "/" if text.startswith("/") else ""
        while parts and (not has_wildcard(parts[0]) or os.path.lexists(_joined(base, parts[0]))):
            base = _joined(base, parts.pop(0))
        before = len(self.found.targets), len(self.found.ignored)
        pattern = PathPattern(parts)
        waiting: list[tuple[str, tuple[str, ...], States]] = [(base, (), pattern.start())]
        visited: set[tuple[int, int, States]] = set()  # links may form circles
        while waiting:
            folder, names, states = waiting.pop()
            try:
                status = os.stat(folder or ".")
            except OSError:
                continue
            visit = status.st_dev, status.st_ino, states
            if not stat.S_ISDIR(status.st_mode) or visit in visited:
                continue
            visited.add(visit)
            if pattern.accepts(states):
                self._add_folder(folder or ".")
                continue
            below: list[tuple[str, tuple[str, ...], States]] = []
            for entry in self._entries(folder):
                after = pattern.step(states, entry.name)
                path, inner, kind = _joined(folder, entry.name), (*names, entry.name), _type_of(entry)
                if not after or kind == "special":
                    continue
                if self._exclude.match(inner):
                    self.found.ignore(file_kinds.EXCLUDED, path)
                elif kind == "folder":
                    below.append((path, inner, after))
                elif pattern.accepts_file(after):
                    self._named(_local(path))
            waiting.extend(reversed(below))
        if before == (len(self.found.targets), len(self.found.ignored)):
            self.problems.append(f"{_shown(text)}: no file matches")

    # --------------------------------------------------------------------------------------------------- URIs

    def _add_uri(self, text: str, *, is_literal: bool) -> None:
        from pqassay.stores import remote  # noqa: PLC0415 - pyarrow is loaded where it is needed
        from pqassay.stores.remote_source import describe  # noqa: PLC0415 - as above

        try:
            uri = remote.parse(text)
        except UsageError as error:
            self.problems.append(printable(str(error)))
            return
        is_pattern = has_wildcard(uri.path) and not is_literal
        try:
            try:
                self._add_place(remote.find(uri), is_literal=is_literal)
            except remote.MissingError:
                if not is_pattern:
                    raise
                self._add_uri_pattern(uri)
        except remote.MissingError as error:
            self.problems.append(f"{_shown(uri.name)}: {error}")
        except UsageError as error:
            self.problems.append(printable(str(error)))
        except OSError as error:
            kind = file_kinds.judged_as(uri.path)
            self._take(Target(uri.name, uri.path, uri.store, size=-1, kind=kind, trouble=describe(error)))

    def _add_place(self, place: StorePlace | str, *, is_literal: bool) -> None:
        if isinstance(place, str):
            self._add_path(place, is_literal=is_literal)
        elif place.is_folder:
            self.found.roots.append(place.name)
            self._read_listing(place, None)
        elif (table := self._stored_table(place)) is not None:
            self._take_table(table)
        else:
            self._named(_remote(place))

    def _stored_table(self, place: StorePlace) -> TableAt | None:
        """The table in a store of which the user named a metadata file."""
        named = None if self._moment is None else table_files.named_by(place.path)
        if named is None:
            return None
        folder, kind, moment = named
        return TableAt(kind, place.name.rsplit("/", 2)[0], folder, place.store, moment)

    def _add_uri_pattern(self, uri: Uri) -> None:
        from pqassay.stores import remote  # noqa: PLC0415 - as above

        parts = split(remote.decoded(uri.path))
        first = next(index for index, part in enumerate(parts) if has_wildcard(part))
        before = len(self.found.targets), len(self.found.ignored)
        base = remote.find(uri.at("/" + "/".join(parts[:first]).replace("%", "%25")))
        if not isinstance(base, str) and base.is_folder:
            self._read_listing(base, PathPattern(parts[first:]))
        if before == (len(self.found.targets), len(self.found.ignored)):
            raise remote.MissingError("no file matches")

    def _read_listing(self, folder: StorePlace, pattern: PathPattern | None) -> None:
        """Add the files of a folder in a store: all of them, or those that match a pattern.

        One recursive listing takes far fewer requests than one listing per folder.
        """
        from pqassay.stores import remote  # noqa: PLC0415 - as above

        left_out: set[tuple[str, ...]] = set()
        listed = (self._listing or remote.listing)(folder)
        tables: dict[tuple[str, ...], TableAt] = {}
        if pattern is None and self._moment is not None:
            listed = list(listed)
            tables = listed_tables(folder, listed, self._moment)
        for entry in listed:
            names = entry.names
            if tables and (root := root_in(tables, names)) is not None:
                if root not in left_out:
                    left_out.add(root)
                    self._take_table(tables[root])
                continue
            place = folder.below(names, size=entry.size, modified=entry.modified)
            depth = 0
            if pattern is not None:
                reached = _depth_of_match(pattern, names)
                if reached is None:
                    continue
                if reached == len(names):
                    self._named(_remote(place))
                    continue
                depth = reached  # a folder matches, and is read completely
            for end in range(depth + 1, len(names)):
                if reason := self._reason_against_folder(names[depth:end]):
                    if tuple(names[:end]) not in left_out:
                        left_out.add(tuple(names[:end]))
                        self.found.ignore(reason, folder.below(names[:end], size=0).name)
                    break
            else:
                self._met(_remote(place), names[depth:])


def _remote(place: StorePlace) -> Target:
    kind = file_kinds.judged_as(place.path)
    return Target(place.name, place.path, place.store, place.size, kind, modified=place.modified)


def _local(path: str, size: int | None = None, trouble: str = "") -> Target:
    return Target(path, path, size=size, kind=file_kinds.judged_as(path), trouble=trouble)


def _depth_of_match(pattern: PathPattern, names: Sequence[str]) -> int | None:
    """The number of leading names that match the whole pattern: all for the file itself, fewer for a folder above it."""
    states = pattern.start()
    for depth, name in enumerate(names):
        if pattern.accepts(states):
            return depth
        states = pattern.step(states, name)
    return len(names) if pattern.accepts_file(states) else None


def _type_of(entry: os.DirEntry[str]) -> str:
    """``folder``, ``file`` or ``special``; a dangling link is a file, and opening it reports the error."""
    try:
        if entry.is_dir():
            return "folder"
        return "file" if entry.is_file() or entry.is_symlink() else "special"
    except OSError:
        return "file"


def _joined(folder: str, name: str) -> str:
    """A joined path, without a leading dot that the user did not write."""
    if folder in ("", "."):
        return name
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def _shown(text: str) -> str:
    return printable(text) or "''"
