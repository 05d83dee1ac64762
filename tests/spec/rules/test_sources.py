"""Every rule comes from a place that exists, in a revision that is named, and obliges from a release on."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import IntEnum
from functools import cache
from pathlib import Path

import pytest

from each import each
from pqassay_spec.grammar.thrift import Record
from pqassay_spec.parquet import thrift
from pqassay_spec.parquet.release_marks import EXTENSION, marks_of
from pqassay_spec.rules.catalogue import families, family_of, rules
from pqassay_spec.rules.documents import THRIFT, Document, anchor, document, documents
from pqassay_spec.rules.releases import marks_since, release, releases

CHAPTERS = Path(__file__).resolve().parents[3] / "spec" / "chapters"

OWN = re.compile(r"(?P<title>.+) chapter")
"""What origins call a chapter of this specification: its family's prefix or the words of its file."""

HEADING = re.compile(r"^#+ (?P<words>.+)$", re.MULTILINE)

FORMATS = {
    "delta_table": "Delta",
    "directory": "DIR",
    "iceberg_table": "Iceberg",
    "idx1": "IDX1",
    "pm": "_pm",
}
"""The format that a family's rules are about, where it is not Parquet's."""


def names_of_the_grammar() -> set[str]:
    """Structs, unions and enums of ``parquet.thrift``, and their members."""
    found: set[str] = set()
    for name, declared in vars(thrift).items():
        if not isinstance(declared, type) or not declared.__module__.startswith(thrift.__name__):
            continue
        members: list[str] = []
        if issubclass(declared, Record):
            members = [field.name for field in declared.fields]
        elif issubclass(declared, IntEnum):
            members = [member.name for member in declared]
        found.update([name, *(f"{name}.{member}" for member in members)])
    return found


def headings_of(chapter: Path) -> set[str]:
    return set(HEADING.findall(chapter.read_text(encoding="utf-8")))


def chapter_of(title: str) -> Path:
    """The file of a chapter by what origins call it."""
    modules = {family.prefix: family.module for family in families()}
    return CHAPTERS / f"{modules.get(title, title.lower().replace(' ', '_'))}.md"


def test_the_origin_of_a_rule_is_a_place_that_exists() -> None:
    for rule in rules().values():
        assert rule.origin.section in sections_of(rule.origin.document), rule.id


@cache
def sections_of(title: str) -> Collection[str]:
    """The places in a document to which an origin can point."""
    if (chapter := OWN.fullmatch(title)) is not None:
        return headings_of(chapter_of(chapter["title"]))
    return names_of_the_grammar() if title == THRIFT else documents()[title].headings


def test_what_is_ours_stands_in_our_chapters_and_nothing_else_does() -> None:
    ours = {rule.id for rule in rules().values() if rule.origin.kind == "ours"}
    assert ours == {rule.id for rule in rules().values() if document(rule.origin.document) is None}


def test_no_document_and_no_heading_is_there_for_nothing() -> None:
    named = {(rule.origin.document, rule.origin.section) for rule in rules().values()}
    assert set(documents()) == {name for name, _ in named if document(name) is not None}
    assert {(name, heading) for name, one in documents().items() for heading in one.headings} <= named


@each("one", documents().values())
def test_a_document_is_pinned_to_a_commit_or_says_why_not(one: Document) -> None:
    assert one.format in {known.format for known in releases().values()}
    if one.commit:
        assert re.fullmatch("[0-9a-f]{40}", one.commit)
        assert f"/blob/{one.commit}/" in one.address
        assert one.branch or "branch" in one.reason
    else:
        assert one.reason
    assert not one.compared or re.fullmatch("[0-9a-f]{40}", one.compared)
    assert "/master/" not in one.address


def test_a_rule_obliges_from_a_release_of_its_format_on() -> None:
    expected = {rule: FORMATS.get(family_of(rule).module, "parquet-format") for rule in rules()}

    assert expected == {rule.id: release(rule.obliged_since).format for rule in rules().values()}


def test_releases_follow_each_other() -> None:
    for known in {one.format for one in releases().values()}:
        dates = [one.date for one in releases().values() if one.format == known and one.date]
        assert dates == sorted(dates)


def test_every_mark_is_of_the_grammar_and_of_one_release() -> None:
    marks = [mark for one in releases().values() for mark in one.marks]
    assert set(marks) - names_of_the_grammar() == {EXTENSION}
    assert len(marks) == len(set(marks))


def test_the_marks_of_a_release_are_those_of_later_ones_as_well() -> None:
    assert marks_since("2.14.0") < marks_since("2.13.0") < marks_since("2.12.0") | {""}
    assert marks_since("2.12.0") == marks_since("2.13.0")
    assert marks_since("2.3.1") == frozenset()
    assert marks_since("2026-05-05") == frozenset()


def test_a_rule_about_a_field_is_no_older_than_the_field() -> None:
    """Where the place of a rule is a mark itself, the release that brought it is the first that can oblige."""
    order = list(releases())
    brought = {mark: order.index(one.version) for one in releases().values() for mark in one.marks}
    too_old = {
        rule.id: rule.origin.section
        for rule in rules().values()
        if order.index(rule.obliged_since) < brought.get(rule.origin.section, 0)
    }
    assert too_old == {}


def test_marks_are_what_a_struct_uses() -> None:
    statistics = thrift.Statistics(nan_count=0, min_value=b"")
    chunk = thrift.ColumnMetaData(encodings=[0, 9, 99], codec=6, statistics=statistics)
    assert [
        "ColumnMetaData.encodings",
        "Encoding.PLAIN",
        "Encoding.BYTE_STREAM_SPLIT",
        "ColumnMetaData.codec",
        "CompressionCodec.ZSTD",
        "ColumnMetaData.statistics",
        "Statistics.min_value",
        "Statistics.nan_count",
    ] == list(marks_of(chunk))


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("5.1 Encrypted module serialization", "51-encrypted-module-serialization"),
        ("Dictionary Encoding (PLAIN_DICTIONARY = 2 and RLE_DICTIONARY = 8)", "dictionary-encoding-plain_dictionary--2-and-rle_dictionary--8"),
        ("Byte Stream Split: (BYTE_STREAM_SPLIT = 9)", "byte-stream-split-byte_stream_split--9"),
    ],
)  # fmt: skip
def test_a_heading_has_the_anchor_that_github_gives_it(heading: str, expected: str) -> None:
    assert anchor(heading) == expected
