"""Mutations: how a valid file becomes one with a chosen error.

A mutation names an operator, a path and, for some operators, a value.  The file is parsed, one part is changed, and
everything that follows from the layout is computed again, except at the named path. If a payload grows, its length
field, its checksum and all later offsets change with it; a length field that is set to a false value stays false.  With
``raw`` nothing is computed again: bytes are replaced in place.

The tree of a file depends on its form (`FORMS`). The grammar decides which operators fit where:
`pqassay_spec.mutation.possible` lists them for every field.

    >>> Mutation("set", "idx1.magic", b"IDX2")
    Mutation(op='set', path='idx1.magic', to=b'IDX2', raw=False)
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from construct import ConstructError

from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.strict_json import Closed, exact_integer
from pqassay_spec.directory import entries as directory_entries
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.mutation import file_dissection, file_layout, pm_dissection, pm_layout, txn_tree
from pqassay_spec.mutation.directory_tree import with_raw
from pqassay_spec.mutation.file_operators import FILE_OPERATORS, traced_file
from pqassay_spec.mutation.file_tree import pair_with
from pqassay_spec.mutation.operators import OPERATORS, Operator
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import trace as pm_trace
from pqassay_spec.pm.txn import FILE_NAME as TXN_NAME

FormName = Literal["parquet", "pm"]


@dataclass(frozen=True)
class Form:
    """A kind of file, with the functions that mutations need.

    Attributes:
        take_apart: Makes a tree from its bytes.
        put_together: Makes bytes from the tree, with values that follow from the layout, except at the frozen paths.
        derived: The path and the right value of everything in the tree that follows from its layout.
        operators: The operators for the tree.
        traced: The leaves of everything in a file, in the order of their bytes.
    """

    take_apart: Callable[[bytes], Any]
    put_together: Callable[[Any, Collection[str]], bytes]
    derived: Callable[[Any], Iterator[tuple[str, Any]]]
    operators: Mapping[str, Operator]
    traced: Callable[[bytes], list[Leaf]]


FORMS: Mapping[FormName, Form] = {
    "parquet": Form(
        file_dissection.take_apart,
        file_layout.put_together,
        file_layout.derived,
        FILE_OPERATORS,
        traced_file,
    ),
    "pm": Form(
        pm_dissection.take_apart,
        pm_layout.put_together,
        pm_layout.derived,
        OPERATORS,
        pm_trace.traced,
    ),
}
"""The forms of files that can be mutated, by the names of their kinds."""


TXN_FORM = Form(txn_tree.take_apart, txn_tree.put_together, txn_tree.derived, OPERATORS, lambda _: [])
"""The form of a ``_txn``, which is always checked beside a ``_pm``."""

IN_DIRECTORY = "directory."
"""Prefix of the paths of the fields of an index directory, which are in Base64."""

IN_DATA = "data."
"""Prefix of the paths of mutations that change the Parquet file beside a ``_pm`` file."""

IN_TXN = "txn."
"""Prefix of the paths of mutations that change the ``_txn`` beside a ``_pm`` file."""


def form_of(file_name: str) -> FormName:
    """The form of a file by its name.

    >>> form_of("_pm"), form_of("data.parquet")
    ('pm', 'parquet')
    """
    return "pm" if file_name == pm.FILE_NAME else "parquet"


@dataclass(frozen=True)
class Mutation(Closed):
    """One change.

    Attributes:
        op: Name of an operator of the file's form; with ``raw``, ``set`` or ``truncate``.
        path: The part to change. It is a path into the tree, or in the trace the path of a length, a count, a field's header or an
            unknown field. The trace is that of a Parquet footer (``footer.schema:count``, ``footer.unknown_32767``), of an index or of
            a bloom filter's header. With ``raw`` it is the path of any leaf of the trace.
        to: The operator's value, if it takes one.
        raw: Whether bytes are replaced in place, and nothing is computed again.
    """

    op: str
    path: str
    to: Any = None
    raw: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The paths that keep their given value."""
        return (self.path, str(self.to)) if self.op == "swap" else (self.path,)

    def to_json(self) -> dict[str, Any]:
        """The mutation as JSON for golden cases: bytes are ``{"bytes": "<hex>"}``, large integers ``{"int": "<digits>"}``."""
        record: dict[str, Any] = {"op": self.op, "path": self.path}
        if self.to is not None:
            record["to"] = _to_json(self.to)
        return {**record, "raw": True} if self.raw else record

    @staticmethod
    def from_json(record: dict[str, Any]) -> Mutation:
        """Parse the result of `to_json`."""
        return Mutation(
            record["op"], record["path"], _from_json(record.get("to")), bool(record.get("raw", False))
        )


