"""The picture of an update of ``_pm``: its steps, and what a kill leaves at each.

Nothing in it is drawn by hand. The reference updates one of QuestDB's partitions among the golden files in a storage that
keeps every state of the file. The places of the regions, the sizes, and what a reader finds in each state are read from these bytes.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pqassay_reference.pm.growth import grow_in
from pqassay_reference.pm.read import PmReader
from pqassay_reference.pm.storage import MemoryStorage
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm import grammar as pm

ROOT = Path(__file__).resolve().parent.parent
PICTURE = "spec/chapters/pictures/pm-update.svg"

CHAIN = ROOT / "golden_files" / "interop" / "questdb-9.4.3"
BEFORE, AFTER = CHAIN / "o3-chain-0", CHAIN / "o3-chain-1"
"""A partition of QuestDB's before and after rows arrived late."""

# ------------------------------------------------------------------------------------------------------ the update


@dataclass(frozen=True)
class State:
    """What is on the disk when a writer dies.

    Attributes:
        step: What it was doing.
        data_size: Bytes of ``data.parquet``.
        pm: The bytes of ``_pm``.
        pinned: Bytes of ``data.parquet`` that ``_txn`` names.
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
    def found(self) -> PmReader:
        """The snapshot that a reader finds who comes from ``_txn``."""
        return PmReader.from_bytes(self.pm, parquet_file_size=self.pinned)

    @property
    def steps_back(self) -> int:
        """Links of the chain from the newest snapshot to the one that is found."""
        chain = [snapshot.size for snapshot in self.newest.snapshots()]
        return chain.index(self.found.footer.size)


class KeptStates(MemoryStorage):
    """A storage that keeps what a kill would leave: after half of each write, and after the whole."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.states: list[bytes] = []

    def write(self, offset: int, data: bytes) -> None:
        """See `Storage.write`; the committed size is one word, which is never written by half."""
        if len(data) > pm.COMMITTED_SIZE.sizeof():
            super().write(offset, data[: len(data) // 2])
            self.states.append(bytes(self.data))
        super().write(offset, data)
        self.states.append(bytes(self.data))


def states() -> list[State]:
    """The states of an update in their order, the one before it first."""
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
    """A part of a file: its name, the offset by which others refer to it, and its bytes from start to end."""

    name: str
    offset: int
    start: int
    end: int


def regions(raw: bytes) -> list[Region]:
    """The parts of a whole ``_pm``, in their order. Zeros that align a block are drawn with it or with the block before."""
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
    """How a part of ``_pm`` is drawn: ``seen``, ``dead`` to the newest snapshot, or ``unseen`` as yet."""
    newest = state.newest
    if region.start >= newest.size:
        return "unseen"
    needed = {0, newest.footer.start, *newest.footer.blocks}
    return "seen" if region.offset in needed else "dead"


# ----------------------------------------------------------------------------------------------------- the drawing

WIDTH, TOP, ROW = 760, 44, 98
LEFT, RIGHT = 98, 558
"""The horizontal space of the files."""
TEXT = 572
"""Where the texts about readers begin."""

INK, LINE, PALE = "#263238", "#546e7a", "#4f636d"
FILLS = {"header": "#eceff1", "block": "#e0f2f1", "footer": "#ffe0b2", "bytes": "#eceff1"}
LOOKS = {
    "dead": {"fill": "#f5f5f5", "stroke-dasharray": "5 3"},
    "unseen": {"fill": "#ffffff", "stroke-dasharray": "2 3"},
}
SHARE = 0.3
"""Share of the width that goes by bytes; the rest is the same for each part, so that a footer has room for its name."""


class Drawing:
    """An SVG picture on a white ground, which is legible on a dark page as well."""

    def __init__(self, height: int, label: str) -> None:
        self.root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {WIDTH} {height}",
                "role": "img",
                "aria-label": label,
                "font-family": "sans-serif",
                "font-size": "12",
            },
        )
        self.rectangle(0, 0, WIDTH, height, fill="#ffffff", rx="6")

    def rectangle(self, x: float, y: float, width: float, height: float, **more: str) -> None:
        """Add a rectangle."""
        place = {"x": x, "y": y, "width": width, "height": height}
        ET.SubElement(self.root, "rect", {**{name: f"{at:g}" for name, at in place.items()}, **more})

    def text(self, x: float, y: float, words: str, **more: str) -> None:
        """Add a line of text, whose baseline is at ``y``."""
        ET.SubElement(self.root, "text", {"x": f"{x:g}", "y": f"{y:g}", "fill": INK, **more}).text = words

    def line(self, *points: tuple[float, float], **more: str) -> None:
        """Add a line through some points."""
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        ET.SubElement(self.root, "path", {"d": path, "fill": "none", "stroke": LINE, **more})

    def part(self, x: float, end: float, y: float, height: float, name: str, how: str) -> None:
        """Add a part of a file with its name."""
        kind = name.removeprefix("new ").partition(" ")[0]
        style = LOOKS.get(how, {"fill": FILLS.get(kind, FILLS["bytes"])})
        self.rectangle(x, y, round(end - x, 1), height, stroke=LINE, **style)
        ink = INK if how == "seen" else PALE
        middle = {"text-anchor": "middle", "fill": ink, "font-size": "11"}
        self.text(round((x + end) / 2, 1), y + height / 2 + 4, name, **middle)


