"""The explanation of a rule: its sentence, its origin, the cost of breaking it, and golden files that show it."""

from __future__ import annotations

import difflib
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pqassay_spec
from pqassay.checks import registry
from pqassay.report.declarations import declaration
from pqassay.report.rules import obligation
from pqassay_spec.base.terminal import shell_line
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.golden.folder import golden_files
from pqassay_spec.golden.table_case import TABLE_FOLDER, TABLE_MANIFEST
from pqassay_spec.rules.catalogue import Family, Rule, families, family_of, rules
from pqassay_spec.rules.observed import observations
from pqassay_spec.rules.reader_cases import cases_of

WIDTH = 100
LABEL = 12

CASES_SHOWN = 6
"""The number of golden files listed in the explanation of a rule for readers."""

DISPUTE = "docs/dispute.md of the repository says what to send, and what happens then"
"""The last line of an explanation."""


def explain(rule_id: str) -> Iterator[str]:
    """Yield the lines that explain one rule. Raises `KeyError` for an unknown id."""
    rule, family = rules()[rule_id], family_of(rule_id)
    yield f"{rule.id}  {family.label}"
    yield ""
    yield from textwrap.wrap(rule.sentence, WIDTH, initial_indent="  ", subsequent_indent="  ")
    yield ""
    for label, value in (*obligation(rule), *places(rule, family)):
        yield from _labelled(label, value)
        if label == "observed":
            yield from _observations(rule_id)
    yield from golden_pair(rule_id) if rule.judges_files else tested_by(rule_id)
    yield ""
    yield from _labelled("disagree?", DISPUTE)


def tested_by(rule_id: str) -> Iterator[str]:
    """Yield the lines about golden files that test whether a reader keeps a rule; empty without golden files."""
    folder = golden_files()
    if folder is None:
        return
    found = cases_of(rule_id, _case_ids(folder))
    more = f" and {len(found) - CASES_SHOWN:,} more" if len(found) > CASES_SHOWN else ""
    yield from _labelled("tested by", f"{', '.join(found[:CASES_SHOWN])}{more}", break_on_hyphens=False)
    options = [word for case in found[:1] for word in ("--case", case)]
    yield from _labelled(
        "ask", f"{shell_line(['pqassay', 'suite', 'run', *options])} -- DRIVER", break_on_hyphens=False
    )


def _observations(rule_id: str) -> Iterator[str]:
    """Yield the observed behavior of each engine, with the golden files."""
    observation = observations().get(rule_id)
    if observation is None or not observation.engines:
        return
    names = [f"{one.engine} {one.version}" for one in observation.engines]
    width = max(map(len, names))
    for name, one in zip(names, observation.engines, strict=True):
        yield f"{'':<{LABEL + 2}}{name:<{width}}  {one.line}"
    yield from _labelled("measured on", f"{', '.join(observation.cases)} ({observation.date})")


def places(rule: Rule, family: Family) -> Iterator[tuple[str, str]]:
    """The places where to read more: the chapter, the declaration of the field, and the check."""
    chapter = _chapters() / family.chapter
    yield "chapter", f"{_near(chapter)}#{rule.id.lower()}"
    if (place := declaration(rule.field)) is not None:
        yield "declared", f"{_near(place.path)}:{place.line}"
    if rule.id in registry():
        yield "checked", _line_of(registry()[rule.id].test, rule.id)


def _line_of(function: Any, rule_id: str) -> str:
    """The file and line of a function or class: its first decorator, or the decorator that names the rule."""
    statement = inspect.unwrap(function)
    lines, first = inspect.getsourcelines(statement)
    text = "".join(lines)
    named = re.search(rf'@\w+\(\s*"{rule_id}"', text)
    line = first + (0 if named is None else text.count("\n", 0, named.start()))
    return f"{_near(Path(inspect.getfile(statement)))}:{line}"


def _chapters() -> Path:
    """The folder of chapters: inside the installed specification package, or beside it in a checkout."""
    package = Path(pqassay_spec.__file__).parent
    installed = package / "chapters"
    return installed if installed.is_dir() else package.parent / "chapters"


