"""Plain words: patterns that make a sentence hard to read, and the texts that are free of them.

Run as ``python tools/words.py``: prints each match in `CLEAN` and exits with 1 if there is one.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

PATTERNS = re.compile(
    r"(?<!there )\b(?:is|are|was|were) no (?!more\b|less\b|longer\b|greater\b)|\bnobody\b|\bwhoever\b|\banew\b|\bso many\b"
    r"|\b(?:say|says|said|tell|tells|told) of\b|\bmend(?:s|ed|ing)?\b|\bcomes? to no good\b|\bleav(?:e|es|ing) over\b"
    r"|\bdo(?:es)? without\b|\bmakes? out\b|\ball the same\b"
)
"""What a sentence must not have. "There is no" and "is no longer" are plain English."""

CLEAN = (
    "README.md",
    "spec/pqassay_spec/rules/*.toml",
    "conformance/pqassay/cli/**/*.py",
    "conformance/pqassay/difference/**/*.py",
    "conformance/pqassay/dump/**/*.py",
    "conformance/pqassay/proof/**/*.py",
    "conformance/pqassay/tables/**/*.py",
    "conformance/pqassay_lake/cli/**/*.py",
    "conformance/pqassay_lake/cost/**/*.py",
    "conformance/pqassay_tables/under_test/**/*.py",
    "pipeline/pqassay_spark/check/**/*.py",
    "pipeline/pqassay_spark/cli/**/*.py",
    "pipeline/pqassay_spark/jobs/**/*.py",
    "pipeline/pqassay_spark/produce/**/*.py",
    "reference_impl/pqassay_reader/condition/**/*.py",
    "reference_impl/pqassay_reader/directory/**/*.py",
    "reference_impl/pqassay_reader/pages/**/*.py",
    "reference_impl/pqassay_reference/cli/**/*.py",
    "reference_impl/pqassay_reference/files/**/*.py",
    "reference_impl/pqassay_reference/lake/**/*.py",
    "spec/pqassay_spec/mutation/**/*.py",
    "spec/pqassay_spec/rules/**/*.py",
    "docs/**/*.md",
    "spec/chapters/bloom.md",
    "spec/chapters/compact_thrift.md",
)
"""Texts that have none, as patterns of paths: the list only grows. Of TOML, the values of `SENTENCES`."""

SENTENCES = ("sentence", "practice", "reading")
"""Keys of rules whose values users read."""


def matches(text: str) -> list[str]:
    """What in a text matches `PATTERNS`, in order."""
    return [match.group() for match in PATTERNS.finditer(text)]


def sentences(path: Path) -> Iterator[str]:
    """The texts of a file that users read: sentences of rules, strings of code but docstrings, or lines."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        tree = list(ast.walk(ast.parse(text)))
        docstrings = {id(node.value) for node in tree if isinstance(node, ast.Expr)}
        strings = (node for node in tree if isinstance(node, ast.Constant) and id(node) not in docstrings)
        yield from (node.value for node in strings if isinstance(node.value, str))
        return
    if path.suffix != ".toml":
        yield from text.splitlines()
        return
    for rule in tomllib.loads(text).get("rule", []):
        yield from (rule[key] for key in SENTENCES if key in rule)


def problems() -> list[str]:
    """A line for each text in `CLEAN` that has a match: its file, the words, the text."""
    files = [path for pattern in CLEAN for path in sorted(ROOT.glob(pattern))]
    return [
        f"{path.relative_to(ROOT)}: {', '.join(words)}: {text}"
        for path in files
        for text in sentences(path)
        if (words := matches(text))
    ]


if __name__ == "__main__":
    wrong = problems()
    sys.stdout.writelines(f"{problem}\n" for problem in wrong)
    sys.exit(bool(wrong))
