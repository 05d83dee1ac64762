"""Generated parts of the site: every table that repeats the specification, taken from the specification.

A page asks for a table with an HTML comment on a line of its own, so that the Markdown reads well unrendered:

    <!-- rules: IDX1 -->                the rules of one family for files, each row an anchor (``#idx1-016``)
    <!-- revision: IDX1 -->             the documents that one family's rules come from, each at its revision
    <!-- releases: parquet-format -->  the releases of a format, and what shows them
    <!-- all rules -->                  the rules of all families in one table
    <!-- fields: idx1.blob.BLOB -->     the fields of a construct or Thrift struct of ``pqassay_spec``
    <!-- enum: grammar.thrift_wire.WireType --> the names of an enum, or of the bits of flags
    <!-- companion fields -->           the members of IDX1's companion record
    <!-- members: pm.json.COLUMN_FIELDS --> the members of a JSON object
    <!-- golden files: IDX1 -->         the golden files of one family, each row an anchor, with the bytes that differ
    <!-- museum -->                  the exhibits of the museum, a room for each family, and what no file shows
    <!-- results: overview -->      what implementations answer about the golden files, see `results_pages`
    <!-- upstream -->              the pages of ``docs/upstream``, each a defect written as an issue, with its state
    <!-- findings table -->             the columns of the table that `pqassay-spark check --out` writes
    <!-- all footer structs -->         every Thrift struct and enum that FileMetaData reaches

A comment that looks like one of these and names nothing fails the build.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum, IntFlag
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import results_pages
from mkdocs.exceptions import PluginError
from site_markdown import Link, anchored, table

from pqassay.difference import Change, difference
from pqassay.difference.marks import marked_rows
from pqassay.lake.kinds import judged_as
from pqassay_reference.golden import museum
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.case import to_json
from pqassay_spec.grammar.field_tables import construct_rows, thrift_rows
from pqassay_spec.grammar.thrift import EnumOf, FieldType, ListOf, Record, type_name
from pqassay_spec.idx1.companion import COMPANION_FIELDS
from pqassay_spec.mutation.mutations import IN_DATA
from pqassay_spec.parquet.thrift import FileMetaData
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.json import JsonField
from pqassay_spec.rules import catalogue, documents, releases
from pqassay_spec.rules.observed import observed
from pqassay_spec.table.json_objects import JsonObject

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

PLACEHOLDER = re.compile(
    r"^<!-- (?P<what>rules|revision|releases|fields|enum|members|golden files|all rules|companion fields|findings table|museum|results|upstream|all footer structs)(?:: (?P<name>\S+))? -->$",
    re.MULTILINE,
)

GOLDEN_FILES = Path(__file__).resolve().parent.parent / "golden_files"

UPSTREAM = GOLDEN_FILES.parent / "docs" / "upstream"
"""Defects of writers, each written as an issue."""

STRUCTS_PAGE = "spec/compact_thrift.md"
"""The page that holds the section of every struct; types link to it."""

JSON_TYPES = {list: "array of strings", int: "integer", bool: "boolean"}


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Replace the placeholders of a page. MkDocs calls this."""
    here = page.file.src_uri

    def link(target: str, anchor: str) -> str:
        path = "" if target == here else posixpath.relpath(target, posixpath.dirname(here) or ".")
        return f"{path}#{anchor}"

    def replacement(found: re.Match[str]) -> str:
        try:
            return "\n".join(generated(found["what"], found["name"] or "", link))
        except (LookupError, ImportError, AttributeError, TypeError, ValueError) as error:
            raise PluginError(f"{here}: {found[0]}: {error}") from error

    return PLACEHOLDER.sub(replacement, markdown)


def generated(what: str, name: str, link: Link) -> Iterator[str]:
    """Yield the Markdown lines that stand for a placeholder."""
    match what:
        case "rules" | "revision" | "releases":
            yield from _of_rules(what, name)
        case "all rules":
            yield from all_rules_table(link)
        case "fields":
            yield from field_table(_declared(name), link)
        case "enum":
            yield from enum_table(_declared(name))
        case "golden files":
            yield from golden_files(_family(name).prefix, link)
        case "companion fields":
            rows = ((f"`{field.name}`", JSON_TYPES[field.type], field.doc) for field in COMPANION_FIELDS)
            yield from table(("Member", "JSON type", "Meaning"), rows)
        case "findings table":
            yield from findings_table()
        case "museum":
            yield from museum_rooms(link)
        case "results":
            yield from results_pages.lines(name, link)
        case "upstream":
            yield from upstream_issues()
        case "members":
            yield from member_table(_declared(name))
        case _:
            yield from footer_structs(link)


