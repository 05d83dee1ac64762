"""The files of `spark_scale.py`: a lake whose sizes are spread like those of real ones, and what reading one would ask of a store."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _measure import cached

from pqassay.judge.file_check import Selection, check_source
from pqassay.stores.remote_source import RemoteSource, Tails
from pqassay.under_test.file import Options
from pqassay_reference.rewrite.embed import embed_file

if TYPE_CHECKING:
    from pqassay_spec.rules.catalogue import Tier

COLUMN = "nation"
"""The indexed column."""

NATIONS = 20
"""Number of its values."""


def make_lake(folder: Path, files: int, *, indexed: bool) -> None:
    """Write files with the rows of one large table, 20 to some ten thousand in each."""
    folder.mkdir()
    random = np.random.default_rng(4)
    counts = np.clip(random.lognormal(6.5, 1.3, files), 20, 60_000).astype(int)
    most = int(counts.max())
    names = pa.array([f"nation {number}" for number in range(NATIONS)])
    table = pa.table(
        {
            "id": pa.array(np.arange(most)),
            COLUMN: names.take(pa.array(random.integers(0, NATIONS, most), pa.int64())),
            "customer": [f"customer-{number:x}" for number in random.integers(0, 1 << 48, most)],
            "amount": pa.array(random.random(most)),
        }
    )
    for number, rows in enumerate(counts.tolist()):
        path = folder / f"part-{number:05}.parquet"
        pq.write_table(table.slice(most - rows, rows), path, write_page_index=True)
        if indexed:
            embed_file(path, COLUMN)


def lake(files: int, *, indexed: bool = True) -> list[Path]:
    """The files of a lake of ``count``, made at the first call."""
    name = f"sized-lake-{files}-{'indexed' if indexed else 'plain'}"
    return sorted(cached(name, lambda path: make_lake(path, files, indexed=indexed)).glob("*.parquet"))


class CountingFile:
    """An object of a store, as `RemoteSource` reads it, that counts requests and bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.requests = self.bytes = 0

    def size(self) -> int:
        """Opening asks for the size: a request."""
        self.requests += 1
        return len(self.data)

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Read a range: a request."""
        self.requests += 1
        part = self.data[offset : offset + nbytes]
        self.bytes += len(part)
        return part

    def close(self) -> None:
        """Nothing to give back."""


def make_large_file(path: Path, rows: int, *, indexed: bool) -> None:
    """Write one file of ``rows`` rows, in row groups of a million."""
    random = np.random.default_rng(rows)
    names = pa.array([f"nation {number}" for number in range(NATIONS)])
    values = names.take(pa.array(random.integers(0, NATIONS, rows), pa.int64()))
    amounts = {f"amount_{number}": pa.array(random.random(rows)) for number in range(4)}
    table = pa.table({"id": pa.array(np.arange(rows)), COLUMN: values, **amounts})
    pq.write_table(table, path, write_page_index=True, row_group_size=1_000_000)
    if indexed:
        embed_file(path, COLUMN)


def requests(tier: Tier, rows: int) -> tuple[int, int, int]:
    """Size of a file of ``rows`` rows; requests and bytes that judging it takes, once another one of its table was judged."""
    tails = Tails()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "part.parquet")
        make_large_file(path, rows, indexed=True)
        data = path.read_bytes()
    _checked(data, tails, tier)
    file = _checked(data, tails, tier)
    return len(data), file.requests, file.bytes


def _checked(data: bytes, tails: Tails, tier: Tier) -> CountingFile:
    """The file, which counts what judging it read."""
    file = CountingFile(data)
    with contextlib.closing(RemoteSource(file, "store", tails)) as source:
        report, _ = check_source(
            source, Options(tier), Selection(), "must", kind="parquet", beside=lambda _: None
        )
    if report.outcome != "conformant":
        raise SystemExit(f"the file is not what it should be: {report}")
    return file


def fetched(tier: Tier) -> dict[str, float]:
    """Requests and bytes of a file of one row group, and what the bytes of larger files add."""
    small, large = requests(tier, 200_000), requests(tier, 1_000_000)
    share = max(0.0, (large[2] - small[2]) / (large[0] - small[0]))
    return {"reads": large[1], "read_bytes": max(0.0, small[2] - share * small[0]), "read_share": share}
