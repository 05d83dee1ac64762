"""Kinds of false facts for `recall` inside pages, and from golden cases, in parts that the grammar does not name.

Contents of pages have no named fields for mutations. So this module rewrites pages without compression, and changes a section to a false
fact, or compresses the page in another form than its codec's. The values stay the same.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import pyarrow as pa
from recall_answers import Kind
from recall_kinds import (
    FIELDS,
    GOLDEN_FILES,
    REFERENCE,
    Base,
    Site,
    bases,
    data_of,
    some_of,
    value_of,
    without_indexes,
)

from pqassay_golden.tiny.codecs import COMPRESSED, gzip_member, lz4_block, zlib_stream
from pqassay_spec.grammar.field_paths import get
from pqassay_spec.grammar.thrift_wire import read_varint, varint
from pqassay_spec.mutation.file_dissection import take_apart
from pqassay_spec.mutation.file_layout import put_together
from pqassay_spec.mutation.file_tree import FileTree, Page
from pqassay_spec.mutation.mutations import Mutation
from pqassay_spec.mutation.possible import mutations_of
from pqassay_spec.parquet.encoding.levels import decode, packed_run, repeating_run
from pqassay_spec.parquet.encoding.plain import LENGTH, NANOSECONDS_OF_DAY, Int96Timestamp
from pqassay_spec.parquet.thrift import CompressionCodec, Encoding, PageType, Type

CODECS = {
    CompressionCodec.SNAPPY: "snappy",
    CompressionCodec.GZIP: "gzip",
    CompressionCodec.BROTLI: "brotli",
    CompressionCodec.ZSTD: "zstd",
    CompressionCodec.LZ4_RAW: "lz4_raw",
}
"""Codecs whose pages are first stored without compression."""

LEVELS = ("repetition", "definition")
INDEXES = (Encoding.RLE_DICTIONARY, Encoding.PLAIN_DICTIONARY)
DIFFERENCES = {
    Encoding.DELTA_BINARY_PACKED: "differences",
    Encoding.DELTA_LENGTH_BYTE_ARRAY: "lengths of texts",
    Encoding.DELTA_BYTE_ARRAY: "lengths of prefixes",
}

# ------------------------------------------------------------------------------------------------------------- forms

Change = Callable[[bytes, int, int], bytes]
"""A function that makes false bytes from the true ones, which are ``count`` values of ``bits`` bits."""


def _runs(change: Callable[[list[int], int], bytes]) -> Change:
    return lambda data, width, count: change(decode(data, width=width, count=count)[0], width)


def _each(values: list[int], width: int) -> bytes:
    return b"".join(repeating_run(value, 1, width=width) for value in values)


BEYOND = "value beyond the width"

RUNS: Mapping[str, Change] = {
    BEYOND: _runs(
        lambda values, width: repeating_run(values[0] | 1 << width, 1, width=width) + _each(values[1:], width)
    ),
    "run of no values": _runs(lambda values, width: repeating_run(0, 0, width=width) + _each(values, width)),
    "packed run of no values": _runs(lambda values, width: b"\x01" + _each(values, width)),
    "run cut short": _runs(lambda values, width: packed_run(values, width=width)[:-1]),
    "one value fewer": _runs(lambda values, width: _each(values[:-1], width)),
    "run beyond the values": _runs(
        lambda values, width: _each(values[:-1], width) + repeating_run(values[-1], 2, width=width)
    ),
    "no runs": lambda *_: b"",
}


def _header(data: bytes) -> tuple[list[int], bytes]:
    numbers, at = list[int](), 0
    for _ in range(4):
        number, at = read_varint(data, at)
        numbers.append(number)
    return numbers, data[at:]


def _of_header(change: Callable[[list[int], int], list[int]]) -> Change:
    def made(data: bytes, bits: int, _: int) -> bytes:
        numbers, rest = _header(data)
        return b"".join(map(varint, change(numbers, bits))) + rest

    return made


OF_DIFFERENCES: Mapping[str, Change] = {
    "first value beyond the type": _of_header(lambda old, bits: [*old[:3], old[3] + (1 << bits + 1)]),
    "blocks of 0": _of_header(lambda old, _: [0, *old[1:]]),
    "no miniblocks": _of_header(lambda old, _: [old[0], 0, *old[2:]]),
    "one value more": _of_header(lambda old, _: [*old[:2], old[2] + 1, old[3]]),
    "no header": lambda *_: b"",
}


def _compressed(name: Any, behind: bytes, raw: bytes) -> bytes:
    return bytes(pa.Codec(name).compress(raw, asbytes=True)) + behind


FRAMES: Mapping[tuple[CompressionCodec, str], Callable[[bytes], bytes]] = {
    (CompressionCodec.GZIP, "zlib"): zlib_stream,
    (CompressionCodec.GZIP, "deflate"): lambda raw: zlib_stream(raw)[2:-4],
    (CompressionCodec.GZIP, "two members"): lambda raw: gzip_member(raw[:1]) + gzip_member(raw[1:]),
    (CompressionCodec.GZIP, "another checksum"): lambda raw: (
        gzip_member(raw)[:-8] + (zlib.crc32(raw) ^ 1).to_bytes(4, "little") + gzip_member(raw)[-4:]
    ),
    (CompressionCodec.LZ4, "a bare block"): lz4_block,
    (CompressionCodec.LZ4_RAW, "a frame"): partial(_compressed, "lz4", b""),
    **{(codec, "bytes behind it"): partial(_compressed, name, b"\xff") for codec, name in CODECS.items()},
    **{(codec, "not compressed"): lambda raw: raw for codec in CODECS},
}
"""By codec and name, functions that store a page in another form than the codec's."""


