"""Speed of decoding a footer: the generated decoder against generic decoders, the grammar and pyarrow.

    python benchmarks/thrift.py [--columns 500] [--row-groups 100] [--rounds 7]

The footer is that of a file of 500 columns and 100 row groups, which pyarrow writes (50,000 column chunks, with
statistics and page index).  All decoders run in one process, in turns, on the same bytes in memory.

Goals: the generated decoder reads at least 8 MB/s, and at least 4 times as fast as thriftpy2.

thriftpy2 is the generic decoder as people use it: a Thrift library whose compact protocol is written in Python
and interprets, field by field, the classes that it makes from the text of a Thrift file.  That text is made here
from our own tables.  The bytes come from its memory buffer, which on CPython is compiled and the fastest it has.
It checks less than the generated decoder: neither required fields nor types of list elements, and it drops
unknown fields.  Before anything is measured, its values are compared with ours, all of them.

Two generic decoders of our own are beside it, in plain Python and written for speed.  The one by tables gives
the same records as the generated one: names, text, types checked, required fields, unknown fields raw; it shows
what is gained where the result is the same.  The one without tables does least: dicts by field id, nothing
checked but lengths.  No goal names them; their ratios are printed.

The generated decoder pauses the cycle collector, as it does for all its callers; the others run with it on.  With
it off for all of them, thriftpy2 and the generic decoder by tables are as far behind.
"""

from __future__ import annotations

import argparse
import inspect
import io
import struct
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import thriftpy2
from _measure import cached, goal, print_table, seconds
from thriftpy2.protocol.compact import TCompactProtocol, TCompactProtocolFactory
from thriftpy2.utils import deserialize

from pqassay_spec.base.sources import FileSource
from pqassay_spec.grammar.thrift import (
    BINARY,
    BOOL,
    DOUBLE,
    I8,
    STRING,
    EnumOf,
    Field,
    FieldType,
    ListOf,
    Record,
    UnknownField,
    grammar,
    require_fields,
    type_name,
    wire_type,
)
from pqassay_spec.grammar.thrift_decoder import decode
from pqassay_spec.grammar.thrift_wire import skip
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.thrift import FileMetaData

SPEED = 8.0
"""Goal, in MB/s."""

RATIO = 4.0
"""Goal, in times the speed of thriftpy2."""


