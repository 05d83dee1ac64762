"""Files that are of another format, cut, displaced or taken for text are said to be so, in words, with what to do."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import zipfile

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from each import each
from pqassay_spec.base.errors import Malformed
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.displaced import AS_BINARY, FIND_OUT
from pqassay_spec.parquet.file import read_footer, read_framing, read_head
from pqassay_spec.parquet.other_files import AGAIN, HEAD_LENGTH, recognised

TABLE = pa.table({"id": [1, 2, 3], "text": ["a\n", "b", "é"]})


def written() -> bytes:
    sink = io.BytesIO()
    pq.write_table(TABLE, sink, compression="none")
    return sink.getvalue()


FILE = written()
SIZE = len(FILE)
READ = "read it as what it is, or write its data as Parquet"


def outcome(data: bytes) -> Malformed:
    with pytest.raises(Malformed) as caught:
        read(BytesSource(data))
    return caught.value


def read(source: BytesSource) -> None:
    framing = read_framing(source)
    read_head(source)
    read_footer(source, framing)


def arrow_stream() -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    return sink.getvalue()


def with_writer(write: object) -> bytes:
    sink = io.BytesIO()
    write(TABLE, sink)  # type: ignore[operator]
    return sink.getvalue()


def zipped(data: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a.parquet", data)
    return sink.getvalue()


S3_ERROR = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>no</Message></Error>'
)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


@each(
    ("data", "reason", "remedy"),
    [
        (gzip.compress(FILE), "compressed as a whole by gzip", "decompress it with gunzip, and check what comes out"),
        (bz2.compress(FILE), "compressed as a whole by bzip2", "decompress it with bunzip2, and check what comes out"),
        (lzma.compress(FILE), "compressed as a whole by xz", "decompress it with unxz, and check what comes out"),
        (pa.compress(FILE, "zstd", asbytes=True), "compressed as a whole by Zstandard", "decompress it with zstd -d, and check what comes out"),
        (zipped(FILE), "a zip archive", "unpack it, and check what is in it"),
        (base64.b64encode(FILE), "base64 text of a Parquet file", "decode it with base64 -d, and check what comes out"),
        (FILE.hex().encode(), "hexadecimal text of a Parquet file", "decode it with xxd -r -p, and check what comes out"),
        (with_writer(pa.orc.write_table), "an ORC file, not a Parquet file", READ),
        (with_writer(pa.feather.write_feather), "an Arrow (Feather) file, not a Parquet file", READ),
        (arrow_stream(), "an Arrow stream, not a Parquet file", READ),
        (b"Obj\x01\x04\x14avro.codec\x08null\0" + bytes(16), "an Avro file, not a Parquet file", READ),
        (b"\0" * 8 + b"DUCK" + b"\0" * 40, "a DuckDB database, not a Parquet file", READ),
        (b"id,name\r\n1,a\r\n2,b\r\n", "CSV text, with columns separated by comma, not a Parquet file", READ),
        (b"\xef\xbb\xbfid\tname\n1\ta\n", "CSV text, with columns separated by tab, not a Parquet file", READ),
        (b'{"a": 1}\n{"a": 2}\n', "JSON text, not a Parquet file", READ),
        (b" [\n 1, 2\n]\n", "JSON text, not a Parquet file", READ),
        (b"not found\n", "text, not a Parquet file", READ),
        (b"<!DOCTYPE html>\n<html><title>403\nForbidden</title></html>", "an HTML page with the title '403 Forbidden', sent instead of the file", "read what it says, then download the file again"),
        (S3_ERROR, "an error of a store in XML (AccessDenied), sent instead of the file", "read what it says, then download the file again"),
        (POINTER, "a Git LFS pointer, a text in place of the file", "fetch the file itself with git lfs pull"),
    ],
)  # fmt: skip
def test_a_file_of_another_format_is_named(data: bytes, reason: str, remedy: str) -> None:
    error = outcome(data)
    assert (error.rule, error.reason, error.remedy) == ("PQF-001", f"the file is {reason}", remedy)


TAIL = "cut that off (head -c {} FILE > COPY), and check the copy"
HEAD = "cut that off (tail -c +{} FILE > COPY), and check the copy"
LATIN = f"convert it back (iconv -f UTF-8 -t LATIN1), or {AS_BINARY}"


@each(
    ("data", "rule", "reason", "remedy"),
    [
        (b"", "PQF-001", "the file is empty", AGAIN),
        (b"PA", "PQF-001", "2 bytes are too few for a Parquet file, which has at least 12", AGAIN),
        (bytes(5000), "PQF-001", "the file holds nothing but zeros: it was never written", AGAIN),
        (b"\xff" * 40, "PQF-001", "the file holds nothing but bytes ff: it was never written", AGAIN),
        (bytes(100) + FILE[100:], "PQF-001", "the file begins with 100 zeros, which were overwritten or never written", AGAIN),
        (b"\x80\x04\x95" + FILE[:50], "PQF-001", "3 bytes (80 04 95) are in front of the magic PAR1", HEAD.format(4)),
        (b"\n" + FILE, "PQF-001", "1 byte (0a) is in front of the magic PAR1", HEAD.format(2)),
        (b"\xef\xbb\xbf" + FILE, "PQF-001", "3 bytes (ef bb bf) are in front of the magic PAR1", HEAD.format(4)),
        (FILE[1:], "PQF-001", "the file begins with AR1: its first byte is missing", AGAIN),
        (b"\x80\x04\x95\x0a\0\0\0\0\0\0\0\0", "PQF-001", "the file is not a Parquet file, and not of a format that is recognized: it begins with 80 04 95 0a 00 00 00 00, and not with PAR1", FIND_OUT),
        (FILE[:-1], "PQF-002", "the file was cut: its last byte is missing, '1'", f"append '1'; or {AGAIN}"),
        (FILE[:-4], "PQF-002", "the file was cut: its last 4 bytes are missing, 'PAR1'", f"append 'PAR1'; or {AGAIN}"),
        (FILE[:-20], "PQF-002", "the file was cut: its end is missing, and with it the footer", AGAIN),
        (FILE[:40], "PQF-002", "the file was cut: its end is missing, and with it the footer", AGAIN),
        (FILE + b"\n", "PQF-002", "1 byte (0a) is behind the end of the Parquet file", TAIL.format(SIZE)),
        (FILE + bytes(512), "PQF-002", "512 bytes (00 00 00 00 00 00 00 00 …) are behind the end of the Parquet file", TAIL.format(SIZE)),
        (FILE[:-64] + bytes(64), "PQF-002", "the file ends with 64 zeros: its end, and with it the footer, was not written", AGAIN),
        (FILE[:-4] + b"\n" + FILE[-4:], "PQF-003", "1 byte (0a) is between the footer length and the magic PAR1", f"remove that, or {AGAIN}"),
        (FILE[:-5] + FILE[-4:], "PQF-003", "a part of the footer length is missing: 1 of its 4 bytes", AGAIN),
        (FILE[:-8] + FILE[-8:-4][::-1] + FILE[-4:], "PQF-003", "the footer length has its highest byte first", "write its lowest byte first"),
        (FILE[:-8] + b"\r\n" + FILE[-8:], "PQF-004", "2 bytes (0d 0a) are between the footer and its length", f"remove that, or {AGAIN}"),
    ],
)  # fmt: skip
def test_what_happened_to_a_damaged_file_is_said_with_what_to_do(
    data: bytes, rule: str, reason: str, remedy: str
) -> None:
    error = outcome(data)
    assert (error.rule, error.reason.partition(" (RowGroup")[0], error.remedy) == (rule, reason, remedy)


@pytest.mark.parametrize(
    ("data", "reason", "remedy"),
    [
        (FILE.replace(b"\n", b"\r\n"), "each byte 0A became 0D 0A: a program took the file for text and translated its line ends", AS_BINARY),
        (FILE.decode("latin-1").encode(), "each byte from 80 on became two: a program took the file for text in Latin-1 and wrote UTF-8", LATIN),
    ],
)  # fmt: skip
def test_bytes_that_were_taken_for_text_are_recognised_by_undoing_that(
    data: bytes, reason: str, remedy: str
) -> None:
    error = outcome(data)
    assert (error.reason.partition(" (")[0], error.remedy) == (reason, remedy)


def test_an_error_in_words_says_what_to_do() -> None:
    assert f"offset {SIZE - 5}, tail.magic: the file was cut: its last byte is missing, '1'; append '1'; or {AGAIN} [PQF-002]" == str(outcome(FILE[:-1]))  # fmt: skip


@pytest.mark.parametrize("head", [b"", b"\0\1\2", "é".encode()[:1], b"\xff\xff\xff\xff\0\0\0\0"])
def test_bytes_that_say_nothing_are_not_recognised(head: bytes) -> None:
    assert recognised(head) is None


def test_text_that_is_cut_within_a_character_is_text() -> None:
    text = ("é" * HEAD_LENGTH).encode()[:HEAD_LENGTH]
    known = recognised(b"a" + text[:-1])
    assert known is not None
    assert known.reason == "text, not a Parquet file"
