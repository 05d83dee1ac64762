"""Type DISTINCT_SET: the values that occur in a file, in each row group, or in each data page.

A part without the flag NULLS has no null, and a part without NAN has no NaN. A COMPLETE part lists all its values.

    >>> from pqassay_spec.parquet.thrift import Type
    >>> parts = [DistinctSet(SetFlags.COMPLETE, (b"lead", b"tin")), DistinctSet(SetFlags.NULLS | SetFlags.COMPLETE, ())]
    >>> blob = build_sets(Type.BYTE_ARRAY, parts)
    >>> len(blob), [part.values for part in read_sets(Type.BYTE_ARRAY, None, blob)]
    (51, [(b'lead', b'tin'), ()])

Source: chapter ``directory.md``, section "Distinct sets".
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from typing import Any, NamedTuple

from construct import Array, Bytes, Int32ul, Int64ul, Struct, this

from pqassay_spec.base.errors import Malformed
from pqassay_spec.directory.packed_values import join_values, split_values
from pqassay_spec.grammar.constructs import expressed
from pqassay_spec.grammar.flat_records import FlatStruct, flat_struct, member
from pqassay_spec.grammar.labelled import Labelled


class SetFlags(IntFlag):
    """The flags of a part."""

    NULLS = 1
    NAN = 2
    COMPLETE = 4


@expressed("heads[_index].values_length")
def _values_length(blob: Any) -> int:
    return int(blob.heads[blob._index].values_length)  # noqa: SLF001 - construct's name for a position in an array


# --8<-- [start:grammar]
@flat_struct
class SetHead(FlatStruct):
    """What precedes the values of a part."""

    flags: int = member(
        Labelled(Int32ul, SetFlags),
        "NULLS: a row is null. NAN: a value is NaN. COMPLETE: every value of the part is listed, but for NaN.",
    )
    value_count: int = member(Int32ul, "Values listed.")
    values_length: int = member(Int64ul, "Bytes of the values.")


SETS = Struct(
    "part_count" / Int32ul * "Parts: 1, or those of the granularity.",
    "heads" / Array(this.part_count, SetHead.grammar) * "One head per part.",
    "values"
    / Array(this.part_count, Bytes(_values_length))
    * "The values of each part: PLAIN, ascending, each once.",
)
"""The blob of an index of this type."""
# --8<-- [end:grammar]

KNOWN_FLAGS = sum(SetFlags)
HEADS_START = Int32ul.sizeof()
"""Where the heads begin in a blob, in bytes."""


class DistinctSet(NamedTuple):
    """One part: its flags, and the bytes of each value."""

    flags: int
    values: tuple[bytes, ...]


class SetPart(NamedTuple):
    """One part before its values are parsed: its head, and where its values are in the blob."""

    head: SetHead
    start: int
    end: int


def set_parts(blob: bytes) -> list[SetPart]:
    """The parts of a blob.

    Raises:
        Malformed: Rule DIR-020, the lengths do not fill the blob.
    """
    count = Int32ul.parse(blob[:HEADS_START]) if len(blob) >= HEADS_START else -1
    position = HEADS_START + count * SetHead.size
    if count < 0 or position > len(blob):
        raise Malformed(f"a blob of {len(blob)} bytes has no room for its heads", rule="DIR-020")
    parts: list[SetPart] = []
    for head in SetHead.iterate(blob, HEADS_START, count):
        parts.append(SetPart(head, position, position + head.values_length))
        position += head.values_length
    if position != len(blob):
        raise Malformed(f"the parts take {position} bytes, the blob has {len(blob)}", rule="DIR-020")
    return parts


def read_sets(kind: int, type_length: int | None, blob: bytes) -> list[DistinctSet]:
    """The parts of a blob with their values. Raises `Malformed`, rules DIR-020 and DIR-022."""
    return [
        DistinctSet(
            part.head.flags,
            tuple(split_values(kind, type_length, blob[part.start : part.end], part.head.value_count)),
        )
        for part in set_parts(blob)
    ]


def build_sets(kind: int, parts: Sequence[DistinctSet]) -> bytes:
    """The blob of some parts; their values are in order already."""
    packed = [join_values(kind, part.values) for part in parts]
    heads = [
        SetHead(int(part.flags), len(part.values), len(data))
        for part, data in zip(parts, packed, strict=True)
    ]
    return Int32ul.build(len(parts)) + b"".join(head.build() for head in heads) + b"".join(packed)