def _days_later(days: int) -> Change:
    """Move the first timestamp of a page by some days, and compensate in its time of day."""
    size = 12

    def made(data: bytes, *_: int) -> bytes:
        nanoseconds, day = struct.unpack("<qi", data[:size])
        return Int96Timestamp(nanoseconds - days * NANOSECONDS_OF_DAY, day + days).build() + data[size:]

    return made


MOMENTS = {"time of day negative": _days_later(1), "time of day beyond a day": _days_later(-1)}
"""Changes to the same timestamp with another day."""

# ------------------------------------------------------------------------------------------------------------- pages


@cache
def plain(base: Base) -> bytes:
    """A file whose pages are stored without compression."""
    tree = take_apart(data_of(base))
    for _, facts, chunk in _chunks(tree):
        name: Any = CODECS.get(facts.codec)
        if name is None:
            continue
        facts.codec = CompressionCodec.UNCOMPRESSED
        for page in chunk.pages:
            size, second = page.header.uncompressed_page_size, page.header.data_page_header_v2
            ahead = (
                second.definition_levels_byte_length + second.repetition_levels_byte_length if second else 0
            )
            if len(page.body) > ahead and (second is None or second.is_compressed is not False):
                raw = pa.Codec(name).decompress(page.body[ahead:], size - ahead, asbytes=True)
                page.body = page.body[:ahead] + raw
    return put_together(tree)


def _chunks(tree: FileTree) -> Iterator[tuple[str, Any, Any]]:
    """The path, metadata and pages of every chunk."""
    for number, (declared, parts) in enumerate(zip(tree.footer.row_groups, tree.row_groups, strict=True)):
        for ordinal, (column, chunk) in enumerate(zip(declared.columns, parts.columns, strict=True)):
            if column.meta_data is not None:
                yield f"row_groups[{number}].columns[{ordinal}]", column.meta_data, chunk


class Section(NamedTuple):
    """A part of a page.

    Attributes:
        name: Its content.
        start, end: Its byte range in the body.
        width: The bit width of a value.
        values: The number of values.
        is_counted: Whether its length is stored before it.
    """

    name: str
    start: int
    end: int
    width: int
    values: int
    is_counted: bool = False


