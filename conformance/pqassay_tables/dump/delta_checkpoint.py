"""The trace of a checkpoint in Parquet: the bytes of the file, then the actions in its rows.

Columns are encoded and compressed: a value of an action has the place of all column chunks of its row group.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

from pqassay.dump import parquet
from pqassay.dump.forms import Sink
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import Source
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.parquet.file import chunk_start
from pqassay_spec.table.json_places import members
from pqassay_tables.dump.delta_log import documented
from pqassay_tables.metadata.delta.checkpoint import actions_of_parquet

BATCH = 4096
"""The number of leaves that are passed on at once."""


def trace(source: Source, sink: Sink) -> list[FormatError]:
    """See `pqassay.dump.dump`."""
    errors = parquet.trace(source, sink)
    if errors:
        return errors
    groups = _groups(source)
    leaves: list[Leaf] = []
    try:
        for _, number, action in actions_of_parquet(source.name, source.read(0, source.size)):
            start, end = next((place for last, place in groups if number < last), (0, source.size))
            for path, value in _values(action, ()):
                leaves.append(
                    Leaf(
                        f"actions[{number}].{'.'.join(path).replace('.[', '[')}",
                        start,
                        end - start,
                        value,
                        documented(path),
                    )
                )
            if len(leaves) >= BATCH:
                sink(leaves)
                leaves = []
    except FormatError as error:
        errors.append(error)
    sink(leaves)
    return errors


def _groups(source: Source) -> list[tuple[int, tuple[int, int]]]:
    """For each row group, the cumulative number of rows, and the byte range of its chunks."""
    groups: list[tuple[int, tuple[int, int]]] = []
    rows = 0
    with suppress(FormatError):
        file = FileUnderTest(source, Options("footer"))
        metadata = file.metadata
        places: dict[int, list[tuple[int, int]]] = {}
        for group, _, _, chunk in file.own_chunks:
            start = chunk_start(chunk)
            if start is not None and chunk.meta_data is not None:
                places.setdefault(group, []).append((start, start + chunk.meta_data.total_compressed_size))
        for number, group_facts in enumerate(metadata.row_groups):
            rows += group_facts.num_rows
            held = places.get(number, [(0, source.size)])
            groups.append((rows, (min(start for start, _ in held), max(end for _, end in held))))
    return groups


def _values(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values that contain no others, each with its path."""
    if isinstance(value, dict):
        for name, member in cast("dict[str, Any]", value).items():
            yield from _values(member, (*path, name))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _values(member, (*path[:-1], f"{path[-1]}[{number}]"))
    elif isinstance(value, str) and value.startswith("{"):
        try:
            found = [(one.path, one.value) for one in members(value.encode())]
        except ValueError:
            found = [((), value)]
        for below, member in found:
            yield (*path, *below), member
    elif value is not None:
        yield path, value if isinstance(value, (str, int, float, bytes)) else str(value)
