"""Conflicts: where one damage breaks several rules, one of them speaks for all.

A broken rule shows that some fields cannot all be right: the field at which it is broken, the fields that its
row in the catalogue compares it with (``against``), and the fields that locate and decode its subject
(``given``).  The search looks for the smallest set of fields whose change resolves all conflicts: it chooses
the field that explains most, then the field that explains most of the rest.

The explanations of a field are counted in fields, since rules about one field are broken together.  A field
that conflicts merely take
for granted explains them only if it explains three: where two damages are as likely as one, both are findings.

For a chosen field the rule speaks whose verdict is strongest.  Among several rules, a rule that is broken at
that field comes first, then a rule that compares it with no other field. The first kind prefers the rule that
looks deepest, the second kind the rule that needs the least of the file.  The rules that do not speak are
*not checked*, as everywhere where another rule is broken.  Fields of a column explain only rules about that
column, and fields of row groups only rules that are broken in the same row groups.

Decoded values are such a field where they are likelier to be damaged than what is claimed of them (`pqassay.report.weighing`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heapify, heappop, heappush

from pqassay.report.coverage import CRC
from pqassay.under_test.violation import Violation
from pqassay_spec.rules.catalogue import TIERS, VERDICTS, Rule, Verdict, rules

LEFT_TO: Mapping[str, tuple[str, ...]] = {
    # If two numbers disagree, the one that no reader relies on is reported, and the other is not.
    "STA-020": ("STA-046",),
    "PIX-026": ("PIX-058",),
    "PIX-038": ("PIX-058", "PIX-072"),
    # Bounds that changed places are both false.
    "STA-040": ("STA-006",),
    "STA-041": ("STA-006",),
    "STA-048": ("STA-006",),
    "STA-050": ("STA-030",),
    "STA-052": ("STA-030",),
    "STA-055": ("STA-030",),
    # A page that is falsely called one of nothing but nulls, or not called so, has another count of nulls.
    "PIX-053": ("PIX-052",),
    # A count that is more than there can be is more than there is.
    "STA-043": ("STA-010",),
    "DIR-036": ("DIR-033",),
    # Bytes that belong to another structure are not those of a blob.
    "DIR-014": ("DIR-013",),
    # Bytes were damaged, or offsets exchanged: neither of two structures of a chunk can be read.
    "BLM-002": ("PIX-020",),
    # A header that says something else about levels than their bytes do.
    "PQF-081": ("PQF-071",),
    "PQF-159": ("PQF-070", "PQF-071", "PQF-141"),
    # A box that does not hold the coordinates holds no box of theirs.
    "PQF-143": ("PQF-182",),
    # Copies of a schema that differ are a key that occurs twice.
    "PQF-006": ("PQF-186",),
    # NaN does not bound numbers.
    "STA-007": ("STA-089",),
    # Bounds of values that are not text are not text either.
    "STA-018": ("PQF-101",),
}
"""Rules beside which one is left out in the same row groups of a column, whatever the fields, even if their verdicts are weaker."""

FOUND_BY: Mapping[str, tuple[str, ...]] = {"blocks": ("snapshots.row_group_entries.block_offset",)}
"""Structures, and what all that is in them is found by: rules take it for granted."""

_FINDING = {name for names in FOUND_BY.values() for name in names}

VALUES = "row_groups.columns.pages.values"
"""The decoded values of a column, a field where they are likelier to be wrong than what is claimed of them."""

BUNDLES = ("footer.key_value_metadata.value", "column_descriptors.flags", "blocks.column_chunks.stat_flags")
"""Fields that hold several facts: rules that are broken at one may be about different ones."""

MOST_LOOSE = 100
"""Conflicts that a field of any column may explain; of more, each is about its own."""

ENOUGH = 3
"""Fields that one must explain to be chosen, or to explain conflicts, which merely take it for granted."""

MANY = 4
"""As `ENOUGH`, where no conflict compares anything with it."""

_UNNAMED = re.compile(
    r"^.*\.(json|avro|crc|parquet|puffin|bin)(\[\d+\])?\.(?=.)|(?<=Values)\..*|(?<=nullCount)\..*|(?<=data_file\.partition)\..*|\[\d+\]|\.(data|dictionary)_page_header(_v2)?"
)
"""What a path has beside the names of a field: the file of a table, names of its columns, numbers of elements, the type of a page."""

_OF_COLUMN = re.compile(
    r"(columns|column_chunks|column_descriptors|directory\.entries)\.|bounds|_counts|Values|nullCount"
)
_OF_LEAF = re.compile(r"footer\.schema(\.(type|type_length|converted_type|logicalType))?")
_OF_ROW_GROUP = re.compile(r"(footer\.)?row_groups|blocks|directory\.entries|(data_file|add)\.")

ANY = "*"
"""The column of a field that may be that of any column."""


class _Part(IntEnum):
    """The part that a field has in a conflict, the strongest first."""

    OWN = 0
    AGAINST = 1
    GIVEN = 2


@dataclass(eq=False)
class Conflict:
    """A rule that is broken in a column.

    Attributes:
        rule: The rule.
        verdict: How it is reported.
        column: The column, if it is about one.
        where: The row groups in which it is broken, or the files of a table.
        fields: Where it is broken, without the numbers of elements; the first place first.
        places: The fields that cannot all be right, each with its column and its part.
        unexplained: Those without a reported rule so far.
    """

    rule: Rule
    verdict: Verdict
    column: str | None
    where: set[int | str | None]
    fields: Sequence[str]
    places: dict[str, tuple[str | None, _Part]] = field(default_factory=dict[str, tuple[str | None, _Part]])
    unexplained: set[int | str | None] = field(default_factory=set[int | str | None])

    @classmethod
    def of(
        cls,
        rule_id: str,
        verdict: Verdict,
        column: str | None,
        where: set[int | str | None],
        first: Iterable[Violation],
        *,
        are_damaged: bool = False,
    ) -> Conflict:
        """The conflict of a rule, by the first places where it is broken, and whether the values are likelier to be damaged."""
        rule = rules()[rule_id]
        paths = [_UNNAMED.sub("", str(violation.field)) for violation in first]
        own = [f"{path}#{rule_id}" if path in BUNDLES else path for path in paths]
        conflict = cls(rule, verdict, column, where, own, unexplained=set(where))
        granted = [*rule.given, *(name for path in own for name in FOUND_BY.get(path.partition(".")[0], ()))]
        parts = ((_Part.OWN, own), (_Part.AGAINST, rule.against), (_Part.GIVEN, granted))
        for part, members in parts:
            for path in members:
                name = path.replace("[*]", "")
                of_column = _OF_COLUMN.search(name) or _OF_LEAF.fullmatch(name)
                of_any = ANY if name != path else column if of_column else None
                before = conflict.places.get(name)
                if before is None or of_any == ANY:
                    conflict.places[name] = of_any, part if before is None else before[1]
        if are_damaged or rule.field == CRC:
            part = _Part.OWN if rule.field == CRC else _Part.AGAINST
            conflict.places[VALUES] = column, part
        return conflict

    def leave_to(self, speaker: Conflict, name: str) -> None:
        """Let a rule speak for this one where it is broken as well, if it says as much."""
        if VERDICTS.index(speaker.verdict) > VERDICTS.index(self.verdict):
            return
        is_everywhere = ANY in (self.places[name][0], speaker.places[name][0]) or not _OF_ROW_GROUP.match(
            name
        )
        if is_everywhere or None in self.where or None in speaker.where:
            self.unexplained.clear()
        self.unexplained -= speaker.where


@dataclass
class _Explanation:
    """What a field explains of what is not yet explained: in how many fields fewer than conflicts have, and who speaks."""

    name: str
    members: list[Conflict]
    speaker: Conflict
    order: tuple[object, ...]


def explained(conflicts: Sequence[Conflict]) -> Iterable[tuple[Conflict, list[Conflict]]]:
    """Each conflict whose rule speaks, with those for which it does."""
    left = _left_to_others(conflicts)
    speakers: dict[Conflict, Conflict] = {}
    for speaker, others in _by_fields(
        [each for each in conflicts if each not in left and each.verdict != "INFO"]
    ):
        speakers.update(dict.fromkeys(others, speaker))
        yield speaker, others
    for each, beside in left.items():
        yield speakers.get(beside, beside), [each]


def _left_to_others(conflicts: Sequence[Conflict]) -> dict[Conflict, Conflict]:
    """Rules for which another speaks whatever the fields, each with one of these."""
    broken = {(each.rule.id, each.column): each for each in conflicts}
    left: dict[Conflict, Conflict] = {}
    for each in conflicts:
        causes = LEFT_TO.get(each.rule.id, ())
        beside = [broken[cause, each.column] for cause in causes if (cause, each.column) in broken]
        if beside and each.where <= set[int | str | None]().union(*(cause.where for cause in beside)):
            left[each] = beside[0]
    return left


def _by_fields(conflicts: Sequence[Conflict]) -> Iterator[tuple[Conflict, list[Conflict]]]:
    """As `explained`, by the fields of the conflicts."""
    named: dict[tuple[str, str | None], list[Conflict]] = defaultdict(list)
    loose: dict[str, list[Conflict]] = defaultdict(list)
    for conflict in conflicts:
        for name, (column, _) in conflict.places.items():
            if column is None or column == ANY:
                loose[name].append(conflict)
            else:
                named[name, column].append(conflict)
    keys = [*named, *((name, None) for name in loose)]

    def explanation(key: tuple[str, str | None]) -> _Explanation | None:
        beside = loose.get(key[0], [])
        beside = beside if key[1] is None or len(beside) <= MOST_LOOSE else []
        return _explanation(key[0], [each for each in (*named.get(key, ()), *beside) if each.unexplained])

    waiting = [
        (best.order, number) for number, key in enumerate(keys) if (best := explanation(key)) is not None
    ]
    heapify(waiting)
    while waiting:
        order, number = heappop(waiting)
        best = explanation(keys[number])
        if best is None:
            continue
        if best.order > order:  # something of it was explained since
            heappush(waiting, (best.order, number))
            continue
        for each in best.members:
            each.leave_to(best.speaker, best.name)
        best.speaker.unexplained.clear()
        yield (
            best.speaker,
            [each for each in best.members if not each.unexplained and each is not best.speaker],
        )
        heappush(waiting, (best.order, number))


def _explanation(name: str, members: list[Conflict]) -> _Explanation | None:
    """What a field explains of some conflicts; ``None`` of none."""
    sure = [each for each in members if each.places[name][1] is not _Part.GIVEN]
    grave = {each.fields[0] for each in members if each.verdict == "FAIL"}
    if len(grave) < (ENOUGH if sure else MANY) or not (sure or name in _FINDING):
        members = sure
    if not members:
        return None
    speaker = min(members, key=lambda each: _rank(each, name))
    saved = _saved([each for each in members if each.verdict == "FAIL"], name), _saved(members, name)
    return _Explanation(name, members, speaker, (*saved, *_rank(speaker, name), name))


def _saved(members: Sequence[Conflict], name: str) -> tuple[int, int, bool]:
    """How much a field explains, what explains most being least: fields saved, rules, and whether none of them is about it."""
    parts: dict[str, _Part] = {}
    for each in members:
        parts[each.fields[0]] = min(each.places[name][1], parts.get(each.fields[0], _Part.GIVEN))
    sure = sum(1 for part in parts.values() if part is not _Part.GIVEN)
    is_own = _Part.OWN in parts.values()
    cost = 1 if is_own or sure > 1 else 2
    return cost - len(parts), -len({each.rule.id for each in members}), not is_own


def _rank(conflict: Conflict, name: str) -> tuple[object, ...]:
    """The order in which rules may speak for a field."""
    rule = conflict.rule
    return (
        VERDICTS.index(conflict.verdict),
        conflict.places[name][1] is not _Part.OWN,
        bool(rule.against),
        TIERS.index(rule.tier) * (-1 if rule.against else 1),
        rule.id,
        conflict.column or "",
    )
