"""A driver that reads and writes IDX1 exactly as the published example program does, with its losses.

The program is ``parquet_embedded_index.rs`` of Apache DataFusion.  This is what it does, statement by statement, in Python's
standard library, with pyarrow for what the Parquet library does there.  Where it ends its process (a panic, an allocation
that fails), this ends its own; where it returns an error, this refuses.

    pqassay suite run -- python3 driver.py
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parents[1] / "skeletons" / "python"))

from pqassay_driver import Driver, Query, Written, main, matching

KEY = b"distinct_index_offset"
MAGIC = b"IDX1"
U64 = 2**64


class PublishedError(Exception):
    """An error that the published program returns."""


def parse_u64(text: str) -> int:
    """``str::parse::<u64>``: ASCII digits, one plus sign allowed."""
    digits = text.removeprefix("+")
    if not digits:
        raise PublishedError("cannot parse integer from empty string")
    if not all("0" <= digit <= "9" for digit in digits):
        raise PublishedError("invalid digit found in string")
    if len(digits.lstrip("0")) > 20 or int(digits.lstrip("0") or "0") >= U64:
        raise PublishedError("number too large to fit in target type")
    return int(digits.lstrip("0") or "0")


def lines(text: str) -> list[str]:
    """``str::lines``: a line feed ends a line and takes one carriage return before it along; an empty last line does not count."""
    *ended, last = text.split("\n")
    return [line.removesuffix("\r") for line in ended] + [last] * bool(last)


def read_exact(file: FileIO, buffer: bytearray) -> None:
    """``Read::read_exact``."""
    if file.readinto(buffer) != len(buffer):
        raise PublishedError("failed to fill whole buffer")


def read_index(path: str) -> tuple[set[str], int]:
    """``read_distinct_index``: the set of values, and where it is."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        keys = pq.read_metadata(path).metadata or {}  # of two pairs with one key, the first
    except (pa.ArrowException, OSError) as error:
        raise PublishedError(f"Parquet error: {error}") from None
    if KEY not in keys:
        raise PublishedError("Missing index offset")
    try:
        offset = parse_u64(keys[KEY].decode())
    except UnicodeDecodeError:
        raise PublishedError("the footer is not UTF-8") from None
    with Path(path).open("rb", buffering=0) as file:
        try:
            file.seek(offset)
        except (OSError, OverflowError):
            raise PublishedError("IO error: Invalid argument (os error 22)") from None
        magic, length = bytearray(4), bytearray(8)
        read_exact(file, magic)
        if magic != MAGIC:
            raise PublishedError(f"Invalid index magic number at offset {offset}")
        read_exact(file, length)
        # Whatever the length says is allocated first: this may end the process.
        payload = bytearray(int.from_bytes(length, "little"))
        read_exact(file, payload)
    try:
        return set(lines(payload.decode())), offset
    except UnicodeDecodeError:
        raise PublishedError("Invalid UTF-8 in index data") from None


def rows(path: str, asked: Query) -> list[list[Written]]:
    """The engine's query on the files that are left."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from arrow_tables import rows_of

    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise PublishedError(f"Parquet error: {error}") from None
    names = table.column_names
    found = matching(asked.predicate, names, rows_of(table, names))
    return [[record[name] for name in asked.columns] for record in found]


class Published(Driver):
    """The published program."""

    name = "IDX1 as published"
    version = "2025-07-14"
    language = "Python"
    ignores = frozenset()
    capabilities: ClassVar = ("idx1.decode", "idx1.encode", "idx1.scan")

    def decode(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the index, as the published reader gets them."""
        values, offset = read_index(request["file"])
        return {"values": sorted(values), "offset": offset}

    def scan(self, path: str, query: Query) -> list[list[Written]]:
        """The table provider: it reads the index of every file first, and drops files for ``column = literal`` only."""
        if query.index:
            values, _ = read_index(path)
            match query.predicate:
                case ["=", query.about, str(literal)] if literal not in values:
                    return []
                case _:
                    pass
        return rows(path, query)

    def encode(self, request: Mapping[str, Any]) -> None:
        """Values joined by line feeds in the order of a hash set; here in that of their first row, one order of many."""
        import pyarrow as pa
        import pyarrow.parquet as pq
        from arrow_tables import table_of

        table = table_of(request["rows"])
        indexed = table.column(request["column"]).to_pylist()
        payload = "\n".join(dict.fromkeys(value for value in indexed if value is not None)).encode()
        with pa.OSFile(request["output"], "wb") as sink, pq.ParquetWriter(sink, table.schema) as writer:
            writer.write_table(table)
            offset = sink.tell()
            sink.write(MAGIC + len(payload).to_bytes(8, "little") + payload)
            writer.add_key_value_metadata({KEY.decode(): str(offset)})

    def is_crash(self, error: Exception) -> bool:
        """Everything but the errors that the published program returns ends it."""
        return not isinstance(error, PublishedError)


if __name__ == "__main__":
    main(Published())
