"""Conflicts: if one damage breaks several rules, only one of them is reported.

A broken rule shows that some fields cannot all be right: the field at which it is broken, the fields that its
row in the catalogue compares it with (``against``), and the fields that locate and decode its subject
(``given``).  The search looks for the smallest set of fields whose change resolves all conflicts: it chooses
the field that explains most, then the field that explains most of the rest.

Explanations are counted in fields, since rules about one field are broken together. A field that conflicts only presuppose (``given``)
explains them only if it explains three. If two damages are as likely as one, both are findings.

For a chosen field, the rule with the strongest verdict is reported. Among several rules, a rule that is broken at that field comes first,
then a rule that compares it with no other field. The first kind prefers the rule that looks deepest, the second kind the rule that needs
the least of the file. The other rules are *not checked*, as always if another rule is the reason. Fields of a column explain only rules
about that column, and fields of row groups only rules that are broken in the same row groups.

Decoded values count as a field if they are more likely damaged than the claims about them (`pqassay.report.weighing`).
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
    # Swapped bounds are both false.
    "STA-040": ("STA-006",),
    "STA-041": ("STA-006",),
    "STA-048": ("STA-006",),
    "STA-050": ("STA-030",),
    "STA-052": ("STA-030",),
    "STA-055": ("STA-030",),
    # If a page is wrongly marked as all-null, or wrongly not marked, its null count is wrong as well.
    "PIX-053": ("PIX-052",),
    # A count above the possible maximum is also above the true count.
    "STA-043": ("STA-010",),
    "DIR-036": ("DIR-033",),
    # Bytes that belong to another structure do not belong to a blob.
    "DIR-014": ("DIR-013",),
    # If bytes were damaged or offsets swapped, neither of two structures of a chunk can be read.
    "BLM-002": ("PIX-020",),
    # A header contradicts the bytes of its levels.
    "PQF-081": ("PQF-071",),
    "PQF-159": ("PQF-070", "PQF-071", "PQF-141"),
    # A box that does not contain the coordinates does not contain their boxes.
    "PQF-143": ("PQF-182",),
    # Different copies of a schema are a key that occurs twice.
    "PQF-006": ("PQF-186",),
    # NaN does not bound numbers.
    "STA-007": ("STA-089",),
    # Bounds of values that are not text are not text either.
    "STA-018": ("PQF-101",),
}
"""Rules that are dropped beside a listed rule in the same row groups of a column, regardless of fields and verdicts."""

FOUND_BY: Mapping[str, tuple[str, ...]] = {"blocks": ("snapshots.row_group_entries.block_offset",)}
"""Structures with the fields that locate their contents: rules about the contents presuppose these fields."""

_FINDING = {name for names in FOUND_BY.values() for name in names}

VALUES = "row_groups.columns.pages.values"
"""The decoded values of a column, used as a field if they are more likely wrong than the claims about them."""

BUNDLES = ("footer.key_value_metadata.value", "column_descriptors.flags", "blocks.column_chunks.stat_flags")
"""Fields that hold several facts: rules that are broken at one such field may be about different facts."""

MOST_LOOSE = 100
"""The number of conflicts that a field of any column may explain. Above it, each conflict is about its own column."""

ENOUGH = 3
"""The number of fields that a field must explain to be chosen, or to explain conflicts that only presuppose it."""

MANY = 4
"""Like `ENOUGH`, if no conflict compares anything with the field."""

_UNNAMED = re.compile(
    r"^.*\.(json|avro|crc|parquet|puffin|bin)(\[\d+\])?\.(?=.)|(?<=Values)\..*|(?<=nullCount)\..*|(?<=data_file\.partition)\..*|\[\d+\]|\.(data|dictionary)_page_header(_v2)?"
)
"""The parts of a path other than field names: the file of a table, column names, element numbers, the type of a page."""

_OF_COLUMN = re.compile(
    r"(columns|column_chunks|column_descriptors|directory\.entries)\.|bounds|_counts|Values|nullCount"
)
_OF_LEAF = re.compile(r"footer\.schema(\.(type|type_length|converted_type|logicalType))?")
_OF_ROW_GROUP = re.compile(r"(footer\.)?row_groups|blocks|directory\.entries|(data_file|add)\.")

ANY = "*"
"""The column of a field that may belong to any column."""


class _Part(IntEnum):
    """The role of a field in a conflict, the strongest first."""

    OWN = 0
    AGAINST = 1
    GIVEN = 2


@dataclass(eq=False)
class Conflict:
    """A rule that is broken in a column.

    Attributes:
        rule: The rule.
        verdict: Its reported verdict.
        column: The column, if the rule is about one.
        where: The row groups in which it is broken, or the files of a table.
        fields: The broken fields without element numbers, in the order of the places.
        places: The fields that cannot all be right, each with its column and its role.
        unexplained: The fields not yet explained by a reported rule.
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
        """The conflict of a rule, from the first places where it is broken; ``are_damaged``: the values are probably damaged."""
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
        """Drop this rule in favor of another that is broken at the same field, if that rule says as much."""
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
    """The conflicts that a field explains: how many fields this saves, and which rule is reported."""

    name: str
    members: list[Conflict]
    speaker: Conflict
    order: tuple[object, ...]


def explained(conflicts: Sequence[Conflict]) -> Iterable[tuple[Conflict, list[Conflict]]]:
    """Each conflict that is reported, with the conflicts that it stands for."""
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
    """Conflicts that another one replaces regardless of fields, each mapped to its replacement."""
    broken = {(each.rule.id, each.column): each for each in conflicts}
    left: dict[Conflict, Conflict] = {}
    for each in conflicts:
        causes = LEFT_TO.get(each.rule.id, ())
        beside = [broken[cause, each.column] for cause in causes if (cause, each.column) in broken]
        if beside and each.where <= set[int | str | None]().union(*(cause.where for cause in beside)):
            left[each] = beside[0]
    return left


def _by_fields(conflicts: Sequence[Conflict]) -> Iterator[tuple[Conflict, list[Conflict]]]:
    """Like `explained`, using only the fields of the conflicts."""
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
        if best.order > order:  # some of its conflicts were explained in the meantime
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
    """What a field explains among some conflicts; ``None`` if it explains nothing."""
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
    """A sort key for how much a field explains, best first: fields saved, rules, and whether no rule is broken at it."""
    parts: dict[str, _Part] = {}
    for each in members:
        parts[each.fields[0]] = min(each.places[name][1], parts.get(each.fields[0], _Part.GIVEN))
    sure = sum(1 for part in parts.values() if part is not _Part.GIVEN)
    is_own = _Part.OWN in parts.values()
    cost = 1 if is_own or sure > 1 else 2
    return cost - len(parts), -len({each.rule.id for each in members}), not is_own


def _rank(conflict: Conflict, name: str) -> tuple[object, ...]:
    """A sort key for the rules that may be reported for a field."""
    rule = conflict.rule
    # The schema is needed to decode all claims: a rule that compares only this field of it shows it best.
    compares_others = [path for path in rule.against if path != name or not name.startswith("footer.schema")]
    return (
        VERDICTS.index(conflict.verdict),
        conflict.places[name][1] is not _Part.OWN,
        bool(compares_others),
        TIERS.index(rule.tier) * (-1 if compares_others else 1),
        rule.id,
        conflict.column or "",
    )