def sections(page: Page, leaf: Any, kind: Type) -> Iterator[Section]:
    """The sections of an uncompressed data page."""
    first, second = page.header.data_page_header, page.header.data_page_header_v2
    header = first or second
    if header is None:
        return
    at, present = 0, header.num_values
    for name, greatest in zip(LEVELS, (leaf.max_repetition_level, leaf.max_definition_level), strict=True):
        if first and greatest:
            at += LENGTH.sizeof()
            end = at + LENGTH.parse(page.body[at - LENGTH.sizeof() :])
        else:
            end = at + (getattr(second, f"{name}_levels_byte_length") if second else 0)
        if greatest and end > at:
            found = Section(f"{name} levels", at, end, greatest.bit_length(), header.num_values, bool(first))
            yield found
            if name == LEVELS[1]:
                present = decode(page.body[at:end], width=found.width, count=found.values)[0].count(greatest)
        at = end
    end = len(page.body)
    if header.encoding in INDEXES and present:
        yield Section("indexes", at + 1, end, page.body[at], present)
    elif header.encoding == Encoding.RLE and present:
        yield Section("booleans", at + LENGTH.sizeof(), end, 1, present, is_counted=True)
    elif header.encoding in DIFFERENCES and present:
        bits = 64 if kind == Type.INT64 else 32
        yield Section(DIFFERENCES[Encoding(header.encoding)], at, end, bits, present)
    elif header.encoding == Encoding.PLAIN and kind == Type.INT96 and present:
        yield Section("moments", at, end, 96, present)


def _forms_of(section: Section) -> Mapping[str, Change]:
    if section.name == "moments":
        return MOMENTS
    if section.name in DIFFERENCES.values():
        return OF_DIFFERENCES
    fits = section.width % 8 == 0
    return {name: change for name, change in RUNS.items() if not (fits and name == BEYOND) and section.width}


class Inside(NamedTuple):
    """A page that is stored in another form.

    Attributes:
        base: The file.
        path: The page.
        section: The section, or the codec that the chunk then claims.
        change: The change.
    """

    base: Base
    path: str
    section: str
    change: str

    @property
    def good(self) -> bytes:
        """The original file."""
        return plain(self.base)

    def made(self) -> bytes:
        """The changed file."""
        tree = take_apart(self.good)
        chunk, _, number = self.path.rpartition(".pages[")
        owner = f"footer.{chunk}.meta_data"
        pages, index, facts = get(tree, chunk).pages, int(number[:-1]), get(tree, owner)
        if self.section in CompressionCodec.__members__:
            facts.codec = CompressionCodec[self.section]
            for place, page in enumerate(pages):
                frame = FRAMES[facts.codec, self.change] if place == index else RIGHT[facts.codec]
                page.body = frame(page.body)
            return put_together(tree)
        page = pages[index]
        section = next(one for one in _sections_of(tree, chunk, page, facts.type) if one.name == self.section)
        old = page.body[section.start : section.end]
        new = _forms_of(section)[self.change](old, section.width, section.values)
        length = LENGTH.build(len(new)) if section.is_counted else b""
        page.body = page.body[: section.start - len(length)] + length + new + page.body[section.end :]
        name, second = section.name.replace(" ", "_"), page.header.data_page_header_v2
        if second is not None and name.endswith("levels"):
            setattr(second, f"{name}_byte_length", len(new))
        return put_together(tree)


RIGHT: Mapping[CompressionCodec, Callable[[bytes], bytes]] = {
    **{codec: partial(_compressed, name, b"") for codec, name in CODECS.items()},
    **COMPRESSED,
}
"""Functions that compress pages correctly, by codec."""


def _sections_of(tree: FileTree, chunk: str, page: Page, kind: int) -> list[Section]:
    ordinal = int(chunk.rpartition("[")[2][:-1])
    return list(sections(page, tree.leaves[ordinal], Type(kind)))


