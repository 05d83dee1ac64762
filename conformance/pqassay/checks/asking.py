"""The engine: visits each subject of a file once, and tests every rule on it.

Column chunks that are encoded alike are tested together, see `pqassay.checks.by_example`.

Missing parts are detected before a rule is tested. If one thing cannot be read, the others are still judged. Its rule is broken if another
thing breaks it, and *not checked* otherwise.

If a thing has a *shape*, results of rules apply to all things of that shape. The first thing that breaks no rule shows which rules apply,
in this file and in later files. Files of one lake share their schemas, so rules that depend only on the schema are remembered by schema.
For a file with very many things, a subject may offer a screen that looks at all of them at once. Then the rules are only tested on its
*suspects*.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any

from pqassay.checks import Check, registry
from pqassay.checks.by_example import Examples
from pqassay.checks.conflicts import Conflict, explained
from pqassay.checks.misplaced import cause_of
from pqassay.checks.subjects import Subject
from pqassay.report.coverage import CRC
from pqassay.report.model import FIRST_POSITIONS, HIDING, MOST_FILES, Untested
from pqassay.report.weighing import Weighing
from pqassay.under_test.alike_groups import alike_groups
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import (
    Broken,
    FileUnderTest,
    Hindrances,
    Mistake,
    NotApplicable,
    NotChecked,
    NotEverywhere,
)
from pqassay.under_test.schemas.shown_releases import ShownReleases
from pqassay.under_test.violation import Suspects, Violation
from pqassay.under_test.weighed import Weighed
from pqassay_spec.base.errors import FormatError, Unsupported
from pqassay_spec.grammar.thrift_decoder import collector_paused
from pqassay_spec.rules.catalogue import Rule, Verdict, file_rules, rules
from pqassay_spec.rules.profiles import profile

MOST_SHAPES = 10_000
"""The number of shapes remembered for one subject; each column of a file may have its own shape."""


@dataclass
class BrokenPlaces:
    """The places in one column where a rule is broken: the first ones, and how many there are.

    ``row_groups`` are the row groups of all places, except places that a screen of a whole `_pm` only counted. ``also`` are other rules
    that the same damage breaks (`pqassay.checks.conflicts`), which are not reported. ``files`` are the files of a table with such places,
    `MOST_FILES` at most. ``weighed`` says whether the values or the claims about them are more likely wrong.
    """

    column: str | None
    first: list[Violation]
    count: int = 0
    row_groups: set[int | None] = field(default_factory=set[int | None], compare=False)
    files: dict[str, None] = field(default_factory=dict[str, None], compare=False)
    also: set[str] = field(default_factory=set[str])
    weighed: Weighing | None = None


@dataclass
class Answer:
    """The answer of one rule about one file; rules that are simply kept have no answer.

    Attributes:
        groups: The places where it is broken, by column, in the order in which they were found.
        problem: Why a thing could not be tested. It has no effect if another thing breaks the rule.
        hindrances: Everything that prevented a test somewhere.
        failure: The reason why the rule was not tested on the whole file, other than its bytes.
        mistake: The mistake in this program that prevented a test somewhere. Places that were found still count.
    """

    groups: dict[str | None, BrokenPlaces] = field(default_factory=dict[str | None, BrokenPlaces])
    problem: NotChecked | None = None
    hindrances: Hindrances = field(default_factory=Hindrances)
    failure: str | None = None
    mistake: str | None = None

    @property
    def why_not_checked(self) -> Untested | None:
        """Why the rule was not tested; ``None`` if it was tested."""
        if self.failure:
            return Untested("tool", self.failure)
        if self.groups:
            return None
        if self.mistake:
            return Untested("tool", self.mistake)
        if self.problem is None:
            return None
        reason = str(self.problem)
        every = chain.from_iterable(each.reasons for each in self.hindrances.values())
        further = dict.fromkeys(each for each in every if each != reason)
        return Untested(self.problem.obstacle, reason, tuple(further))

    @property
    def trouble(self) -> str | None:
        """Why the whole file counts as unjudged; ``None`` if it does not."""
        if self.mistake or self.failure:
            return self.mistake or self.failure
        is_unjudged = self.problem is not None and not self.problem.judgeable
        return str(self.problem) if is_unjudged and not self.groups else None

    def hinder(self, problem: NotChecked, column: str | None = None) -> None:
        """Note what prevented a test of the rule, for a column or for the whole file."""
        self.problem = self.problem or problem
        # Nothing is hidden if the user left it out, or another finding reports it.
        if problem.obstacle in HIDING or isinstance(problem, NotEverywhere):
            self.hindrances.note(problem, column)

    def note(self, violation: Violation) -> None:
        """Add a place. Only as many places as reports show are kept; the others are counted."""
        group = self.groups.get(violation.column)
        if group is None:
            group = self.groups[violation.column] = BrokenPlaces(violation.column, [])
        group.count += 1 + violation.more
        group.row_groups.add(violation.row_group)
        group.row_groups.update(violation.more_row_groups or ())
        if len(group.first) < FIRST_POSITIONS:
            group.first.append(violation)
        if violation.data_file is not None and len(group.files) < MOST_FILES:
            group.files[violation.data_file] = None


@dataclass
class Answers:
    """The answers of rules about one file.

    Attributes:
        applied: Rules that were tested on a thing, or are known to be kept.
        found: Violations, and reasons why rules could not be tested, by rule.
    """

    applied: set[str] = field(default_factory=set[str])
    found: dict[str, Answer] = field(default_factory=dict[str, Answer])

    def of(self, rule_id: str) -> Answer:
        """The answer of a rule, created on first use so that it can be extended."""
        answer = self.found.get(rule_id)
        if answer is None:
            answer = self.found[rule_id] = Answer()
        return answer


def ask(file: FileUnderTest, asked: tuple[str, ...]) -> Answers:
    """Test rules that have a check on a file. The file's bytes cannot cause an exception."""
    return answers_of(file, by_subject(asked))


