"""The output of a scan: the columns in their order, with the types of the first file for all files.

Source: chapter ``scan.md``, section "Dictionaries".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pqassay_reader.condition.kinds import find_column
from pqassay_reader.query.facts.footer_facts import FileFacts
from pqassay_reader.query.fetching.field_pages import is_dictionary_encoded
from pqassay_reader.query.file_scan import FileScan
from pqassay_reference.errors import Undecodable


@dataclass(frozen=True)
class Output:
    """The columns of the result.

    Attributes:
        schema: Their names and types.
        kept_dictionaries: Names of fields whose values are returned as references to their dictionaries.
    """

    schema: pa.Schema
    kept_dictionaries: frozenset[str]

    @classmethod
    def of(cls, file: FileScan, columns: Sequence[str] | None, *, keeps: bool) -> Output:
        """The columns of a result, from the first file.

        Args:
            file: The first file.
            columns: Their names; by default all, including the partition columns of folders.
            keeps: Whether dictionaries are kept.
        """
        schema, constants = file.facts.schema, file.question.constants
        whole = dict.fromkeys([*schema.names, *file.target.constants])
        names = list(whole if columns is None else columns)
        kept = frozenset(_kept(file.facts, names)) if keeps else frozenset[str]()
        fields: list[pa.Field[Any]] = []
        for name in names:
            if name in constants:
                fields.append(pa.field(name, constants[name].type))
                continue
            _, stored = find_column(schema, name)
            kind: Any = stored
            if name in kept:
                kind = pa.dictionary(pa.int32(), kind)
            at = schema.get_field_index(name)
            nullable = at < 0 or schema.field(at).nullable
            fields.append(pa.field(name, kind, nullable))
        return cls(pa.schema(fields), kept)

    def batches(self, table: pa.Table, file: FileScan, most: int) -> Iterator[pa.RecordBatch]:
        """Yield rows of a file as batches of the result, each of limited size.

        Raises:
            Undecodable: A column of the file has another type than in the first one.
        """
        columns = [self._column(field, table, file) for field in self.schema]
        whole = pa.Table.from_arrays(columns, schema=self.schema).combine_chunks()
        yield from whole.to_batches(max_chunksize=most)

    def _column(self, field: pa.Field[Any], table: pa.Table, file: FileScan) -> Any:
        constants = file.question.constants
        if field.name in constants:
            value: Any = constants[field.name]
            return pa.repeat(value.cast(field.type), len(table))
        path, _ = find_column(file.facts.schema, field.name)
        values: Any = table.column(path[0])
        for part in path[1:]:
            values = pc.struct_field(values, part)
        try:
            return values if values.type == field.type else values.cast(field.type)
        except pa.ArrowException as error:
            raise Undecodable(
                f"{file.target.name}: column {field.name} is {values.type}, but {field.type} "
                f"in the first file: {error}"
            ) from error


def _kept(facts: FileFacts, names: Sequence[str]) -> Iterator[str]:
    """The names, among the given ones, of fields of text or bytes whose pages all refer to a dictionary."""
    places = sorted({facts.schema.get_field_index(name) for name in names})
    for field in (facts.fields[place] for place in places if place >= 0):
        kind: Any = field.arrow.type
        is_text = pa.types.is_string(kind) or pa.types.is_binary(kind)
        if is_text and len(field.leaves) == 1 and len(field.elements) == 1:
            chunks = [group.columns[field.leaves[0]].meta_data for group in facts.metadata.row_groups]
            if chunks and all(chunk is not None and is_dictionary_encoded(chunk) for chunk in chunks):
                yield field.arrow.name


__all__ = ["Output"]