def _near(path: Path) -> Path:
    """A path relative to the current folder, if it is below that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _labelled(label: str, text: str, *, break_on_hyphens: bool = True) -> Iterator[str]:
    head = f"  {label:<{LABEL}}"
    # Addresses are not split, so that terminals show them as links.
    yield from textwrap.wrap(
        text,
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=break_on_hyphens and "://" not in text,
    )


def golden_pair(rule_id: str) -> Iterator[str]:
    """Yield the lines about a golden file that breaks a rule and its good original; empty without golden files."""
    folder = golden_files()
    if folder is None:
        return
    # Only a few manifests mention the rule, so only these are parsed.
    mentioning = [json.loads(text) for text in _mentioning(folder).get(rule_id, ())]
    breaking = [case for case in mentioning if rule_id in case["expect"]["check"]["rules"]]
    # A file that breaks no other rule explains most.
    case = min(breaking, key=lambda case: len(case["expect"]["check"]["rules"]), default=None)
    if case is None:
        yield from _golden_table(folder, rule_id)
        return
    others = f" (and {len(breaking) - 1} more)" if len(breaking) > 1 else ""
    if "parent" in case:
        yield from _labelled("kept by", case["parent"])
    yield from _labelled("broken by", f"{case['id']}: {case['title']}{others}")
    path = folder / case["id"] / case["input"]["file"]
    yield from _labelled("look at it", shell_line(["pqassay", "check", str(_near(path))]))
    yield from _broken_bytes(path, rule_id, case)


def _golden_table(folder: Path, rule_id: str) -> Iterator[str]:
    """Yield the lines about a golden table that breaks a rule and its good original."""
    breaking = [case for case in _tables(folder) if rule_id in case["rules"]]
    if not breaking:
        return
    case = breaking[0]
    others = f" (and {len(breaking) - 1} more)" if len(breaking) > 1 else ""
    yield from _labelled("kept by", case["parent"])
    yield from _labelled("broken by", f"{case['id']}: {case['title']}{others}")
    path = _near(folder / case["id"] / TABLE_FOLDER)
    yield from _labelled("look at it", shell_line(["pqassay", "check", "--tier", case["tier"], str(path)]))


@cache
def _case_ids(folder: Path) -> list[str]:
    return sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob(MANIFEST))


@cache
def _mentioning(folder: Path) -> dict[str, list[str]]:
    """The manifests that mention each rule, by rule id."""
    texts: dict[str, list[str]] = {}
    for path in sorted(folder.rglob(MANIFEST)):
        text = path.read_text(encoding="utf-8")
        for rule_id in set(_ID.findall(text)):
            texts.setdefault(rule_id, []).append(text)
    return texts


_ID = re.compile(r"\b[A-Z][A-Z0-9]*-[0-9]+\b")
"""A pattern for the id of a rule in a text."""


@cache
def _tables(folder: Path) -> list[dict[str, Any]]:
    """The manifests of golden tables."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(f"*/*/{TABLE_MANIFEST}"))]


def _broken_bytes(path: Path, rule_id: str, case: dict[str, Any]) -> Iterator[str]:
    """Yield the finding of a check on the file, and the bytes that it marks."""
    from pqassay.judge.checker import check  # noqa: PLC0415 - only this needs it

    report = check(path.read_bytes(), tier=case["expect"]["check"]["tier"])
    finding = next((found for found in report.files[0].findings if found.rule == rule_id), None)
    if finding is not None:
        yield from _labelled("found there", finding.message)
        yield ""
        yield from (f"    {row}" for row in finding.hexdump)


def overview(prefix: str | None = None) -> Iterator[str]:
    """Yield one line for every rule, or for the rules of one family."""
    for family in families():
        if prefix in (None, family.prefix):
            yield f"{family.prefix}  {family.label}"
            for rule in family.rules:
                sentence = textwrap.shorten(rule.sentence, WIDTH - 27, placeholder=" …")
                about = f"{rule.verdict:<7}{rule.tier:<8}" if rule.judges_files else f"{'for readers':<15}"
                yield f"  {rule.id:<10} {about}{sentence}"
            yield ""


def prefixes() -> list[str]:
    """The prefix of every family."""
    return [family.prefix for family in families()]


def nearest(rule_id: str) -> list[str]:
    """Rule ids that are similar to a mistyped id."""
    return difflib.get_close_matches(rule_id.upper(), [*rules(), *prefixes()], n=3, cutoff=0.6)
