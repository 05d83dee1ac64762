"""What a summary file says of the files beside it, against these."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from pqassay_reference.lint.parquet_file_footer import wrong
from pqassay_spec.base.sources import FileSource
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData, RowGroup


def lint_summary(path: str | os.PathLike[str], metadata: FileMetaData) -> None:
    """Compare the row groups of other files with those files, where they are in the same folder. Raises `FormatError`."""
    named: dict[str, list[RowGroup]] = {}
    for group in metadata.row_groups:
        for name in {chunk.file_path for chunk in group.columns if chunk.file_path}:
            named.setdefault(name, []).append(group)
    for name, groups in named.items():
        other = os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120 - paths stay text
        if os.path.basename(name) == name and os.path.isfile(other):  # noqa: PTH113, PTH119 - as above
            with FileSource(other) as source:
                actual, _ = read_footer(source, read_framing(source))
            if _measures(groups) != _measures(actual.row_groups):
                raise wrong("PQF-156", f"{name} has other row groups than the summary", "footer.row_groups")


def _measures(groups: Sequence[RowGroup]) -> list[Any]:
    return [
        (
            group.num_rows,
            [
                (facts.num_values, facts.data_page_offset, facts.total_compressed_size)
                for chunk in group.columns
                if (facts := chunk.meta_data) is not None
            ],
        )
        for group in groups
    ]