class Ruler:
    """Where bytes of a file are drawn: each part has some width of its own, and more for its bytes.

    Args:
        places: Where its parts begin and end.
        left, right: The horizontal space of the file.
        share: Share of the width that goes by bytes.
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
    """The picture, as SVG."""
    steps = states()
    parts = regions(steps[-1].pm)
    of_pm = Ruler([0, *(part.end for part in parts)])
    of_data = Ruler([0, steps[0].data_size, steps[-1].data_size])
    height = TOP + ROW * len(steps) + 34
    drawing = Drawing(height, f"The steps of an update of {pm.FILE_NAME}. {' '.join(sentences(steps))}")
    drawing.text(LEFT, 24, "What is on the disk when the writer dies", **{"font-weight": "bold"})
    drawing.text(TEXT, 24, "What readers then see", **{"font-weight": "bold"})
    for number, state in enumerate(steps):
        y = TOP + number * ROW
        drawing.line((10, y - 6), (WIDTH - 10, y - 6), **{"stroke-opacity": "0.35"})
        title = state.step if number == 0 else f"{number}. {state.step}"
        drawing.text(10, y + 12, title, **{"font-weight": "bold"})
        draw_data(drawing, of_data, y + 22, state, steps[0].data_size)
        draw_pm(drawing, of_pm, y + 44, state, parts)
        for line, words in enumerate(readers(state, steps[0].data_size)):
            weight = {"font-weight": "bold"} if line == 1 else {}
            drawing.text(TEXT, y + 35 + 18 * line, words, **weight)
    draw_key(drawing, height - 20)
    ET.indent(drawing.root)
    return ET.tostring(drawing.root, encoding="unicode") + "\n"


def draw_data(drawing: Drawing, ruler: Ruler, y: float, state: State, first: int) -> None:
    """Draw ``data.parquet``: what it was, and what was appended."""
    drawing.text(LEFT - 8, y + 12, pm.DATA_NAME, **{"text-anchor": "end"})
    drawing.part(LEFT, ruler.x(first), y, 16, f"{first} bytes", "seen")
    if state.data_size > first:
        how = "seen" if state.found.parquet_file_size == state.data_size else "unseen"
        name = f"{state.data_size - first} more"
        drawing.part(ruler.x(first), ruler.x(state.data_size), y, 16, name, how)


def draw_pm(drawing: Drawing, ruler: Ruler, y: float, state: State, parts: Sequence[Region]) -> None:
    """Draw ``_pm``, and where the committed size ends."""
    drawing.text(LEFT - 8, y + 17, pm.FILE_NAME, **{"text-anchor": "end"})
    for part in parts:
        end = min(part.end, len(state.pm))
        if part.start < end:
            name = part.name if end == part.end else "…"
            drawing.part(ruler.x(part.start), ruler.x(end), y, 26, name, look(part, state))
    size = state.newest.size
    x = ruler.x(size)
    drawing.line((x, y - 2), (x, y + 34), **{"stroke": "#bf360c", "stroke-width": "2"})
    words = f"committed: {size} bytes"
    drawing.text(x - 5, y + 39, words, **{"text-anchor": "end", "fill": "#bf360c", "font-size": "11"})


def draw_key(drawing: Drawing, y: float) -> None:
    """Draw what the borders mean."""
    x: float = LEFT
    for how, words in (
        ("seen", "read by the newest snapshot"),
        ("dead", "by older ones alone"),
        ("unseen", "not visible yet"),
    ):
        drawing.part(x, x + 26, y - 4, 14, "", how)
        drawing.text(x + 33, y + 8, words)
        x += 54 + 6.1 * len(words)


def readers(state: State, first: int) -> tuple[str, str, str]:
    """What readers see if the writer dies in a state, in three lines; ``first`` is the size of ``data.parquet`` before."""
    which = "old" if state.found.parquet_file_size == first else "new"
    where = "one footer before the newest" if state.steps_back else "the newest footer"
    return f"_txn names {state.pinned} bytes:", f"the {which} snapshot,", where


def sentences(steps: Sequence[State]) -> Iterator[str]:
    """Yield the picture in words, for those who do not see it."""
    for state in steps:
        names, which, where = readers(state, steps[0].data_size)
        yield (
            f"{state.step}: {state.newest.size} of {len(state.pm)} bytes of {pm.FILE_NAME} are committed, "
            f"{names} readers see {which} {where}."
        )


def contents() -> dict[str, str]:
    """The text of the file."""
    return {PICTURE: picture()}
