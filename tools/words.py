"""A linter for plain words: patterns that make a sentence hard to read, and the texts that must not have them.

Run as ``python tools/words.py``: prints each match in `CLEAN` and exits with 1 if there is one.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent

PATTERNS = re.compile(
    r"(?<![Tt]here )\b(?:is|are|was|were) no(?:ne\b| (?!more\b|less\b|longer\b|greater\b))|(?<!-)\b[Nn]obody\b|\b[Ww]hoever\b|\banew\b"
    r"|\bso many\b|\b(?:say|says|said|tell|tells|told) of\b|\bmend(?:s|ed|ing)?\b|\b(?:came|comes?) to no good\b|\bleav(?:e|es|ing) over\b"
    r"|\bdo(?:es)? without\b|\bmakes? out\b|\ball the same\b|(?:^|(?<=[.;:#|`-] )|(?<=\"))(?:Of (?!course\b)|(?<!# )Who )[a-z]"
    r"|\bstands?\b(?! for\b| alone\b| out\b)|\bmatters? of\b|\bto be had\b"
)
"""A pattern for hard sentences, with single spaces. "There is no" and "is no longer" are allowed, and so is a heading that asks who."""

AROUND = 70
"""The number of characters shown on either side of a match."""

CLEAN = (
    "README.md",
    "benchmarks/*.py",
    "CONTRIBUTING.md",
    "conformance/*.md",
    "conformance/**/*.py",
    "conformance/implementations/*/*.md",
    "docs/**/*.md",
    "examples/**/*.md",
    "examples/**/*.py",
    "golden_files/README.md",
    "pipeline/**/*.py",
    "reference_impl/**/*.py",
    "spec/chapters/*.md",
    "spec/pqassay_spec/**/*.py",
    "spec/pqassay_spec/rules/*.toml",
    "tests/*.py",
    "tests/[!d]*/**/*.py",
    "tools/[!w]*.py",
    "tools/*/**/*.py",
    "tools/w[!o]*.py",
)
"""Patterns of paths of clean texts; the list only grows. In TOML files, only the values of `SENTENCES` are read."""

SENTENCES = ("sentence", "practice", "reading")
"""Keys of rules whose values users read."""


def matches(text: str) -> list[str]:
    """The matches of `PATTERNS` in a text, in order, each with surrounding text; a line break counts as a space."""
    line = " ".join(text.split())
    return [line[max(0, match.start() - AROUND) : match.end() + AROUND] for match in PATTERNS.finditer(line)]


def sentences(path: Path) -> str:
    """The readable text of a file: sentences of rules, or the whole file, since code matches no pattern."""
    text = path.read_text("utf-8")
    if path.suffix != ".toml":
        return text
    return "\n".join(
        rule[key] for rule in tomllib.loads(text).get("rule", []) for key in SENTENCES if key in rule
    )


def problems() -> list[str]:
    """A line for each match in `CLEAN`: its file and the text."""
    files = [path for pattern in CLEAN for path in sorted(ROOT.glob(pattern))]
    return [f"{path.relative_to(ROOT)}: {text}" for path in files for text in matches(sentences(path))]


if __name__ == "__main__":
    wrong = problems()
    sys.stdout.writelines(f"{problem}\n" for problem in wrong)
    sys.exit(bool(wrong))
