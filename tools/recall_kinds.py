"""Kinds of mutations for `recall`: for every field of every structure at least one false value, in files of several writers.

A kind is a field, named by the grammar, and a change. The grammar suggests the mutations (`pqassay_spec.mutation.possible`). Fields that no
file has are added.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from recall_answers import Kind

from pqassay_spec.grammar.field_paths import get
from pqassay_spec.grammar.thrift import BINARY, BOOL, DOUBLE, STRING, EnumOf, Field, FieldType, ListOf, Record
from pqassay_spec.mutation.mutations import FORMS, FormName, Mutation, mutate
from pqassay_spec.mutation.possible import mutations_of
from pqassay_spec.parquet.thrift import BloomFilterHeader, ColumnIndex, FileMetaData, OffsetIndex, PageHeader

GOLDEN_FILES = Path(__file__).resolve().parent.parent / "golden_files"

REFERENCE, QUESTDB = "pqassay-ref", "QuestDB"
CASES: Mapping[str, tuple[str, ...]] = {
    REFERENCE: (
        *("blm/audited", "sta/audited-page-headers", "idx1/column-with-dots", "sta/audited-box"),
        *("pqf/three-pages-and-a-dictionary", "blm/types", "pqf/times-of-day", "pqf/sorted-rows"),
        *("pix/total-order", "pix/histograms", "sta/int96", "pix/halves", "pqf/nanoseconds", "pqf/uuid"),
        *("pqf/times", "pqf/nested"),
        *("pm/with-data-sorting-written-out", "pm/with-data-and-external-bloom-filters", "pm/dead-bytes"),
    ),
    "pyarrow": tuple(f"interop/pyarrow-26.0.1/{name}" for name in ("flat", "nested", "pages", "pages-v2")),
    "Spark": tuple(
        f"interop/spark-4.3.0/{name}" for name in ("defaults", "bloom-filter", "pages-v2", "index")
    ),
    "DuckDB": tuple(f"interop/duckdb-2.0.0/{name}" for name in ("flat", "nested")),
    "DataFusion": tuple(f"interop/datafusion-55.0.0/{name}" for name in ("flat", "nested", "pages")),
    "Polars": tuple(f"interop/polars-2.1.0/{name}" for name in ("flat", "nested")),
    QUESTDB: ("interop/questdb-9.4.3/no-statistics-0", "interop/questdb-9.4.3/o3-chain-1"),
}
"""The golden cases whose files are changed, by writer. The files of the reference have every field of any file."""

MOST_SITES = {REFERENCE: 3}
"""The number of places at which a kind is tried in the files of a writer."""

SITES = 2


class Base(NamedTuple):
    """A file to change."""

    case: str
    form: FormName

    @property
    def name(self) -> str:
        """The name of the file."""
        return "_pm" if self.form == "pm" else "data.parquet"

    @property
    def path(self) -> Path:
        """Its path."""
        return GOLDEN_FILES / self.case / self.name

    @property
    def beside(self) -> Path | None:
        """The Parquet file that a ``_pm`` file describes, if it exists."""
        if self.form != "pm":
            return None
        data = self.path.with_name("data.parquet")
        return data if data.exists() else None


class Site(NamedTuple):
    """A mutation of a file."""

    base: Base
    mutation: Mutation

    @property
    def good(self) -> bytes:
        """The original file."""
        return data_of(self.base)

    def made(self) -> bytes:
        """The changed file."""
        return mutate(self.good, self.mutation, self.base.form)


Place = TypeVar("Place")
"""A false fact in a file."""


def bases(writer: str) -> list[Base]:
    """The files of a writer."""
    found = [Base(case, form) for case in CASES[writer] for form in FORMS]
    return [base for base in found if base.path.exists() and (base.form == "pm" or "pm/" not in base.case)]


@cache
def data_of(base: Base) -> bytes:
    """The bytes of a file."""
    return base.path.read_bytes()


@cache
def tree_of(base: Base) -> Any:
    """The parsed parts of a file."""
    return FORMS[base.form].take_apart(data_of(base))


def without_indexes(path: str) -> str:
    """A path without the numbers of elements."""
    return re.sub(r"\[\d+\]", "", path)


def named(path: str) -> str:
    """The field of a path, without numbers of elements; the root of the schema keeps its number, since it is not a column."""
    is_of_root = path.startswith(ROOT_ELEMENT)
    return f"{ROOT_ELEMENT * is_of_root}{without_indexes(path.removeprefix(ROOT_ELEMENT))}"


ROOT_ELEMENT = "footer.schema[0]."

# ------------------------------------------------------------------------------------------ fields of the grammar

ROOTS: Mapping[str, type[Record]] = {
    "footer": FileMetaData,
    "row_groups.columns.pages.header": PageHeader,
    "row_groups.columns.column_index": ColumnIndex,
    "row_groups.columns.offset_index": OffsetIndex,
    "row_groups.columns.bloom_filter.header": BloomFilterHeader,
}


def _fields(path: str, struct: type[Record]) -> Iterator[tuple[str, Field, type[Record]]]:
    for field in struct.fields:
        yield f"{path}.{field.name}", field, struct
        kind = field.type.element if isinstance(field.type, ListOf) else field.type
        if isinstance(kind, type):
            yield from _fields(f"{path}.{field.name}", kind)


FIELDS = {
    path: (field, struct) for root, record in ROOTS.items() for path, field, struct in _fields(root, record)
}
"""Every field of every Thrift structure by path, with its struct."""


# --------------------------------------------------------------------------------------------------- the changes


def change_of(base: Base, mutation: Mutation) -> str:
    """The change that a mutation makes, in words."""
    is_element = mutation.path.endswith("]")
    if mutation.op != "set":
        words = {"remove": "removed", "duplicate": "twice", "swap": "swapped", "displace": "moved"}
        return f"{'element ' * is_element}{words[mutation.op]}"
    try:
        old = get(tree_of(base), mutation.path)
    except KeyError:
        old = None
    return f"{'element ' * is_element}{_set(mutation.path, old, mutation.to)}"


def _set(path: str, old: Any, new: Any) -> str:
    if isinstance(new, bool):
        return "turned"
    if isinstance(new, int) and isinstance(old, int):
        declared = FIELDS.get(without_indexes(path))
        kind = None if declared is None else declared[0].type
        kind = kind.element if isinstance(kind, ListOf) else kind
        if isinstance(kind, EnumOf):
            return "another member" if new in [*kind.names] else "undefined"
        near = {0: "0", old + 1: "one more", old - 1: "one less"}
        return near.get(new, "least" if new < 0 else "great")
    if isinstance(new, (str, bytes)) and isinstance(old, (str, bytes)):
        if not new:
            return "empty"
        if isinstance(old, str) and isinstance(new, bytes):
            return "not UTF-8"
        return "changed" if len(new) == len(old) else "longer" if len(new) > len(old) else "shorter"
    return "another"


def sites(writer: str) -> dict[Kind, list[Site]]:
    """The mutations of a writer's files by kind: the first, the last and some in between."""
    places_by_kind: dict[Kind, list[Site]] = defaultdict(list)
    for base in bases(writer):
        for mutation in mutations_of(data_of(base), base.form):
            if not mutation.raw:
                path = named(mutation.path)
                field = f"_pm: {path}" if base.form == "pm" else path
                places_by_kind[Kind(field, change_of(base, mutation))].append(Site(base, mutation))
    if writer == REFERENCE:
        places_by_kind |= _added({kind.field for kind in places_by_kind})
    return {kind: some_of(_compared(places), writer) for kind, places in places_by_kind.items()}


