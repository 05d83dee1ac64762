"""A driver that reads and scans rightly, without any index; fakes are wrong beside it, each in one way."""

import json
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FAKES = Path(__file__).parent
sys.path.insert(0, str(FAKES.parents[2] / "conformance" / "implementations" / "skeletons" / "python"))

from pqassay_driver import Driver, Query, answers, main, matching  # noqa: E402 - the path was just extended

OWN = (
    "parquet",
    "read",
    "idx1.scan",
    "pqf.scan",
    "pix.scan",
    "sta.scan",
    "pm.bloom",
    "pm.extensions",
    "pm.prune",
)
TYPES = ("type.", "nested", "codec.", "order.")


class Honest(Driver):
    version = "1"
    ignores = frozenset({"IDX1", "PQF", "PIX", "STA"})
    capabilities = (
        *OWN,
        *(name for name in json.loads((FAKES / "capabilities.json").read_text()) if name.startswith(TYPES)),
    )

    def read(self, path: str, columns: list[str]) -> list[list[Any]]:
        import pyarrow.parquet as pq
        from arrow_tables import rows_of

        with pq.ParquetFile(path) as file:
            return rows_of(file.read(), columns)

    def scan(self, path: str, query: Query) -> list[list[Any]]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
        kept = matching(query.predicate, names, self.read(path, names))
        return [[row[name] for name in query.columns] for row in kept]


def pruned(request: Mapping[str, Any]) -> dict[str, Any]:
    """An answer that keeps all row groups."""
    data = Path(request["file"]).read_bytes()
    (end,) = struct.unpack_from("<Q", data)
    wanted, size, count = request.get("parquet_file_size"), None, 0
    while size is None or wanted not in (None, size):
        start = end - 4 - struct.unpack_from("<I", data, end - 4)[0]
        offset, length, count, _, end = struct.unpack_from("<QIIQQ", data, start)
        size = offset + length + 8
    return {"answer": "ignored-index", "row_groups": list(range(count))}


def run(driver: Driver, spoil: Callable[[dict[str, Any]], dict[str, Any]] = dict) -> None:
    """Answer requests; of a process that goes on, `spoil` makes other answers of the right ones."""
    if sys.argv[1] != "--serve":
        main(driver)
        return
    for line in sys.stdin:
        asked = json.loads(line)
        for answer in [pruned(asked)] if asked["op"] == "prune" else answers(driver, asked):
            sys.stdout.write(f"{json.dumps(spoil(answer))}\n")
            sys.stdout.flush()
