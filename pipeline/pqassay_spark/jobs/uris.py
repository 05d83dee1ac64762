"""Paths and URIs as Hadoop spells them, and what Arrow makes of them."""

from __future__ import annotations

import os
import re

URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/.*", re.DOTALL)


def local_path(root: str | os.PathLike[str]) -> str:
    """The path behind ``file:`` URIs, which Hadoop takes literally; other URIs and paths stay what they are.

    >>> local_path("file:///lake/a%20b"), local_path("file:/lake"), local_path("s3a://lake/a")
    ('/lake/a%20b', '/lake', 's3a://lake/a')
    """
    return re.sub(r"^file:(//)?(?=/)", "", os.fspath(root))


def is_remote(root: str | os.PathLike[str]) -> bool:
    """True if a root is a URI of anything but this machine's files."""
    return URI.fullmatch(local_path(root)) is not None


def arrow_uri(uri: str) -> str:
    """Arrow's name of what Hadoop calls ``s3a://...``."""
    return re.sub("^s3[an]:", "s3:", uri)
