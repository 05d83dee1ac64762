"""The rule catalogue: every obligation of the specification, read from the rules files of this room.

A family is one structure.  Its rules file, its chapter, the judge's room of checks and the modules of its golden recipes share
its name.  Families are found by listing the folder, so that adding one touches no list.

Rules oblige writers or readers.  Whether a writer kept its rules is seen in a file; whether a reader did, in what it answers about
golden files.  So the rules of readers have no check, and `pqassay_spec.rules.reader_cases` says which cases test them.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, Literal, cast, get_args

Level = Literal["MUST", "SHOULD", "MAY"]
"""The demand of the document."""

Verdict = Literal["FAIL", "WARN", "POLICY", "INFO"]
"""The verdict on a broken rule. POLICY: the text is ambiguous, and the rule states the reading taken."""

Role = Literal["writer", "reader", "both"]
"""The party that is obliged."""

Tier = Literal["meta", "footer", "index", "pages", "values"]
"""The part of a file that has to be read; each tier includes the ones before. `meta` is what a table says about its files, and their lengths."""

Effect = Literal["rows lost", "wrong rows", "read fails", "pruning lost", "cosmetic"]
"""A harm that a user notices when an engine relies on the broken thing."""

Decoding = Literal["reject", "either"]
"""The answer of a reader of the structure to a file that breaks a rule, where the rule alone decides that."""

OriginKind = Literal["stated", "inferred", "ours"]
"""The source of an obligation: the document says it, the document implies it, or this specification adds it."""

BASES: Mapping[OriginKind, str] = {
    "stated": "the text",
    "inferred": "follows from the text",
    "ours": "ours",
}
"""Words for the sources of obligations."""


def broken_outcome(sources: Iterable[OriginKind]) -> Literal["nonconformant", "untrue"]:
    """The outcome of a file, from the sources of the rules that it breaks and that count.

    A file is nonconformant where a document states one of them.  Otherwise it is untrue: it contradicts itself or its values.

    >>> broken_outcome(["inferred", "stated"]), broken_outcome(["inferred", "ours"])
    ('nonconformant', 'untrue')
    """
    return "nonconformant" if "stated" in sources else "untrue"


TIERS: tuple[Tier, ...] = get_args(Tier)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

RELEASES = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8")
"""The minor releases of this specification, the oldest first. The last one is the one that new rules are written for."""

DEFAULT_FILE = "parquet"
"""The kind of file that a family's rules judge, where its rules file names none."""

DEFAULT_CALLED = "file"
"""The word for such a file in counts, where its rules file does not say."""

TABLE_TIER: Tier = "meta"
"""The tier that opens no data file."""

NOT_CLAIMS = ("pages.body", "footer.schema", "metaData.", "file_position_delete.")
"""Parts of paths of fields that hold the values themselves, their types and constraints, or rows of delete files."""

COMPARES_BYTES = frozenset(("DIR-017",))
"""Rules that hold a digest against the bytes of values, for which no value is decoded."""

ID_PATTERN = r"[A-Z][A-Z0-9]*-[0-9]{3}"


class CatalogueError(Exception):
    """A rules file is wrong: a mistake in this package, or in a family under construction."""


@dataclass(frozen=True)
class Origin:
    """Origin of an obligation."""

    kind: OriginKind
    document: str
    section: str