def _of_rules(what: str, name: str) -> Iterator[str]:
    if what == "releases":
        return release_table(name)
    return (rule_table if what == "rules" else source_of_family)(_family(name))


def member_table(fields: Iterable[JsonField] | JsonObject) -> Iterator[str]:
    """Yield the members of a JSON object."""
    if isinstance(fields, JsonObject):
        declared = ((f"`{one.name}`", one.type, one.presence, one.doc) for one in fields.members)
        yield from table(("Member", "JSON type", "Presence", "Meaning"), declared)
        return
    words = {**JSON_TYPES, list: "array of objects"}
    rows = (
        (f"`{field.name}`", words[field.type], "required" if field.required else "optional", field.doc)
        for field in fields
    )
    yield from table(("Member", "JSON type", "Presence", "Meaning"), rows)


def findings_table() -> Iterator[str]:
    """Yield the columns of the findings table."""
    from pqassay_spark.check.findings_table import FIELDS, OBSERVED, POSITION  # noqa: PLC0415 - one page needs it, and with it pyarrow

    for heading, kind in (
        ("both kinds of rows", "both"),
        ("rows of files", "file"),
        ("rows of findings", "finding"),
    ):
        rows = (
            (
                f"`{field.name}`",
                str(field.type).replace(str(POSITION), "struct").replace(str(OBSERVED), "struct"),
                "may be null" if field.optional else "",
                field.doc,
            )
            for field in FIELDS
            if field.rows == kind
        )
        yield from ("", f"In {heading}:")
        yield from table(("Column", "Type", "", "Meaning"), rows)
    members = ", ".join(f"`{member.name}` ({member.type})" for member in POSITION)
    yield from (f"A position has the members {members}.", "")


def upstream_issues() -> Iterator[str]:
    """Yield a row for each page of ``docs/upstream`` but the index, of what stands in the table at its top."""
    kinds = ("Project", "Version", "State", "Rules")

    def rows() -> Iterator[tuple[str, ...]]:
        for path in UPSTREAM.glob("*.md"):
            if path.stem != "index":
                text = path.read_text(encoding="utf-8")
                told = dict(re.findall(r"^\| (\w+) \| (.*) \|$", text, re.MULTILINE))
                heading = text.partition("\n")[0].removeprefix("# ")
                yield (f"[{heading}]({path.name})", *(told[kind] for kind in kinds))

    yield from table(("Defect", *kinds), sorted(rows(), key=itemgetter(slice(1, None))))


def _family(prefix: str) -> catalogue.Family:
    found = {family.prefix: family for family in catalogue.families()}
    if prefix not in found:
        raise LookupError(f"no family {prefix}; there are {', '.join(found)}")
    return found[prefix]


def _declared(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(f"pqassay_spec.{module}"), attribute)


# --------------------------------------------------------------------------------------------------- rules


def rule_table(family: catalogue.Family) -> Iterator[str]:
    """Yield one family's rules for files with everything the catalogue knows about them."""
    judging = (rule for rule in family.rules if rule.judges_files)
    rows = ((rule_cell(rule), obligation(rule), _report(rule)) for rule in judging)
    yield from table(("Rule", "Obligation", "Verdict, tier, could, observed"), rows)


def rule_cell(rule: catalogue.Rule) -> str:
    """The id as an anchor, the level, and who is obliged."""
    anchor = rule.id.lower()
    return f"{anchored(rule.id, anchor, f'#{anchor}')}<br>{rule.level}<br><small>{ROLES[rule.role]}</small>"


ROLES = {"writer": "for writers", "reader": "for readers", "both": "for both"}

ORIGINS = {
    "stated": "Stated in {source}.",
    "inferred": "Inferred from {source}.",
    "ours": "Added by this specification: {source}.",
}


