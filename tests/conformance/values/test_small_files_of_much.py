"""Files of a few hundred bytes that announce or hold far more than memory: what is not decoded is a gap, and never an error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
import processes
from pqassay.report.model import BROKEN, FileReport
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.thrift_wire import varint
from pqassay_spec.parquet.file import MAGIC
from pqassay_spec.parquet.thrift import (
    ColumnChunk,
    ColumnMetaData,
    CompressionCodec,
    DataPageHeader,
    DataPageHeaderV2,
    DictionaryPageHeader,
    Encoding,
    FieldRepetitionType,
    FileMetaData,
    PageHeader,
    PageType,
    RowGroup,
    SchemaElement,
    Statistics,
    Type,
)

pytestmark = pytest.mark.slow

MOST_TAKEN = 300
"""MiB that judging them all takes at most."""

MUCH, MORE = 1 << 30, (1 << 31) - 1

Page = tuple[PageHeader, bytes]


def run(length: int, value: int = 0) -> bytes:
    return varint(length << 1) + bytes([value])


def section(raw: bytes) -> bytes:
    return len(raw).to_bytes(4, "little") + raw


def headed(kind: PageType, body: bytes, size: int | None, **header: Any) -> Page:
    uncompressed = len(body) if size is None else size
    sizes = {"uncompressed_page_size": uncompressed, "compressed_page_size": len(body)}
    return PageHeader(type=kind, **sizes, **header), body


def page(body: bytes, values: int, encoding: int = Encoding.PLAIN, size: int | None = None) -> Page:
    header = DataPageHeader(
        num_values=values,
        encoding=encoding,
        definition_level_encoding=Encoding.RLE,
        repetition_level_encoding=Encoding.RLE,
    )
    return headed(PageType.DATA_PAGE, body, size, data_page_header=header)


def second(levels: bytes, body: bytes, values: int, encoding: int = Encoding.PLAIN, nulls: int = 0) -> Page:
    header = DataPageHeaderV2(
        num_values=values,
        num_nulls=nulls,
        num_rows=values,
        encoding=encoding,
        definition_levels_byte_length=len(levels),
        repetition_levels_byte_length=0,
        is_compressed=False,
    )
    return headed(PageType.DATA_PAGE_V2, levels + body, None, data_page_header_v2=header)


def dictionary(entries: bytes, count: int = 1, size: int | None = None) -> Page:
    header = DictionaryPageHeader(num_values=count, encoding=Encoding.PLAIN)
    return headed(PageType.DICTIONARY_PAGE, entries, size, dictionary_page_header=header)


def file(
    kind: Type,
    *pages: Page,
    rows: int,
    values: int | None = None,
    repetition: FieldRepetitionType = FieldRepetitionType.REQUIRED,
    codec: CompressionCodec = CompressionCodec.UNCOMPRESSED,
    width: int | None = None,
) -> bytes:
    """A file of one column with false bounds, so that its values are wanted."""
    raw, starts = bytearray(MAGIC), list[int]()
    for header, body in pages:
        starts.append(len(raw))
        raw += bytes(grammar(PageHeader).build(header)) + body
    size = len(raw) - len(MAGIC)
    has_dictionary = bool(pages) and pages[0][0].type == PageType.DICTIONARY_PAGE
    facts = ColumnMetaData(
        type=kind,
        encodings=[Encoding.PLAIN, Encoding.RLE_DICTIONARY, Encoding.RLE],
        path_in_schema=["a"],
        codec=codec,
        num_values=rows if values is None else values,
        total_uncompressed_size=size,
        total_compressed_size=size,
        data_page_offset=starts[has_dictionary] if starts else len(MAGIC),
        dictionary_page_offset=starts[0] if has_dictionary else None,
        statistics=Statistics(null_count=0, min_value=b"", max_value=b""),
    )
    leaf = SchemaElement(name="a", type=kind, type_length=width, repetition_type=repetition)
    footer = bytes(
        grammar(FileMetaData).build(
            FileMetaData(
                version=2,
                schema=[SchemaElement(name="schema", num_children=1), leaf],
                num_rows=rows,
                row_groups=[
                    RowGroup(
                        columns=[ColumnChunk(file_offset=0, meta_data=facts)],
                        total_byte_size=size,
                        num_rows=rows,
                    )
                ],
            )
        )
    )
    return bytes(raw) + footer + len(footer).to_bytes(4, "little") + MAGIC


OPTIONAL, REPEATED = FieldRepetitionType.OPTIONAL, FieldRepetitionType.REPEATED


def of_dictionary(kind: Type, entry: bytes, count: int, width: int | None = None) -> bytes:
    indexes = page(b"\x01" + run(count), count, Encoding.RLE_DICTIONARY)
    return file(kind, dictionary(entry), indexes, rows=count, width=width)


def _files() -> dict[str, bytes]:
    levels, none = section(run(MUCH)), section(run(1))
    files = {
        "a list of nothing else": file(
            Type.INT32,
            dictionary(bytes(4)),
            page(
                section(run(1) + run(MUCH - 1, 1)) + section(run(MUCH, 1)) + b"\x01" + run(MUCH),
                MUCH,
                Encoding.RLE_DICTIONARY,
            ),
            rows=1,
            values=MUCH,
            repetition=REPEATED,
        ),
        "nulls": file(Type.INT32, page(levels, MUCH), rows=MUCH, repetition=OPTIONAL),
        "nulls of version 2": file(
            Type.INT64, second(run(MORE), b"", MORE, nulls=MORE), rows=MORE, repetition=OPTIONAL
        ),
        "empty lists": file(Type.INT32, page(levels + levels, MUCH), rows=MUCH, repetition=REPEATED),
        "booleans": file(Type.BOOLEAN, page(section(run(MORE, 1)), MORE, Encoding.RLE), rows=MORE),
        "pages": file(
            Type.INT32, *[page(section(run(MORE)), MORE)] * 20, rows=20 * MORE, repetition=OPTIONAL
        ),
        "announced rows": file(Type.INT32, page(bytes(4), 1), rows=1 << 40),
        "announced rows of lists": file(Type.INT32, page(none + none, 1), rows=1 << 62, repetition=REPEATED),
        "announced values": file(Type.BYTE_ARRAY, page(section(b"x"), 1), rows=1, values=1 << 40),
        "rows without pages": file(Type.DOUBLE, rows=1 << 40),
        "entries": file(
            Type.BYTE_ARRAY,
            dictionary(section(b"x"), MORE),
            page(b"\x01" + run(5), 5, Encoding.RLE_DICTIONARY),
            rows=5,
        ),
        "a wide type": file(Type.FIXED_LEN_BYTE_ARRAY, page(b"x", 2), rows=2, width=MORE),
    }
    for kind, entry in ((Type.INT32, bytes(4)), (Type.DOUBLE, bytes(8)), (Type.BYTE_ARRAY, section(b"x"))):
        files[f"indexes of {kind.name}"] = of_dictionary(kind, entry, MUCH)
    files["indexes of INT96"] = of_dictionary(Type.INT96, bytes(12), MORE)
    files["indexes of 16 bytes"] = of_dictionary(Type.FIXED_LEN_BYTE_ARRAY, bytes(16), MORE, width=16)
    for encoding in (
        Encoding.DELTA_BINARY_PACKED,
        Encoding.DELTA_LENGTH_BYTE_ARRAY,
        Encoding.DELTA_BYTE_ARRAY,
    ):
        kind = Type.INT64 if encoding == Encoding.DELTA_BINARY_PACKED else Type.BYTE_ARRAY
        for block in (128, MUCH):
            numbers = varint(block) + varint(4) + varint(MUCH) + bytes(6)
            files[f"{encoding.name} in blocks of {block}"] = file(
                kind, page(numbers * 2, MUCH, encoding), rows=MUCH
            )
    for codec in (CompressionCodec.ZSTD, CompressionCodec.SNAPPY, CompressionCodec.BROTLI):
        short = page(b"\x01\x02\x03", MUCH // 8, size=MUCH)
        files[f"a size that {codec.name} has not"] = file(Type.INT64, short, rows=MUCH // 8, codec=codec)
    return files


FILES = _files()

JUDGED = """
import resource, sys
import pqassay
from pqassay.judge import preloaded
if sys.platform == "linux":
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # what is reserved counts, as in a worker
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    file = pqassay.check(open(path, "rb").read(), tier="values").files[0]
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(file.outcome, file.error, taken >> 10, sep="|")
"""


def judged(raw: bytes) -> FileReport:
    return pqassay.check(raw, tier="values").files[0]


def test_they_take_little_memory_and_are_judged(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(len(FILES))]
    for path, raw in zip(paths, FILES.values(), strict=True):
        path.write_bytes(raw)
    done = processes.run([sys.executable, "-c", JUDGED, *map(str, paths)], capture_output=True, text=True)
    lines = [line.split("|") for line in done.stdout.splitlines()]

    assert [] == [
        (name, *line)
        for name, line in zip(FILES, lines, strict=True)
        if line[0] == "errored" or line[1] != "None" or int(line[2]) > MOST_TAKEN
    ]


@pytest.mark.parametrize("name", ["nulls", "empty lists", "a list of nothing else", "indexes of DOUBLE"])
def test_what_is_not_decoded_is_a_gap(name: str) -> None:
    report = judged(FILES[name])

    assert ["tool"] == [gap.obstacle for gap in report.gaps]
    assert f"{MUCH:,}" in report.gaps[0].reason


@pytest.mark.parametrize("name", ["announced rows", "rows without pages", "announced values"])
def test_what_is_announced_and_not_there_is_a_finding(name: str) -> None:
    report = judged(FILES[name])

    assert (True, True) == (report.outcome in BROKEN, any(one.verdict == "FAIL" for one in report.findings))


@pytest.mark.parametrize(
    ("kind", "values"), [(pa.int64(), [7] * 3_000_000), (pa.string(), ["x" * 20] * 1_000_000)]
)
def test_many_values_in_few_bytes_are_decoded_while_memory_holds_them(
    kind: pa.DataType, values: list[object]
) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": pa.array(values, kind)}), sink, compression="brotli")
    report = judged(sink.getvalue().to_pybytes())

    assert ("conformant", []) == (report.outcome, report.gaps)