@dataclass(frozen=True)
class Rule:
    """One atomic obligation.

    Attributes:
        id: Never changed, never used again.
        level: What the document demands.
        role: Whose obligation it is.
        sentence: The obligation, in one sentence.
        origin: Where it comes from.
        obliged_since: Release of the format from which it obliges, as `pqassay_spec.rules.releases` knows it.
        tier: How much of a file has to be read to test it; for readers, to be in the position to break it.
        field: Grammar path that it is about.
        could: The worst that breaking it can do to the user of some reader; what was seen is in `pqassay_spec.rules.observed`.
        since: Version of this specification that introduced it.
        verdict: How it is reported; by default FAIL for MUST, WARN for SHOULD, INFO for MAY.
        practice: Why the verdict is weaker than the level: what real software does.
        reading: For POLICY: the reading of the ambiguous text that is taken.
        newer: What a newer text, or a draft of it, permits; a finding says that it is by the pinned text.
        reading_of: What alone the reading is about: the message of a finding to which it applies names it.
        decode: ``reject`` if a reader that decodes the structure must refuse a file that breaks it, ``either`` if it may as
            well leave the structure aside.
        capability: What an implementation has to know, beside its family's, to be asked about a file that breaks it.
        excluded: Why no file can show it, if none can.
        against: Grammar paths of what it compares ``field`` with: where it is broken, one of all these is false. ``[*]`` is behind
            a list of columns where that of any column may be.
        given: Grammar paths of what it takes for granted, such as that by which its subject is found and decoded: where one
            of them is false, it is broken together with others.

    Members about the judgement of files (`verdict` and the ones after it, except `practice`) mean nothing in a rule for readers.
    """

    id: str
    level: Level
    role: Role
    sentence: str
    origin: Origin
    obliged_since: str
    tier: Tier
    field: str
    could: Effect
    since: str
    verdict: Verdict
    practice: str = ""
    reading: str = ""
    newer: str = ""
    reading_of: str = ""
    decode: Decoding | Literal[""] = ""
    capability: str = ""
    excluded: str = ""
    against: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    def reading_for(self, message: str) -> str:
        """The reading, if a finding with this message is about what it speaks of; empty if not."""
        return self.reading if self.reading_of in message else ""

    @property
    def judges_files(self) -> bool:
        """Whether a file can break it."""
        return self.role != "reader"

    @property
    def compares_values(self) -> bool:
        """Whether it holds a claim (a bound, a count, an index, a filter) against values: a finding does not show which of the two is wrong."""
        return self.judges_files and (
            self.id in COMPARES_BYTES
            or (self.tier == "values" and not any(part in self.field for part in NOT_CLAIMS))
        )

    @property
    def release(self) -> str:
        """The minor release that introduced it, one of `RELEASES`."""
        return minor_release(self.since)


@dataclass(frozen=True)
class Family:
    """The rules of one structure.

    ``module`` names the chapter and, in every package, the room of what is about this structure; ``file`` the kind of the
    files whose bytes the rules judge, ``called`` what counts in reports call such a file, and ``capability`` what an
    implementation has to know to be asked about one.  A family with rules of tier ``meta`` is about tables: these rules judge the
    table itself, and those of deeper tiers what it says about each of its data files.  ``status`` is ``"proposal"`` where only this
    project defines the structure so far.
    """

    module: str
    prefix: str
    title: str
    since: str
    rules: tuple[Rule, ...]
    file: str = DEFAULT_FILE
    called: str = DEFAULT_CALLED
    capability: str = "parquet"
    status: str = "published"

    @property
    def label(self) -> str:
        """The title, and that the structure is a proposal where it is."""
        return f"{self.title} (a proposal)" if self.status == "proposal" else self.title

    @property
    def is_about_tables(self) -> bool:
        """Whether its rules judge tables, and what they say about their files."""
        return any(rule.tier == TABLE_TIER for rule in self.rules)

    @property
    def chapter(self) -> str:
        """File name of the chapter."""
        return f"{self.module}.md"


def minor_release(version: str) -> str:
    """The release line of a version.

    >>> minor_release("0.10.2")
    '0.10'
    """
    return ".".join(version.split(".")[:2])


DEFAULT_VERDICT: Mapping[Level, Verdict] = {"MUST": "FAIL", "SHOULD": "WARN", "MAY": "INFO"}

CHOICES: Mapping[str, tuple[str, ...]] = {
    "level": get_args(Level),
    "role": get_args(Role),
    "tier": TIERS,
    "could": get_args(Effect),
    "verdict": VERDICTS,
    "decode": get_args(Decoding),
}


@cache
def families() -> tuple[Family, ...]:
    """Every family, in the order of their prefixes' files. Raises `CatalogueError`."""
    parsed = [parse_family(name, text.decode()) for name, text in _rule_files()]
    for rule, times in Counter(rule.id for family in parsed for rule in family.rules).items():
        if times > 1:
            raise CatalogueError(f"{rule} is declared twice")
    return tuple(parsed)


@cache
def rules() -> dict[str, Rule]:
    """Every rule by id, in the order of the families and of their files."""
    return {rule.id: rule for family in families() for rule in family.rules}


@cache
def file_rules() -> dict[str, Rule]:
    """Every rule by id that a file can break."""
    return {rule.id: rule for rule in rules().values() if rule.judges_files}


@cache
def reader_rules() -> dict[str, Rule]:
    """Every rule by id that readers alone can break."""
    return {rule.id: rule for rule in rules().values() if not rule.judges_files}


def family_of(rule_id: str) -> Family:
    """The family that a rule belongs to. Raises `KeyError` for an unknown id."""
    return _families_by_rule()[rule_id]


@cache
def _families_by_rule() -> dict[str, Family]:
    return {rule.id: family for family in families() for rule in family.rules}


