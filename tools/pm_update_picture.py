"""The picture of an update of ``_pm``: its steps, and the state after a kill at each step.

Nothing in it is drawn by hand. The reference updates one of QuestDB's partitions among the golden files, in a storage that keeps every
state of the file. The places of the regions, the sizes, and the snapshots for readers come from these bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import jinja2

from pqassay_reference.pm.growth import grow_in
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import MemoryStorage
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm import grammar as pm

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = Path(__file__).resolve().parent / "pages/templates"
PICTURE = "spec/chapters/pictures/pm-update.svg"

CHAIN = ROOT / "golden_files" / "interop" / "questdb-9.4.3"
BEFORE, AFTER = CHAIN / "o3-chain-0", CHAIN / "o3-chain-1"
"""A partition of QuestDB before and after the arrival of late rows."""

# ------------------------------------------------------------------------------------------------------ the update


@dataclass(frozen=True)
class State:
    """The files on disk when a writer is killed.

    Attributes:
        step: The current step of the writer.
        data_size: The size of ``data.parquet`` in bytes.
        pm: The bytes of ``_pm``.
        pinned: The size of ``data.parquet`` in ``_txn``.
    """

    step: str
    data_size: int
    pm: bytes
    pinned: int

    @property
    def newest(self) -> PmReader:
        """The newest snapshot."""
        return PmReader.from_bytes(self.pm)

    @property
    def pinned_snapshot(self) -> PmReader:
        """The snapshot for a reader that starts from ``_txn``."""
        return PmReader.from_bytes(self.pm, parquet_file_size=self.pinned)

    @property
    def steps_back(self) -> int:
        """The number of chain links from the newest snapshot to this one."""
        chain = [snapshot.size for snapshot in self.newest.snapshots()]
        return chain.index(self.pinned_snapshot.footer.size)


class KeptStates(MemoryStorage):
    """A storage that keeps the states after a kill: after half of each write, and after each write."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.states: list[bytes] = []

    def write(self, offset: int, data: bytes) -> None:
        """See `Storage.write`; the committed size is one word, which is written atomically."""
        if len(data) > pm.COMMITTED_SIZE.sizeof():
            super().write(offset, data[: len(data) // 2])
            self.states.append(bytes(self.data))
        super().write(offset, data)
        self.states.append(bytes(self.data))


def states() -> list[State]:
    """The states of an update in order, beginning with the state before it."""
    old, new = ((folder / pm.DATA_NAME).read_bytes() for folder in (BEFORE, AFTER))
    before = (BEFORE / pm.FILE_NAME).read_bytes()
    storage = KeptStates(before)
    grow_in(BytesSource(new), storage)
    half, appended, committed = storage.states
    sizes = [PmReader.from_bytes(each).size for each in (before, committed)]
    first, last = len(old), len(new)
    return [
        State("Before the update", first, before, first),
        State(f"Appending to {pm.DATA_NAME}: row groups and a footer", (first + last) // 2, before, first),
        State(f"Appending to {pm.FILE_NAME}: blocks and a footer", last, half, first),
        State("Everything that was appended has reached the disk", last, appended, first),
        State(f"The committed size is written, {sizes[1]} over {sizes[0]}", last, committed, first),
        State(f"_txn is written: it names {last} instead of {first}", last, committed, last),
    ]


# ----------------------------------------------------------------------------------------------------- the regions


@dataclass(frozen=True)
class Region:
    """A part of a file: its name, the offset that others use for it, its start and its end."""

    name: str
    offset: int
    start: int
    end: int


def regions(raw: bytes) -> list[Region]:
    """The parts of a whole ``_pm``, in order. Padding belongs to its block or to the previous block."""
    reader = PmReader.from_bytes(raw)
    snapshots = reader.snapshots()[::-1]
    names, ends = {0: "header"}, {0: reader.header.end}
    for number, snapshot in enumerate(snapshots, 1):
        for row_group, offset in enumerate(snapshot.blocks):
            names.setdefault(offset, f"{'new ' * (number > 1)}block {row_group}")
        names[snapshot.start], ends[snapshot.start] = f"footer {number}", snapshot.size
    parts: list[Region] = []
    for offset, following in pairwise([*sorted(names), len(raw)]):
        start = parts[-1].end if parts else 0
        parts.append(Region(names[offset], offset, start, ends.get(offset, following)))
    return parts


def look(region: Region, state: State) -> str:
    """The look of a part of ``_pm``: ``seen``, ``dead`` for the newest snapshot, or ``unseen`` as yet."""
    newest = state.newest
    if region.start >= newest.size:
        return "unseen"
    needed = {0, newest.footer.start, *newest.footer.blocks}
    return "seen" if region.offset in needed else "dead"


# ----------------------------------------------------------------------------------------------------- the drawing

LEFT, RIGHT = 98, 558
"""The left and the right edge of the files."""

SHARE = 0.3
"""The share of the width that is proportional to bytes; the rest is equal for all parts, so that a footer has room for its name."""

LOOKS = {
    "seen": "read by the newest snapshot",
    "dead": "by older ones alone",
    "unseen": "not visible yet",
}
"""The looks of parts, with their meanings."""


class Ruler:
    """The horizontal scale of a file: each part has a fixed width, and more for its bytes.

    Args:
        places: The starts and ends of its parts.
        left, right: The left and the right edge of the file.
        share: The share of the width that is proportional to bytes.
    """

    def __init__(
        self, places: Sequence[int], left: float = LEFT, right: float = RIGHT, share: float = SHARE
    ) -> None:
        self._places, self._left, self._width, self._share = places, left, right - left, share

    def x(self, place: int) -> float:
        """The horizontal place of an offset."""
        own, size = (1 - self._share) / (len(self._places) - 1), self._places[-1]
        share = 0.0
        for start, end in pairwise(self._places):
            within = min(max(place - start, 0), end - start) / (end - start)
            share += within * (own + self._share * (end - start) / size)
        return round(self._left + share * self._width, 1)


def picture() -> str:
    """The picture as SVG on a white background, which is also readable on a dark page."""
    steps = states()
    parts, first, last = regions(steps[-1].pm), steps[0].data_size, steps[-1].data_size
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["g"] = "{:g}".format
    return environment.get_template("pm-update.svg").render(
        steps=steps,
        regions=parts,
        of_pm=Ruler([0, *(part.end for part in parts)]),
        of_data=Ruler([0, first, last]),
        first=first,
        left=LEFT,
        height=78 + 98 * len(steps),
        label=f"The steps of an update of {pm.FILE_NAME}. {' '.join(sentences(steps))}",
        look=look,
        looks=LOOKS,
        readers=readers,
        pm=pm,
    )


def readers(state: State, first: int) -> tuple[str, str, str]:
    """The view of readers if the writer dies in a state, in three lines; ``first`` is the initial size of ``data.parquet``."""
    which = "old" if state.pinned_snapshot.parquet_file_size == first else "new"
    where = "one footer before the newest" if state.steps_back else "the newest footer"
    return f"_txn names {state.pinned} bytes:", f"the {which} snapshot,", where


def sentences(steps: Sequence[State]) -> Iterator[str]:
    """Yield a description of the picture for screen readers."""
    for state in steps:
        names, which, where = readers(state, steps[0].data_size)
        yield (
            f"{state.step}: {state.newest.size} of {len(state.pm)} bytes of {pm.FILE_NAME} are committed, "
            f"{names} readers see {which} {where}."
        )


def contents() -> dict[str, str]:
    """The text of the file."""
    return {PICTURE: picture()}
