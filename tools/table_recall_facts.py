"""False facts for `table_recall`: each value in the metadata of a golden table is changed or removed.

A fact is a value in a commit, a checkpoint, a version checksum, a metadata file, a manifest list, a manifest or the header of one, the
footer of a Puffin file, or one of the files that point to others. Numbers are increased or decreased by one, texts and bytes get another
last character, and booleans are inverted. JSON members and nullable fields are removed, types are replaced, and list elements and entries
are repeated. Data files are replaced by those of golden tables. Lengths of a changed manifest in other files are corrected, so that only
one fact is false.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from construct import Container, ListContainer
from recall_answers import Kind

from pqassay.stores.table_files import TableAt
from pqassay_spec.mutation.table_mutations import TableMutation
from pqassay_spec.table.avro import (
    BLOCK_HEADER,
    CODEC_KEY,
    CONTAINER_HEADER,
    SCHEMA_KEY,
    fields_of,
    grammar_of,
)
from pqassay_spec.table.iceberg import DELETED
from pqassay_spec.table.json_places import Member, changed, members
from pqassay_spec.table.layout import DELTA_LOG, delta_checkpoint, delta_commit
from pqassay_spec.table.puffin import MAGIC, TAIL
from pqassay_tables.metadata.avro import container
from pqassay_tables.metadata.iceberg.state import PUFFIN, read_iceberg

GOLDEN_FILES = Path(__file__).resolve().parent.parent / "golden_files"

MANIFEST_LENGTH = "manifest_length"
REMOVED = "removed"

GREATEST = 1 << 62
"""The number above which, as for random ids, a number is only decreased."""

Files = Mapping[str, bytes]

Change = tuple[str, str, Callable[[], Files]]
"""The name of a fact, its change, and the function that makes the changed files; most of these are never called."""


class Fact(NamedTuple):
    """One false fact.

    Attributes:
        table: The golden table.
        kind: The field, without element numbers, and its change.
        files: The changed files.
    """

    table: str
    kind: Kind
    files: Files


MANIFESTS = [json.loads(path.read_text("utf-8")) for path in sorted(GOLDEN_FILES.rglob("table.json"))]

TABLES = tuple(one["id"] for one in MANIFESTS if one["kind"] == "valid")
"""The golden tables whose facts are changed: all valid ones."""


def writer_of(table: str) -> str:
    """The column of a table in the results: its format and writer."""
    of = "Delta" if (GOLDEN_FILES / table / "table" / "_delta_log").is_dir() else "Iceberg"
    return f"{of}, {'Spark' if table.startswith('interop/spark') else 'pqassay-ref'}"


WRITERS = tuple(sorted({writer_of(one) for one in TABLES}))
"""The columns of the results."""


def files_of(table: str) -> dict[str, bytes]:
    """The files of a golden table."""
    folder = GOLDEN_FILES / table / "table"
    found = sorted(one for one in folder.rglob("*") if one.is_file())
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in found}


def read_of(table: str, files: Files) -> list[str]:
    """The metadata files of a table that readers read.

    Files of only earlier snapshots of an Iceberg table, and commits that a Delta checkpoint replaces, are excluded.
    """
    if not any(name.endswith(".avro") for name in files):
        logged = {name: name.rpartition("/")[2] for name in files}
        checkpoints = [
            checkpoint.version
            for name in logged.values()
            if (checkpoint := delta_checkpoint(name)) is not None
        ]
        first = max(checkpoints, default=-1) + 1
        commits = {path: delta_commit(name) for path, name in logged.items()}
        return [name for name, version in commits.items() if version is None or version >= first]
    folder = str(GOLDEN_FILES / table / "table")
    state = read_iceberg(TableAt("iceberg", folder, folder))
    return [*state.sizes, *(entry.inside or "" for entry in state.entries if entry.format == PUFFIN)]


def facts_of(table: str, only: Collection[Kind] | None = None) -> list[Fact]:
    """The false facts of a golden table, optionally of some kinds, each at the last place where it occurs."""
    files = files_of(table)
    makers: dict[Kind, list[Callable[[], Files]]] = defaultdict(list)
    for file in dict.fromkeys(read_of(table, files)):
        for name, change, made in _of_file(files, file):
            makers[Kind(name, change)].append(made)
    for title, mutation in _golden(table):
        makers[Kind("data files", title)].append(partial(_mutated, files, mutation))
    kept: list[Fact] = []
    for kind, choices in makers.items():
        if only is not None and kind not in only:
            continue
        with suppress(
            ValueError, OverflowError, StopIteration, pa.ArrowException
        ):  # the value does not exist
            kept.append(Fact(table, kind, choices[-1]()))
    return kept


def _golden(table: str) -> Iterator[tuple[str, TableMutation]]:
    """Yield the changes of data files in golden tables: titles, and mutations."""
    for case in MANIFESTS:
        if case.get("parent") == table and case["mutation"]["file"].endswith(".parquet"):
            yield case["title"], TableMutation(**case["mutation"])


def _mutated(files: Files, mutation: TableMutation) -> Files:
    return {mutation.file: mutation.applied(files).get(mutation.file, b"")}


def _of_file(files: Files, file: str) -> Iterator[Change]:
    name, data = file.rpartition("/")[2], files[file]
    if name.endswith(".avro"):
        return _named("manifest list" if name.startswith("snap-") else "manifest", of_avro(files, file))
    if name.endswith(".puffin"):
        return _named("Puffin footer", of_puffin(files, file))
    if name.endswith(".checkpoint.parquet"):
        return _named("checkpoint", of_parquet(file, data))
    if ".gz." in name:
        of_plain = of_json(file, gzip.decompress(data))
        packed = ((one, change, partial(_packed, file, made)) for one, change, made in of_plain)
        return _named("metadata", packed)
    sort = next((sort for ending, sort in OF_JSON.items() if ending in name), None)
    return iter(()) if sort is None else _named(sort, of_json(file, data, removed_from(files)))


def _packed(file: str, made: Callable[[], Files]) -> Files:
    return {file: gzip.compress(made()[file], mtime=0)}


OF_JSON = {
    ".crc": "version checksum",
    "_last_checkpoint": "last checkpoint",
    ".metadata.json": "metadata",
    ".checkpoint.": "checkpoint",
    ".json": "commit",
}
"""The names of JSON files, by a part of their file name."""


def _named(sort: str, changes: Iterator[Change]) -> Iterator[Change]:
    return ((f"{sort}: {name}", change, files) for name, change, files in changes)


# ------------------------------------------------------------------------------------------------------------- values


def others(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield changed values, each with its change in words."""
    if isinstance(value, bool):
        yield "opposite", not value
    elif isinstance(value, int | float):
        if isinstance(value, float) or value < GREATEST:
            yield "one more", value + 1
        yield "one less", value - 1
    elif isinstance(value, str) and value:
        if value.lstrip("-").isdecimal():
            yield "one more", str(int(value) + 1)
            yield "one less", str(int(value) - 1)
        else:
            last = ord(value[-1])
            yield "greater text", value[:-1] + chr(last + 1)
            yield "less text", value[:-1] + chr(last - 1)
    elif isinstance(value, bytes) and value:
        yield "more", value[:-1] + bytes([value[-1] + 1 & 0xFF])
        yield "less", value[:-1] + bytes([value[-1] - 1 & 0xFF])