def answers_of(file: FileUnderTest, questions: Sequence[Questions | AlikeQuestions]) -> Answers:
    """Like `ask`, for rules that are already sorted by subject."""
    answers = Answers()
    for question in questions:
        if isinstance(question, AlikeQuestions):
            _ask_about_alike(file, question, answers)
        elif question.subject.of_schema:
            _ask_about_schema(file, question, answers)
        else:
            _ask(file, question, answers)
    _leave_one_to_speak(file, answers)
    return answers


def _broken_groups(answers: Answers) -> list[tuple[str, BrokenPlaces]]:
    return [(rule_id, group) for rule_id, answer in answers.found.items() for group in answer.groups.values()]


def _have_one_cause(file: FileUnderTest, answers: Answers) -> bool:
    """Whether most structures are misplaced, so that one finding explains all; see `pqassay.checks.misplaced`."""
    broken = {rule_id: answer.groups for rule_id, answer in answers.found.items() if answer.groups}
    places = {rule: {name: group.count for name, group in groups.items()} for rule, groups in broken.items()}
    cause = cause_of(file, places)
    if cause is None:
        return False
    groups = [*broken[cause.rule].values()]
    row_groups = set[int | None]().union(*(group.row_groups for group in groups))
    first = [
        # If the rule itself knows a remedy, its message already has it.
        violation if violation.remedy else replace(violation, message=cause.reason, remedy=cause.remedy)
        for violation in groups[0].first
    ]
    count = sum(group.count for group in groups)
    merged = BrokenPlaces(None, first, count, row_groups, also=set(cause.others))
    answers.found[cause.rule].groups = {} if cause.at else {None: merged}
    for violation in cause.at:
        answers.found[cause.rule].note(violation)
    next(iter(answers.found[cause.rule].groups.values())).also = set(cause.others)
    for rule in cause.others:
        answers.found[rule].groups.clear()
        answers.found[rule].hinder(Broken(cause.rule))
    return True


def _join_columns(file: FileUnderTest, answers: Answers) -> None:
    """Join violations of all columns at the same fields outside columns into one: a number of the row group is wrong."""
    for answer in answers.found.values():
        groups = [*answer.groups.values()]
        if len(groups) < 2 or any("columns[" in str(each.field) for each in groups[0].first):
            continue
        first = {(group.count, *((str(each.field), each.actual) for each in group.first)) for group in groups}
        hidden = set[str]().union(*(each.columns for each in answer.hindrances.values()))
        if len(first) == 1 and len(groups) + len(hidden) >= len(file.leaves):
            joined = replace(
                groups[0], column=None, first=[replace(each, column=None) for each in groups[0].first]
            )
            answer.groups = {None: joined}


