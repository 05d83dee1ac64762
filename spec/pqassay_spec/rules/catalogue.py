"""The rule catalogue: every obligation of the specification, read from the rules files in this folder.

A family is the set of rules for one structure.  Its rules file, its chapter, the judge's package of checks and the modules of its
golden recipes share its name.  Families come from listing the folder, so a new family needs no change to a list.

Rules oblige writers or readers.  A file shows whether its writer followed the rules; answers about golden files show whether a
reader did.  Rules of readers therefore have no check; `pqassay_spec.rules.reader_cases` lists the cases that test them.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Literal, get_args

Level = Literal["MUST", "SHOULD", "MAY"]
"""How strongly the document demands it."""

Verdict = Literal["FAIL", "WARN", "POLICY", "INFO"]
"""The verdict on a broken rule. POLICY: the text is ambiguous, and the rule states which reading is used."""

Role = Literal["writer", "reader", "both"]
"""The party that is obliged."""

Tier = Literal["meta", "footer", "index", "pages", "values"]
"""The part of a file that has to be read; each tier includes the previous ones. `meta`: a table's claims about its files, and the sizes."""

Effect = Literal["rows lost", "wrong rows", "read fails", "pruning lost", "cosmetic"]
"""A harm that a user notices when an engine relies on the broken structure."""

Decoding = Literal["reject", "either"]
"""The answer of a reader of the structure to a file that breaks a rule, if the rule alone decides it."""

OriginKind = Literal["stated", "inferred", "ours"]
"""The source of an obligation: the document states it, the document implies it, or this specification adds it."""

BASES: Mapping[OriginKind, str] = {
    "stated": "the text",
    "inferred": "follows from the text",
    "ours": "ours",
}
"""Words for the sources of obligations."""


def broken_outcome(sources: Iterable[OriginKind]) -> Literal["nonconformant", "untrue"]:
    """The outcome of a file, from the sources of the rules that it breaks and that count.

    A file is nonconformant if a document states one of these rules.  Otherwise it is untrue: it contradicts itself or its values.

    >>> broken_outcome(["inferred", "stated"]), broken_outcome(["inferred", "ours"])
    ('nonconformant', 'untrue')
    """
    return "nonconformant" if "stated" in sources else "untrue"


TIERS: tuple[Tier, ...] = get_args(Tier)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

RELEASES = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.9")
"""The minor releases of this specification, the oldest first. New rules belong to the last one."""

DEFAULT_FILE = "parquet"
"""The default kind of file that a family's rules judge."""

DEFAULT_CALLED = "file"
"""The default word for such a file in counts."""

TABLE_TIER: Tier = "meta"
"""The tier that does not open data files."""

NOT_CLAIMS = ("pages.body", "footer.schema", "metaData.", "file_position_delete.")
"""Parts of field paths for values themselves, their types and constraints, or rows of delete files."""

COMPARES_BYTES = frozenset(("DIR-017",))
"""Rules that compare a digest with the bytes of values, without decoding the values."""

ID_PATTERN = r"[A-Z][A-Z0-9]*-[0-9]{3}"


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
        id: Never changed, never reused.
        level: How strongly the document demands it.
        role: The party that is obliged.
        sentence: The obligation, in one sentence.
        origin: Where it comes from.
        obliged_since: Release of the format from which it obliges, as in `pqassay_spec.rules.releases`.
        tier: How much of a file has to be read to test it; for readers, how much they read before they can break it.
        field: Grammar path that it is about.
        could: The worst harm that breaking it can do to the user of some reader; observed harm is in `pqassay_spec.rules.observed`.
        since: Version of this specification that introduced it.
        verdict: How it is reported; by default FAIL for MUST, WARN for SHOULD, INFO for MAY.
        practice: Why the verdict is weaker than the level: the behavior of real software.
        reading: For POLICY: the reading of the ambiguous text that is used.
        newer: What a newer text, or a draft of it, permits; findings then state that they follow the pinned text.
        reading_of: The only subject of the reading; the reading applies to a finding whose message names it.
        decode: ``reject`` if a reader that decodes the structure must refuse a file that breaks it, ``either`` if it may also
            ignore the structure.
        capability: A capability that an implementation needs, in addition to its family's, to be asked about a file that breaks it.
        excluded: Why no file can show it, if none can.
        against: Grammar paths that it compares ``field`` with: if it is broken, at least one of all these values is false. ``[*]`` follows
            a list of columns if any column may be meant.
        given: Grammar paths that it relies on, for example to find and decode its subject. If one of them is false, several rules
            are broken together.

    Members about judging files (`verdict` and later ones, except `practice`) have no meaning in a rule for readers.
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
        """The reading, if a finding with this message is about its subject; otherwise empty."""
        return self.reading if self.reading_of in message else ""

    @property
    def judges_files(self) -> bool:
        """Whether a file can break it."""
        return self.role != "reader"

    @cached_property
    def compares_values(self) -> bool:
        """Whether it compares a claim (a bound, a count, an index, a filter) with values; a finding does not show which is wrong."""
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

    ``module`` names the chapter and, in every package, the folder or module for this structure. ``file`` is the kind of
    files whose bytes the rules judge, and ``called`` the word for such a file in counts of reports. An implementation needs
    ``capability`` to be asked about it.  A family with rules of tier ``meta`` is about tables: these rules judge the
    table itself, and rules of deeper tiers judge its claims about each data file.  ``status`` is ``"proposal"`` if only this
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
        """The title; for a proposal, with a note that it is one."""
        return f"{self.title} (a proposal)" if self.status == "proposal" else self.title

    @property
    def is_about_tables(self) -> bool:
        """Whether its rules judge tables, and their claims about their files."""
        return any(rule.tier == TABLE_TIER for rule in self.rules)

    @property
    def chapter(self) -> str:
        """The file name of its chapter."""
        return f"{self.module}.md"


