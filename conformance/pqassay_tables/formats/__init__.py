"""The table formats Delta and Iceberg for the judge, see `pqassay.stores.formats.Format`.

Contents: the names by which a table is recognized, and a reader of each format. It returns the files of a table, the files added since a
state, and repairs. A reader is imported only for a table of its format.

Excluded: rules, and reading of metadata.
"""

from __future__ import annotations

from pqassay.stores.formats import Format, Moment
from pqassay_spec.table.layout import (
    DELTA_LOG,
    ICEBERG_METADATA,
    delta_commit,
    is_deletion_vector,
    is_delta_json,
    is_delta_log_file,
    is_iceberg_metadata,
)

ENDINGS = {".avro": "avro", ".puffin": "puffin"}
"""File extensions of manifests, manifest lists, and files of deletion vectors of Iceberg tables."""


def delta_moment(name: str) -> Moment | None:
    """The version that a commit creates; ``None`` for other files of the log."""
    version = delta_commit(name)
    return None if version is None else Moment(version=version)


def iceberg_moment(name: str) -> Moment:
    """The state that a metadata file describes."""
    return Moment(pointer=f"{ICEBERG_METADATA}/{name}")


def dumped_of_delta(name: str) -> str | None:
    """The kind of a file of a Delta table beside its data files.

    >>> dumped_of_delta("00000000000000000007.json"), dumped_of_delta("deletion_vector_1.bin")
    ('delta_log', 'deletion_vector')
    """
    if is_delta_json(name):
        return "delta_log"
    if is_delta_log_file(name):
        return "delta_checkpoint"
    return "deletion_vector" if is_deletion_vector(name) else None


def dumped_of_iceberg(name: str) -> str | None:
    """The kind of a file of an Iceberg table beside its data files.

    >>> dumped_of_iceberg("snap-1.AVRO"), dumped_of_iceberg("v3.gz.metadata.json"), dumped_of_iceberg("vectors.puffin")
    ('avro', 'iceberg_metadata', 'puffin')
    """
    if is_iceberg_metadata(name):
        return "iceberg_metadata"
    return next((kind for ending, kind in ENDINGS.items() if name.lower().endswith(ending)), None)


FORMATS = (
    Format(
        "delta",
        DELTA_LOG,
        "with a commit in _delta_log",
        is_delta_log_file,
        delta_moment,
        dumped_of_delta,
        {
            "delta_log": "a file of the log of a Delta table",
            "delta_checkpoint": "a checkpoint of a Delta table",
            "deletion_vector": "a file of deletion vectors of a Delta table",
        },
        engines=("deltalake", "daft", "chdb"),
        reader="pqassay_tables.formats.delta:DELTA",
        proof="pqassay_tables.proof.table_formats:DELTA",
    ),
    Format(
        "iceberg",
        ICEBERG_METADATA,
        "with metadata/*.metadata.json",
        is_iceberg_metadata,
        iceberg_moment,
        dumped_of_iceberg,
        {
            "avro": "an Avro file, such as a manifest of an Iceberg table",
            "iceberg_metadata": "a metadata file of an Iceberg table",
            "puffin": "a Puffin file of an Iceberg table",
        },
        engines=("pyiceberg", "daft", "chdb"),
        reader="pqassay_tables.formats.iceberg:ICEBERG",
        proof="pqassay_tables.proof.table_formats:ICEBERG",
    ),
)
"""The formats, in the order in which a folder is tested."""
