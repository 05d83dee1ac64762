"""The reference implementation: the smallest honest reader and writer of the structures in the specification.

It exists to be read next to the chapters, to produce golden files, and to give implementers something to
compare with.  It never imports the judge, nor the judge it: otherwise, errors of the reference would become
the law.

Contents: column values and literals (`columns`), pages (`pages`), changes of footers and indexes (`rewrite`),
the index directory (`directory`), ``_pm`` (`pm`), the data files of a folder (`files`), and commands (`cli`).

Excluded: skipping of data by metadata (see `pqassay_reader`); golden files (see `pqassay_golden`).
"""

import importlib
import warnings
from typing import Any

MOVED = {
    "scan": "pqassay_reader:scan",
    "open_indexed": "pqassay_reader:open_indexed",
}
"""Names that were here before 0.8, with their new modules."""


def __getattr__(name: str) -> Any:
    """Import a name that has moved, with a warning; works until 1.0."""
    if name not in MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = MOVED[name].split(":")
    warnings.warn(
        f"{__name__}.{name} is {module}.{attribute} now; this name goes with 1.0",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(importlib.import_module(module), attribute)
