"""The parts of a document that rules cite, and its normative sentences, each with a digest.

Text is never stored: `upstream` keeps only the digests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import NamedTuple

from pqassay_spec.rules.documents import THRIFT

NORMATIVE = re.compile(
    r"\b(must|shall|should|required|mandatory|recommended|forbidden|ha(ve|s) to|may not|(not|never)\W+(be )?allowed)\b",
    re.IGNORECASE,
)
"""A pattern for words of a normative sentence."""


class Section(NamedTuple):
    """A part of a document: its heading, the depth of the heading, and the text up to the next heading."""

    heading: str
    depth: int
    text: str


class Sentence(NamedTuple):
    """A normative sentence: the nearest heading, its number among those there, and its text."""

    heading: str
    number: int
    text: str

    @property
    def digest(self) -> str:
        """The digest of the text, independent of line breaks."""
        return digest_of(self.text)


def digest_of(text: str) -> str:
    r"""Twelve hexadecimal digits of SHA-256 of a text, with all white space as single spaces.

    >>> digest_of("A  page\nbegins") == digest_of("A page begins")
    True
    """
    return sha256(" ".join(text.split()).encode()).hexdigest()[:12]


HEADING = re.compile(r"^\s{0,3}(#+)\s+(.+?)\s*#*$")
UNDERLINE = re.compile(r"^===+\s*$")
FENCE = re.compile(r"^\s*(```|~~~)")


def markdown_sections(text: str) -> list[Section]:
    """The sections of a Markdown document, without comments; fenced code stays in the text."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    sections: list[tuple[str, int, list[str]]] = [("", 0, [])]
    fenced = False
    for line in text.splitlines():
        fenced ^= FENCE.match(line) is not None
        if not fenced and (match := HEADING.match(line)):
            sections.append((match[2], len(match[1]), []))
        elif not fenced and UNDERLINE.match(line) and sections[-1][2] and sections[-1][2][-1].strip():
            sections.append((sections[-1][2].pop().strip(), 1, []))
        else:
            sections[-1][2].append(line)
    return [Section(heading, depth, "\n".join(lines)) for heading, depth, lines in sections]


DECLARED = re.compile(r"^\s*(?:struct|union|enum)\s+(\w+)")
MEMBER = re.compile(r"^\s*(?:\d+\s*:.*?(\w+)\s*(?:=\s*\S+\s*)?[,;]?|(\w+)\s*=\s*\d+\s*[,;]?)\s*$")


def thrift_sections(text: str) -> list[Section]:
    """The declarations of ``parquet.thrift``, each with the comment before it: structs, and members by names such as ``Statistics.max``."""
    sections: list[Section] = []
    struct, comment, in_comment = "", list[str](), False
    for line in text.splitlines():
        code, _, remark = ("", "", line) if in_comment else line.partition("//")
        if not in_comment and "/*" in code:
            code, _, remark = code.partition("/*")
            comment, in_comment = [], True
        if in_comment:
            remark, _, rest = remark.partition("*/")
            in_comment = not rest and not line.rstrip().endswith("*/")
        if remark.strip():
            comment.append(re.sub(r"^\s*\*+|\*+$", "", remark))
        if match := DECLARED.match(code):
            struct = match[1]
            sections.append(Section(struct, 1, "\n".join([*comment, code])))
            comment = []
        elif struct and (member := MEMBER.match(code)):
            sections.append(Section(f"{struct}.{member[1] or member[2]}", 2, "\n".join([*comment, code])))
            comment = []
        elif not in_comment and "}" in code:
            struct, comment = "", []
    return sections


def sections_of(name: str, text: str) -> list[Section]:
    """The sections of a document."""
    return thrift_sections(text) if name == THRIFT else markdown_sections(text)


def within(sections: Sequence[Section], headings: Collection[str]) -> list[Section]:
    """The named sections, each with its subsections; all sections if there are no names."""
    inside: list[Section] = []
    depth = 0
    for section in sections:
        if section.depth <= depth or not depth:
            depth = section.depth if section.heading in headings or not headings else 0
        if depth or not headings:
            inside.append(section)
    return inside


def digests_of(sections: Sequence[Section], headings: Sequence[str]) -> dict[str, str]:
    """The digest of each existing named section, including its subsections."""
    found = {heading: within(sections, [heading]) for heading in headings}
    return {
        heading: digest_of("\n".join(f"{one.heading}\n{one.text}" for one in mine))
        for heading, mine in found.items()
        if mine
    }


BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[*+-]|\d+\.)\s)|\s*\|\s*|\n(?=\s*\*\s*-)")
BULLET = re.compile(r"^\s*(?:[*+-]|\d+\.)\s+")
END = re.compile(r"(?<=[.!?:])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`*_\[(])")
CODE = re.compile(r"^\s*(```|~~~).*?^\s*\1\s*$", re.DOTALL | re.MULTILINE)


def sentences_of(sections: Sequence[Section]) -> list[Sentence]:
    """The normative sentences of a document in order, without those in fenced code and declarations."""
    counted: Counter[str] = Counter()
    sentences: list[Sentence] = []
    for section in sections:
        text = CODE.sub("\n\n", section.text)
        if re.search(r"^[A-Z]\w*(\.\w+)?$", section.heading) and not text.lstrip().startswith(("#", "|")):
            text = "\n".join(
                line for line in text.splitlines() if not (DECLARED.match(line) or MEMBER.match(line))
            )
        for block in BLOCK.split(text):
            for part in END.split(block):
                sentence = BULLET.sub("", part)
                if NORMATIVE.search(sentence) and " " in sentence.strip():
                    counted[section.heading] += 1
                    sentences.append(Sentence(section.heading, counted[section.heading], sentence))
    return sentences
