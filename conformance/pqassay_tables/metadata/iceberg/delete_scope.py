"""The data files to which deletes apply, determined by sequence numbers, partition specs and partition values.

Source: the Iceberg specification, "Scan Planning".
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pqassay_spec.table import iceberg_field_ids as field_ids
from pqassay_spec.table.iceberg import DATA, DELETE_FILE_PATH, EQUALITY_DELETES
from pqassay_tables.metadata.iceberg.manifests import Entry
from pqassay_tables.metadata.iceberg.state import IcebergState


class Partition(NamedTuple):
    """The partition of a file: the id of its spec, and the values in the order of the spec's fields."""

    spec: int
    values: tuple[Any, ...]


class DeleteScope:
    """Determines the data files to which deletes apply.

    Args:
        state: The table.
    """

    def __init__(self, state: IcebergState) -> None:
        self._state = state
        self._oldest: dict[Partition | None, int] = {}
        """The least sequence number of data files by partition; ``None`` is the key for all."""
        for entry in state.data:
            sequence = entry.sequence
            oldest = -1 if sequence is None else sequence  # a file with an unknown number may be older
            for key in (self.partition_of(entry), None):
                self._oldest[key] = min(oldest, self._oldest.get(key, oldest))

    def partition_of(self, entry: Entry) -> Partition:
        """The partition of a file."""
        spec = entry.manifest.listed.spec
        values = (entry.partition_value(one.id)[1] for one in self._state.schema.specs.get(spec, ()))
        return Partition(spec, tuple(map(_comparable, values)))

    def why_not(self, delete: Entry, data: Entry) -> str:
        """Why deletes do not apply to a data file; empty if they do."""
        if not self._is_global(delete):
            own, other = self.partition_of(delete), self.partition_of(data)
            if own.spec != other.spec:
                return f"it has partition spec {own.spec}, but the data file has {other.spec}"
            if own.values != other.values:
                return f"it is in partition {_shown(own)}, but the data file is in {_shown(other)}"
        return self._why_not_by_age(delete, data.sequence)

    def why_dead(self, delete: Entry) -> str:
        """Why deletes apply to no data file; empty if they may apply to one."""
        name = named_by(delete)
        if name is not None:
            data = self._state.by_path.get(name)
            if data is None:
                return f"{name} is not a live data file"
            why = self.why_not(delete, data)
            return f"{why}, {name}" if why else ""
        key = None if self._is_global(delete) else self.partition_of(delete)
        oldest = self._oldest.get(key)
        if oldest is None:
            return "there is no live data file" + (f" in partition {_shown(key)} of its spec" if key else "")
        why = self._why_not_by_age(delete, oldest)
        return why.replace("the data file", "the oldest data file there") if why else ""

    def _why_not_by_age(self, delete: Entry, sequence: int | None) -> str:
        own = delete.sequence
        if own is None or sequence is None:
            return ""
        is_older = own <= sequence if delete.content == EQUALITY_DELETES else own < sequence
        return f"it has sequence number {own}, but the data file has {sequence}" if is_older else ""

    def _is_global(self, delete: Entry) -> bool:
        """Whether deletes apply to all partitions: equality deletes with a spec without fields."""
        fields = self._state.schema.specs.get(delete.manifest.listed.spec, ())
        return delete.content == EQUALITY_DELETES and all(one.transform == "void" for one in fields)


def named_by(delete: Entry) -> str | None:
    """The only data file of position deletes: the named file, or the file that equals both bounds of their paths."""
    if delete.content in (DATA, EQUALITY_DELETES):
        return None
    name: str | None = delete.value(field_ids.REFERENCED_DATA_FILE)
    if name is not None:
        return name
    lower: dict[int, bytes] = delete.value(field_ids.LOWER_BOUNDS) or {}
    upper: dict[int, bytes] = delete.value(field_ids.UPPER_BOUNDS) or {}
    low = lower.get(DELETE_FILE_PATH)
    try:
        return low.decode() if low is not None and low == upper.get(DELETE_FILE_PATH) else None
    except UnicodeDecodeError:
        return None


def _comparable(value: Any) -> Any:
    """A hashable form of a partition value, equal for equal values; also for NaN and invalid values."""
    if value is None or isinstance(value, (str, bytes, int)):
        return value
    return repr(value)


def _shown(partition: Partition) -> str:
    return str(list(partition.values))[:80]
