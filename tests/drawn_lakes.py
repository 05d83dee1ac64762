"""Lakes drawn by hypothesis: files whose indexes are good, missing or bad in one way, and conditions on what they hold."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from asked_engines import SCHEMA, Tree
from idx1_files import parquet
from indexed_lakes import entry, published, with_record, write_index_table

POOL = ("", "a", "A", "b", "ab", "a\nb", "a\r", "é日", "it's", "\\", "😀\t")
AMOUNTS = (0.0, float("nan"), -1.5, None, -0.0, float("inf"))
LIE = ("nowhere",)
"""What a bad index says that its file holds: who believes it loses rows."""

MODES = {
    "companion": ("good", "good", "good", "missing", "row count", "crc", "lossy", "no companion"),
    "published": ("vouched", "vouched", "missing", "row count"),
    "table": ("entry", "entry", "missing", "stale size", "stale time", "older run"),
}
"""How indexes are found, and how good those of the files are."""

WAYS: dict[str, dict[str, Any]] = {
    "companion": {},
    "published": {"trust": "published", "column": "nation"},
    "table": {"table": "auto"},
}
"""What a reader is told to find them."""


@dataclass(frozen=True)
class File:
    """A file to be written: its values, and how good its index is."""

    values: tuple[str | None, ...]
    index: str

    @property
    def texts(self) -> list[str]:
        """The values but null, each once."""
        return sorted({value for value in self.values if value is not None})

    @property
    def fits(self) -> bool:
        """Whether an index with a companion record can hold the values."""
        return self.texts != [""] and not any("\n" in value for value in self.texts)

    def content(self, data: pa.Table) -> bytes:
        """The bytes of the file, with the index that it is to have."""
        match self.index:
            case "good" if not any("\n" in value for value in self.texts):
                return with_record(data, self.texts)
            case "vouched":
                return published(data, self.texts)
            case "row count":
                return with_record(data, LIE, row_count=len(self.values) + 1)
            case "crc":
                return with_record(data, LIE, crc32=7)
            case "lossy":
                return with_record(data, LIE, lossless=False)
            case "no companion":
                return published(data, LIE)
            case _:
                return parquet(data)


@dataclass(frozen=True)
class LakeFiles:
    """Files, how their indexes are found, and whether they are in the folders of partitions."""

    mode: str
    files: tuple[File, ...]
    is_partitioned: bool = False

    def name(self, number: int) -> str:
        """The path of a file within the lake."""
        return f"p={number % 2}/{number}.parquet" if self.is_partitioned else f"{number}.parquet"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows, in the order of the files."""
        return [row for number in range(len(self.files)) for row in self.rows_of(number)]

    def rows_of(self, number: int) -> list[dict[str, Any]]:
        """The rows of a file."""
        return [
            {"id": number * 10 + row, "nation": value, "amount": AMOUNTS[(number + row) % len(AMOUNTS)]}
            for row, value in enumerate(self.files[number].values)
        ]

    @contextmanager
    def written(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """The folder, and what a reader is told to find the indexes."""
        with tempfile.TemporaryDirectory() as home:
            root = Path(home, "a lake%20")
            for number, file in enumerate(self.files):
                path = root / self.name(number)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.content(pa.Table.from_pylist(self.rows_of(number), schema=SCHEMA)))
            if self.mode == "table":
                self._write_entries(root)
            yield root, WAYS[self.mode]

    def _write_entries(self, root: Path) -> None:
        first, second = [], []
        for number, file in enumerate(self.files):
            name = self.name(number)
            if file.index == "entry":
                first.append(entry(root, name, "nation", file.values))
            elif file.index == "stale size":
                first.append(entry(root, name, "nation", LIE, size=1))
            elif file.index == "stale time":
                first.append(entry(root, name, "nation", LIE, modified=1))
            elif file.index == "older run":
                first.append(entry(root, name, "nation", LIE))
                second.append(entry(root, name, "nation", file.values))
        for run, entries in enumerate((first, second), 1):
            write_index_table(root.with_name(f"{root.name}.index"), *entries, run=run)


@st.composite
def lakes(draw: st.DrawFn, partitions: st.SearchStrategy[bool]) -> LakeFiles:
    """Any lake."""
    mode = draw(st.sampled_from(sorted(MODES)))
    values = st.lists(st.one_of(st.none(), st.sampled_from(POOL)), max_size=4).map(tuple)
    one = st.builds(File, values, st.sampled_from(MODES[mode]))
    return LakeFiles(mode, tuple(draw(st.lists(one, min_size=2, max_size=5))), draw(partitions))


TEXT = st.sampled_from([*POOL, "nowhere", "z"])


def leaves(text: st.SearchStrategy[str | None], least: int) -> st.SearchStrategy[Tree]:
    """Any condition on one column; a list that is compared with has at least this number of values."""
    return st.one_of(
        st.tuples(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.just("nation"), text),
        st.tuples(
            st.sampled_from(["in", "not in"]), st.just("nation"), st.lists(text, min_size=least, max_size=9)
        ),
        st.tuples(st.sampled_from(["is null", "is not null"]), st.just("nation")),
        st.tuples(st.sampled_from(["=", "!=", "<", ">"]), st.just("id"), st.integers(0, 45)),
    ).map(list)


def trees(leaf: st.SearchStrategy[Tree], most: int) -> st.SearchStrategy[Tree]:
    """Any condition of at most this number of leaves."""
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            inner.map(lambda part: ["not", part]),
            st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
        ),
        max_leaves=most,
    )
