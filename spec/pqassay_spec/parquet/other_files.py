"""Recognize files of other formats by their first bytes, if they are not Parquet files."""

from __future__ import annotations

import re
from typing import NamedTuple

HEAD_LENGTH = 4096
"""Bytes at the beginning of a file that are examined."""


class Diagnosis(NamedTuple):
    """A diagnosis of a whole file, in words.

    Attributes:
        reason: What the file is or what happened to it; it follows the words "the file is" for a file of another format.
        remedy: What to do; empty if there is no known remedy.
    """

    reason: str
    remedy: str


def _compressed(by: str, program: str) -> Diagnosis:
    return Diagnosis(
        f"compressed as a whole by {by}", f"decompress it with {program}, and check what comes out"
    )


def _other(what: str) -> Diagnosis:
    return Diagnosis(f"{what}, not a Parquet file", "read it as what it is, or write its data as Parquet")


AGAIN = "download or copy the file again, and compare the sizes"

_MAGICS: dict[bytes, Diagnosis] = {
    b"\x1f\x8b": _compressed("gzip", "gunzip"),
    b"(\xb5/\xfd": _compressed("Zstandard", "zstd -d"),
    b"BZh": _compressed("bzip2", "bunzip2"),
    b"\xfd7zXZ": _compressed("xz", "unxz"),
    b"\x04\x22M\x18": _compressed("LZ4", "lz4 -d"),
    b"\xff\x06\0\0sNaPpY": _compressed("Snappy", "a Snappy library (framing format)"),
    b"PK\x03\x04": Diagnosis("a zip archive", "unpack it, and check what is in it"),
    b"7z\xbc\xaf\x27\x1c": Diagnosis("a 7z archive", "unpack it, and check what is in it"),
    b"Obj\x01": _other("an Avro file"),
    b"ORC": _other("an ORC file"),
    b"ARROW1": _other("an Arrow (Feather) file"),
    b"FEA1": _other("a Feather file of version 1"),
    b"PFA1": _other("a Puffin file"),
    b"SQLite format 3": _other("an SQLite database"),
    b"\x89HDF": _other("an HDF5 file"),
    b"%PDF": _other("a PDF"),
    b"version https://git-lfs": Diagnosis(
        "a Git LFS pointer, a text in place of the file", "fetch the file itself with git lfs pull"
    ),
    b"/annex/objects/": Diagnosis(
        "a git-annex pointer, a text in place of the file", "fetch the file itself with git annex get"
    ),
    b"UEFSM": Diagnosis(
        "base64 text of a Parquet file", "decode it with base64 -d, and check what comes out"
    ),
    b"50415231": Diagnosis(
        "hexadecimal text of a Parquet file", "decode it with xxd -r -p, and check what comes out"
    ),
    b"HTTP/": Diagnosis(
        "a whole answer of HTTP, with its headers", "download the file again without headers"
    ),
}
"""Magics at the beginning of files of other formats."""

_MARKS = (
    (8, b"DUCK", _other("a DuckDB database")),
    (257, b"ustar", Diagnosis("a tar archive", "unpack it, and check what is in it")),
)
"""Marks of other formats at other offsets."""

_SENT_INSTEAD = "read what it says, then download the file again"
_TITLE = re.compile(r"<title[^>]*>\s*([^<]{1,80})", re.IGNORECASE)
_CODE = re.compile(r"<Code>\s*([A-Za-z0-9_.-]{1,80})")
_SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}


def recognised(head: bytes) -> Diagnosis | None:
    r"""The diagnosis of a file by its first `HEAD_LENGTH` bytes; ``None`` if they match no other format.

    >>> recognised(b"\x1f\x8b\x08").reason
    'compressed as a whole by gzip'
    >>> recognised(b"id,name\n1,a\n").reason
    'CSV text, with columns separated by comma, not a Parquet file'
    """
    for magic, diagnosis in _MAGICS.items():
        if head.startswith(magic):
            return diagnosis
    for offset, mark, diagnosis in _MARKS:
        if head[offset:].startswith(mark):
            return diagnosis
    if head[:4] == b"\xff" * 4 and 0 < int.from_bytes(head[4:8], "little") < 1 << 24:
        return _other("an Arrow stream")
    text = _text(head)
    return None if text is None else _of_text(text)


def _of_text(text: str) -> Diagnosis:
    begin = text.lstrip("\ufeff \t\r\n")
    lowered = begin[:20].lower()
    if lowered.startswith(("<!doctype html", "<html", "<head")):
        title = _TITLE.search(begin)
        named = f" with the title {' '.join(title[1].split())!r}" if title else ""
        return Diagnosis(f"an HTML page{named}, sent instead of the file", _SENT_INSTEAD)
    if begin.startswith("<"):
        code = _CODE.search(begin) if "<Error" in begin else None
        if code:
            return Diagnosis(
                f"an error of a store in XML ({code[1]}), sent instead of the file", _SENT_INSTEAD
            )
        return _other("XML text")
    if begin.startswith(("{", "[")):
        return _other("JSON text")
    lines = [line for line in text.splitlines()[:3] if line]
    for separator, name in _SEPARATORS.items():
        counts = {line.count(separator) for line in lines[:2]}
        if len(lines) > 1 and len(counts) == 1 and counts != {0}:
            return _other(f"CSV text, with columns separated by {name}")
    return _other("text")


def _text(head: bytes) -> str | None:
    """The bytes as text; ``None`` if they are not text."""
    if not head.strip() or any(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head):
        return None
    try:
        return head.decode()
    except UnicodeDecodeError as error:
        is_cut = len(head) == HEAD_LENGTH and error.start >= len(head) - 3
        return head[: error.start].decode() if is_cut else None
