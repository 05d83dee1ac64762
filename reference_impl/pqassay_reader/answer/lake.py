"""The files of a question: their footers, which are read once, and the distinct sets in their index directories."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import pyarrow.dataset as pads

from pqassay_reader.condition.kinds import compared_type, find_column
from pqassay_reader.lake.known_file import KnownFile
from pqassay_reader.lake.lake_sets import LOCAL_THREADS, REMOTE_THREADS, DistinctSets, Progress, is_column_of
from pqassay_reader.pages.excluding import FileSets
from pqassay_reference.directory.reading.blob import Numbers
from pqassay_reference.files.listing import ListedFiles
from pqassay_spec.grammar.thrift_decoder import collector_paused


class Lake(DistinctSets):
    """All files.

    Args:
        listed: The files.
        dataset: The same files as Arrow's dataset.
        progress: Called with the number of files that were read, and of all files.

    Attributes:
        dataset: Arrow's dataset.
        known: The files.
        fragments: Arrow's fragments of them, one for each.
        row_counts: The number of rows of each row group.

    Raises:
        FormatError: A file is not a Parquet file.
        OSError: A file cannot be read.
    """

    def __init__(
        self, listed: ListedFiles, dataset: pads.FileSystemDataset, progress: Progress | None = None
    ) -> None:
        filesystem = None if listed.is_local else listed.filesystem
        threads = LOCAL_THREADS if listed.is_local else REMOTE_THREADS
        self.dataset = dataset
        self.fragments = cast("list[pads.ParquetFileFragment]", list(dataset.get_fragments()))
        partitions = {
            name for one in self.fragments for name in pads.get_partition_keys(one.partition_expression)
        }
        self.known: list[KnownFile] = []
        # A thousand footers are a million objects without cycles: collecting garbage repeatedly takes as long as reading them.
        with collector_paused(), ThreadPoolExecutor(threads) as pool:
            for file in pool.map(lambda one: KnownFile(one.path, filesystem), self.fragments):
                file.directory.entries = [
                    entry
                    for entry in file.directory.entries
                    if all(is_column_of(dataset.schema, leaf) for leaf in entry.leaves)
                ]
                self.known.append(file)
                if progress is not None:
                    progress(len(self.known), len(self.fragments))
        super().__init__(self.known, dataset.schema, partitions, threads)
        self.row_counts: Numbers = np.array(
            [n for file in self.known for n in file.facts.row_counts], np.int64
        )

    def kind(self, name: str) -> Any:
        """The type in which a column is compared. Raises `Refused` if there is no such column, or several."""
        return compared_type(find_column(self.schema, name)[1])

    def fields(self, names: Iterable[str]) -> list[str]:
        """The top-level columns that contain some columns. Raises the errors of `kind`."""
        return list(dict.fromkeys(find_column(self.schema, name)[0][0] for name in sorted(names)))

    def sets(self, names: Collection[str], fields: Collection[str]) -> FileSets:
        """The distinct sets of some columns, if they are small compared with the ``fields`` that would be read without them."""
        return FileSets(self.of(names, lambda _: fields), self.file_of, len(self.known))


__all__ = ["Lake"]
