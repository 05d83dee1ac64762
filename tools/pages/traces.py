"""The fields of golden files, traced once for each content: the parent of a case is that of others, too."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from pathlib import Path

from pqassay.difference.tree import Fields
from pqassay.lake.kinds import judged_as
from pqassay_spec.base.sources import BytesSource

KEPT = 40
"""Files whose fields are held; most parents are asked for by cases that follow each other."""


class Traces:
    """The fields of files, by their content."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bytes], Fields] = OrderedDict()

    def of(self, path: Path) -> Fields:
        """The fields of a file; of one that was asked for lately without tracing it anew."""
        raw, kind = path.read_bytes(), judged_as(path.name)
        key = kind, hashlib.sha256(raw).digest()
        if key not in self._known:
            self._known[key] = Fields(BytesSource(raw), kind)
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]
