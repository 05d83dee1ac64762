"""Pictures of structures: they show what the grammar declares, byte for byte, and each box leads to its row."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pages.frame.byte_search import CONFUSING, PLAIN, WORKERS, entries, mend_worker
from pages.pictures.byte_drawing import BYTE
from pages.pictures.byte_layout import byte_anchors, fields_of, layout, slug
from pages.pictures.declared import declared
from pages.pictures.file_map import CASE as MAPPED
from pages.pictures.file_map import CHAPTERS as SECTIONS
from pages.pictures.file_map import regions
from pages.pictures.filter_layout import CASE as FILTERED
from pages.pictures.filter_layout import header_fields, word_fields
from pages.pictures.layouts import WHOLE, lines
from pages.placeholders import PlaceholderError, replaced

from places import GOLDEN_FILES, ROOT
from pqassay_spec.grammar.field_tables import construct_rows
from pqassay_spec.grammar.thrift import Record

CHAPTERS = ROOT / "spec" / "chapters"


def link(page: str, anchor: str) -> str:
    """A link as from a chapter."""
    return f"{page.removeprefix('spec/')}#{anchor}"


def asked(what: str) -> list[str]:
    """The names that chapters ask for by a kind of placeholder."""
    text = "\n".join(path.read_text() for path in sorted(CHAPTERS.glob("*.md")))
    return re.findall(rf"^<!-- {what}: (\S+) -->$", text, re.MULTILINE)


STRUCTURES = sorted(set(asked("layout")) - set(WHOLE))


@cache
def figures(name: str) -> tuple[ET.Element, ...]:
    """The pictures of a placeholder; they are XML, or this fails."""
    return tuple(ET.fromstring(line) for line in lines(name, link) if line.startswith("<figure"))


def boxes(name: str) -> Iterator[tuple[str, str, list[ET.Element]]]:
    """Where the box of each field leads, what it says when the mouse is over it, and its rectangles."""
    for figure in figures(name):
        for one in figure.iter("a"):
            yield one.get("href", ""), one.findtext("title", ""), one.findall("rect")


def test_every_table_of_fields_with_places_is_below_its_picture() -> None:
    of_bytes = [
        name
        for name in asked("fields")
        if not (isinstance(declared(name), type) and issubclass(declared(name), Record))
    ]
    assert of_bytes == [name for name in asked("layout") if name not in WHOLE]
    for path in CHAPTERS.glob("*.md"):
        for name, below in re.findall(r"<!-- layout: (\S+) -->\n\n<!-- fields: (\S+) -->", path.read_text()):
            assert name == below


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_picture_has_the_fields_of_the_declaration_in_their_order(name: str) -> None:
    shown = [(href, hint.partition(",")[0]) for href, hint, _ in boxes(name)]
    assert [(f"#{slug(name)}-{row.name}", row.name) for row in construct_rows(declared(name))] == shown
    for (_, hint, _), row in zip(boxes(name), construct_rows(declared(name)), strict=True):
        assert row.type in hint
        assert row.doc in hint


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_box_is_as_wide_as_its_bytes(name: str) -> None:
    fields = fields_of(declared(name), slug(name))
    found = layout(fields)
    for (_, _, rectangles), placed in zip(boxes(name), found.placed, strict=True):
        width = sum(float(one.get("width", "")) for one in rectangles) / BYTE[found.width]
        assert width == (found.width if placed.is_broken else placed.field.size)
        assert placed.is_broken == ("variable" in rectangles[0].get("class", ""))


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_box_leads_to_a_row_and_every_byte_of_fixed_place_has_an_anchor(name: str) -> None:
    table = replaced(f"<!-- fields: {name} -->", link)
    anchors = set(re.findall(r"\{ #(\S+) \}|<span id=\"([^\"]+)\"", table))
    found = {own or byte for own, byte in anchors}
    assert {href.removeprefix("#") for href, _, _ in boxes(name)} <= found
    for field in fields_of(declared(name), slug(name)):
        assert set(byte_anchors(field, slug(name))) <= found


def test_byte_29_of_a_descriptor_is_found_in_words_by_its_anchor_and_in_the_picture() -> None:
    table = replaced("<!-- fields: pm.grammar.ColumnDescriptor -->", link).splitlines()
    [row] = [line for line in table if 'id="columndescriptor-byte-29"' in line]
    assert "byte&nbsp;29 | 1 | [`max_rep_level`]" in row
    [hint] = [hint for _, hint, _ in boxes("pm.grammar.ColumnDescriptor") if "byte 29:" in hint]
    assert hint == "max_rep_level, byte 29: u8. Greatest repetition level, 0 outside lists."
    [chosen] = [line for line in table if 'id="columndescriptor-byte-25"' in line]
    assert "bytes&nbsp;24&nbsp;to&nbsp;27 | 4 | [`name_length`]" in chosen


def test_a_length_that_crosses_rows_of_eight_is_drawn_in_rows_of_four() -> None:
    found = layout(fields_of(declared("idx1.blob.BLOB"), "blob"))
    assert (found.width, list(found.offsets)) == (4, [0, 4, 8, 12])
    assert [placed.is_broken for placed in found.placed] == [False, False, True]


def test_fields_behind_one_of_any_length_have_no_offset() -> None:
    found = layout(fields_of(declared("directory.entries.DIRECTORY"), "directory"))
    assert (found.width, list(found.offsets)) == (8, [0, 8, 12, None])


@pytest.mark.parametrize(
    "name", ["layout: pm.grammar.NOTHING", "layout: pm.codes.ColumnFlag", "stepper: nothing"]
)
def test_what_is_not_declared_fails_the_build(name: str) -> None:
    with pytest.raises(PlaceholderError, match=re.escape(name)):
        replaced(f"<!-- {name} -->", link)


def test_the_parts_of_the_whole_file_tile_it_and_each_leads_to_a_section() -> None:
    found = regions()
    size = (GOLDEN_FILES / MAPPED / "data.parquet").stat().st_size
    assert [0, *(part.end for part in found)] == [*(part.start for part in found), size]
    assert {part.kind for part in found} == set(SECTIONS)
    for chapter, section in SECTIONS.values():
        headings = re.findall(r"^#+ (.*)$", (CHAPTERS / chapter).read_text(), re.MULTILINE)
        assert section in {re.sub(r"[^a-z -]", "", head.lower()).replace(" ", "-") for head in headings}
    assert [f"{part.start}" for part in found] == [
        re.search(r"bytes? (\d+)", hint)[1]  # type: ignore[index]
        for _, hint, _ in boxes("parquet.file")
    ]


def test_the_picture_of_a_filter_holds_all_of_its_bytes() -> None:
    content = (GOLDEN_FILES / FILTERED / "data.parquet").read_bytes()
    fields = [*header_fields(), *word_fields()]
    shown = bytes.fromhex("".join(field.type for field in fields))
    assert len(shown) == 47
    assert shown in content
    assert [field.name for field in header_fields()] == [
        "numBytes",
        "algorithm",
        "hash",
        "compression",
        "stop",
    ]


def test_the_search_finds_byte_29_of_a_descriptor_by_an_entry_of_its_own() -> None:
    [found] = [one for one in entries() if one["location"] == "spec/pm.html#columndescriptor-byte-29"]
    assert found["title"] == "Byte 29 of column descriptor, _pm: max_rep_level"
    assert found["text"] == "<p>Greatest repetition level, 0 outside lists. u8.</p><p>byte 29</p>"
    [wide] = [one for one in entries() if one["location"] == "spec/pm.html#columndescriptor-byte-24"]
    assert wide["text"].endswith("<p>byte 24 byte 25 byte 26 byte 27</p>")


def test_the_search_worker_tells_tokens_with_digits_apart_or_the_build_fails(tmp_path: Path) -> None:
    worker = tmp_path / WORKERS / "search.1.min.js"
    worker.parent.mkdir(parents=True)
    worker.write_text(f"before{CONFUSING}behind")
    for _ in range(2):
        mend_worker(tmp_path)
        assert worker.read_text() == f"before{PLAIN}behind"
    worker.write_text("another search")
    with pytest.raises(ValueError, match="another search"):
        mend_worker(tmp_path)
