"""Find a JDK of a minimum release: the one on the search path is often older."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

PLACES = ("/usr/lib/jvm/*", "/Library/Java/JavaVirtualMachines/*/Contents/Home", "/opt/java/*")
"""Folders in which systems install JDKs."""


def java_home(least: int) -> Path | None:
    """The folder of a JDK of at least this feature release; ``JAVA_HOME`` and the search path come first."""
    for home in _homes():
        release = _release(home)
        if release is not None and release >= least and (home / "bin" / "javac").exists():
            return home
    return None


def _homes() -> Iterator[Path]:
    if chosen := os.environ.get("JAVA_HOME"):
        yield Path(chosen)
    if java := shutil.which("java"):
        yield Path(java).resolve().parents[1]
    for place in PLACES:
        yield from sorted(Path("/").glob(place.removeprefix("/")))


def _release(home: Path) -> int | None:
    """The feature release in the file ``release`` of a JDK."""
    try:
        version = re.search(r'^JAVA_VERSION="(\d+)', (home / "release").read_text("utf-8"), re.MULTILINE)
    except OSError:
        return None
    return int(version[1]) if version else None


__all__ = ["java_home"]