def _kind_of(path: Sequence[Any]) -> str:
    """The name of a field, with element numbers replaced by brackets."""
    names = (f"[{one}]" if isinstance(one, int) else str(one) for one in path)
    return re.sub(r"\.?\[\d+\]", "[]", ".".join(names))


# --------------------------------------------------------------------------------------------------------------- JSON


def removed_from(files: Files) -> set[str]:
    """The data files of a Delta table that a later commit removes, so that claims about them no longer count."""
    logs = [
        data for name, data in files.items() if name.endswith(".json") and name.startswith(f"{DELTA_LOG}/")
    ]
    actions = [
        json.loads(line) for data in logs for line in data.split(b"\n") if line.startswith(b'{"remove"')
    ]
    return {one["remove"]["path"] for one in actions}


def _is_removed(line: bytes, removed: Collection[str]) -> bool:
    return line.startswith(b'{"add"') and json.loads(line)["add"].get("path") in removed


def of_json(file: str, data: bytes, removed: Collection[str] = ()) -> Iterator[Change]:
    """Yield the facts of a file of JSON lines, or of one JSON object, except those about removed files."""
    start = 0
    for line in data.split(b"\n"):
        for path, change, new in () if _is_removed(line, removed) else _of_line(line):
            yield path, change, partial(_replaced, file, data, start, start + len(line), new)
        if line.startswith(b'{"add"') and not _is_removed(line, removed):
            yield "add", "twice", partial(_replaced, file, data, start, start, line + b"\n")
        start += len(line) + 1


def _replaced(file: str, data: bytes, start: int, end: int, new: bytes) -> Files:
    return {file: data[:start] + new + data[end:]}