class Inapplicable(ValueError):  # noqa: N818 - says what is wrong with the request, which is not an error of the file
    """The mutation is impossible for this file: the path does not exist, or the value has another type or does not fit."""


def mutate(data: bytes, mutation: Mutation, form: FormName = "parquet") -> bytes:
    """Apply a mutation to a valid file.

    Raises:
        FormatError: The file cannot be parsed.
        Inapplicable: The mutation is impossible for this file.
    """
    return _mutated(data, mutation, FORMS[form])


def _mutated(data: bytes, mutation: Mutation, form: Form) -> bytes:
    try:
        if mutation.raw:
            return _raw(data, mutation, form)
        tree = form.take_apart(data)
        form.operators[mutation.op](tree, mutation.path, mutation.to)
        return form.put_together(tree, mutation.named)
    except KeyError as error:
        raise Inapplicable(f"{mutation.op} {mutation.path}: there is no {error.args[0]}") from None
    except FormatError:
        raise
    except (ConstructError, struct.error, ValueError, TypeError, AttributeError, IndexError) as error:
        said = str(error).strip().splitlines()
        raise Inapplicable(f"{mutation.op} {mutation.path}: {said[-1] if said else error!r}") from error


def mutate_files(files: Mapping[str, bytes], name: str, mutation: Mutation) -> dict[str, bytes]:
    """Apply a mutation to one of several files: the named file, or the Parquet file or ``_txn`` beside it (`IN_DATA`, `IN_TXN`).

    Raises:
        FormatError, Inapplicable: See `mutate`.
    """
    if form_of(name) == "pm" and mutation.path.startswith(IN_DATA):
        name, mutation = pm.DATA_NAME, replace(mutation, path=mutation.path.removeprefix(IN_DATA))
    elif form_of(name) == "pm" and mutation.path.startswith(IN_TXN) and TXN_NAME in files:
        mutation = replace(mutation, path=mutation.path.removeprefix(IN_TXN))
        return {**files, TXN_NAME: _mutated(files[TXN_NAME], mutation, TXN_FORM)}
    if name not in files:
        raise Inapplicable(f"{mutation.op} {mutation.path}: there is no {name}")
    return {**files, name: mutate(files[name], mutation, form_of(name))}


def _raw(data: bytes, mutation: Mutation, form: Form) -> bytes:
    if mutation.op == "truncate":
        if not 0 <= int(mutation.to) < len(data):
            raise Inapplicable(f"a file of {len(data)} bytes cannot be cut to {mutation.to}")
        return data[: int(mutation.to)]
    if mutation.op != "set" or not isinstance(mutation.to, bytes):
        raise Inapplicable("with raw, only bytes are set, or the file is truncated")
    if mutation.path.startswith(IN_DIRECTORY):
        return _raw_in_directory(data, mutation)
    leaf = next((leaf for leaf in form.traced(data) if leaf.path == mutation.path), None)
    if leaf is None:
        raise KeyError(mutation.path)
    return data[: leaf.offset] + mutation.to + data[leaf.offset + leaf.length :]


def _raw_in_directory(data: bytes, mutation: Mutation) -> bytes:
    """Replace decoded bytes of an index directory: only the key's value and the footer's length change."""
    tree = file_dissection.take_apart(data)
    pair = pair_with(tree, directory_entries.KEY)
    if pair is None:
        raise KeyError(mutation.path)
    pair.value = with_raw(pair.value or "", mutation.path, mutation.to)
    tree.directory = None
    return file_layout.put_together(tree)


# ------------------------------------------------------------------------------------------------------- JSON


def _to_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, int) and not isinstance(value, bool):
        return exact_integer(value)
    if isinstance(value, dict):
        return {key: _to_json(member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_to_json(one) for one in value]
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if set(members) == {"bytes"}:
            return bytes.fromhex(members["bytes"])
        if set(members) == {"int"}:
            return int(members["int"])
        return {key: _from_json(member) for key, member in members.items()}
    if isinstance(value, list):
        return [_from_json(one) for one in value]
    return value
