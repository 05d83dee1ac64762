"""From what a question is answered: for each row group from zone sums, or by its rows, or not at all.

A row group needs no answer if distinct sets leave it out.  Zone sums answer for one if each part of the condition is either about their
keys or, by distinct sets, true of all its rows, and if the question groups by their keys alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pqassay_reader.answer.known_lake import KnownLake
from pqassay_reader.answer.question import Question
from pqassay_reader.answer.settling import Settled, all_of
from pqassay_reader.answer.zone_tables import ZoneTable
from pqassay_reference.directory.reading.arrays import Mask
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_spec.directory.zone_sums import SumKind


@dataclass
class Use:
    """Groups of a zone table that are added up.

    Attributes:
        table: The table.
        chosen: The numbers of its groups that are, ascending.
    """

    table: ZoneTable
    chosen: Numbers


@dataclass
class Plan:
    """What a question is answered from.

    Attributes:
        needed: For each row group, whether a row of it may satisfy the condition.
        read: Whether its rows have to be read.
        uses: For each measure, what is added up; the key ``None`` is for the rows, which are counted by any sums.
    """

    needed: Mask
    read: Mask
    uses: dict[str | None, list[Use]]


def plan(lake: KnownLake, question: Question, known: Sequence[Settled]) -> Plan:
    """Find out from what a question is answered.

    Args:
        lake: The files.
        question: The question.
        known: What is known of the parts of its condition.
    """
    needed: Mask = (lake.row_counts > 0) & all_of(known, len(lake.row_counts)).may
    chooser = _Chooser(lake, question, known, needed)
    asked: dict[str | None, bool] = {None: False}
    for one in question.aggregates:
        if one.column is not None:
            asked[one.column] = asked.get(one.column, False) or one.function in ("sum", "avg")
    chosen = {measure: chooser.tables_for(measure, needs_sum=needs) for measure, needs in asked.items()}
    answered = np.logical_and.reduce([chooser.covered(tables) for tables in chosen.values()]) | ~needed
    # Sums of a whole file count for all its row groups or for none.
    by_file = {
        file
        for tables in chosen.values()
        for table, places in tables
        if table.by_file
        for file in np.flatnonzero(places).tolist()
    }
    if by_file:
        whole = np.ones(len(lake.files), np.bool_)
        np.logical_and.at(whole, lake.file_of, answered)
        spoilt = np.isin(lake.file_of, list(by_file)) & ~whole[lake.file_of]
        answered &= ~(spoilt & needed)
    uses = {
        measure: [Use(table, chooser.groups_of(table, places, answered)) for table, places in tables]
        for measure, tables in chosen.items()
    }
    return Plan(needed, needed & ~answered, uses)


class _Chooser:
    """Which sums serve a question for which row groups."""

    def __init__(
        self, lake: KnownLake, question: Question, conjuncts: Sequence[Settled], needed: Mask
    ) -> None:
        self._lake, self._question, self._needed = lake, question, needed
        self._conjuncts = conjuncts

    def tables_for(self, measure: str | None, *, needs_sum: bool) -> list[tuple[ZoneTable, Mask]]:
        """The tables that serve for a measure, and the places for which each is taken: row groups, or files."""
        lake = self._lake
        left = self._needed.copy()
        found: list[tuple[ZoneTable, Mask]] = []
        tables = [one for one in lake.zones if one.measure == measure]
        if measure is None:
            tables = [lake.row_table, *lake.zones]
        for table in sorted(tables, key=lambda one: len(one.groups)):
            if needs_sum and table.kind is SumKind.NONE:
                continue
            if not set(self._question.group_by) <= set(table.keys):
                continue
            places = self._served(table)
            if table.by_file:
                # Of no row group that other sums were taken for.
                taken = np.zeros(len(lake.files), np.bool_)
                np.logical_or.at(taken, lake.file_of, self._needed & ~left)
                wanted = np.zeros(len(lake.files), np.bool_)
                np.logical_or.at(wanted, lake.file_of, left)
                places &= ~taken & wanted
                left &= ~places[lake.file_of]
            else:
                places &= left
                left &= ~places
            if places.any():
                found.append((table, places))
        return found

    def _served(self, table: ZoneTable) -> Mask:
        """The places for which a table has sums, and for which the condition is about keys or settled."""
        settled = np.ones(len(self._lake.file_of), np.bool_)
        for one in self._conjuncts:
            if not one.part.columns <= set(table.keys):
                settled &= one.must
        places = table.covers.copy()
        places[table.overflowed] = False
        if not table.by_file:
            return places & settled
        unsettled = np.zeros(len(self._lake.files), np.bool_)
        np.logical_or.at(unsettled, self._lake.file_of, ~settled & (self._lake.row_counts > 0))
        return places & ~unsettled

    def covered(self, tables: Sequence[tuple[ZoneTable, Mask]]) -> Mask:
        """The row groups for which there are sums among some tables."""
        found = np.zeros(len(self._lake.file_of), np.bool_)
        for table, places in tables:
            found |= places[self._lake.file_of] if table.by_file else places
        return found

    def groups_of(self, table: ZoneTable, places: Mask, answered: Mask) -> Numbers:
        """The groups of a table that are added up: those of answered places, of which the condition is true."""
        lake = self._lake
        if table.by_file:
            unanswered = np.zeros(len(lake.files), np.bool_)
            np.logical_or.at(unanswered, lake.file_of, ~answered)
            places = places & ~unanswered
        else:
            places = places & answered
        rows = table.groups_at(np.flatnonzero(places))
        chosen = table.has_rows[rows]
        for one in self._conjuncts:
            if one.part.columns <= set(table.keys):
                chosen &= table.true_of_keys(one.part.condition, rows)
        return rows[chosen]


__all__ = ["Plan", "Use", "plan"]
