"""A random file at the end of a run, which no driver has seen: stored answers to golden files cannot help with it."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pqassay.report.run.model import Result
from pqassay_spec.golden.literals import Value
from pqassay_suite.drivers.driver import DriverUnderTest, NoAnswer
from pqassay_suite.drivers.protocol import PROTOCOL, Accept, IgnoredIndex, Query, ReadRequest, ScanRequest
from pqassay_suite.judging.bench import described
from pqassay_suite.judging.row_answers import are_rows

ENOUGH = 10
"""Cases that a driver must pass before it is asked, because an unfinished driver may use stored answers."""


def unseen(driver: DriverUnderTest, results: Sequence[Result]) -> Iterator[Result]:
    """Yield a failure of reading, and one of scanning, if the answer about a new file is wrong and `ENOUGH` cases passed."""
    import pyarrow as pa  # noqa: PLC0415 - only a run of a reader needs it
    import pyarrow.parquet as pq  # noqa: PLC0415 - see above

    rows: list[list[Value]] = [[secrets.randbelow(1 << 31), secrets.token_hex(4)] for _ in range(9)]
    types = {"number": "int64", "text": "string"}
    for operation in ("read", "scan"):
        families = [one.family for one in results if (one.operation, one.outcome) == (operation, "passed")]
        if len(families) < ENOUGH:
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            path = Path(name, "data.parquet")
            table = pa.table(dict(zip(types, zip(*rows, strict=True), strict=True)))
            pq.write_table(table, path, compression="none", use_dictionary=False)  # which every reader reads
            queries = [Query(0, ["=", "text", rows[0][1]], list(types), "on")]
            read = ReadRequest(PROTOCOL, "read", str(path), list(types), types)
            scan = ScanRequest(PROTOCOL, "scan", families[0], str(path), queries, types=types)
            reply = driver.ask(read if operation == "read" else scan, path.parent)
        right = rows if operation == "read" else rows[:1]
        if not (isinstance(reply, Accept | IgnoredIndex) and are_rows(reply, right)):
            why = reply.reason if isinstance(reply, NoAnswer) else described(reply)
            yield Result("hello", "", "hello", "failed", f"{operation} of a new file is wrong", actual=why)
