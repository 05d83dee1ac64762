"""Building the site, for the tests that look at it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from places import ROOT

IMPORT_ROOTS = [str(ROOT / room) for room in ("spec", "reference_impl", "conformance", "pipeline")]


def build(folder: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    """Build the site into ``folder``."""
    path = os.pathsep.join([*IMPORT_ROOTS, os.environ.get("PYTHONPATH", "")])
    # The banner of the theme about its own future would look like a warning.
    environment = {**os.environ, "PYTHONPATH": path, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(folder)]
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
    )
