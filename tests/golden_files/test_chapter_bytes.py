"""Commented bytes in a chapter are those of the golden files that it shows."""

from __future__ import annotations

import base64
import re

from places import GOLDEN_FILES, ROOT

COMMENTED = re.compile(r'^>>> commented = """$(.*?)^\.\.\. """$', re.MULTILINE | re.DOTALL)


def _shown(chapter: str) -> list[bytes]:
    text = (ROOT / "spec" / "chapters" / chapter).read_text()
    return [
        bytes.fromhex("".join(row.removeprefix("...").partition("#")[0] for row in found.splitlines()))
        for found in COMMENTED.findall(text)
    ]


def test_the_chapter_of_the_page_index_shows_bytes_of_its_golden_files() -> None:
    shown = _shown("page_index.md")
    cases = ("pix/document-truncated", "pix/hand-typed", "pix/hand-typed")
    files = [(GOLDEN_FILES / case / "data.parquet").read_bytes() for case in cases]

    assert [1, 1, 1] == [file.count(part) for file, part in zip(files, shown, strict=True)]


def test_the_chapter_of_the_index_directory_shows_the_directory_that_was_typed_by_hand() -> None:
    (shown,) = _shown("directory.md")
    typed = (GOLDEN_FILES / "dir/hand-typed" / "data.parquet").read_bytes()

    assert typed.count(base64.b64encode(shown)) == 1