def obligation(rule: catalogue.Rule) -> str:
    """The sentence, and below it where it comes from and what explains it."""
    origin = ORIGINS[rule.origin.kind].format(source=_source(rule.origin))
    obliged = f"Obliges since {releases.release(rule.obliged_since).name}."
    notes = [f"{origin} {obliged} Field `{rule.field}`. Since {rule.since}."]
    for label, text in (
        ("Practice", rule.practice),
        ("Reading", rule.reading),
        ("Not tested", rule.excluded),
    ):
        if text:
            notes.append(f"**{label}:** {text}")
    return "<br>".join([rule.sentence, *(f"<small>{note}</small>" for note in notes)])


def _source(origin: catalogue.Origin) -> str:
    """A document with its revision, linked at the heading that a rule comes from; a chapter of ours as it is."""
    document = documents.document(origin.document)
    if document is None:
        return f"{origin.document}, section “{origin.section}”"
    linked = f"[{origin.document}]({document.place(origin.section)})"
    return f"{linked} {document.revision}, section “{origin.section}”"


def source_of_family(family: catalogue.Family) -> Iterator[str]:
    """Yield the revisions that a chapter follows."""
    named = dict.fromkeys(rule.origin.document for rule in family.rules)
    found = [document for name in named if (document := documents.document(name)) is not None]
    linked = ", ".join(f"[{one.name}]({one.address})" for one in found)
    yield f"Followed at {' and '.join(documents.summed_up(found))}: {linked}."


def release_table(name: str) -> Iterator[str]:
    """Yield the releases of one format that have a mark or a rule."""
    obliging = {rule.obliged_since for rule in catalogue.rules().values()}
    found = [one for one in releases.releases().values() if one.format == name]
    if not found:
        raise LookupError(f"no format {name}")
    rows = (
        (one.version, str(one.date), ", ".join(f"`{mark}`" for mark in one.marks))
        for one in found
        if one.marks or one.version in obliging
    )
    yield from table(("Release", "Date", "Marks"), rows)


def _report(rule: catalogue.Rule) -> str:
    seen = observed(rule.id)
    told = seen.sentence if seen.is_harm else seen.effect
    return (
        f"**{rule.verdict}**<br>tier&nbsp;`{rule.tier}`"
        f"<br><small>could: {rule.could}</small><br><small>observed: {told}</small>"
    )


def all_rules_table(link: Link) -> Iterator[str]:
    """Yield one row per rule of all families, each linked to its chapter."""

    def rows() -> Iterator[Sequence[str]]:
        for family in catalogue.families():
            for rule in family.rules:
                anchor = rule.id.lower()
                linked = anchored(rule.id, anchor, link(f"spec/{family.chapter}", anchor))
                verdict, tier, effect = "for readers", "-", "-"
                if rule.judges_files:
                    verdict, tier, effect = rule.verdict, f"`{rule.tier}`", observed(rule.id).effect
                yield linked, rule.sentence, rule.level, verdict, tier, rule.could, effect

    yield from table(("Rule", "Obligation", "Level", "Verdict", "Tier", "Could", "Observed"), rows())


# -------------------------------------------------------------------------------------------- golden files


def golden_files(prefix: str, link: Link) -> Iterator[str]:
    """Yield a table of a family's golden files, then the bytes in which each invalid one differs from its parent."""
    cases = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(GOLDEN_FILES.rglob("case.json"))
        if f'"family": "{prefix}"' in path.read_text(encoding="utf-8")
    ]
    for kind, heads in (
        ("valid", ("Valid case", "What it is")),
        ("invalid", ("Invalid case", "What is wrong with it, and what that costs", "Reported")),
    ):
        rows = (_golden_row(case, link) for case in cases if case["kind"] == kind)
        yield from table(heads, rows)
    yield from ("## The bytes that differ", "")
    for case in cases:
        if "mutation" in case:
            yield from _golden_difference(case)


def _golden_row(case: dict[str, Any], link: Link) -> tuple[str, ...]:
    anchor = case["id"].replace("/", "-")
    target = f"#{anchor}-bytes" if "mutation" in case else f"#{anchor}"
    name = anchored(f"`{case['id']}`", anchor, target)
    what = case["title"]
    if case["kind"] == "valid":
        return name, what
    families = {rule: catalogue.family_of(rule) for rule in case["expect"]["check"]["rules"]}
    linked = (
        f"[{rule}]({link(f'spec/{family.chapter}', rule.lower())})" for rule, family in families.items()
    )
    return name, f"{what}<br><small>{case['effect']}</small>", "<br>".join(linked)


MOST_SHOWN = 3
"""Changed fields of a golden file that its page shows with their bytes; further ones are named."""


