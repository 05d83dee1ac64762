"""The rule catalogue: the real files load and are valid, and the schema rejects broken ones."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, cast

import pytest
from construct import Struct
from jsonschema import Draft202012Validator

import processes
from places import ROOT
from pqassay_spec.directory.distinct_set import SETS
from pqassay_spec.directory.entries import DIRECTORY
from pqassay_spec.directory.sketches import SKETCHES
from pqassay_spec.directory.zone_sums import SUMS
from pqassay_spec.grammar.field_tables import construct_rows
from pqassay_spec.grammar.flat_records import FlatStruct
from pqassay_spec.grammar.thrift import ListOf, Record
from pqassay_spec.idx1.blob import BLOB
from pqassay_spec.parquet.file import HEAD, TAIL
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnIndex, FileMetaData, OffsetIndex, PageHeader
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import txn
from pqassay_spec.rules import catalogue
from pqassay_spec.rules.catalogue import (
    Family,
    Rule,
    families,
    family_of,
    parse_family,
    rules,
)
from pqassay_spec.table import delta, iceberg, puffin
from pqassay_spec.table.json_objects import JsonObject

OTHERS = ("documents.toml", "profiles.toml", "quirks.toml", "reader_cases.toml", "releases.toml")
"""Tables about rules, which modules of the same names read."""

FOLDER = files("pqassay_spec") / "rules"
FILES = sorted(
    (entry for entry in FOLDER.iterdir() if entry.name.endswith(".toml") and entry.name not in OTHERS),
    key=lambda entry: entry.name,
)


# ------------------------------------------------------------------------------------------- the real files


def test_every_file_in_the_folder_is_a_family() -> None:
    assert [f"{family.module}.toml" for family in families()] == [entry.name for entry in FILES]
    assert {"idx1", "parquet_file"} <= {family.module for family in families()}


def test_a_familys_names_follow_from_its_file() -> None:
    family = next(family for family in families() if family.module == "idx1")
    assert (family.prefix, family.title, family.chapter) == ("IDX1", "Distinct-value index", "idx1.md")
    assert family_of("IDX1-006") is family
    assert rules()["IDX1-006"] in family.rules


def test_rules_judge_the_kind_of_file_that_their_family_names() -> None:
    named = {family.module: family.file for family in families()}
    assert {"pm": "pm", "delta_table": "delta", "iceberg_table": "iceberg"} == {
        module: file for module, file in named.items() if file != catalogue.DEFAULT_FILE
    }
    assert [] == [module for module in named if not (ROOT / f"spec/chapters/{module}.md").is_file()]
    assert list(catalogue.rules_for("pm")) == [rule for rule in rules() if rule.startswith("PM-")]
    kinds = ("delta", "iceberg")
    of_tables = [
        rule for kind in kinds for rule in (*catalogue.rules_for(kind), *catalogue.claim_rules(kind))
    ]
    judged = {**catalogue.rules_for("parquet"), **catalogue.rules_for("pm"), **dict.fromkeys(of_tables)}
    assert judged.keys() == catalogue.file_rules().keys() == rules().keys() - catalogue.reader_rules().keys()
    assert {} == catalogue.rules_for("marker")


def test_rules_of_tier_meta_judge_a_table_and_deeper_ones_what_it_says_of_its_files() -> None:
    assert {"meta"} == {rule.tier for rule in catalogue.rules_for("delta").values()}
    assert {"footer", "values"} == {rule.tier for rule in catalogue.claim_rules("delta").values()}
    assert {} == catalogue.claim_rules("parquet")
    assert catalogue.rules_for("parquet") is catalogue.asked_about("parquet")
    asked = catalogue.asked_about("parquet", "delta")
    assert asked == {**catalogue.rules_for("parquet"), **catalogue.claim_rules("delta")}


def test_an_unknown_id_has_no_family() -> None:
    with pytest.raises(KeyError, match="IDX1-999"):
        family_of("IDX1-999")


def test_rules_stand_in_the_order_of_their_families_and_ids() -> None:
    assert list(rules()) == [rule.id for family in families() for rule in family.rules]
    assert list(rules()) == sorted(rules(), key=lambda identifier: (_position(identifier), identifier))
    assert [] == [rule for rule in rules() if not rule.startswith(f"{family_of(rule).prefix}-")]


def _position(identifier: str) -> int:
    return families().index(family_of(identifier))


def test_one_rule_is_read_as_it_stands_in_its_file() -> None:
    assert rules()["IDX1-004"] == Rule(
        id="IDX1-004",
        level="SHOULD",
        role="writer",
        sentence="The value of `distinct_index_offset` has no sign and no leading zeros.",
        origin=catalogue.Origin(
            "inferred", "Embedding User-Defined Indexes", "Serializing the Distinct\u2011Value Index"
        ),
        obliged_since="2025-07-14",
        tier="footer",
        field="footer.key_value_metadata",
        could="read fails",
        since="0.1.0",
        verdict="WARN",
        practice="The published reader accepts one plus sign and leading zeros; parsers of other languages differ.",
    )


def test_verdicts_follow_from_levels_unless_a_rule_says_why_not() -> None:
    default = {"MUST": "FAIL", "SHOULD": "WARN", "MAY": "INFO"}
    weaker = {rule.id for rule in rules().values() if rule.verdict != default[rule.level]}
    assert {"IDX1-017", "PQF-005", "PQF-006"} <= weaker
    assert all(rules()[identifier].practice or rules()[identifier].reading for identifier in weaker)


def test_a_sentence_is_one_sentence_of_plain_text() -> None:
    for rule in rules().values():
        assert rule.sentence[0].isupper(), rule.id
        assert ". " not in rule.sentence, rule.id
        assert rule.sentence == rule.sentence.strip(), rule.id


def test_a_sentence_does_not_say_how_binding_it_is_for_the_level_does() -> None:
    binding = re.compile(r"\b(must|should|shall)\b", re.IGNORECASE)

    assert [] == [rule.id for rule in rules().values() if binding.search(rule.sentence)]


ROOTS: dict[str, Any] = {
    "head": HEAD,
    "tail": TAIL,
    "footer": FileMetaData,
    "idx1": BLOB,
    "directory": DIRECTORY,
    "distinct_set": SETS,
    "zone_sums": SUMS,
    "sketches": SKETCHES,
    "commit": None,
    "protocol": delta.PROTOCOL,
    "checkpoint": None,
    "metaData": delta.METADATA,
    "add": delta.ADD,
    "stats": delta.STATISTICS,
    "deletionVector": delta.DELETION_VECTOR,
    "crc": delta.CHECKSUM,
    "_last_checkpoint": delta.LAST_CHECKPOINT,
    "metadata": iceberg.TABLE_METADATA,
    "manifest_file": iceberg.MANIFEST_FILE,
    "field_summary": iceberg.FIELD_SUMMARY,
    "snapshot": iceberg.SNAPSHOT,
    "manifest_entry": iceberg.MANIFEST_ENTRY,
    "data_file": iceberg.DATA_FILE,
    "partition_field": iceberg.PARTITION_FIELD,
    "file_position_delete": iceberg.POSITION_DELETE,
    "puffin": puffin.FOOTER,
    "blob": puffin.BLOB,
    "header": pm.FixedHeader,
    "column_descriptors": pm.ColumnDescriptor,
    "sorting_columns": pm.SortingColumn,
    "names": {},
    "header_sections": {"bloom_filters": pm.BLOOM_COLUMNS, "squash_tracker": pm.SQUASH_TRACKER},
    "blocks": {
        "num_rows": None,
        "column_chunks": pm.ColumnChunk,
        "min_stats": None,
        "max_stats": None,
        "bloom_filters": pm.BLOOM_BITSET,
    },
    "snapshots": {
        "footer": pm.FooterFields,
        "row_group_entries": pm.RowGroupEntry,
        "bloom_entries": pm.BloomEntry,
        "seq_txn": None,
        "scratchpad": pm.SCRATCHPAD,
        "covering_index": pm.COVERING_INDEX,
        "checksum": None,
        "footer_length": None,
    },
    "data": {"footer": FileMetaData},
    "txn": {"head": txn.TxnHead, "partitions": txn.Partition},
    "row_groups": {
        "columns": {
            "pages": {"header": PageHeader, "body": None},
            "column_index": ColumnIndex,
            "offset_index": OffsetIndex,
            "bloom_filter": {"header": BloomFilterHeader, "bitset": None},
        }
    },
}
"""What a grammar path may begin with, and the declaration in which it goes on."""


def test_the_field_of_a_rule_is_a_path_in_the_grammar() -> None:
    for rule in rules().values():
        root, *names = rule.field.split(".")
        declaration: Any = ROOTS[root]
        for name in names:
            members = dict(_members(declaration))
            assert name in members, f"{rule.id}: {rule.field}"
            declaration = members[name]


def _members(declaration: Any) -> Iterator[tuple[str, Any]]:
    """Names and declarations one level down in a construct or Thrift struct."""
    if isinstance(declaration, ListOf):
        yield from _members(declaration.element)
    elif isinstance(declaration, dict):
        yield from cast("dict[str, Any]", declaration).items()
    elif isinstance(declaration, JsonObject):
        yield from ((member.name, None) for member in declaration.members)
    elif isinstance(declaration, Struct) or (
        isinstance(declaration, type) and issubclass(declaration, FlatStruct)
    ):
        yield from ((row.name, None) for row in construct_rows(declaration))
    elif isinstance(declaration, type) and issubclass(declaration, Record):
        yield from ((field.name, field.type) for field in declaration.fields)


# ---------------------------------------------------------------------------------------------- the digest


def test_the_digest_is_that_of_the_names_lengths_and_bytes_of_the_files() -> None:
    expected = hashlib.sha256()
    for entry in FILES:
        text = entry.read_bytes()
        expected.update(
            entry.name.removesuffix(".toml").encode() + b" " + str(len(text)).encode() + b"\n" + text
        )
    assert catalogue.digest() == expected.hexdigest()


def test_the_digest_is_the_same_in_every_process() -> None:
    program = "from pqassay_spec.rules.catalogue import digest; print(digest())"
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "1"}
    told = processes.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == catalogue.digest()


def test_the_digest_changes_with_any_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(catalogue._rule_files())
    name, text = before[0]
    for changed in ([(name, text + b"\n"), *before[1:]], [("other", text), *before[1:]], before[1:]):
        monkeypatch.setattr(catalogue, "_rule_files", lambda changed=changed: changed)
        assert catalogue.digest.__wrapped__() != catalogue.digest()


# --------------------------------------------------------------------------------------------- broken files

FAMILY = """
[family]
prefix = "ABC"
title = "A family"
since = "0.1.0"
"""

RULE = """
[[rule]]
id = "ABC-001"
level = "MUST"
role = "writer"
sentence = "The sentence."
origin = { kind = "stated", document = "A document", section = "A section" }
obliged_since = "1.0.0"
tier = "footer"
field = "footer"
could = "cosmetic"
since = "0.1.0"
"""

GOOD = FAMILY + RULE


def with_line(name: str, line: str) -> str:
    """The good file with the line of a member replaced, removed (an empty line) or added."""
    pattern = re.compile(rf"^{name} = .*\n", re.MULTILINE)
    return pattern.sub(f"{line}\n" if line else "", GOOD) if pattern.search(GOOD) else f"{GOOD}{line}\n"


def test_the_good_file_is_good() -> None:
    family = parse_family("abc", GOOD)
    assert family == Family("abc", "ABC", "A family", "0.1.0", family.rules)
    assert [(rule.id, rule.verdict, rule.practice) for rule in family.rules] == [("ABC-001", "FAIL", "")]
    assert Draft202012Validator(catalogue.json_schema()).is_valid(tomllib.loads(GOOD))


BROKEN = [
    "",
    FAMILY,
    FAMILY + "[rule]\n",
    "rule = 5\n" + FAMILY,
    "rule = []\n" + FAMILY,
    "rule = [5]\n" + FAMILY,
    "family = 3\n" + RULE,
    RULE,
    GOOD + "\n[other]\n",
    GOOD.replace('title = "A family"', ""),
    GOOD.replace('title = "A family"', 'title = ""'),
    GOOD.replace('title = "A family"', "title = 1"),
    GOOD.replace('title = "A family"', 'title = "A family"\nfile = 1'),
    GOOD.replace('title = "A family"', 'title = "A family"\nmore = 1'),
    with_line("id", ""),
    with_line("id", "id = 1"),
    with_line("id", 'id = "ABC-1"'),
    with_line("id", 'id = "abc-001"'),
    with_line("level", ""),
    with_line("level", 'level = "must"'),
    with_line("role", 'role = "judge"'),
    with_line("tier", 'tier = "page"'),
    with_line("could", 'could = "none"'),
    with_line("obliged_since", ""),
    with_line("decode", 'decode = "accept"'),
    with_line("capability", "capability = 1"),
    with_line("sentence", 'sentence = "No full stop"'),
    with_line("sentence", 'sentence = ""'),
    with_line("field", 'field = ["footer"]'),
    GOOD.removesuffix('since = "0.1.0"\n'),
    with_line("origin", ""),
    with_line("origin", 'origin = "stated"'),
    with_line("origin", 'origin = { kind = "guessed", document = "d", section = "s" }'),
    with_line("origin", 'origin = { kind = "stated", document = "d" }'),
    with_line("origin", 'origin = { kind = "stated", document = 1, section = "s" }'),
    with_line("origin", 'origin = { kind = "stated", document = "d", section = "s", page = "1" }'),
    with_line("severity", 'severity = "high"'),
    with_line("verdict", 'verdict = "PASS"'),
    with_line("verdict", 'verdict = "WARN"'),
    with_line("verdict", 'verdict = "POLICY"'),
    with_line("verdict", 'verdict = "POLICY"\npractice = "So they do."'),
    with_line("level", 'level = "SHOULD"\nverdict = "FAIL"'),
    with_line("level", 'level = "MAY"\nverdict = "WARN"'),
    with_line("practice", "practice = 3"),
    with_line("excluded", 'excluded = ""'),
    with_line("role", 'role = "reader"\nverdict = "FAIL"'),
    with_line("role", 'role = "reader"\nexcluded = "So."\ndecode = "reject"'),
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_the_schema_rejects_a_broken_file(text: str) -> None:
    assert not Draft202012Validator(catalogue.json_schema()).is_valid(tomllib.loads(text))


@pytest.mark.parametrize(
    "line",
    [
        'verdict = "FAIL"',
        'verdict = "WARN"\npractice = "So they do."',
        'verdict = "INFO"\npractice = "So they do."',
        'verdict = "POLICY"\nreading = "So it is read."',
        'excluded = "No file can show it."',
    ],
)
def test_a_verdict_with_its_reason_is_accepted(line: str) -> None:
    text = with_line("verdict", line)
    assert parse_family("abc", text).rules
    assert Draft202012Validator(catalogue.json_schema()).is_valid(tomllib.loads(text))


def test_a_rule_for_readers_judges_no_file() -> None:
    text = with_line("role", 'role = "reader"\npractice = "So they do."')
    (rule,) = parse_family("abc", text).rules

    assert (False, "So they do.") == (rule.judges_files, rule.practice)
    assert Draft202012Validator(catalogue.json_schema()).is_valid(tomllib.loads(text))
    assert {"reader"} == {rule.role for rule in catalogue.reader_rules().values()}
    assert {"writer", "both"} == {rule.role for rule in catalogue.file_rules().values()}


# ----------------------------------------------------------------------------------------------- JSON Schema


def test_the_schema_is_a_valid_schema_and_plain_json() -> None:
    schema = catalogue.json_schema()
    Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema


def test_the_schema_accepts_the_real_files() -> None:
    for entry in FILES:
        errors = Draft202012Validator(catalogue.json_schema()).iter_errors(
            tomllib.loads(entry.read_text("utf-8"))
        )
        assert (entry.name, []) == (entry.name, list(errors))