def make_file(path: Path, *, columns: int, row_groups: int) -> None:
    """Write a file whose column chunks hold one value each: integers, floats and texts in turn."""
    kinds: list[pa.DataType] = [pa.int64(), pa.float64(), pa.string(), pa.timestamp("us", "UTC"), pa.int32()]
    schema = pa.schema([(f"column_{index:04}", kinds[index % len(kinds)]) for index in range(columns)])
    with pq.ParquetWriter(path, schema, write_page_index=True, store_schema=False) as writer:
        for turn in range(row_groups):
            texts = [f"value {turn}" if pa.types.is_string(field.type) else turn * 1000 for field in schema]
            arrays = [pa.array([value], field.type) for value, field in zip(texts, schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


# ------------------------------------------------------------------------------------------------ thriftpy2


def thrift_text(record: type[Record]) -> str:
    """The declarations of a struct and of all that it contains, as the text of a Thrift file."""
    declared: dict[str, str] = {}

    def name(kind: FieldType) -> str:
        if isinstance(kind, ListOf):
            return f"list<{name(kind.element)}>"
        if isinstance(kind, EnumOf):
            return "i32"
        if isinstance(kind, type):
            declare(kind)
        return type_name(kind)

    def declare(struct: type[Record]) -> None:
        # What a struct contains is declared before it, as thriftpy2 wants it: `name` sees to that.
        if struct.__name__ not in declared:
            rows = [
                f"  {field.id}: {'required' if field.required else 'optional'} {name(field.type)} {field.name}"
                for field in struct.fields
            ]
            keyword = "union" if struct.is_union else "struct"
            declared[struct.__name__] = "\n".join([f"{keyword} {struct.__name__} {{", *rows, "}"])

    declare(record)
    return "\n".join(declared.values())


def thriftpy2_decoder(record: type[Record]) -> Callable[[bytes], Any]:
    """A function that decodes one struct with thriftpy2, whose doubles are little-endian as those of Parquet."""
    if not inspect.isfunction(TCompactProtocol.read_struct):
        raise SystemExit("thriftpy2's compact protocol is not written in Python any more")
    module = thriftpy2.load_fp(io.StringIO(thrift_text(record)), "tables_thrift")
    payload = getattr(module, record.__name__)
    factory: Any = TCompactProtocolFactory  # without types
    return lambda data: deserialize(payload(), data, factory())


def same(ours: Any, other: Any) -> bool:
    """True if every value of a record is in an object with attributes of the same names."""
    if isinstance(ours, Record):
        return all(same(getattr(ours, field.name), getattr(other, field.name)) for field in ours.fields)
    if isinstance(ours, list) and isinstance(other, list):
        return len(ours) == len(other) and all(map(same, ours, other))
    return bool(ours == other)


# ------------------------------------------------------------------------------- our own generic decoders


class Wire:
    """A position in bytes of compact Thrift, and how to read what has no parts."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def varint(self) -> int:
        """An unsigned varint."""
        data, position = self.data, self.position
        byte = data[position]
        position += 1
        value = byte & 0x7F
        shift = 7
        while byte & 0x80:
            if shift > 63:
                raise ValueError("a varint longer than 10 bytes")
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
        self.position = position
        return value

    def zigzag(self) -> int:
        """A signed varint."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def byte(self) -> int:
        """A signed byte."""
        value = self.data[self.position]
        self.position += 1
        return value - 256 if value > 127 else value

    def double(self) -> float:
        """A little-endian double."""
        value: float = struct.unpack_from("<d", self.data, self.position)[0]
        self.position += 8
        return value

    def binary(self) -> bytes:
        """Bytes after their length."""
        length = self.varint()
        return self.take(length)

    def take(self, length: int) -> bytes:
        """The next bytes."""
        start = self.position
        self.position = start + length
        if self.position > len(self.data):
            raise ValueError("a length beyond the end")
        return self.data[start : self.position]

    def list_header(self) -> tuple[int, int]:
        """Element count and element wire type."""
        header = self.data[self.position]
        self.position += 1
        size = header >> 4
        if size == 15:
            size = self.varint()
        if size > len(self.data) - self.position:
            raise ValueError("a list beyond the end")
        return size, header & 15


class WithoutTables(Wire):
    """Structs become dicts by field id, for nothing is known of what fields mean; texts stay bytes.

    It does less than the generated decoder: no names, no text, no types checked, no required fields.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        readers: dict[int, Callable[[], Any]] = {
            1: lambda: True,
            2: lambda: False,
            3: self.byte,
            7: self.double,
        }
        readers |= dict.fromkeys((4, 5, 6), self.zigzag) | {8: self.binary, 9: self.listed, 10: self.listed}
        self.readers = readers | {11: self.map, 12: self.struct, 13: lambda: self.take(16)}

    def struct(self) -> dict[int, Any]:
        """The fields of a struct by their ids."""
        data, readers = self.data, self.readers
        fields: dict[int, Any] = {}
        identifier = 0
        while True:
            header = data[self.position]
            self.position += 1
            if header == 0:
                return fields
            delta = header >> 4
            identifier = identifier + delta if delta else self.zigzag()
            fields[identifier] = readers[header & 15]()

    def listed(self) -> list[Any]:
        """The elements of a list."""
        size, kind = self.list_header()
        read = self.listed_bool if kind in (1, 2) else self.readers[kind]
        return [read() for _ in range(size)]

    def map(self) -> list[tuple[Any, Any]]:
        """The pairs of a map."""
        size = self.varint()
        if not size:
            return []
        kinds = self.data[self.position]
        self.position += 1
        key, value = self.readers[kinds >> 4], self.readers[kinds & 15]
        return [(key(), value()) for _ in range(size)]

    def listed_bool(self) -> bool:
        """A bool inside a list."""
        return self.byte() == 1


NOTHING = (0, Field(0, "", BOOL, required=False, doc=""))
"""Stand-in for the row of a field that no table has; no field has wire type 0."""


class ByTables(Wire):
    """The same records as those of the generated decoder, by looking every field up in its declared table.

    Written as one writes a decoder of Thrift tables without generating code: a loop over the fields of a struct,
    and a choice by the declared type of each value.
    """

    tables: ClassVar[dict[type[Record], dict[int, tuple[int, Field]]]] = {}

    def record(self, declaration: type[Record]) -> Record:
        """A struct."""
        table = self.tables.get(declaration)
        if table is None:
            table = {field.id: (wire_type(field.type), field) for field in declaration.fields}
            self.tables[declaration] = table
        data = self.data
        record = object.__new__(declaration)
        for field in declaration.fields:
            setattr(record, field.name, None)
        unknown: list[UnknownField] = []
        identifier = 0
        while True:
            header = data[self.position]
            self.position += 1
            if header == 0:
                break
            delta = header >> 4
            identifier = identifier + delta if delta else self.zigzag()
            wire = header & 15
            declared, field = table.get(identifier, NOTHING)
            if wire == declared:
                setattr(record, field.name, True if wire == 1 else self.value(field.type))
            elif wire == 2 and declared == 1:
                setattr(record, field.name, False)
            else:
                end = skip(data, self.position, wire)
                unknown.append(UnknownField(identifier, wire, data[self.position : end]))
                self.position = end
        record.unknown = tuple(unknown)
        require_fields(record)
        return record

    def value(self, kind: FieldType) -> Any:
        """A value of a declared type."""
        if isinstance(kind, type):
            return self.record(kind)
        if isinstance(kind, ListOf):
            size, wire = self.list_header()
            element = kind.element
            if size and wire != wire_type(element) and element is not BOOL:
                raise ValueError("a list of another type")
            if element is BOOL:
                return [self.byte() == 1 for _ in range(size)]
            return [self.value(element) for _ in range(size)]
        if kind is STRING:
            return self.binary().decode("utf-8", "surrogateescape")
        if kind is BINARY:
            return self.binary()
        if kind is DOUBLE:
            return self.double()
        return self.byte() if kind is I8 else self.zigzag()


# ------------------------------------------------------------------------------------------------- the table


def main(arguments: list[str]) -> int:
    """Measure and print; exit 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--row-groups", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)

    name = f"thrift-{options.columns}x{options.row_groups}-pyarrow-{pa.__version__}.parquet"
    make = partial(make_file, columns=options.columns, row_groups=options.row_groups)
    path = cached(name, make)
    with FileSource(path) as source:
        framing = read_framing(source)
        footer = source.read(framing.footer_start, framing.footer_length)
        tail = source.read(framing.tail_start, framing.size - framing.tail_start)
    # A file of the footer alone is all that pyarrow reads, and keeps the file system out of the comparison.
    in_memory = b"PAR1" + footer + tail

    decoded, length = decode(FileMetaData, footer)
    if length != len(footer) or ByTables(footer).record(FileMetaData) != decoded:
        raise SystemExit("the decoders disagree")
    with_thriftpy2 = thriftpy2_decoder(FileMetaData)
    if not same(decoded, with_thriftpy2(footer)):
        raise SystemExit("thriftpy2 reads other values")
    del decoded

    megabytes = len(footer) / 1e6
    print(f"A footer of {megabytes:.1f} MB: {options.columns} columns, {options.row_groups} row groups\n")
    works: dict[str, Callable[[], Any]] = {
        "generated decoder": lambda: decode(FileMetaData, footer),
        "thriftpy2, Python protocol": lambda: with_thriftpy2(footer),
        "our generic decoder, by tables": lambda: ByTables(footer).record(FileMetaData),
        "our generic decoder, without tables": lambda: WithoutTables(footer).struct(),
        "pyarrow read_metadata, C++": lambda: pq.read_metadata(io.BytesIO(in_memory)),
    }
    measured = seconds(works, options.rounds)
    measured |= seconds({"construct grammar, one round": lambda: grammar(FileMetaData).parse(footer)}, 1)
    fastest = measured["generated decoder"]
    rows = [
        [name, f"{taken * 1000:.0f}", f"{megabytes / taken:.1f}", f"{taken / fastest:.2f}"]
        for name, taken in measured.items()
    ]
    print_table(["", "ms", "MB/s", "time / generated"], rows)

    speed, ratio = megabytes / fastest, measured["thriftpy2, Python protocol"] / fastest
    reached = {
        f"the generated decoder reads at least {SPEED:.0f} MB/s ({speed:.1f})": speed >= SPEED,
        f"it is at least {RATIO:.0f} times as fast as thriftpy2 ({ratio:.1f})": ratio >= RATIO,
    }
    print()
    for sentence, good in reached.items():
        print(goal(sentence, reached=good))
    return 0 if all(reached.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
