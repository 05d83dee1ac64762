"""The driver of a library in Python: a start, with pyarrow in the place of yours.

pqassay suite run -- python3 driver.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).parent))

from pqassay_driver import Driver, Written, main


class YourLibrary(Driver):
    """What is asked of the library. `Driver` tells what else can be."""

    name = "your library"
    distribution = "pyarrow"  # what pip calls it: its version is asked of that
    # Begin with few, see `pqassay suite run -- python3 driver.py` pass, and add types and operations.
    capabilities: ClassVar = ("parquet", "read", "type.decimal", "type.date", "type.timestamp", "nested")

    def read(self, path: str, columns: list[str]) -> list[list[Written]]:
        """All rows, each a list of values in the order of ``columns``."""
        # ---- your library begins here. It is imported when it is needed: `hello` is answered without it.
        import pyarrow.parquet as pq
        from arrow_tables import rows_of

        with pq.ParquetFile(path) as file:
            return rows_of(file.read(), columns)
        # ---- your library ends here. What it raises is answered as a refusal; see `conformance/PROTOCOL.md`.


if __name__ == "__main__":
    main(YourLibrary())
