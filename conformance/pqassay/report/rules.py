"""Help on rules for readers of a report: the address and the content of a rule's page."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from pqassay.report.model import Revision
from pqassay_spec.directory import entries as directory
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.rules import documents
from pqassay_spec.rules.catalogue import BASES, Rule, families, family_of
from pqassay_spec.rules.observed import observed
from pqassay_spec.rules.profiles import profiles
from pqassay_spec.rules.quirks import quirks_of
from pqassay_spec.rules.releases import release

COMPARE = "compare the values with their source"
"""The first thing to do about a finding in which a claim contradicts values."""

COMPARE_FIRST = f"{COMPARE}: either they or the metadata may be wrong"
"""`COMPARE` with its reason: without the claim, nothing would show that the values may be damaged."""

COMPARE_BEFORE = f"{COMPARE}: the remedy may remove the only evidence that the values are damaged"
"""`COMPARE` for a rule that does not check values, but whose remedy removes claims about them."""

STRIP = "pqassay strip "
"""The beginning of a remedy that removes metadata."""

CLAIMS = frozenset(
    ("--statistics", "--page-index", "--bloom-filters", "--sorting-columns", "--column-orders", "--idx1")
)
"""Options of ``pqassay strip`` that remove claims about values: it asks the user to vouch for the values first."""

CLAIM_KEYS = frozenset((directory.KEY, idx1.KEY, idx1.LENGTH_KEY, idx1.COMPANION_KEY))
"""Keys for which ``pqassay strip`` asks the same."""


def compare_first(*, compares_values: bool, remedy: str | None) -> str:
    """The first thing to do about a finding, before its remedy, and why; empty if there is nothing.

    >>> compare_first(compares_values=False, remedy="pqassay strip a.parquet --row-group-hints")
    ''
    >>> compare_first(compares_values=False, remedy="pqassay strip a.parquet --bloom-filters")
    'compare the values with their source: the remedy may remove the only evidence that the values are damaged'
    """
    if compares_values:
        return COMPARE_FIRST
    words = set(remedy.split()) if remedy is not None and remedy.startswith(STRIP) else set[str]()
    return COMPARE_BEFORE if words & (CLAIMS | CLAIM_KEYS) else ""


def obligation(rule: Rule) -> list[tuple[str, str]]:
    """The parts of a rule beside its sentence, as labels and values."""
    rows = [
        ("level", f"{rule.level} for the {'writer and the reader' if rule.role == 'both' else rule.role}"),
        *([("reported as", rule.verdict)] if rule.judges_files else []),
        ("could", rule.could),
        *([("observed", observed(rule.id).sentence)] if rule.judges_files else []),
        ("basis", basis(rule)),
        ("read at", documents.address(rule.origin.document, rule.origin.section) or ""),
        ("obliges", f"since {obliged_since(rule)}"),
        ("field", rule.field),
        *([("tier", f"{rule.tier}  (pqassay check --tier {rule.tier} FILE)")] if rule.judges_files else []),
        ("since", rule.since),
        ("first", COMPARE_FIRST if rule.compares_values else ""),
        ("practice", rule.practice),
        ("reading", rule.reading),
        ("newer", newer(rule)),
        *_promotions(rule),
        *(("known", quirk.sentence) for quirk in quirks_of(rule.id)),
        ("excluded", rule.excluded),
    ]
    return [(label, value) for label, value in rows if value]


def _promotions(rule: Rule) -> Iterable[tuple[str, str]]:
    """The profiles that raise the verdict of a rule, and why."""
    if rule.judges_files:
        for found in profiles().values():
            if (promotion := found.promotion_of(rule)) is not None:
                yield f"for {found.name}", f"{promotion.verdict}: {promotion.reason}"


def newer(rule: Rule) -> str:
    """A note that a rule follows the pinned text, and what a newer text permits; empty without a newer text.

    >>> from pqassay_spec.rules.catalogue import rules
    >>> newer(rules()["DLT-054"])[:41]
    'by the pinned text, 00a891a of 2026-08-22'
    """
    document = documents.document(rule.origin.document)
    if not rule.newer or document is None:
        return ""
    return f"by the pinned text, {document.revision}. {rule.newer}"


def basis(rule: Rule) -> str:
    """The source of a rule: its kind and its place.

    >>> from pqassay_spec.rules.catalogue import rules
    >>> basis(rules()["DIR-001"])
    'ours, a proposal: DIR chapter, "The key"'
    """
    proposal = ", a proposal" if family_of(rule.id).status == "proposal" else ""
    return f"{BASES[rule.origin.kind]}{proposal}: {source(rule)}"


def source(rule: Rule) -> str:
    """The place of a rule's source: document, revision, heading."""
    origin = rule.origin
    document = documents.document(origin.document)
    revision = f" {document.revision}" if document is not None else ""
    return f'{origin.document}{revision}, "{origin.section}"'


def obliged_since(rule: Rule) -> str:
    """The first release of the format in which a rule applies."""
    found = release(rule.obliged_since)
    day = f" of {found.date}" if found.date is not None and str(found.date) != found.version else ""
    return f"{found.name}{day}"


def judged_against(kinds: Iterable[str]) -> list[Revision]:
    """The source documents of the rules for some kinds of files, in the order of their names."""
    return list(_documents_of(frozenset(kinds)))


@cache
def _documents_of(kinds: frozenset[str]) -> tuple[Revision, ...]:
    names = {rule.origin.document for family in families() if family.file in kinds for rule in family.rules}
    return tuple(
        Revision(name, str(document.date), document.commit or None)
        for name, document in documents.documents().items()
        if name in names
    )


def judged_against_line(revisions: Iterable[Revision]) -> str:
    """Revisions in one line; documents of one format at one commit are named by the format. Empty if there are none."""
    shown: dict[str, None] = {}
    for revision in revisions:
        document = documents.document(revision.document)
        name = revision.document if document is None else document.format
        commit = f"{revision.commit[: documents.SHORT]} of" if revision.commit else "published"
        shown[f"{name} {commit} {revision.date}"] = None
    return ", ".join(shown)


def address(rule: Rule, site: str | None = None) -> str | None:
    """The address of more information about a rule.

    Args:
        rule: The rule.
        site: Address of a site that ``make docs`` built; ``None`` if there is none.

    Returns:
        The rule's page on the site; without a site, its place in the source document; ``None`` if that is one of our chapters.
    """
    if site is not None:
        chapter = family_of(rule.id).chapter.removesuffix(".md")
        return f"{site.rstrip('/')}/spec/{chapter}.html#{rule.id.lower()}"
    return documents.address(rule.origin.document, rule.origin.section)


def text(rule: Rule) -> str:
    """The rule and its parts as text, one per line."""
    rows = [f"{label}: {value}" for label, value in obligation(rule)]
    return "\n".join([rule.sentence, *rows, f"more: pqassay explain {rule.id}"])


def markdown(rule: Rule, site: str | None = None) -> str:
    """The rule and its parts as Markdown."""
    rows = [f"- **{label}**: {value}" for label, value in obligation(rule)]
    target = address(rule, site)
    link = [f"[{rule.id}]({target})"] if target else []
    return "\n\n".join(
        [rule.sentence, "\n".join(rows), *link, f"`pqassay explain {rule.id}` shows an example."]
    )
