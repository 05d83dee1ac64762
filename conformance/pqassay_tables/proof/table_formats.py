"""The `pqassay.proof.table_proof.TableProof` of Delta and of Iceberg."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pqassay.proof.engines import Engine
from pqassay.proof.table_proof import TableCopy
from pqassay.proof.worker import QueryPlan
from pqassay.report.model import Finding
from pqassay.stores.table_files import TableAt
from pqassay_tables.proof import moved_table
from pqassay_tables.proof.delta_engines import delta_engines
from pqassay_tables.proof.iceberg_engines import iceberg_engines, location_of
from pqassay_tables.proof.moved_table import copied, place_for
from pqassay_tables.proof.table_plan import plan_table


class FormatProof(NamedTuple):
    """The implementation of `TableProof` for a format."""

    engines: Callable[[str], tuple[Engine, ...]]
    copy: Callable[[str], TableCopy | None]
    plan: Callable[[TableAt, str, Sequence[Finding], Path], QueryPlan] = plan_table


def is_in_place(table: str) -> bool:
    """Whether an Iceberg table is at the location in its metadata. Raises `Unwritable`."""
    return location_of(table)[1].removeprefix("file://") == os.path.abspath(table)  # noqa: PTH100 - the text that the user wrote


def _moved(table: str) -> TableCopy | None:
    if is_in_place(table):
        return None
    place = place_for(table)
    return TableCopy(partial(copied, table), place, ("python", "-m", moved_table.__name__, table, place))


DELTA = FormatProof(delta_engines, lambda _: None)
"""The proof of Delta, whose file paths are relative, so that a table can be read at any place."""

ICEBERG = FormatProof(iceberg_engines, _moved)
"""The proof of Iceberg, whose file paths are absolute."""