def _of_line(line: bytes) -> Iterator[tuple[str, str, bytes]]:
    every = list(members(line)) if line.strip() else []
    for member in every:
        low, high = member.span
        for change, value in others(member.value):
            written = json.dumps(value, ensure_ascii=False)
            if b"\\" in (line[low - 1 : low], line[low : low + 1]):
                written = json.dumps(written, ensure_ascii=False)[1:-1]
            yield _kind_of(member.path), change, line[:low] + written.encode() + line[high:]
        for change, new in _declared_otherwise(line, member):
            yield _kind_of(member.path), change, new
        if member.path and not member.path[-1].startswith("["):
            try:
                yield _kind_of(member.path), REMOVED, changed(line, member.path, None)
            except (KeyError, IndexError):
                continue  # its name has a dot or a bracket
    for path in sorted({member.path[:end] for member in every for end in range(1, len(member.path))}):
        yield from _of_object(line, path)


TYPES = ("string", "long", "date", "binary")
"""Type names of both formats: a column of one of these types is changed to each of the others."""


def _declared_otherwise(line: bytes, member: Member) -> Iterator[tuple[str, bytes]]:
    """Yield a column with another type, or with its name in capitals."""
    if member.value in TYPES:
        for other in TYPES:
            if other != member.value:
                yield f"said to be {other}", changed(line, member.path, json.dumps(other))
    elif member.path[-1:] == ("name",) and "fields" in member.path and member.value != member.value.upper():
        yield "in capitals", changed(line, member.path, json.dumps(member.value.upper(), ensure_ascii=False))


def _of_object(line: bytes, path: tuple[str, ...]) -> Iterator[tuple[str, str, bytes]]:
    """Yield a column that is listed twice, and a new required column that no file has."""
    if path[-2:] == ("fields", "[0]"):
        value, number = json.loads(line), 0
        for name in path:
            value = json.loads(value) if isinstance(value, str) else value
            value = value[int(name[1:-1])] if name.startswith("[") else value[name]
        if "type" not in value:
            return  # a field of a partition
        if "last-column-id" in (whole := json.loads(line)):
            number = whole["last-column-id"] + 1
        old = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        new = {"id": number, "required": True} if "required" in value else {"nullable": False, "metadata": {}}
        required = json.dumps({"name": "in_no_file", "type": "string", **new}, separators=(",", ":"))
        longer = changed(line, path, f"{old},{required}")
        yield _kind_of(path), "twice", changed(line, path, f"{old},{old}")
        if number:
            longer = changed(longer, ("last-column-id",), str(number))
        yield _kind_of(path), "one more, required", longer


# ------------------------------------------------------------------------------------------------------------ Parquet


def of_parquet(file: str, data: bytes) -> Iterator[Change]:
    """Yield the facts of a checkpoint that is a Parquet file."""
    table = pq.read_table(io.BytesIO(data), coerce_int96_timestamp_unit="us")
    rows = table.to_pylist()
    for number, row in enumerate(rows):
        for path, value in _leaves(row):
            news = [*others(value)] if not _is_json(value) else []
            for change, new in [*news, *([(REMOVED, None)] if value is not None else [])]:
                yield _kind_of(path), change, partial(_written, file, table.schema, rows, number, path, new)
            if _is_json(value):
                for inner, change, line in _of_line(value.encode()):
                    made = partial(_written, file, table.schema, rows, number, path, line.decode())
                    yield f"{_kind_of(path)}.{inner}", change, made


def _is_json(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("{")


def _written(
    file: str, schema: pa.Schema, rows: list[Any], number: int, path: tuple[Any, ...], new: Any
) -> Files:
    others_too = [*rows]
    others_too[number] = _with(rows[number], path, new)
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(others_too, schema=schema), sink)
    return {file: sink.getvalue()}


# --------------------------------------------------------------------------------------------------------------- Avro


def of_avro(files: Files, file: str) -> Iterator[Change]:
    """Yield the facts of a manifest or a manifest list, and of its header."""
    header, records = _records(files[file])
    schema = json.loads(header.metadata[SCHEMA_KEY])
    for number, record in enumerate(records):
        for path, value in _leaves(record):
            if record.get("status") == DELETED and path != ("status",):
                continue  # it claims nothing about the table
            news = list(others(value))
            if value is not None and _may_be_null(schema, path):
                news.append((REMOVED, None))
            for change, new in news:
                yield _kind_of(path), change, partial(_of_record, files, file, number, path, new)
        for path, value in _lists(record):
            yield f"{_kind_of(path)}[]", "twice", partial(_of_record, files, file, number, path, [*value, value[-1]])  # fmt: skip
    for key, raw in header.metadata.items():
        if not key.startswith("avro.") and key != "iceberg.schema":
            for name, change, new in _of_header(key, raw):
                yield name, change, partial(_with_header, files, file, key, new)
    for name, change, new in _of_line(header.metadata[SCHEMA_KEY]):
        if name.endswith("field-id") and change != REMOVED:
            # The depth suffices, since fields of one level are of one kind.
            yield (
                f"schema.{'fields.' * name.count('fields')}field-id",
                change,
                partial(_with_header, files, file, SCHEMA_KEY, new),
            )