def _compared(places: list[Site]) -> list[Site]:
    """The places in files with a neighbor to compare (``_pm`` beside its Parquet file), if there are any; otherwise all."""
    return [site for site in places if site.base.beside is not None] or places


def some_of(places: list[Place], writer: str) -> list[Place]:
    """A selection of places for the files of a writer, evenly from the first to the last."""
    most = MOST_SITES.get(writer, SITES)
    if len(places) <= most:
        return places
    return [places[number * (len(places) - 1) // (most - 1)] for number in range(most)]


def _added(reached: set[str]) -> dict[Kind, list[Site]]:
    """A mutation for every field of the grammar that no file has, added to the nearest enclosing struct that a file has."""
    added: dict[Kind, list[Site]] = {}
    for path, (field, _) in FIELDS.items():
        if path in reached:
            continue
        value, first = value_of(field.type), path
        while (owner := first.rpartition(".")[0]) not in reached and owner not in ROOTS:
            outer = FIELDS[owner][0].type
            value = value_of(outer, {first.rpartition(".")[2]: value})
            first = owner
        name = first.rpartition(".")[2]
        base, where = _place(owner)
        mutation = Mutation("set", f"{where}.{name}", value)
        if FIELDS[first][1].is_union:
            mutation = Mutation("set", where, {name: value})
        added[Kind(path, "added")] = [Site(base, mutation)]
    return added


def _place(owner: str) -> tuple[Base, str]:
    """A file with a struct, and the path of that struct. Raises `LookupError` if no file has it."""
    for base in bases(REFERENCE):
        if base.form == "parquet":
            for path in _paths(tree_of(base), owner.split("."), ""):
                with suppress(KeyError):
                    if get(tree_of(base), path) is not None:
                        return base, path
    raise LookupError(owner)


def _paths(tree: Any, names: list[str], path: str) -> Iterator[str]:
    """Yield the paths of all elements at a path without numbers."""
    if not names:
        yield path
        return
    here = f"{path}.{names[0]}".removeprefix(".")
    try:
        value = get(tree, here)
    except KeyError:
        return
    if isinstance(value, list):
        for number in range(len(value)):
            yield from _paths(tree, names[1:], f"{here}[{number}]")
    elif value is not None:
        yield from _paths(tree, names[1:], here)


def value_of(kind: FieldType, members: Mapping[str, Any] | None = None) -> Any:
    """A value of a type, false at any place; for a struct, with some optional members."""
    if isinstance(kind, ListOf):
        return [value_of(kind.element, members)]
    if isinstance(kind, EnumOf):
        return int(max(kind.names))
    if isinstance(kind, type):
        first = [] if members else kind.fields[: kind.is_union]
        required = [field for field in kind.fields if field.required] or first
        return {field.name: value_of(field.type) for field in required} | dict(members or {})
    return {BOOL: True, STRING: "x", BINARY: b"x", DOUBLE: 97.0}.get(kind, 97)
