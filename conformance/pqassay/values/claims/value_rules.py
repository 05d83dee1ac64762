"""Rules about values, tested on each column chunk while it is decoded.

A value rule returns the claims of a thing (`Claim`) before anything is decoded. Without a claim, it does not apply. Once the chunk is
decoded, each claim is compared with its values. Chunks are compared in several threads; results that concern several chunks are settled one
chunk after the other, in order.

`pqassay.checks.value_rules` describes how rules are declared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pqassay.under_test.chunks import ColumnChunks, ColumnChunkUnderTest
from pqassay.under_test.file import FileUnderTest, Mistake, NotApplicable, NotChecked, NotEverywhere
from pqassay.under_test.violation import Violation
from pqassay.values.claims.outcomes import Outcome
from pqassay_spec.base.errors import FormatError
from pqassay_spec.rules.catalogue import rules

if TYPE_CHECKING:
    from pqassay.values.claims.audit import ChunkClaims
    from pqassay.values.decoding.chunk_values import ChunkValues


class Claim:
    """The claims of a rule about the values of a column chunk.

    Attributes:
        needs_values: Whether the chunk must be decoded.
    """

    needs_values = True

    def compare(self, values: ChunkValues) -> Iterable[Violation]:
        """Compare the claim with the values of the chunk. Raises `FormatError` and `NotChecked` if that is impossible."""
        raise NotImplementedError

    def settle(self) -> Iterable[Violation]:
        """Yield results that also need the previous chunks, in order. Raises as `compare` does."""
        return ()


class TrueOfAnyValues(Claim):
    """A claim that no value can contradict: the rule applies, but nothing must be decoded."""

    needs_values = False


class ComparedBy(Claim):
    """A claim of a single rule, which supplies the comparison."""

    def __init__(self, compare: Callable[[ChunkValues], Iterable[Violation]]) -> None:
        self._compare = compare

    def compare(self, values: ChunkValues) -> Iterable[Violation]:
        """Compare the claim with the function of the rule."""
        return self._compare(values)


class Compared(NamedTuple):
    """A claim that was compared with the values of a column chunk.

    Attributes:
        field: The path of the field of its rule.
        compares_values: Whether it is about metadata; otherwise it is about permitted values.
        is_broken: Whether the values contradict it.
        claim: The claim, for kinds with further information.
    """

    field: str
    compares_values: bool
    is_broken: bool
    claim: Claim | None = None


class ValueRule:
    """A rule about values; each file has its own instance.

    Attributes:
        outcome: Its outcome.
    """

    def __init__(self, file: FileUnderTest, outcome: Outcome) -> None:
        self.file = file
        self.outcome = outcome

    def claims(self, thing: Any) -> Iterable[Claim]:
        """The claims about a thing. Raises `FormatError` and `NotChecked` if they cannot be determined."""
        raise NotImplementedError

    def finish(self) -> Iterable[Violation]:
        """Yield results of all chunks together, after they were evaluated. Raises as `claims` does."""
        return ()


class _PlainRule(ValueRule):
    """A rule that is defined by a function."""

    def __init__(
        self, file: FileUnderTest, outcome: Outcome, claims: Callable[[Any], Iterable[Claim]]
    ) -> None:
        super().__init__(file, outcome)
        self._claims = claims

    def claims(self, thing: Any) -> Iterable[Claim]:
        """The claims that the function yields."""
        return self._claims(thing)


Things = Callable[[FileUnderTest], Sequence[Any]]
"""A function that finds the things of one kind in a file."""


class Stated(NamedTuple):
    """The declaration of a value rule.

    Attributes:
        statement: A function that yields the claims about a thing or, in other kinds of families, the places
            that break the rule; or a class, if the rule needs several chunks.
        among: The chunks that it is about; ``None`` for all.
    """

    statement: type[ValueRule] | Callable[[Any], Iterable[Any]]
    among: Things | None = None

    def made(self, file: FileUnderTest, outcome: Outcome) -> ValueRule:
        """The rule for one file. Raises the error that prevents the test."""
        if isinstance(self.statement, type):
            rule: ValueRule = self.statement(file, outcome)
            return rule
        return _PlainRule(file, outcome, self.statement)


class RuleFamily:
    """The claims of several rules about the chunks of a file: a family of `pqassay.values.claims.audit`.

    Args:
        file: The file, whose options determine the omitted rules.
        stated: The rules, by their ids.
        thing: Returns the thing that the rules are about, for a chunk.

    Attributes:
        outcomes: The outcome of each rule.
    """

    def __init__(
        self,
        file: FileUnderTest,
        stated: Mapping[str, Stated],
        thing: Callable[[ColumnChunkUnderTest], Any] = lambda chunk: chunk,
    ) -> None:
        self.outcomes = {rule_id: Outcome() for rule_id in stated}
        self._thing = thing
        self._rules: dict[Things | None, list[tuple[str, ValueRule]]] = {}
        self._among: dict[Things, frozenset[int]] = {}
        for rule_id, rule in stated.items():
            if rule_id in file.left_out:
                continue
            try:
                if rule.among is not None and rule.among not in self._among:
                    self._among[rule.among] = frozenset(map(id, rule.among(file)))
                made = rule.made(file, self.outcomes[rule_id])
            except Exception as error:  # noqa: BLE001 - see `note_problem`
                note_problem(self.outcomes[rule_id], error)
            else:
                self._rules.setdefault(rule.among, []).append((rule_id, made))

    def rules_about(self, thing: Any) -> list[tuple[str, ValueRule]]:
        """The rules about a thing, with their ids."""
        return [
            rule
            for among, members in self._rules.items()
            if among is None or id(thing) in self._among[among]
            for rule in members
        ]

    def claim(self, chunk: ColumnChunkUnderTest) -> ChunkClaims | None:
        """The claims about a chunk; ``None`` if there are none."""
        about = self.rules_about(chunk)
        return _ClaimsOfChunk(chunk, about, self._thing(chunk), self.outcomes) if about else None

    def finish(self) -> None:
        """Add the results of each rule that need all chunks together."""
        for about in self._rules.values():
            for rule_id, rule in about:
                try:
                    for violation in rule.finish():
                        self.outcomes[rule_id].add(violation)
                except Exception as error:  # noqa: BLE001 - see `note_problem`
                    note_problem(self.outcomes[rule_id], error)

    def note_left_out(self, chunks: ColumnChunks) -> None:
        """Note that results of other chunks are incomplete if chunks are encrypted or in another file."""
        left_out = chunks.left_out
        first = next((NotChecked(found.reason, obstacle) for obstacle, found in left_out.items()), None)
        if first is None:
            return
        for outcome in self.outcomes.values():
            outcome.hindered(NotEverywhere(first, left_out))


def note_problem(outcome: Outcome, error: Exception, column: str | None = None) -> None:
    """Note the error that prevents a test. A mistake affects only this rule; other errors are raised."""
    if isinstance(error, NotApplicable):
        return
    if isinstance(error, (OSError, MemoryError)):
        raise error
    outcome.applies = True
    outcome.hindered(error if isinstance(error, (FormatError, NotChecked)) else Mistake.by(error), column)


class _ClaimsOfChunk:
    """The claims about one chunk, and their results."""

    def __init__(
        self,
        chunk: ColumnChunkUnderTest,
        stated: Iterable[tuple[str, ValueRule]],
        thing: Any,
        of_file: Mapping[str, Outcome],
    ) -> None:
        self._chunk = chunk
        self._of_file = of_file
        self._claims: list[tuple[str, Claim]] = []
        self._outcomes: dict[str, Outcome] = defaultdict(Outcome)
        self.compared: list[Compared] = []
        for rule_id, rule in stated:
            try:
                for claim in rule.claims(thing):
                    self._outcomes[rule_id].applies = True
                    self._claims.append((rule_id, claim))
            except Exception as error:  # noqa: BLE001 - see `note_problem`
                note_problem(self._outcomes[rule_id], error, chunk.column)
        self.needs_values = any(claim.needs_values for _, claim in self._claims)

    def leave(self, reason: NotChecked) -> None:
        """Note why the values cannot be decoded; if the pages break a tested rule, that is the reason."""
        from pqassay.values.decoding.hindrances import excused  # noqa: PLC0415 - pyarrow, at this tier only

        why = reason if self._chunk.file.prefix else excused(self._chunk, reason)
        for rule_id, claim in self._claims:
            if claim.needs_values:
                self._outcomes[rule_id].hindered(why, self._chunk.column)

    def judge(self, values: ChunkValues) -> None:
        """Compare the claims with the values."""
        for rule_id, claim in self._claims:
            if claim.needs_values:
                is_broken = self._note(rule_id, partial(claim.compare, values))
                if is_broken is not None:
                    rule = rules()[rule_id]
                    self.compared.append(Compared(rule.field, rule.compares_values, is_broken, claim))

    def settle(self) -> None:
        """Evaluate claims about several chunks, and add the results to those of other chunks."""
        for rule_id, claim in self._claims:
            self._note(rule_id, claim.settle)
        self._claims.clear()
        self.compared.clear()
        for rule_id, outcome in self._outcomes.items():
            self._of_file[rule_id].merge(outcome)

    def _note(self, rule_id: str, compare: Callable[[], Iterable[Violation]]) -> bool | None:
        """Add the violations of a claim. Return whether it is broken; ``None`` if that is unknown."""
        chunk, is_broken = self._chunk, False
        try:
            for violation in compare():
                is_broken = True
                is_placed = violation.column is not None and violation.row_group is not None
                self._outcomes[rule_id].add(
                    violation
                    if is_placed
                    else replace(violation, column=chunk.column, row_group=chunk.row_group)
                )
        except Exception as error:  # noqa: BLE001 - see `note_problem`
            note_problem(self._outcomes[rule_id], error, chunk.column)
            return is_broken or None
        return is_broken