def _leave_one_to_speak(file: FileUnderTest, answers: Answers) -> None:
    """Keep one of several rules that the same damage breaks; see `pqassay.checks.conflicts`."""
    _join_columns(file, answers)
    broken = _broken_groups(answers)
    if broken and _have_one_cause(file, answers):
        broken = _broken_groups(answers)
    weighed = _weighed_in(file)
    for rule_id, group in broken:
        rule = file_rules()[rule_id]
        if rule.compares_values or rule.field == CRC:
            group.weighed = weighed.of(rule, group.column, group.row_groups)
    if len(broken) < 2:
        return
    groups: dict[Conflict, BrokenPlaces] = {}
    for rule_id, group in broken:
        verdict = verdict_of(file_rules()[rule_id], file)
        where = {*(group.files or group.row_groups)}
        are_damaged = group.weighed is not None and group.weighed.wrong == "values"
        conflict = Conflict.of(rule_id, verdict, group.column, where, group.first, are_damaged=are_damaged)
        groups[conflict] = group
    for speaker, others in explained([*groups]):
        for other in others:
            if other.rule is not speaker.rule:
                groups[speaker].also.add(other.rule.id)
                answer = answers.found[other.rule.id]
                del answer.groups[other.column]
                answer.hinder(Broken(speaker.rule.id), other.column)


def _weighed_in(file: FileUnderTest) -> Weighed:
    """The weighed evidence about the values of a file, or of the Parquet file beside a `_pm` file."""
    with suppress(FormatError, NotApplicable, NotChecked, OSError):
        return (file.data if file.kind == "pm" else file).part(Weighed)
    return file.part(Weighed)


def verdict_of(rule: Rule, file: FileUnderTest) -> Verdict:
    """The verdict of a rule for a file.

    It is lower if the rule is newer than all signs of the writer's release, and higher if the profile says so.
    """
    if not obliges(rule, file):
        return "INFO"
    name = file.options.profile
    return rule.verdict if name is None else profile(name).verdict_of(rule)


def obliges(rule: Rule, file: FileUnderTest) -> bool:
    """Whether a rule is not newer than the features that a file uses."""
    return file.part(ShownReleases).shows(rule.obliged_since)


def _ask_about_schema(file: FileUnderTest, question: Questions, answers: Answers) -> None:
    """Test the rules, unless another file with the same schema was sound."""
    try:
        sound = file.schema.sound
    except Exception:  # noqa: BLE001 - asking says what is wrong
        _ask(file, question, answers)
        return
    applied = sound.get(question)
    if applied is None:
        own = Answers()
        _ask(file, question, own)
        answers.found.update(own.found)
        applied = frozenset(own.applied)
        if not own.found:
            sound[question] = applied
    answers.applied |= applied


def _ask_about_alike(file: FileUnderTest, asked: AlikeQuestions, answers: Answers) -> None:
    """Test the rules on examples of similar chunks, and on the remaining chunks."""
    try:
        groups = file.part(alike_groups)
    except Exception:  # noqa: BLE001 - asking says what is wrong
        groups = None
    if groups is None:
        for question in asked.questions:
            _ask(file, question, answers)
        return
    examples = asked.examples
    left = [(place, examples.questions) for place in groups.others]
    with collector_paused():
        for group in groups.groups:
            left += examples.ask(file, group, answers.applied)
    if not left:
        return
    chunks = file.part(ColumnChunks).all
    for place, questions in sorted(left, key=itemgetter(0)):
        for subject, check in questions:
            if subject.is_about(chunks[place]):
                _judge((check,), subject, chunks[place], answers)


def _ask(file: FileUnderTest, question: Questions, answers: Answers) -> None:
    """Test the rules of one subject."""
    subject, checks = question.subject, question.checks
    try:
        things = subject.find(file)
        suspects = subject.suspects(file) if things and subject.suspects else None
    except Exception as error:  # noqa: BLE001 - see `_note_raised`
        for check in checks:
            _note_raised(answers, check.rule, error)
        return
    if not things and subject.agrees_if_empty:
        answers.applied.update(check.rule for check in checks)
    if suspects is not None:
        for check in checks:
            _ask_about_suspects(subject, check, suspects[check.rule], answers)
        return
    for thing in things:
        shape = None if subject.shape is None else subject.shape(thing)
        known = question.shapes.get(shape)
        if known is not None:
            answers.applied |= known
            continue
        known = _judge(checks, subject, thing, answers)
        if shape is not None and known is not None:
            if len(question.shapes) >= MOST_SHAPES:
                question.shapes.clear()
            question.shapes[shape] = known


def _ask_about_suspects(
    subject: Subject[Any], check: Check, suspects: Suspects[Any], answers: Answers
) -> None:
    """Test a rule on the suspects of a screen."""
    answers.applied.add(check.rule)
    for thing in suspects.things:
        _judge((check,), subject, thing, answers)
    if suspects.problem is not None:
        answers.of(check.rule).hinder(NotChecked(suspects.problem, "tool"))
    groups = answers.found[check.rule].groups if check.rule in answers.found else {}
    for column in suspects.more.keys() & groups.keys():
        groups[column].count += suspects.more[column]