def minor_release(version: str) -> str:
    """The minor release of a version.

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
    """Every family, in the order of the files of their prefixes."""
    return tuple(parse_family(name, text.decode()) for name, text in _rule_files())


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
    """Every rule by id that only readers can break."""
    return {rule.id: rule for rule in rules().values() if not rule.judges_files}


def family_of(rule_id: str) -> Family:
    """The family that a rule belongs to. Raises `KeyError` for an unknown id."""
    return _families_by_rule()[rule_id]


@cache
def _families_by_rule() -> dict[str, Family]:
    return {rule.id: family for family in families() for rule in family.rules}


@cache
def rules_for(file: str) -> dict[str, Rule]:
    """Every rule by id that judges the bytes of one kind of file; for a table, the rules that judge the table itself."""
    return {
        rule.id: rule
        for family in families()
        for rule in family.rules
        if family.file == file and rule.judges_files
        if not family.is_about_tables or rule.tier == TABLE_TIER
    }


@cache
def claim_rules(table: str) -> dict[str, Rule]:
    """Every rule by id that judges the claims of one kind of table about a data file."""
    mine = (
        rule
        for family in families()
        if family.file == table and family.is_about_tables
        for rule in family.rules
    )
    return {rule.id: rule for rule in mine if rule.judges_files and rule.tier != TABLE_TIER}


@cache
def asked_about(kind: str, table: str = "") -> dict[str, Rule]:
    """Every rule by id that applies to a target: a file of one kind, optionally in a table of another kind."""
    return {**rules_for(kind), **claim_rules(table)} if table else rules_for(kind)


@cache
def called(file: str) -> str:
    """The word for a file of one kind in the counts of reports."""
    return next((family.called for family in families() if family.file == file), DEFAULT_CALLED)


@cache
def digest() -> str:
    """SHA-256 over all rules files; a report states it to identify the rules that it applied."""
    total = hashlib.sha256()
    for name, text in _rule_files():
        total.update(f"{name} {len(text)}\n".encode() + text)
    return total.hexdigest()


def _rule_files() -> Iterable[tuple[str, bytes]]:
    """The rules files: every table of this folder except those that a module of the same name reads."""
    entries = {entry.name: entry for entry in files("pqassay_spec.rules").iterdir()}
    for name in sorted(entries):
        stem, _, ending = name.rpartition(".")
        if ending == "toml" and f"{stem}.py" not in entries:
            yield stem, entries[name].read_bytes()


def parse_family(module: str, text: str) -> Family:
    """Parse one rules file, which must be valid according to `json_schema`.

    Args:
        module: Name of the family's modules; the file's name without its ending.
        text: Content of the file.
    """
    document = tomllib.loads(text)
    return Family(module=module, rules=tuple(map(_rule, document["rule"])), **document["family"])


def _rule(row: dict[str, Any]) -> Rule:
    values = {"verdict": DEFAULT_VERDICT[row["level"]], **row, "origin": Origin(**row["origin"])}
    values.update((name, tuple(row[name])) for name in _LISTS if name in row)
    return Rule(**values)


_FAMILY = {field.name: field.default for field in fields(Family) if field.name not in ("module", "rules")}
"""Members of a rules file's ``[family]``, each with its default."""

_OPTIONAL = {field.name for field in fields(Rule) if field.default is not MISSING} | {"verdict"}
_OF_FILES = _OPTIONAL - {"practice"}
"""Members that a rule for readers does not have."""

_REQUIRED = {field.name for field in fields(Rule)} - _OPTIONAL

_LISTS = ("against", "given")
"""Members that are lists of paths."""


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a rules file, for editors and for catalogues kept by others.

    It cannot demand that ids are unique, are in order and begin with the prefix of their family.
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
    """Yield the constraints between level and verdict, as conditions of the JSON Schema."""
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
    """The members that a rule for readers omits, as a condition of the JSON Schema."""
    return {
        "if": {"properties": {"role": {"const": "reader"}}},
        "then": {"properties": dict.fromkeys(sorted(_OF_FILES), False)},
    }
