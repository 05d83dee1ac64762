"""The check of summary files against the files that they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pqassay.checks import rule
from pqassay.checks.subjects import ROW_GROUP, Subject
from pqassay.under_test.file import Broken, FileUnderTest, NotChecked
from pqassay.under_test.footer_parts import RowGroupUnderTest
from pqassay.under_test.violation import Violation
from pqassay_spec.base.errors import FormatError
from pqassay_spec.parquet.thrift import RowGroup

MOST_FILES = 500
"""The number of files that are opened for one summary."""


class NamedFile(NamedTuple):
    """A file that a summary names.

    Attributes:
        summary: The summary.
        path: The path of the file, relative to the summary.
        groups: The claims of the summary about its row groups, in order.
    """

    summary: FileUnderTest
    path: str
    groups: Sequence[RowGroupUnderTest]


def _named_files(file: FileUnderTest) -> list[NamedFile]:
    if not file.is_summary:
        return []
    groups_by_path: dict[str, list[RowGroupUnderTest]] = {}
    for group in ROW_GROUP.find(file):
        paths = {chunk.file_path or "" for chunk in group.part.columns}
        if "" in paths:
            raise Broken("PQF-035")
        if len(paths) > 1:
            raise NotChecked(f"row group {group.number} is stored in several files", "tool")
        for path in paths:
            groups_by_path.setdefault(path, []).append(group)
    return [NamedFile(file, path, groups) for path, groups in groups_by_path.items()]


NAMED_FILE = Subject("file of a summary", _named_files)
"""The subject of files that a summary describes."""


@rule("PQF-156", of=NAMED_FILE)
def summaries_are_those_of_their_files(named: NamedFile) -> Iterator[Violation]:
    """Engines count rows and select row groups by the summary, but read the current file."""
    actual = _row_groups(named)
    told = [group.part for group in named.groups]
    before = sum(group.num_rows for group in told), len(told)
    now = sum(group.num_rows for group in actual), len(actual)
    first = named.groups[0]
    if before != now:
        yield Violation(
            f"{named.path} has {_counted(*now)}, but the summary counts {_counted(*before)}",
            first.field,
            expected=_counted(*now),
            actual=_counted(*before),
            row_group=first.number,
        )
        return
    for group, stored in zip(named.groups, actual, strict=True):
        for name in _MEMBERS:
            told_here, here = getattr(group.part, name), getattr(stored, name)
            if told_here != here:
                yield _other(named, group, name, here, told_here)
        for ordinal, (copy, chunk) in enumerate(zip(group.part.columns, stored.columns, strict=False)):
            if copy.meta_data is None or chunk.meta_data is None:
                continue
            for name in _MEMBERS_OF_CHUNKS:
                told_here, here = getattr(copy.meta_data, name), getattr(chunk.meta_data, name)
                if told_here != here:
                    yield _other(named, group, f"columns[{ordinal}].meta_data.{name}", here, told_here)


_MEMBERS = ("num_rows", "total_byte_size")
_MEMBERS_OF_CHUNKS = (
    "num_values",
    "data_page_offset",
    "dictionary_page_offset",
    "total_compressed_size",
    "total_uncompressed_size",
)


def _counted(rows: int, groups: int) -> str:
    return f"{rows:,} row{'s' * (rows != 1)} in {groups:,} row group{'s' * (groups != 1)}"


def _other(named: NamedFile, group: RowGroupUnderTest, member: str, here: object, told: object) -> Violation:
    said = f"{member} of row group {group.number} is {told} in the summary, but {here} in {named.path}"
    return Violation(said, group.field / member, str(here), str(told), row_group=group.number)


def _row_groups(named: NamedFile) -> Sequence[RowGroup]:
    """The row groups of the file itself.

    Raises:
        NotChecked: The file is missing, unreadable, or not below the folder of the summary.
    """
    summary, path = named.summary, named.path
    if path.startswith("/") or "\\" in path or ":" in path or ".." in path.split("/"):
        raise NotChecked(f"{path} is not in the folder of the summary", "request")
    known = summary.part(_Opened)
    if known.count >= MOST_FILES:
        raise NotChecked(f"no more than {MOST_FILES} files of a summary are opened", "tool")
    known.count += 1
    source = summary.beside(path)
    if source is None:
        raise NotChecked(f"{path}, which the summary names, does not exist", "file")
    try:
        return FileUnderTest(source, summary.options).metadata.row_groups
    except FormatError as error:
        raise NotChecked(f"{path}, which the summary names, cannot be read: {error.reason}", "file") from None


class _Opened:
    """The number of files that were opened for a summary."""

    def __init__(self, _: FileUnderTest) -> None:
        self.count = 0
