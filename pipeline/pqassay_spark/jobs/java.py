"""The Java runtime for Spark: which one Spark would start, and whether that is new enough.

Spark starts ``$JAVA_HOME/bin/java`` if the variable is set, and otherwise ``java`` of the search path.  Without
Java it fails with a message about a gateway process; `require_java` reports the problem before that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MINIMUM = 17
"""The oldest feature release of Java that Spark 4 runs on."""

HOW_TO_INSTALL = (
    f"Install a Java runtime of version {MINIMUM} or newer (Debian and Ubuntu: apt-get install "
    f"openjdk-{MINIMUM}-jre-headless; macOS: brew install openjdk@{MINIMUM}) and put `java` on PATH or set JAVA_HOME."
)
"""The end of a message about missing Java."""


class JavaMissingError(RuntimeError):
    """There is no suitable Java runtime for Spark.

    ``reason`` is a short description of the problem; the message also says what to install.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}. {HOW_TO_INSTALL}")
        self.reason = reason


def find_java() -> str:
    """Find the command that Spark would start.

    Raises:
        JavaMissingError: There is no Java in JAVA_HOME or PATH.
    """
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home, "bin", "java")
        if not os.access(java, os.X_OK):
            raise JavaMissingError(f"JAVA_HOME is {home}, which has no bin/java")
        return str(java)
    if java_on_path := shutil.which("java"):
        return java_on_path
    raise JavaMissingError("Spark needs Java, and there is none on this machine")


def parse_version(text: str) -> int | None:
    """Read the feature release from the output of ``java -version``; ``None`` if there is none.

    >>> parse_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> parse_version('java version "1.8.0_392"')
    8
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def require_java() -> int:
    """Return the feature release of the Java that Spark would start.

    Raises:
        JavaMissingError: There is none, it does not start, or it is older than `MINIMUM`.
    """
    java = find_java()
    try:
        answer = subprocess.run(  # noqa: S603 - the user's own Java
            [java, "-version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaMissingError(f"{java} does not start ({error})") from None
    version = parse_version(answer.stderr + answer.stdout)
    if answer.returncode != 0 or version is None:
        # macOS has a stub with this name that only prints where to get Java
        said = " ".join((answer.stderr + answer.stdout).split())[:200].rstrip(".")
        raise JavaMissingError(f"{java} is not a Java runtime: {said or 'it prints nothing'}")
    if version < MINIMUM:
        raise JavaMissingError(f"{java} is Java {version}, too old for Spark")
    return version


def main() -> None:
    """Exit with status 0 if Spark can run here; otherwise print the reason, and exit with status 1."""
    try:
        require_java()
    except JavaMissingError as error:
        sys.exit(f"No Spark here: {error}")


if __name__ == "__main__":
    main()