@cache
def rules_for(file: str) -> dict[str, Rule]:
    """Every rule by id that judges the bytes of one kind of file; of a table, those that judge the table itself."""
    return {
        rule.id: rule
        for family in families()
        for rule in family.rules
        if family.file == file and rule.judges_files
        if not family.is_about_tables or rule.tier == TABLE_TIER
    }


@cache
def claim_rules(table: str) -> dict[str, Rule]:
    """Every rule by id that judges what tables of one kind say about a data file."""
    mine = (
        rule
        for family in families()
        if family.file == table and family.is_about_tables
        for rule in family.rules
    )
    return {rule.id: rule for rule in mine if rule.judges_files and rule.tier != TABLE_TIER}


@cache
def asked_about(kind: str, table: str = "") -> dict[str, Rule]:
    """Every rule by id that is asked about a target: a file of a kind, which a table of another kind may speak of."""
    return {**rules_for(kind), **claim_rules(table)} if table else rules_for(kind)


@cache
def called(file: str) -> str:
    """The word for a file of one kind in the counts of reports."""
    return next((family.called for family in families() if family.file == file), DEFAULT_CALLED)


@cache
def digest() -> str:
    """SHA-256 over all rules files, by which a report names the rules that it applied."""
    total = hashlib.sha256()
    for name, text in _rule_files():
        total.update(f"{name} {len(text)}\n".encode() + text)
    return total.hexdigest()


def _rule_files() -> Iterable[tuple[str, bytes]]:
    """The rules files: every table of this folder but those that a module of the same name reads."""
    entries = {entry.name: entry for entry in files("pqassay_spec.rules").iterdir()}
    for name in sorted(entries):
        stem, _, ending = name.rpartition(".")
        if ending == "toml" and f"{stem}.py" not in entries:
            yield stem, entries[name].read_bytes()


def parse_family(module: str, text: str) -> Family:
    """Parse one rules file.

    Args:
        module: Name of the family's modules; the file's name without its ending.
        text: Content of the file.

    Raises:
        CatalogueError: Naming the rule and what is wrong with it.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"{module}.toml: {error}") from None
    top = _table(document, {"family", "rule"}, module)
    given = _table(top.get("family", {}), set(_FAMILY), f"{module}: family")
    header = {name: given.get(name, default) for name, default in _FAMILY.items()}
    for name, value in header.items():
        if not isinstance(value, str) or not value:
            raise CatalogueError(f"{module}: family.{name} is missing")
    rows = top.get("rule")
    if not isinstance(rows, list) or not rows:
        raise CatalogueError(f"{module}: no rules")
    parsed = tuple(_rule(row, header["prefix"], module) for row in rows)
    if [rule.id for rule in parsed] != sorted({rule.id for rule in parsed}):
        raise CatalogueError(f"{module}: rules are not in the order of their ids, or an id is repeated")
    return Family(module=module, rules=parsed, **header)


_FAMILY = {field.name: field.default for field in fields(Family) if field.name not in ("module", "rules")}
"""Members of a rules file's ``[family]``, each with what it is if it is absent."""

_OPTIONAL = {field.name for field in fields(Rule) if field.default is not MISSING} | {"verdict"}
_OF_FILES = _OPTIONAL - {"practice"}
"""Members that a rule for readers does not have."""

_REQUIRED = {field.name for field in fields(Rule)} - _OPTIONAL

_LISTS = ("against", "given")
"""Members that are lists of paths."""


def _rule(entry: Any, prefix: str, module: str) -> Rule:
    identifier = cast("dict[str, Any]", entry).get("id") if isinstance(entry, dict) else None
    place = f"{module}: {identifier or 'a rule without id'}"
    row = _table(entry, _REQUIRED | _OPTIONAL, place)
    for name in _LISTS:
        if name in row and not (
            isinstance(row[name], list) and all(isinstance(path, str) for path in row[name])
        ):
            raise CatalogueError(f"{place}: {name} is not a list of paths")
    for name in sorted((row.keys() | _REQUIRED) - {"origin", *_LISTS}):
        if not isinstance(row.get(name), str) or not row[name]:
            raise CatalogueError(f"{place}: {name} is missing or no text")
    if not re.fullmatch(ID_PATTERN, row["id"]) or not row["id"].startswith(f"{prefix}-"):
        raise CatalogueError(f"{place}: the id does not look like {prefix}-001")
    for name, choices in CHOICES.items():
        if name in row and row[name] not in choices:
            raise CatalogueError(f"{place}: {name} is {row[name]!r}, not one of {', '.join(choices)}")
    if not row["sentence"].endswith("."):
        raise CatalogueError(f"{place}: the sentence does not end in a full stop")
    if row["role"] == "reader" and (stray := sorted(row.keys() & _OF_FILES)):
        raise CatalogueError(f"{place}: a rule for readers has no {', '.join(stray)}")
    values: dict[str, Any] = {**row, "origin": _origin(row.get("origin", {}), place)}
    values.update((name, tuple(row[name])) for name in _LISTS if name in row)
    values.setdefault("verdict", DEFAULT_VERDICT[row["level"]])
    rule = Rule(**values)
    _require_reasons(rule, place)
    return rule


