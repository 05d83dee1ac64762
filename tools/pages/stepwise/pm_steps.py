"""The stepper of ``_pm`` snapshots: an update of QuestDB's files, the state after a crash at each step, and a chain of footers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup
from pm_update_picture import BEFORE, LOOKS, Region, Ruler, State, look, regions, states

from pages.markup import Link, case_link
from pages.pictures.drawing import SMALL, Picture, fitted
from pages.pictures.golden_bytes import raw
from pqassay_reference.pm.read import PmReader
from pqassay_spec.grammar.hexdump import ROW as DUMP_ROW
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.trace import traced

CHAIN = f"interop/{BEFORE.parent.name}/{BEFORE.name.removesuffix('0')}"
"""The prefix of the names of the partition's versions."""

LAST = 5
"""The number of the last version."""

TORN = "pm/orphan-tail"
"""The golden case with a file that a crash left."""

COMMITTED = f"header.{pm.FixedHeader.grammar.subcons[0].name}"
"""The path of the committed size."""


def context(link: Link) -> dict[str, Any]:
    """The content of the steps: the states of an update, and the chain of the partition's last version."""
    all_states = states()
    content = raw(f"{CHAIN}{LAST}", pm.FILE_NAME)
    chain = PmReader.from_bytes(content).snapshots()
    oldest = PmReader.from_bytes(content, parquet_file_size=chain[-1].fields.parquet_file_size)
    first, second, last = (case_link(f"{CHAIN}{number}", link) for number in (0, 1, LAST))
    return {
        "source": (
            f"Drawn from the bytes of the golden files {first}, {second} and {last}, partitions that QuestDB wrote. The bytes between the first "
            "two are those that the reference writes, which come out the same."
        ),
        "states": all_states,
        "parts": regions(all_states[-1].pm),
        "chain": chain,
        "last": LAST,
        "steps_back": [snapshot.size for snapshot in chain].index(oldest.footer.size),
        "torn": Markup(case_link(TORN, link)),
        "txn": TXN,
        "pm": pm,
        "read": _read,
        "drawn": drawn,
        "chain_drawn": chain_drawn,
    }


# -------------------------------------------------------------------------------------------------------- the update


def _read(state: State, before: State) -> Iterator[Sequence[str | Markup]]:
    """Yield the bytes that a reader uses, in its order, with their meaning."""
    leaves = {leaf.path: leaf for leaf in traced(state.pm)}
    size = state.newest.size
    yield _row(leaves[COMMITTED], state.pm, is_new=state.newest.size != before.newest.size)
    for snapshot in state.newest.snapshots()[: state.steps_back + 1]:
        path = snapshot.path
        wanted = [f"{path}.footer_length", *(f"{path}.footer.{name}" for name in _SIZE_FIELDS)]
        is_found = snapshot.fields.parquet_file_size == state.pinned
        if not is_found:
            wanted.append(f"{path}.footer.{_PREVIOUS}")
        for name in wanted:
            yield _row(leaves[name], state.pm, is_new=snapshot.size > before.newest.size)
        told = f"{snapshot.fields.parquet_file_size} bytes of {pm.DATA_NAME}"
        if is_found:
            yield (f"This footer describes {told}: the snapshot that is wanted.",)
        else:
            yield (f"This footer describes {told}: not the snapshot that is wanted, so one footer back.",)
    if len(state.pm) > size:
        tail = state.pm[size : size + DUMP_ROW]
        more = " …" if len(state.pm) > size + DUMP_ROW else ""
        yield (
            str(size),
            Markup("<code>{}</code>").format(tail.hex(" ") + more),
            "(behind the committed size)",
            "never read",
        )


_SIZE_FIELDS = [field.name or "" for field in pm.FooterFields.grammar.subcons[:2]]
"""The fields that determine the size of the Parquet file."""

_PREVIOUS = "prev_parquet_meta_file_size"


def _row(leaf: Leaf, content: bytes, *, is_new: bool) -> Sequence[str | Markup]:
    stored = Markup("<code>{}</code>").format(content[leaf.offset : leaf.offset + leaf.length].hex(" "))
    told = Markup("<strong>{} (new)</strong>").format(leaf.value) if is_new else str(leaf.value)
    return str(leaf.offset), stored, leaf.path, told


# ------------------------------------------------------------------------------------------------------- the pictures

TXN = "_txn"

LEFT, WIDTH, BAR = 88, 760, 34
"""The left edge of files, the width of the picture, and the height of a file."""

SHARE = 0.35
"""The share of the width that is proportional to bytes; the rest is equal for all parts, so that a footer has room for its name."""


def _scale(places: Sequence[int]) -> Ruler:
    return Ruler(places, LEFT, WIDTH - 6, SHARE)