def inside(base: Base) -> Iterator[tuple[Kind, Inside]]:
    """The false facts inside the pages of a file."""
    tree = take_apart(plain(base))
    for chunk, facts, parts in _chunks(tree):
        if facts.codec != CompressionCodec.UNCOMPRESSED:
            continue
        for number, page in enumerate(parts.pages):
            path, version = f"{chunk}.pages[{number}]", "v2" if page.header.data_page_header_v2 else "v1"
            for section in _sections_of(tree, chunk, page, facts.type):
                for change in _forms_of(section):
                    yield (
                        Kind(f"inside pages, {version}: {section.name}", change),
                        Inside(base, path, section.name, change),
                    )
            if page.header.type != PageType.DATA_PAGE_V2 and len(page.body) > 1:
                for codec, change in FRAMES:
                    yield (
                        Kind(f"inside pages, {version}: {codec.name}", change),
                        Inside(base, path, codec.name, change),
                    )


# ------------------------------------------------------------------------------------------------------------ unions

UNDEFINED = b"\x0c" + varint(2 * 99)
"""The header of an undefined struct member of a union."""


def of_unions(base: Base) -> Iterator[tuple[Kind, Site]]:
    """Yield a second member in every union of a file, and an undefined member in place of the first."""
    for mutation in mutations_of(data_of(base)):
        field = without_indexes(mutation.path)
        if mutation.op == "remove" and field in FIELDS and FIELDS[field][1].is_union:
            owner, _, name = mutation.path.rpartition(".")
            for other in [one for one in FIELDS[field][1].fields if one.name != name][:1]:
                beside = Mutation("set", f"{owner}.{other.name}", value_of(other.type))
                yield Kind(field, "another member beside it"), Site(base, beside)
            yield Kind(field, "undefined member"), Site(base, Mutation("set", f"{mutation.path}:header", UNDEFINED))  # fmt: skip


# ------------------------------------------------------------------------------------------------------ golden cases

FREE = (".body", ".value", ".bitset", ".logicalType")
"""Fields without named values in the grammar; the changes of golden cases in these are separate kinds."""


def of_golden_cases() -> Iterator[tuple[Kind, Site]]:
    """Yield the mutations of golden cases that put other bytes, another text or another type into a good file."""
    for path in sorted(GOLDEN_FILES.rglob("case.json")):
        case = json.loads(path.read_text("utf-8"))
        given, parent = case.get("mutation"), case.get("parent")
        if case["family"] in ("PQF", "STA", "PIX", "BLM") and given and parent:
            mutation, base = Mutation.from_json(given), Base(parent, "parquet")
            if base.path.exists() and not mutation.raw and mutation.path.endswith(FREE):
                yield Kind(without_indexes(mutation.path), case["title"]), Site(base, mutation)


# --------------------------------------------------------------------------------------------------------- all kinds

CASES = (
    *("pqf/flags-in-runs", "pqf/numbers-v2", "pqf/differences", "pqf/moments", "pqf/three-pages-of-lists-v2"),
    *("pqf/variants-shredded", "pqf/references-to-files", "pqf/values-of-places"),
)
"""Files of the reference with structures that its other files lack."""


def sites(writer: str) -> dict[Kind, list[Inside | Site]]:
    """The false facts in the files of a writer, by kind."""
    places_by_kind: dict[Kind, list[Inside | Site]] = defaultdict(list)
    is_reference = writer == REFERENCE
    of_writer = [*bases(writer), *(Base(case, "parquet") for case in CASES if is_reference)]
    for base in of_writer:
        if base.form == "parquet":
            given: Iterable[tuple[Kind, Inside | Site]] = (*inside(base), *of_unions(base))
            for kind, site in given:
                places_by_kind[kind].append(site)
    for kind, site in of_golden_cases() if is_reference else ():
        places_by_kind[kind].append(site)
    return {kind: some_of(places, writer) for kind, places in places_by_kind.items()}
