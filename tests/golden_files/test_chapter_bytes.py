"""Commented bytes in a chapter are those of the golden files that it shows."""

from __future__ import annotations

import re

from places import GOLDEN_FILES, ROOT

COMMENTED = re.compile(r'^>>> commented = """$(.*?)^\.\.\. """$', re.MULTILINE | re.DOTALL)


def test_the_chapter_of_the_page_index_shows_bytes_of_its_golden_files() -> None:
    chapter = (ROOT / "spec" / "chapters" / "page_index.md").read_text()
    shown = [
        bytes.fromhex("".join(row.removeprefix("...").partition("#")[0] for row in found.splitlines()))
        for found in COMMENTED.findall(chapter)
    ]
    cases = ("pix/document-truncated", "pix/hand-typed", "pix/hand-typed")
    files = [(GOLDEN_FILES / case / "data.parquet").read_bytes() for case in cases]

    assert [1, 1, 1] == [file.count(part) for file, part in zip(files, shown, strict=True)]