def _golden_difference(case: dict[str, Any]) -> Iterator[str]:
    """The fields that differ from the parent, by field and not by offset, with the bytes of the first of them marked."""
    mutation = case["mutation"]
    to = f" to `{json.dumps(mutation['to'], ensure_ascii=False)}`" if "to" in mutation else ""
    raw = ", nothing else adapted" if mutation.get("raw") else ""
    yield f"### `{case['id']}` {{ #{case['id'].replace('/', '-')}-bytes }}"
    yield ""
    yield f"`{case['parent']}`, then **{mutation['op']}** `{mutation['path'] or 'file'}`{to}{raw}."
    yield ""
    changed = pm.DATA_NAME if mutation["path"].startswith(IN_DATA) else case["input"]["file"]
    before, after = (
        BytesSource((GOLDEN_FILES / name / changed).read_bytes()) for name in (case["parent"], case["id"])
    )
    found = difference(before, after, (judged_as(changed), judged_as(changed)))
    yield "```text"
    yield f"before {before.size} bytes, after {after.size} bytes"
    named = mutation["path"].removeprefix(IN_DATA)
    changes = sorted(  # the field of which the sentence above speaks comes first
        found.changes, key=lambda change: not (change.path.startswith(named) or named.startswith(change.path))
    )
    for change in changes[:MOST_SHOWN]:
        yield from ("", *_shown_change(change, (before, after)))
    if rest := changes[MOST_SHOWN:]:
        yield from ("", f"and {', '.join(change.path for change in rest)}")
    yield "```"
    yield ""


def _shown_change(change: Change, sources: tuple[BytesSource, BytesSource]) -> Iterator[str]:
    """A field with its values and the rows of its bytes."""
    values = [place.value for place in (change.old, change.new) if place is not None]
    yield f"{change.path}  {change.kind}: {' -> '.join(values)}"
    for label, rows in zip(("before", "after"), marked_rows(change, sources, most=2), strict=True):
        for row, marks in rows:
            yield f"{label:<8}{row}"
            if marks:
                yield f"{'':<8}{marks}"


# -------------------------------------------------------------------------------------------------- museum


def museum_rooms(link: Link) -> Iterator[str]:
    """Yield a section for each family with its exhibits by number, then a table of what no file shows."""
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(GOLDEN_FILES.rglob("case.json"))]
    for family in catalogue.families():
        shown = [case for case in cases if case["family"] == family.prefix and "exhibit" in case]
        if shown:
            yield from (f"## Room {family.prefix}", "")
            for case in sorted(shown, key=lambda case: (case["exhibit"]["numbers"], case["id"])):
                yield from _exhibit(case, family, link)
    yield from ("## Not shown", "", "What no file of this collection can show, and why.")
    rows = (
        (str(one.number), one.defect, one.reason, "<br>".join(map(_sighting, map(to_json, one.seen))))
        for one in museum.absent()
    )
    yield from table(("Exhibit", "Defect", "Why there is no file", "Seen in"), rows)


def _exhibit(case: dict[str, Any], family: catalogue.Family, link: Link) -> Iterator[str]:
    """A section: what happened, where, what finds it, and the command that shows it."""
    name, exhibit, check = case["id"], case["exhibit"], case["expect"]["check"]
    anchor = name.replace("/", "-")
    numbers = ", ".join(map(str, exhibit["numbers"]))
    yield from (f"### {numbers}. {case['title']} {{ #{anchor} }}", "", exhibit["story"], "")
    yield from (f"- **Seen in** {'; '.join(map(_sighting, exhibit['seen']))}",)
    families = {rule: catalogue.family_of(rule) for rule in check["rules"]}
    linked = [f"[{rule}]({link(f'spec/{of.chapter}', rule.lower())})" for rule, of in families.items()]
    if linked:
        yield f"- **Breaks** {', '.join(linked)}; found at tier `{check['tier']}`"
    else:
        yield "- **Breaks** no rule: the file is as it should be, and it is readers that get it wrong"
    if "scan" in case["expect"]:
        yield f"- **Ask a reader for** the rows with `{_condition(case['expect']['predicate'])}`"
    page = link(f"golden_files/{family.prefix.lower()}.md", anchor)
    yield from (f"- **Golden file** [`{name}`]({page})", "")
    yield from (
        "```console",
        f"$ pqassay check golden_files/{name}/{case['input']['file']} --tier {check['tier']}",
        "```",
        "",
    )


