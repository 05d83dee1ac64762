"""Report of the data source: what each query leaves out, as lines of JSON in a file.

A source in Python is planned in a process of its own, from which nothing but the rows comes back.  So what it knows beside them goes to a
file, a line for each query:

    {"path": "/lake/sales", "filters": ["EqualTo(('nation',), 'Peru')"], "files": 20,
     "skipped": {"part-3.parquet": "no value of nation satisfies it"},
     "row_groups": {"part-1.parquet": {"read": [2], "of": 4, "why": "the distinct sets of nation leave 1 of 4 row groups"}},
     "aside": []}

``files`` counts the files that there are.  In ``skipped`` are those of which nothing is read, in ``row_groups`` those of which some row groups
are, and in ``aside`` the indexes that are not used, since they are stale or damaged.  A query of which Spark finds out by itself that it has no
rows leaves no line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from pyspark.sql import datasource as ds

from pqassay_reference.errors import Refused
from pqassay_spark.query.lake_indexes import LeftOut


def write_report(
    path: str,
    root: str,
    filters: Sequence[ds.Filter],
    files: int,
    left: LeftOut,
    aside: Sequence[str],
) -> None:
    """Add a line to a report.

    Args:
        path: Of the report; it is made if it is not there.
        root: The folder that is read.
        filters: What Spark passed on.
        files: How many files there are.
        left: What is left out.
        aside: Indexes that are not used.

    Raises:
        Refused: It cannot be written.
    """
    line = {
        "path": root,
        "filters": [_shown(given) for given in filters],
        "files": files,
        "skipped": dict(sorted(left.files.items())),
        "row_groups": {
            name: {"read": part.kept, "of": part.total, "why": left.why[name]}
            for name, part in sorted(left.row_groups.items())
        },
        "aside": list(aside),
    }
    content = json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
    try:
        # In one piece: other queries may add theirs.
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            os.write(file, content)
        finally:
            os.close(file)
    except OSError as error:
        raise Refused(f"the report {path} cannot be written: {error.strerror}") from None


def _shown(given: Any) -> str:
    """A filter as Spark's documentation has it, without the names of its members."""
    if isinstance(given, ds.Not):
        return f"Not({_shown(given.child)})"
    members = [repr(getattr(given, member.name)) for member in fields(given)]
    return f"{type(given).__name__}({', '.join(members)})"