def _of_record(files: Files, file: str, number: int, path: tuple[Any, ...], new: Any) -> Files:
    header, records = _records(files[file])
    records[number] = _with(records[number], path, new)
    return _listed(files, file, _built(header, records))


def _with_header(files: Files, file: str, key: str, new: bytes | None) -> Files:
    header, records = _records(files[file])
    metadata = {**header.metadata, key: new}
    if new is None:
        del metadata[key]
    return _listed(files, file, _built(Container({**header, "metadata": metadata}), records))


def _of_header(key: str, raw: bytes) -> Iterator[tuple[str, str, bytes | None]]:
    yield f"header.{key}", REMOVED, None
    if raw[:1] in (b"{", b"["):
        for name, change, new in _of_line(raw):
            yield f"header.{key}.{name}", change, new
    else:
        for change, value in others(raw.decode()):
            yield f"header.{key}", change, value.encode()


def _may_be_null(schema: Any, path: Sequence[Any]) -> bool:
    """Whether a field of a record is nullable in a schema."""
    for name in path:
        if isinstance(schema, list):
            schema = next(one for one in schema if one != "null")
        if isinstance(name, int):
            schema = schema["items"]
        else:
            schema = next(one["type"] for one in fields_of(schema) if one["name"] == name)
    return isinstance(schema, list) and "null" in schema


def _records(data: bytes) -> tuple[Any, list[Any]]:
    file = container("", data, "")
    grammar, stream = grammar_of(file.schema), io.BytesIO(b"".join(map(file.plain, file.blocks)))
    records = [grammar.parse_stream(stream) for block in file.blocks for _ in range(block.count)]
    return CONTAINER_HEADER.parse(data), records


def _built(header: Any, records: list[Any]) -> bytes:
    grammar = grammar_of(json.loads(header.metadata[SCHEMA_KEY]))
    plain = b"".join(grammar.build(one) for one in records)
    if header.metadata.get(CODEC_KEY, b"null") == b"deflate":
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        plain = packer.compress(plain) + packer.flush()
    block = BLOCK_HEADER.build({"count": len(records), "size": len(plain)})
    whole: bytes = CONTAINER_HEADER.build(header) + block + plain + header.sync
    return whole


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            if name != "_io":
                yield from _leaves(member, (*path, name))
    elif isinstance(value, list | tuple | ListContainer):
        for number, member in enumerate(value):
            yield from _leaves(member, (*path, number))
    else:
        yield path, value


def _lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], list[Any]]]:
    """Yield the nonempty lists of a record."""
    for name, member in value.items() if isinstance(value, Mapping) else ():
        if isinstance(member, list) and member:
            yield (*path, name), member
        elif name != "_io":
            yield from _lists(member, (*path, name))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    if isinstance(value, tuple):
        inner = list(value)
        inner[path[0]] = _with(value[path[0]], path[1:], new)
        return tuple(inner)
    copy = Container(value) if isinstance(value, Container) else {**value} if isinstance(value, dict) else list(value)  # fmt: skip
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _listed(files: Files, file: str, data: bytes) -> Files:
    """A changed file, and the manifest lists with its new length."""
    files_made = {file: data}
    for place in files:
        name = place.rpartition("/")[2]
        if place == file or not name.startswith("snap-"):
            continue
        header, records = _records(files[place])
        mine = [record for record in records if record.manifest_path.endswith(file)]
        for record in mine:
            record[MANIFEST_LENGTH] = len(data)
        if mine:
            files_made[place] = _built(header, records)
    return files_made


# ------------------------------------------------------------------------------------------------------------- Puffin


def of_puffin(files: Files, file: str) -> Iterator[Change]:
    """Yield the facts of the footer of a Puffin file; manifest entries get the new length of the file."""
    data = files[file]
    tail = TAIL.parse(data[-TAIL.sizeof() :])
    start = len(data) - TAIL.sizeof() - tail.size
    line, ahead = data[start : start + tail.size], data[:start]
    if not ahead.endswith(MAGIC):
        return
    for name, change, new in _of_line(line):
        whole = ahead + new + TAIL.build({**tail, "size": len(new)})
        yield name, change, partial(_sized, files, file, whole)


def _sized(files: Files, file: str, data: bytes) -> Files:
    files_made = {file: data}
    for place in files:
        if place.endswith(".avro") and not place.rpartition("/")[2].startswith("snap-"):
            header, records = _records(files[place])
            mine = [one for one in records if one.data_file.file_path.endswith(file)]
            for one in mine:
                one.data_file.file_size_in_bytes = len(data)
            if mine:
                files_made.update(_listed({**files, **files_made}, place, _built(header, records)))
    return files_made
