"""The reference implementation: the smallest honest reader and writer of what the specification describes.

It exists to be read next to the chapters, to produce golden files, and to give implementers something to
compare with.  It never imports the judge, nor the judge it: a judge that used the reference would make the
reference's mistakes the law.

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
"""What was here before 0.8, and where it is now."""


def __getattr__(name: str) -> Any:
    """What has moved works until 1.0, and says where it went."""
    if name not in MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = MOVED[name].split(":")
    warnings.warn(
        f"{__name__}.{name} is {module}.{attribute} now; this name goes with 1.0",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(importlib.import_module(module), attribute)