def is_broken(file: FileUnderTest, rule_id: str) -> bool:
    """Whether a file is known to break a rule."""
    found = ask(file, (rule_id,)).found
    return rule_id in found and bool(found[rule_id].groups)


def _judge(
    checks: Sequence[Check], subject: Subject[Any], thing: Any, answers: Answers
) -> frozenset[str] | None:
    """Test rules on a thing; return the rules that apply, or ``None`` if one is broken or could not be tested."""
    applied: list[str] = []
    is_sound = True
    for check in checks:
        known = answers.found.get(check.rule) if answers.found else None
        if known is not None and known.failure is not None:
            is_sound = False
            continue
        try:
            if check.only is not None and not check.only(thing):
                continue
            for violation in check.test(thing) or ():
                answers.of(check.rule).note(subject.placed(violation, thing))
                is_sound = False
            applied.append(check.rule)
        except Exception as error:  # noqa: BLE001 - see `_note_raised`
            is_sound = is_sound and isinstance(error, NotApplicable)
            _note_raised(answers, check.rule, error, subject, thing)
    answers.applied.update(applied)
    return frozenset(applied) if is_sound else None


@dataclass(frozen=True, eq=False)
class Questions:
    """The checks of one subject, and by shape the rules that apply to a thing that keeps all of them."""

    subject: Subject[Any]
    checks: Sequence[Check]
    shapes: dict[Hashable, frozenset[str]] = field(default_factory=dict[Hashable, frozenset[str]])


@dataclass(frozen=True, eq=False)
class AlikeQuestions:
    """The checks of column chunks, which are tested on similar chunks at once.

    Attributes:
        questions: The checks by subject.
        examples: The results of examples.
    """

    questions: Sequence[Questions]
    examples: Examples


@lru_cache(maxsize=64)
def by_subject(asked: tuple[str, ...]) -> Sequence[Questions | AlikeQuestions]:
    """The checks of rules by subject; they are the same for every file of a run."""
    groups: dict[Subject[Any], list[Check]] = {}
    for rule_id in asked:
        check = registry()[rule_id]
        groups.setdefault(check.subject, []).append(check)
    by_itself: list[Questions | AlikeQuestions] = []
    of_alike: list[Questions] = []
    for subject, checks in groups.items():
        (by_itself if subject.alike_by is None else of_alike).append(Questions(subject, checks))
    if of_alike:
        pairs = [(question.subject, check) for question in of_alike for check in question.checks]
        by_itself.append(AlikeQuestions(of_alike, Examples(pairs)))
    return by_itself


def _note_raised(
    answers: Answers, rule_id: str, error: Exception, subject: Subject[Any] | None = None, thing: Any = None
) -> None:
    """Note why a test, or a step before it, ended early. An unexpected error is a mistake of pqassay; it affects only this rule."""
    if isinstance(error, FormatError) and not isinstance(error, Unsupported) and error.rule is not None:
        if error.rule != rule_id:
            error.__traceback__ = None  # as below
            answers.of(rule_id).hinder(_broken(error.rule))
            return
    elif not isinstance(error, (NotApplicable, NotChecked, FormatError, OSError, MemoryError)):
        error = Mistake.by(error)
    # Keeping the error would keep its stack frames, and with them the file.
    error.__traceback__ = None
    if isinstance(error, NotApplicable):
        return
    answer = answers.of(rule_id)
    if isinstance(error, Mistake):
        answer.mistake = answer.mistake or str(error)
    elif isinstance(error, Unsupported):
        answer.failure = error.reason
    elif isinstance(error, NotChecked):
        answer.hinder(error, _column(subject, thing) if error.obstacle in HIDING else None)
    elif isinstance(error, FormatError):
        violation = violation_from(error, rule_id)
        answer.note(violation if subject is None else subject.placed(violation, thing))
    elif isinstance(error, OSError):
        answer.failure = f"the file cannot be read: {error.strerror or error}"
    else:
        answer.failure = "there is not enough memory for it"


@cache
def _broken(rule_id: str) -> Broken:
    """The error that another rule is broken. It is cached: a footer that cannot be decoded raises it for all other rules."""
    return Broken(rule_id)


def _column(subject: Subject[Any] | None, thing: Any) -> str | None:
    """The column that a thing belongs to, if any."""
    return None if subject is None else subject.placed(Violation("", ""), thing).column


def violation_from(error: FormatError, rule_id: str) -> Violation:
    """The violation at the place that an error names."""
    return Violation(
        message=error.reason,
        field=error.field or rules()[rule_id].field,
        offset=error.offset,
        length=error.length,
        expected=error.expected,
        actual=error.actual,
        remedy=error.remedy,
    )
