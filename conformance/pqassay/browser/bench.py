"""The bench: changes one field of a file, as for golden files, and judges the file again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pqassay.browser.tree import Node, PathTree
from pqassay.difference import Difference, TooManyFields, difference
from pqassay.dump import dump
from pqassay.report.json_form import encodable
from pqassay.stores.kinds import judged_as
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.hexdump import show
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.mutation.mutations import FormName, Inapplicable, Mutation, form_of, mutate
from pqassay_spec.mutation.possible import mutations_of

WHOLE = "file"
"""The page's name for the empty path, which mutations of the whole file have."""


class Bench:
    """A file on the bench.

    Args:
        data: Its bytes; ``None`` if the file is too large.
        name: Its name, which determines its format.

    Attributes:
        data: Its bytes; ``None`` if the file is too large.
        is_too_great: Whether the file is too large.
        last: The bytes that the last change made; the original bytes before the first change.
        trouble: Why nothing can be changed; empty if fields can be changed.
    """

    def __init__(self, data: bytes | None, name: str) -> None:
        self.is_too_great = data is None
        self.data = self.last = data or b""
        self.trouble = (
            "The file is too large to be changed here; it is judged anyway." if data is None else ""
        )
        self._name, self._kind = name, judged_as(name)
        self._form: FormName = form_of(name)
        self._offers: Mapping[str, list[Mutation]] = defaultdict(list)
        if data is None:
            return
        try:
            for mutation in mutations_of(data, self._form):
                self._offers[mutation.path or WHOLE].append(mutation)
        except FormatError as error:
            self.trouble = f"It cannot be parsed: {error}"

    @cached_property
    def leaves(self) -> Sequence[dict[str, Any]]:
        """The leaves of the file in the order of their bytes, as the page shows them; empty if the file is too large."""
        leaves_there: list[Leaf] = []
        if not self.is_too_great:
            dump(BytesSource(self.data, self._name), leaves_there.extend, self._kind)
        return [
            {
                "path": encodable(leaf.path),
                "offset": leaf.offset,
                "length": leaf.length,
                "value": encodable(show(leaf.value, leaf.label)),
                "doc": leaf.doc,
            }
            for leaf in sorted(leaves_there, key=lambda leaf: leaf.offset)
        ]

    @cached_property
    def tree(self) -> PathTree:
        """All fields that can be changed or have bytes, in the order of the grammar; empty if nothing can be changed."""
        return PathTree([WHOLE, *self._offers, *self._places] if self._offers else [])

    @cached_property
    def _places(self) -> Mapping[str, dict[str, Any]]:
        return {leaf["path"]: leaf for leaf in self.leaves}

    def told(self, node: Node) -> dict[str, Any]:
        """A node of the tree as the page shows it: its bytes, if any, and whether it can be changed."""
        return {
            **self._places.get(node.path, {}),
            **node._asdict(),
            "can_change": node.path in self._offers,
        }

    def offers(self, path: str) -> list[dict[str, Any]]:
        """The suggested changes of a field without duplicates, as mutations of golden cases."""
        records = [mutation.to_json() for mutation in self._offers.get(path, ())]
        return list({json.dumps(record): record for record in records}.values())

    def changed(self, record: str) -> tuple[bytes | None, str]:
        """The bytes after a change, or ``None`` and why the change is impossible.

        Args:
            record: The mutation as JSON, in the form of golden cases.
        """
        if self.is_too_great:
            return None, self.trouble
        try:
            mutation = Mutation.from_json(json.loads(record))
            self.last = mutate(self.data, mutation, self._form)
        except (FormatError, Inapplicable) as error:
            return None, str(error)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return None, f"not a change: {error}"
        return self.last, ""

    def difference(self) -> tuple[Difference | None, str]:
        """The difference made by the last change, field by field; or ``None`` and the reason why it is unknown."""
        files = BytesSource(self.data, "before"), BytesSource(self.last, "after")
        try:
            return difference(*files, (self._kind, self._kind)), ""
        except TooManyFields as error:
            return None, str(error)
