"""The commits of a Delta table that added some of its files, searched in the log from the newest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote

from pqassay.tables.files import TableFiles
from pqassay_spec.base.errors import FormatError
from pqassay_spec.table.layout import DELTA_LOG, commit_name, delta_commit
from pqassay_tables.metadata.delta.actions import Json, actions, object_of
from pqassay_tables.metadata.owner import Owner, owner_of_commit

GONE = "the log does not reach back to the commit that added it"
NO_COMMIT = "it is not a commit"


@dataclass(frozen=True, slots=True)
class FileOwners:
    """The owners of a file.

    Attributes:
        wrote: The owner who added the file to the table.
        claimed: The owner of the live entry, which differs if statistics were computed later or rows were deleted.
    """

    wrote: Owner
    claimed: Owner


def owners_in_log(
    files: TableFiles, paths: Collection[str], version: int | None = None
) -> dict[str, FileOwners]:
    """Find the owners of data files.

    Commits are read from the newest on, until each file is found in one that wrote it, or the log ends.

    Args:
        files: The files of the table.
        paths: The data files, relative to the table.
        version: The version of the table; the newest by default.

    Returns:
        The owners of each path.

    Raises:
        OSError: The log cannot be read.
    """
    commits = {number for name in files.listed(DELTA_LOG) if (number := delta_commit(name)) is not None}
    open_, owners = set(paths), dict[str, FileOwners]()
    for number in sorted(commits, reverse=True):
        if not open_:
            break
        if version is None or number <= version:
            for path, is_first, owner in _added(files, number, open_):
                owners[path] = FileOwners(owner, owners[path].claimed if path in owners else owner)
                if is_first:
                    open_.discard(path)
    unknown = Owner(reason=GONE)
    return {path: owners.get(path, FileOwners(unknown, unknown)) for path in paths}


def owner_in_log(files: TableFiles, file: str) -> Owner:
    """The owner of a commit, given its file in the log; unknown for other files.

    Raises:
        FormatError: The file cannot be read.
        OSError: Likewise.
    """
    number = delta_commit(file.rpartition("/")[2])
    if number is None:
        return Owner(reason=NO_COMMIT)
    return owner_of_commit(number, _info(action for _, action in actions(file, files.read(file))))


def _info(lines: Iterable[Json]) -> Json | None:
    found: Any = next((action["commitInfo"] for action in lines if "commitInfo" in action), None)
    return cast("Json", found) if isinstance(found, dict) else None


def _added(files: TableFiles, number: int, wanted: Collection[str]) -> Iterator[tuple[str, bool, Owner]]:
    """Yield the wanted files that a commit adds, and whether the commit shows that they are new."""
    file = f"{DELTA_LOG}/{commit_name(number)}"
    try:
        lines = [action for _, action in actions(file, files.read(file))]
    except FormatError:
        return  # that is a finding about the table
    except FileNotFoundError:
        return
    removed = {_path(files, action["remove"]) for action in lines if "remove" in action}
    owner: Owner | None = None
    for action in lines:
        if "add" not in action:
            continue
        add: Any = action["add"]
        path = _path(files, add)
        if path is None or path not in wanted:
            continue
        owner = owner or owner_of_commit(number, _info(lines))
        # If an entry is replaced or changes no rows, the file may have existed before.
        yield path, path not in removed and cast("Json", add).get("dataChange") is True, owner


def _path(files: TableFiles, action: Any) -> str | None:
    path = object_of(action).get("path")
    return files.inside(unquote(path)) if isinstance(path, str) and path else None
