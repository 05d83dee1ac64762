"""Ingredients of a question: parts that may matter to an answer, and the question without each part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pqassay.literals.predicate import CONNECTIVES, MEMBERSHIPS, NEGATION, NULL_TESTS
from pqassay_suite.exploring.drawn_file import DrawnColumn, DrawnFile, Question, Tree, columns_asked, parts_of
from pqassay_suite.exploring.kinds import FLOATS, KINDS, SPECIAL

EQUALITY, NEGATIVE, ORDER, LIST, NULL_TEST = (
    "an equality",
    "a negation",
    "a comparison by order",
    "a list of values",
    "a test for null",
)

GROUPS = {
    "=": (EQUALITY,),
    "in": (EQUALITY, LIST),
    "!=": (NEGATIVE,),
    "not in": (NEGATIVE, LIST),
    "not": (NEGATIVE,),
    **dict.fromkeys(NULL_TESTS, (NULL_TEST,)),
    **dict.fromkeys(("<", "<=", ">", ">="), (ORDER,)),
    "and": ("a conjunction",),
    "or": ("an alternative",),
}
"""Names of the kinds of predicates. A problem with ``=`` also affects ``in``, which is an equality, too."""

READ = "a read of all rows"

PLAIN_KIND = "int32"

PLAIN_FLOATS = "double"
"""The kind to try in place of floats of other widths: most problems of one width occur with all."""


@dataclass(frozen=True)
class Ingredient:
    """A part that may matter.

    Attributes:
        name: Its description.
        left_out: The question without it; ``None`` if nothing would be left to ask.
    """

    name: str
    left_out: Callable[[], Question | None]


def names_of(question: Question) -> frozenset[str]:
    """The names of all ingredients."""
    return frozenset(each.name for each in ingredients(question))


def ingredients(question: Question) -> list[Ingredient]:
    """All parts of a question that may matter, and the question without each."""
    return [*_of_file(question), *_of_columns(question), *_of_predicate(question)]


def _of_file(question: Question) -> Iterator[Ingredient]:
    file = question.file

    def plain(name: str, **fields: Any) -> Ingredient:
        return Ingredient(name, lambda: replace(question, file=replace(file, **fields)))

    if file.lie:
        yield plain(f"a lie: {file.lie.name}", lie=None)
    if file.row_group_rows and file.row_group_rows < file.count:
        yield plain("several row groups", row_group_rows=0)
    if file.page_rows and file.page_rows < min(file.count, file.row_group_rows or file.count):
        yield plain("several pages", page_rows=0)
    if file.version == 2:
        yield plain("pages of version 2", version=1)
    if file.dictionary:
        yield plain("a dictionary", dictionary=False)
    if file.codec != "none":
        yield plain(f"the codec {file.codec}", codec="none")
    for name, words in (
        ("statistics", "statistics"),
        ("page_index", "a page index"),
        ("bloom", "bloom filters"),
        ("checksums", "checksums"),
    ):
        if getattr(file, name):
            yield plain(words, **{name: False})
    for name in file.without:
        yield plain(f"no {name}", without=tuple(other for other in file.without if other != name))


def _of_columns(question: Question) -> Iterator[Ingredient]:
    named = columns_asked(question.predicate)
    for column in question.file.columns:
        if named and column.name not in named:
            yield Ingredient("a column beside", _without_column(question, column))
        elif len(question.file.columns) > 1 and not named:
            yield Ingredient("several columns", _without_column(question, column))
        is_float = column.of.pool is FLOATS
        if is_float:
            yield Ingredient("a column of floats", _as_numbers(question, column))
        if column.kind not in (PLAIN_KIND, PLAIN_FLOATS):
            plainer = (
                _with(question, replace(column, kind=PLAIN_FLOATS))
                if is_float
                else _as_numbers(question, column)
            )
            yield Ingredient(f"a column of {column.kind}", plainer)
        if not column.optional:
            yield Ingredient("a required column", _with(question, replace(column, optional=True)))
        if column.encoding != "PLAIN":
            yield Ingredient(
                f"the encoding {column.encoding}", _with(question, replace(column, encoding="PLAIN"))
            )
        for words, holds in SPECIAL.items():
            if any(map(holds, column.values)):
                usual = next(
                    value
                    for value in column.of.pool
                    if not any(is_other(value) for is_other in SPECIAL.values())
                )
                values = tuple(usual if holds(value) else value for value in column.values)
                yield Ingredient(words, _with(question, replace(column, values=values)))


def _of_predicate(question: Question) -> Iterator[Ingredient]:
    tree = question.predicate
    if tree is None:
        yield Ingredient(READ, lambda: None)
        return
    for simpler in _simpler(tree):
        yield Ingredient(GROUPS[tree[0]][-1], _with_predicate(question, simpler))
    for group in dict.fromkeys(group for part in parts_of(tree) for group in GROUPS[part[0]]):
        yield Ingredient(group, lambda: None)
    if set(question.columns) != {column.name for column in question.file.columns}:
        names = tuple(column.name for column in question.file.columns)
        yield Ingredient("columns left out of the answer", lambda: replace(question, columns=names))
    kinds = {column.name: column.of for column in question.file.columns}
    for part in parts_of(tree):
        if part[0] in NULL_TESTS:
            continue
        for words, holds in SPECIAL.items():
            values = part[2] if part[0] in MEMBERSHIPS else (part[2],)
            if any(map(holds, values)):
                usual = kinds[part[1]].pool[0]
                other = tuple(usual if holds(value) else value for value in values)
                changed = (*part[:2], other if part[0] in MEMBERSHIPS else other[0])
                yield Ingredient(
                    f"{words} in the query",
                    _with_predicate(question, _swapped(tree, part, changed)),
                )


def _simpler(tree: Tree) -> Iterator[Tree]:
    """The predicates that are parts of a predicate."""
    if tree[0] in CONNECTIVES or tree[0] == NEGATION:
        yield from tree[1:]
    elif tree[0] in MEMBERSHIPS and len(tree[2]) > 1:
        yield from ((*tree[:2], (*tree[2][:place], *tree[2][place + 1 :])) for place in range(len(tree[2])))
    elif tree[0] == "in":
        yield ("=", tree[1], tree[2][0])
    elif tree[0] == "not in":
        yield ("!=", tree[1], tree[2][0])


def _swapped(tree: Tree, part: Tree, other: Tree) -> Tree:
    if tree is part:
        return other
    if tree[0] in CONNECTIVES or tree[0] == NEGATION:
        return (tree[0], *(_swapped(each, part, other) for each in tree[1:]))
    return tree


def _with(question: Question, column: DrawnColumn) -> Callable[[], Question]:
    columns = tuple(column if each.name == column.name else each for each in question.file.columns)
    return lambda: replace(question, file=replace(question.file, columns=columns))


def _with_predicate(question: Question, tree: Tree) -> Callable[[], Question]:
    return lambda: replace(question, predicate=tree)


def _without_column(question: Question, column: DrawnColumn) -> Callable[[], Question | None]:
    def left_out() -> Question | None:
        columns = tuple(each for each in question.file.columns if each != column)
        wanted = tuple(name for name in question.columns if name != column.name) or (columns[0].name,)
        return replace(question, file=replace(question.file, columns=columns), columns=wanted)

    return left_out


def _as_numbers(question: Question, column: DrawnColumn) -> Callable[[], Question | None]:
    """The question after replacing a column's values by numbers in the same order."""

    def left_out() -> Question | None:
        literals = [
            part[2]
            for part in parts_of(question.predicate)
            if part[1] == column.name and part[0] not in NULL_TESTS
        ]
        values = [value for each in literals for value in (each if isinstance(each, tuple) else (each,))]
        try:
            ordered = sorted({value for value in (*column.values, *values) if value is not None})
        except TypeError:  # structs
            return None
        if any(SPECIAL["NaN"](value) for value in ordered):
            return None
        numbers = {value: number for number, value in enumerate(ordered, 1)}

        def number(value: Any) -> Any:
            return (
                tuple(map(number, value))
                if isinstance(value, tuple) and value not in numbers
                else numbers.get(value)
            )

        def renumbered(tree: Tree) -> Tree:
            if tree[0] in CONNECTIVES or tree[0] == NEGATION:
                return (tree[0], *map(renumbered, tree[1:]))
            return tree if tree[1] != column.name or tree[0] in NULL_TESTS else (*tree[:2], number(tree[2]))

        encoding = column.encoding if column.encoding in KINDS[PLAIN_KIND].encodings else "PLAIN"
        changed = replace(
            column, kind=PLAIN_KIND, values=tuple(map(number, column.values)), encoding=encoding
        )
        predicate = question.predicate and renumbered(question.predicate)
        return replace(_with(question, changed)(), predicate=predicate)

    return left_out


def smaller(question: Question) -> Iterator[Question]:
    """Smaller forms of the question, other than without ingredients: with one row less, or a simpler name or value."""
    for row in range(question.file.count if question.file.count > 1 else 0):
        yield replace(question, file=_without_row(question.file, row))
    for column in question.file.columns:
        for row, value in enumerate(column.values):
            if value is not None and value != column.of.pool[0]:
                for plain in column.of.pool[: 3 if column.of.is_ordered else 1]:
                    if plain == value:
                        break
                    yield _with(
                        question,
                        replace(column, values=(*column.values[:row], plain, *column.values[row + 1 :])),
                    )()


def _without_row(file: DrawnFile, row: int) -> DrawnFile:
    columns: Sequence[DrawnColumn] = file.columns
    return replace(
        file,
        columns=tuple(
            replace(each, values=(*each.values[:row], *each.values[row + 1 :])) for each in columns
        ),
    )
