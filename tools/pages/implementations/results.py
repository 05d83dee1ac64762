"""The data of pages about implementations: stored results, and the current cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import kept_results
from kept_results import Kept, Written

from pqassay.report.run.model import Exposure
from pqassay_suite.cases.case import GoldenCase, inputs_digest


@dataclass(frozen=True)
class Results:
    """The data of the page.

    Attributes:
        kept: The results, by name, older versions first.
        cases: The current cases for implementations.
        exchange: The answers of readers about the files of each writer.
        implementations: The names of implementations that should have results.
    """

    kept: Sequence[Kept]
    cases: Sequence[GoldenCase]
    exchange: Mapping[str, Written] = field(default_factory=dict[str, Written])
    implementations: Sequence[str] = ()

    @property
    def newest(self) -> Sequence[Kept]:
        """The newest version of each implementation."""
        return kept_results.newest(self.kept)

    @cached_property
    def digest(self) -> str:
        """The digest of the current golden files, in the form of reports."""
        return inputs_digest(self.cases)

    @cached_property
    def families(self) -> Mapping[str, str]:
        """The family of each golden case by id, without tables to write, which have no page."""
        return {one.case.id: one.case.family for one in self.cases if one.data is None}

    @cached_property
    def lies(self) -> Sequence[GoldenCase]:
        """The cases with a well-formed lie."""
        return [one for one in self.cases if one.case.expect.scan == "exposure"]

    @cached_property
    def answers(self) -> Mapping[str, Mapping[str, Exposure]]:
        """The answer of the newest version of each implementation about each lie, by name and id."""
        return {kept.name: {one.case: one for one in kept.report.exposures} for kept in self.newest}

    def costs_rows(self, case: str) -> bool:
        """Whether any implementation's answer about a lie lacks rows or has wrong rows."""
        return any(case in told and told[case].misled > 0 for told in self.answers.values())

    def verdicts(self, name: str) -> Mapping[str, int]:
        """How often an implementation gave each answer about lies, including ``not asked``."""
        told = self.answers[name]
        return Counter(
            told[id_].verdict if (id_ := lie.case.id) in told else "not asked" for lie in self.lies
        )


def todays() -> Results:
    """The currently stored results."""
    expected = [one.name for one in kept_results.in_the_matrix()]
    return Results(kept_results.results(), kept_results.asked_cases(), kept_results.exchange(), expected)
