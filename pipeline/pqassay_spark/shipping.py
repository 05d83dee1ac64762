"""Sending this package to the executors of a cluster that do not have it.

Python's part of Spark needs pyarrow and numpy on the executors anyhow; what else judging and indexing need is pure
Python and travels in one archive.
"""

from __future__ import annotations

import importlib.util
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES = ("pqassay_spec", "pqassay_reference", "pqassay", "pqassay_spark", "construct", "pebble")
"""What travels: our packages, and the pure Python that their work on executors imports."""

LEFT_OUT = ("__pycache__", "golden_files", "schemas")
"""Folders that no executor needs."""


def ship_package(spark: SparkSession) -> None:
    """Send the package to all executors, those that start later included."""
    with tempfile.TemporaryDirectory(prefix="pqassay-") as folder:
        archive = write_archive(Path(folder, "pqassay-executors.zip"))
        # Spark copies it at once: the file may go away afterwards.
        spark.sparkContext.addPyFile(str(archive))


def write_archive(path: Path) -> Path:
    """Write the packages as an archive from which Python imports."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            spec = importlib.util.find_spec(package)
            if spec is None or spec.origin is None:
                raise ModuleNotFoundError(f"there is no package {package} to send", name=package)
            root = Path(spec.origin).parent
            for file in sorted(root.rglob("*")):
                inside = file.relative_to(root.parent)
                if file.is_file() and not set(inside.parts) & set(LEFT_OUT):
                    archive.write(file, inside.as_posix())
    return path
