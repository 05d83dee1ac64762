"""Convert between the paths and URIs of Hadoop and those of Arrow."""

from __future__ import annotations

import os
import re

URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/.*", re.DOTALL)


def local_path(root: str | os.PathLike[str]) -> str:
    """The path in a ``file:`` URI, which Hadoop takes literally; other URIs and paths stay the same.

    >>> local_path("file:///lake/a%20b"), local_path("file:/lake"), local_path("s3a://lake/a")
    ('/lake/a%20b', '/lake', 's3a://lake/a')
    """
    return re.sub(r"^file:(//)?(?=/)", "", os.fspath(root))


def is_remote(root: str | os.PathLike[str]) -> bool:
    """Whether a root is a URI outside this machine's files."""
    return URI.fullmatch(local_path(root)) is not None


def arrow_uri(uri: str) -> str:
    """Arrow's URI for a ``s3a://...`` URI of Hadoop."""
    return re.sub("^s3[an]:", "s3:", uri)
