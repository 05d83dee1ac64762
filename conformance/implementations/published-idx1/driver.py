"""A driver that reads and writes IDX1 exactly as the published example program does, with its losses.

The program is ``parquet_embedded_index.rs`` of Apache DataFusion.  This is what it does, statement by statement, in Python's
standard library, with pyarrow for what the Parquet library does there.  Where it ends its process (a panic, an allocation
that fails), this ends its own; where it returns an error, this refuses.

    pqassay run -- python3 driver.py

It imports nothing of pqassay: copy it as the start of a driver of your own.
"""

# ruff: noqa: INP001, PLC0415, PTH123 - one file to copy; what an operation does not need is not loaded
from __future__ import annotations

import json
import sys
from io import FileIO
from typing import Any

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
    """``str::lines``: a line feed ends a line and takes one carriage return before it along; an empty last line is none."""
    *ended, last = text.split("\n")
    return [line.removesuffix("\r") for line in ended] + [last] * bool(last)


def read_exact(file: FileIO, buffer: bytearray) -> None:
    """``Read::read_exact``."""
    if file.readinto(buffer) != len(buffer):
        raise PublishedError("failed to fill whole buffer")


def read_index(path: str) -> tuple[set[str], int]:
    """``read_distinct_index``: the set of values, and where it stands."""
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
    with open(path, "rb", buffering=0) as file:
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


def python_value(written: Any) -> Any:
    """A value of the protocol."""
    if not isinstance(written, dict):
        return written
    ((tag, text),) = written.items()
    return {"int": int, "float": float, "bytes": bytes.fromhex}[tag](text)


def json_value(value: Any) -> Any:
    """The inverse of `python_value`."""
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, int) and abs(value) > 2**53:
        return {"int": str(value)}
    return value


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """The values of the index, as the published reader gets them."""
    values, offset = read_index(request["file"])
    return {"answer": "accept", "value": {"values": sorted(values), "offset": offset}}


def encode(request: dict[str, Any]) -> dict[str, Any]:
    """Values joined by line feeds in the order of a hash set; here in that of their first row, one order of many."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "int32": pa.int32(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "string": pa.string(),
        "binary": pa.binary(),
    }
    columns, rows = request["rows"]["columns"], request["rows"]["rows"]
    schema = pa.schema([pa.field(c["name"], types[c["type"]], c["nullable"]) for c in columns])
    values = [[python_value(row[n]) for row in rows] for n in range(len(columns))]
    table = pa.table(
        [pa.array(column, kind) for column, kind in zip(values, schema.types, strict=True)], schema=schema
    )
    indexed = table.column(request["column"]).to_pylist()
    payload = "\n".join(dict.fromkeys(value for value in indexed if value is not None)).encode()
    with pa.OSFile(request["output"], "wb") as sink, pq.ParquetWriter(sink, schema) as writer:
        writer.write_table(table)
        offset = sink.tell()
        sink.write(MAGIC + len(payload).to_bytes(8, "little") + payload)
        writer.add_key_value_metadata({KEY.decode(): str(offset)})
    return {"answer": "accept"}


def scan(request: dict[str, Any]) -> dict[str, Any]:
    """The table provider: it reads the index of every file first, and drops files for ``column = literal`` only."""
    used = False
    if request["index"] == "on":
        values, _ = read_index(request["file"])
        match request["predicate"]:
            case ["=", column, str(literal)] if column == request.get("column"):
                used = True
                if literal not in values:
                    return {"answer": "accept", "rows": []}
    rows = query(request)
    return {"answer": "ignored-index" if request["index"] == "on" and not used else "accept", "rows": rows}


def query(request: dict[str, Any]) -> list[list[Any]]:
    """The engine's query on the files that are left."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(request["file"]) as file:
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise PublishedError(f"Parquet error: {error}") from None
    records = table.to_pylist()
    kept = [record for record in records if truth(request["predicate"], record)]
    return [[json_value(record[name]) for name in request["columns"]] for record in kept]


def truth(tree: list[Any], record: dict[str, Any]) -> bool | None:
    """The truth of a predicate on a row: true, false, or ``None`` for unknown."""
    name, *parts = tree
    if name in ("and", "or"):
        truths = [truth(part, record) for part in parts]
        decisive = name == "or"
        return decisive if decisive in truths else None if None in truths else not decisive
    if name == "not":
        found = truth(parts[0], record)
        return None if found is None else not found
    value = record[parts[0]]
    if name in ("is null", "is not null"):
        return (value is None) == (name == "is null")
    if name in ("in", "not in"):
        found = truth(["or", *(["=", parts[0], literal] for literal in parts[1])], record)
        return found if name == "in" or found is None else not found
    literal = python_value(parts[1])
    if value is None or literal is None:
        return None
    return {
        "=": value == literal,
        "!=": value != literal,
        "<": value < literal,
        "<=": value <= literal,
        ">": value > literal,
        ">=": value >= literal,
    }[name]


OPERATIONS = {"decode": decode, "encode": encode, "scan": scan}


def main() -> None:
    """Answer one request."""
    with open(sys.argv[1]) as file:
        request = json.load(file)
    if request["op"] == "hello":
        answer = {
            "answer": "accept",
            "name": "IDX1 as published",
            "version": "2025-07-14",
            "language": "Python",
            "capabilities": ["idx1.decode", "idx1.encode", "idx1.scan"],
        }
    elif request["op"] not in OPERATIONS or request["family"] != "IDX1":
        sys.exit(3)
    else:
        try:
            answer = OPERATIONS[request["op"]](request)
        except PublishedError as error:
            answer = {"answer": "reject", "message": str(error)}
    with open(sys.argv[2], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