def _sighting(seen: dict[str, str]) -> str:
    """The software, linked to where people spoke of it, and its versions."""
    text = f"[{seen['software']}]({seen['reference']})" if "reference" in seen else seen["software"]
    return f"{text} ({seen['versions']})" if "versions" in seen else text


def _condition(predicate: list[Any]) -> str:
    """A predicate as SQL writes it, in the few forms that exhibits have."""
    operator, column, *values = predicate
    texts = [next(iter(value.values())) if isinstance(value, dict) else repr(value) for value in values]
    return " ".join([column, operator, *texts])


# -------------------------------------------------------------------------------------------------- fields


def field_table(structure: Any, link: Link) -> Iterator[str]:
    """Yield the fields of a declared structure, Thrift or construct."""
    if isinstance(structure, type) and issubclass(structure, Record):
        types = {field.name: _linked_type(field.type, link) for field in structure.fields}
        rows = (
            (row.id, f"`{row.name}`", types[row.name], row.presence, row.doc)
            for row in thrift_rows(structure)
        )
        yield from table(("Id", "Field", "Type", "Presence", "Meaning"), rows)
    else:
        bytes_rows = ((r.offset, r.size, f"`{r.name}`", r.type, r.doc) for r in construct_rows(structure))
        yield from table(("Offset", "Size", "Field", "Type", "Meaning"), bytes_rows)


def _linked_type(kind: FieldType, link: Link) -> str:
    """Return the name of a type, linked to the section of the struct or enum that it names."""
    if isinstance(kind, ListOf):
        return f"list of {_linked_type(kind.element, link)}"
    listed = kind.names in footer_enums() if isinstance(kind, EnumOf) else kind in footer_records()
    if listed:
        return f"[{type_name(kind)}]({link(STRUCTS_PAGE, type_name(kind).lower())})"
    return type_name(kind)


def enum_table(names: type[IntEnum | IntFlag]) -> Iterator[str]:
    """Yield the values of an enum, or the bits of flags."""
    if issubclass(names, IntFlag):
        bits = ((str(member.bit_length() - 1), f"`{member.name}`") for member in names)
        yield from table(("Bit", "Name"), bits)
    else:
        yield from table(("Value", "Name"), ((str(member.value), f"`{member.name}`") for member in names))


# ------------------------------------------------------------------------------------------ footer structs


def footer_records() -> list[type[Record]]:
    """Every struct that a footer can hold, `FileMetaData` first, in the order in which fields name them."""
    return _reached()[0]


def footer_enums() -> list[type[IntEnum]]:
    """Every enum that a field of those structs has."""
    return _reached()[1]


def _reached() -> tuple[list[type[Record]], list[type[IntEnum]]]:
    records: list[type[Record]] = []
    enums: list[type[IntEnum]] = []

    def visit(kind: FieldType) -> None:
        if isinstance(kind, ListOf):
            visit(kind.element)
        elif isinstance(kind, EnumOf):
            if kind.names not in enums:
                enums.append(kind.names)
        elif isinstance(kind, type) and kind not in records:
            records.append(kind)
            for field in kind.fields:
                visit(field.type)

    visit(FileMetaData)
    return records, enums


def footer_structs(link: Link) -> Iterator[str]:
    """Yield a section for each struct with fields, then a table of the others, then the enums."""
    records = footer_records()
    for record in records:
        if record.fields:
            yield from (f"### {record.__name__}", "", record.__doc__ or "", *field_table(record, link))
    yield from ("### Structs without fields", "", "Members of unions whose presence says everything.", "")
    empty = ((record.__name__, record.__doc__ or "") for record in records if not record.fields)
    rows = ((anchored(name, name.lower(), f"#{name.lower()}"), doc) for name, doc in empty)
    yield from table(("Struct", "Meaning"), rows)
    yield from ("### Enums", "", "A value without a name is kept: a newer writer may know more names.", "")
    values = (
        (
            anchored(names.__name__, names.__name__.lower(), f"#{names.__name__.lower()}"),
            (names.__doc__ or "").partition("\n")[0].replace("`", ""),
            ", ".join(f"{member.value}&nbsp;`{member.name}`" for member in names),
        )
        for names in footer_enums()
    )
    yield from table(("Enum", "Meaning", "Values"), values)