def drawn(state: State, all_states: Sequence[State], parts: Sequence[Region]) -> Markup:
    """Both files in one state, with the pointers to their ends."""
    first, last = all_states[0].data_size, all_states[-1].data_size
    committed = state.newest.size
    label = f"{pm.DATA_NAME} has {state.data_size} bytes, {TXN} names {state.pinned}; {pm.FILE_NAME} has {len(state.pm)} bytes, {committed} are committed"
    picture = Picture(WIDTH, label)
    data, pm_scale = _scale([0, first, last]), _scale([0, *(part.end for part in parts)])
    picture.text(LEFT - 8, 34 + BAR / 2 + 4, pm.DATA_NAME, "end label")
    _pointer(picture, data.x(state.pinned), 34, f"{TXN}: {state.pinned} bytes", up=True)
    hint = f"bytes 0 to {first - 1} of {pm.DATA_NAME}"
    _part(picture, data.x(0), data.x(first), 34, "seen", f"{first} bytes", hint)
    if state.data_size > first:
        how = "seen" if state.pinned_snapshot.parquet_file_size == state.data_size else "unseen"
        name = f"{state.data_size - first} more"
        _part(picture, data.x(first), data.x(state.data_size), 34, how, name, "appended by the update")
    y = 122
    picture.text(LEFT - 8, y + BAR / 2 + 4, pm.FILE_NAME, "end label")
    for part in parts:
        end = min(part.end, len(state.pm))
        if part.start < end:
            name = part.name if end == part.end else f"{part.name}, torn"
            how = look(part, state)
            hint = f"{name}, bytes {part.start} to {end - 1}: {LOOKS[how]}"
            _part(picture, pm_scale.x(part.start), pm_scale.x(end), y, how, name, hint)
    _pointer(picture, pm_scale.x(committed), y, f"committed: {committed} bytes", up=False)
    _links(picture, state, pm_scale, y)
    _key(picture, y + BAR + 32)
    return Markup(picture.html("chain"))


def _part(picture: Picture, x: float, end: float, y: float, how: str, name: str, hint: str) -> None:
    picture.box(x, y, end - x, BAR, how, hint)
    words = fitted(name, end - x - 4, 2, SMALL) if end - x > 20 else []
    for number, each in enumerate(words):
        middle = y + BAR / 2 + 4 + 13 * number - 6.5 * (len(words) - 1)
        picture.text(x + (end - x) / 2, middle, each, "part middle")


def _pointer(picture: Picture, x: float, y: float, words: str, *, up: bool) -> None:
    """Draw a line at the end of the valid bytes, with its name above or below."""
    top, bottom = (y - 10, y + BAR) if up else (y, y + BAR + 14)
    picture.path([(x, top), (x, bottom)], "edge")
    # Right of the line if there is room, otherwise left of it.
    kind, at = ("strong end", x - 4) if x > WIDTH / 2 else ("strong", x + 4)
    picture.text(at, y - 10 if up else y + BAR + 15, words, kind)


def _links(picture: Picture, state: State, scale: Ruler, y: float) -> None:
    """Draw lines from each committed footer to the previous one."""
    snapshots = state.newest.snapshots()
    for later, earlier in pairwise(snapshots):
        start, end = scale.x(later.start) + 14, scale.x(earlier.start) + 14
        depth = y - 18
        picture.path([(start, y), (start, depth), (end, depth), (end, y - 3)], "arrow")
        picture.path([(end - 4, y - 9), (end, y - 2), (end + 4, y - 9)], "arrow")
        picture.text((start + end) / 2, depth - 5, "the footer before", "pale middle")


def _key(picture: Picture, y: float) -> None:
    x: float = LEFT
    for how, words in LOOKS.items():
        picture.box(x, y, 24, 13, how)
        picture.text(x + 30, y + 11, words, "pale")
        x += 50 + SMALL * len(words)


def chain_drawn() -> Markup:
    """The file after all updates, with a line from each footer to the previous one."""
    content = raw(f"{CHAIN}{LAST}", pm.FILE_NAME)
    parts = regions(content)
    reader = PmReader.from_bytes(content)
    state = State("", reader.parquet_file_size, content, reader.parquet_file_size)
    picture = Picture(
        WIDTH, f"{pm.FILE_NAME} with {len(reader.snapshots())} footers, each with a line to the one before"
    )
    places = [0, *(part.end for part in parts)]
    scale, y = _scale(places), 8
    picture.text(LEFT - 8, y + BAR / 2 + 4, pm.FILE_NAME, "end label")
    for part in parts:
        how = look(part, state)
        name = part.name.replace("new ", "")
        short = name.rpartition(" ")[2] if part.name.startswith("footer") else ""
        hint = f"{name}, bytes {part.start} to {part.end - 1}: {LOOKS[how]}"
        how = f"{how} footer" if short else how
        _part(picture, scale.x(part.start), scale.x(part.end), y, how, short, hint)
    for number, (later, earlier) in enumerate(pairwise(reader.snapshots())):
        start, end = ((scale.x(one.start) + scale.x(one.size)) / 2 for one in (later, earlier))
        depth = y + BAR + 14 + 10 * (number % 2)
        picture.path(
            [(start - 3, y + BAR), (start - 3, depth), (end + 3, depth), (end + 3, y + BAR + 4)], "arrow"
        )
        picture.path([(end - 1, y + BAR + 9), (end + 3, y + BAR + 3), (end + 7, y + BAR + 9)], "arrow")
    _key(picture, y + BAR + 36)
    told = "Footers have their numbers, from the oldest on; what is between them are blocks of row groups."
    return Markup(picture.html("chain", told))
