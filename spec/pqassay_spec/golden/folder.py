"""Where the golden files are: below this package if it is installed, at the top in a checkout."""

from __future__ import annotations

from pathlib import Path

import pqassay_spec


def golden_files() -> Path | None:
    """The folder of the golden files; ``None`` if this installation does not have them."""
    package = Path(pqassay_spec.__file__).resolve().parent
    places = (package / "golden_files", package.parents[1] / "golden_files")
    return next((place for place in places if place.is_dir()), None)
