"""Imports everything that judging a file may need, and makes what each first file would make: decoders and tables.

Workers begin as copies of a process that has imported this module.  Otherwise, each worker would import the
checks and the reading of values for its first file, which takes longer than judging most files.

Arrow reserves 1 GiB of address space on first use, which would count against the limit of each copy. So the imports here may use only as
much memory as the smallest worker, and Arrow adapts to that.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import pkgutil
import resource
import sys
from collections.abc import Generator
from pathlib import Path
from types import TracebackType

from pqassay.checks import registry
from pqassay.judge.workers import MEMORY_GIVEN_LEAST, limits_memory
from pqassay.plugins import rooms
from pqassay.under_test.alike import CHUNKS
from pqassay.under_test.schemas.known_schemas import SCHEMAS
from pqassay_spec.base.arrow_alone import load_no_pandas
from pqassay_spec.grammar.thrift_decoder import decoder
from pqassay_spec.parquet.thrift import ColumnChunk, FileMetaData, PageHeader, SchemaElement
from pqassay_spec.rules.observed import observations

VALUES = "values"
"""The packages that need numpy and pyarrow.

Their modules are searched rather than imported by name, since a browser without these libraries may import the package of this module.
"""

DATA = 5
"""The position of data and stack pages in ``/proc/self/statm``."""


def _load() -> None:
    registry()
    observations()
    decoder(FileMetaData, (SCHEMAS, CHUNKS))
    for record in (SchemaElement, ColumnChunk, PageHeader):
        decoder(record)
    for room in rooms(VALUES):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    importlib.import_module("numpy.ma")  # Arrow asks it about each array


@contextlib.contextmanager
def _little_more_memory() -> Generator[None]:
    """A context that limits additional memory of this process to that of the smallest worker, if the system enforces limits."""
    if not limits_memory():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[DATA])
    bound = pages * resource.getpagesize() + MEMORY_GIVEN_LEAST
    if soft == resource.RLIM_INFINITY or bound < soft:
        resource.setrlimit(
            resource.RLIMIT_DATA, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard)
        )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _unless_left_alone(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report an error that ends a worker before it begins, unless its parent has already ended."""
    if not issubclass(kind, (EOFError, OSError)):
        sys.__excepthook__(kind, error, trace)


with _little_more_memory():
    load_no_pandas()
    _load()
if hasattr(multiprocessing.current_process(), "_inheriting"):  # in the process that starts workers
    sys.excepthook = _unless_left_alone
