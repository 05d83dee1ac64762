"""Send this package to the executors of a cluster that lack it.

Spark for Python needs pyarrow and numpy on the executors anyway. The other packages for judging and indexing are pure
Python and are sent in one archive.
"""

from __future__ import annotations

import atexit
import importlib.util
import marshal
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING

from pqassay_spark.jobs import connected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES = (
    "pqassay_spec",
    "pqassay_reference",
    "pqassay_reader",
    "pqassay",
    "pqassay_lake",
    "pqassay_tables",
    "pqassay_spark",
    "construct",
    "pebble",
)
"""The packages to send: ours, and the pure Python packages that their work on executors imports."""

NEEDED = (*(name for name in PACKAGES if name not in ("pqassay_reference", "pqassay_reader")), "pyarrow")
"""Packages that executors must be able to import."""

NEEDED_FOR_VALUES = ("numpy", "xxhash")
"""Packages that executors also need if values are decoded."""

LEFT_OUT = (
    "pqassay/cli/",
    "pqassay/corpus/",
    "pqassay_spec/golden_files/",
    "pqassay/proof/",
    "pqassay_lake/cli/",
    "pqassay_lake/repair/",
    "pqassay/schemas/",
    "pqassay_tables/proof/",
)
"""Folders that are not sent."""


def ship_package(spark: SparkSession) -> None:
    """Send the package to all executors, including those that start later; once is enough for an application."""
    is_connected = connected.is_connected(spark)
    receiver = connected.session_id(spark) if is_connected else spark.sparkContext.applicationId
    if receiver not in _shipped:
        # Executors fetch the archive whenever they start, so it must exist as long as this process.
        folder = Path(tempfile.mkdtemp(prefix="pqassay-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        archive = str(write_archive(folder / "pqassay-executors.zip"))
        if is_connected:
            spark.addArtifacts(archive, pyfile=True)
        else:
            spark.sparkContext.addPyFile(archive)
        _shipped.add(receiver)


_shipped: set[str | None] = set()
"""Ids of the applications, and of the sessions of Spark Connect, whose executors have the package."""


def missing_modules(spark: SparkSession, modules: Sequence[str]) -> list[str]:
    """The modules that an executor's Python lacks."""

    def missing(_: int) -> list[str]:
        import importlib.util  # noqa: PLC0415 - this function is sent

        lacking: list[str] = []
        for name in modules:
            try:
                if importlib.util.find_spec(name) is None:
                    lacking.append(name)
            except ImportError:
                lacking.append(name)
        return lacking

    # An executor could not import the module of this function, so the function is sent as code.
    missing.__module__ = "__main__"
    asked = max(1, spark.sparkContext.defaultParallelism)
    answers = spark.sparkContext.parallelize(range(asked), asked).flatMap(missing).distinct().collect()
    return [name for name in modules if name in set(answers)]


def write_archive(path: Path) -> Path:
    """Write the packages as an archive that Python can import from, with modules compiled for this Python beside their sources.

    Each process of an executor would compile them again, which takes a second. Another version of Python uses the sources.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            spec = importlib.util.find_spec(package)
            if spec is None or spec.origin is None:
                raise ModuleNotFoundError(f"there is no package {package} to send", name=package)
            root = Path(spec.origin).parent
            for file in sorted(root.rglob("*")):
                inside = file.relative_to(root.parent).as_posix()
                if file.is_file() and file.parent.name != "__pycache__" and not inside.startswith(LEFT_OUT):
                    archive.write(file, inside)
                    if file.suffix == ".py":
                        archive.writestr(f"{inside}c", _compiled(file))
    return path


def _compiled(source: Path) -> bytes:
    """The content of the compiled file of a module, which Python uses without a look at the source: PEP 552."""
    unchecked = (0b01).to_bytes(4, "little") + importlib.util.source_hash(source.read_bytes())
    code = SourceFileLoader(source.stem, str(source)).get_code(source.stem)
    return importlib.util.MAGIC_NUMBER + unchecked + marshal.dumps(code)
