"""The bench: one field of a file is changed, as golden files are made, and the file judged again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pqassay.difference import Difference, TooManyFields, difference
from pqassay.dump import dump
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, Source
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.mutation.mutations import FormName, Inapplicable, Mutation, form_of, mutate
from pqassay_spec.mutation.possible import mutations_of

WHOLE = "file"
"""What the page calls the path of mutations that change the whole file, which is empty."""


class Bench:
    """A file on the bench.

    Args:
        data: Its bytes.
        name: Its name, which tells its form.

    Attributes:
        data: Its bytes.
        last: The bytes that the last change made; its own before the first.
        trouble: Why nothing can be changed; empty where something can.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.data = self.last = data
        self.trouble = ""
        self._form: FormName = form_of(name)
        self._offers: Mapping[str, list[Mutation]] = defaultdict(list)
        try:
            for mutation in mutations_of(data, self._form):
                self._offers[mutation.path or WHOLE].append(mutation)
        except FormatError as error:
            self.trouble = f"It cannot be taken apart: {error}"

    @property
    def paths(self) -> Mapping[str, int]:
        """The fields that can be changed, in the order of the grammar, each with how many changes are suggested."""
        return {path: len(found) for path, found in self._offers.items()}

    def offers(self, path: str) -> list[dict[str, Any]]:
        """The changes suggested for a field, each once, as golden cases hold mutations."""
        records = [mutation.to_json() for mutation in self._offers.get(path, ())]
        return list({json.dumps(record): record for record in records}.values())

    def changed(self, record: str) -> tuple[bytes | None, str]:
        """The bytes after a change, or ``None`` and why there are none.

        Args:
            record: The mutation as JSON, as golden cases hold it.
        """
        try:
            mutation = Mutation.from_json(json.loads(record))
            self.last = mutate(self.data, mutation, self._form)
        except (FormatError, Inapplicable) as error:
            return None, str(error)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return None, f"not a change: {error}"
        return self.last, ""


def leaves(source: Source, kind: str) -> Sequence[Leaf]:
    """The leaves of a file in the order of their bytes."""
    found: list[Leaf] = []
    dump(source, found.extend, kind)
    return sorted(found, key=lambda leaf: leaf.offset)


def difference_of(old: bytes, new: bytes, kind: str) -> tuple[Difference | None, str]:
    """The difference of two files by fields, or ``None`` and why it cannot be told."""
    try:
        return difference(BytesSource(old, "before"), BytesSource(new, "after"), (kind, kind)), ""
    except TooManyFields as error:
        return None, str(error)
