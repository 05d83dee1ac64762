"""The mutations that the grammar suggests: for every field of a file, the ways in which it can be wrong.

Tests apply all of them to every parser: the only exception that may come out is a `FormatError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pqassay_spec.mutation.file_mutations import mutations_of_file
from pqassay_spec.mutation.mutations import FormName, Mutation
from pqassay_spec.mutation.pm_mutations import mutations_of_pm

_POSSIBLE: Mapping[FormName, Callable[[bytes], Iterator[Mutation]]] = {
    "parquet": mutations_of_file,
    "pm": mutations_of_pm,
}


def mutations_of(data: bytes, form: FormName = "parquet") -> Iterator[Mutation]:
    """Yield the mutations that the grammar suggests for every field of a file.

    Raises:
        FormatError: The file cannot be taken apart.
    """
    return _POSSIBLE[form](data)
