"""The commands that repair an entry of an index directory: rebuild, refresh or drop it."""

from __future__ import annotations

from pqassay.checks.commands import index_command
from pqassay.under_test.file import NotApplicable, NotChecked
from pqassay.under_test.index_directory import EntryUnderTest
from pqassay_spec.base.errors import FormatError
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.named_types import is_type_name
from pqassay_spec.directory.placement import has_other_extension


def remedy_for(entry: EntryUnderTest) -> str:
    """The command for an entry: refresh a stale entry, drop an entry whose columns cannot be described, rebuild any other."""
    try:
        entry.require_known()
    except NotChecked:
        return ""
    if entry.is_named:  # only its owner can make it
        return _dropping(entry)
    try:
        if entry.stale and entry.is_last:  # the effective entry may be fresh, and then nothing is refreshed
            return index_command(entry.file, "refresh")
        if any(entry.strange_codes()) or next(entry.wrong_columns(), "") or entry.pages_problem():
            return _dropping(entry)
        if entry.head.type == IndexType.IDX1 and entry.head.granularity != Granularity.FILE:
            return _dropping(entry)
    except (FormatError, NotApplicable, NotChecked):
        return index_command(entry.file, "drop", "--stale")
    return _making(entry)


def _dropping(entry: EntryUnderTest) -> str:
    """The command that drops an entry, together with entries of the same type and columns."""
    columns = _columns(entry)
    if columns is None or (entry.is_named and not is_type_name(entry.entry.type_name)):
        return ""
    return index_command(entry.file, "drop", "--type", _type(entry), "--columns", columns)


def _making(entry: EntryUnderTest) -> str:
    """The command that rebuilds an entry, replacing the one with the same key."""
    columns, head = _columns(entry), entry.head
    if columns is None:
        return ""
    options = ["--type", _type(entry), "--columns", columns]
    if head.type == IndexType.IDX1:
        options += ["--placement", "body"]  # otherwise it would be written under the key of IDX1
    else:
        options += ["--granularity", _dashed(Granularity(head.granularity).name)]
        placement = Placement(head.placement)
        if placement is Placement.EXTENSION and has_other_extension(entry.file.metadata):
            placement = Placement.INLINE  # another owner uses the field
        if placement is not Placement.BODY:
            options += ["--placement", _dashed(placement.name)]
    return index_command(entry.file, "add", *options)


def _columns(entry: EntryUnderTest) -> str | None:
    """The columns as command arguments; ``None`` if a name has a dot or a comma, which arguments cannot express."""
    if any(mark in name for path in entry.entry.columns for name in path for mark in ".,"):
        return None
    return ",".join(".".join(path) for path in entry.entry.columns) or None


def _type(entry: EntryUnderTest) -> str:
    return entry.entry.type_name or _dashed(IndexType(entry.head.type).name)


def _dashed(name: str) -> str:
    return name.lower().replace("_", "-")