def _origin(entry: Any, place: str) -> Origin:
    origin = _table(entry, {"kind", "document", "section"}, f"{place}: origin")
    if origin.get("kind") not in get_args(OriginKind):
        raise CatalogueError(f"{place}: origin.kind is not one of {', '.join(get_args(OriginKind))}")
    for name in ("document", "section"):
        if not isinstance(origin.get(name), str) or not origin[name]:
            raise CatalogueError(f"{place}: origin.{name} is missing")
    return Origin(**origin)


def _require_reasons(rule: Rule, place: str) -> None:
    """A verdict other than the level's own says why."""
    default = DEFAULT_VERDICT[rule.level]
    if VERDICTS.index(rule.verdict) < VERDICTS.index(default):
        raise CatalogueError(f"{place}: the verdict is stronger than the level")
    if rule.verdict == "POLICY" and not rule.reading:
        raise CatalogueError(f"{place}: POLICY needs the reading that is taken")
    if rule.verdict not in (default, "POLICY") and not rule.practice:
        raise CatalogueError(f"{place}: a verdict weaker than the level needs the practice that explains it")


def _table(entry: Any, allowed: set[str], place: str) -> dict[str, Any]:
    """A TOML table that holds no other keys than these."""
    if not isinstance(entry, dict):
        raise CatalogueError(f"{place}: no table")
    table = cast("dict[str, Any]", entry)
    if stray := sorted(table.keys() - allowed):
        raise CatalogueError(f"{place}: unknown {', '.join(stray)}")
    return table


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a rules file, for editors and for catalogues kept by others.

    It says all that `parse_family` demands, except what spans rules: the prefix and the order of the ids.
    """
    text = {"type": "string", "minLength": 1}
    properties: dict[str, Any] = {}
    for field in fields(Rule):
        properties[field.name] = {"enum": list(CHOICES[field.name])} if field.name in CHOICES else dict(text)
    properties.update((name, {"type": "array", "items": dict(text)}) for name in _LISTS)
    properties["id"] = {"type": "string", "pattern": f"^{ID_PATTERN}$"}
    properties["sentence"] = {"type": "string", "pattern": r"\.$"}
    properties["origin"] = {
        "type": "object",
        "properties": {"kind": {"enum": list(get_args(OriginKind))}, "document": text, "section": text},
        "required": ["kind", "document", "section"],
        "additionalProperties": False,
    }
    rule = {
        "type": "object",
        "properties": properties,
        "required": [field.name for field in fields(Rule) if field.name in _REQUIRED],
        "additionalProperties": False,
        "allOf": [*_verdict_conditions(), _reader_condition()],
    }
    family = {
        "type": "object",
        "properties": dict.fromkeys(_FAMILY, text),
        "required": [name for name, default in _FAMILY.items() if default is MISSING],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rules of one pqassay family",
        "type": "object",
        "properties": {"family": family, "rule": {"type": "array", "items": rule, "minItems": 1}},
        "required": ["family", "rule"],
        "additionalProperties": False,
    }


def _verdict_conditions() -> Iterable[dict[str, Any]]:
    """Yield what level and verdict demand of each other, as conditions of the JSON Schema."""
    for level, default in DEFAULT_VERDICT.items():
        allowed = VERDICTS[VERDICTS.index(default) :]
        at_level = {"properties": {"level": {"const": level}}}
        yield {"if": at_level, "then": {"properties": {"verdict": {"enum": list(allowed)}}}}
        weaker = [verdict for verdict in allowed if verdict not in (default, "POLICY")]
        condition = {
            "properties": {"level": {"const": level}, "verdict": {"enum": weaker}},
            "required": ["verdict"],
        }
        yield {"if": condition, "then": {"required": ["practice"]}}
    policy = {"properties": {"verdict": {"const": "POLICY"}}, "required": ["verdict"]}
    yield {"if": policy, "then": {"required": ["reading"]}}


def _reader_condition() -> dict[str, Any]:
    """What a rule for readers leaves out, as a condition of the JSON Schema."""
    return {
        "if": {"properties": {"role": {"const": "reader"}}},
        "then": {"properties": dict.fromkeys(sorted(_OF_FILES), False)},
    }
