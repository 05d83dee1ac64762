"""The stepper of the snapshots of ``_pm``: an update of QuestDB's files, what a crash leaves at each step, and a chain of footers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from markupsafe import Markup
from pm_update_picture import BEFORE, Region, Ruler, State, look, regions, states

from pages.markup import Link, case_link
from pages.pictures.drawing import SMALL, Picture, fitted
from pages.pictures.golden_bytes import raw
from pages.stepwise.steps import Step, Stepper, code, counted, grid, linked
from pqassay_reference.pm.read import PmReader
from pqassay_spec.grammar.hexdump import ROW as DUMP_ROW
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.trace import traced

CHAIN = f"interop/{BEFORE.parent.name}/{BEFORE.name.removesuffix('0')}"
"""What the names of the partition's versions begin with."""

LAST = 5
"""The last of them."""

TORN = "pm/orphan-tail"
"""A file that a crash left behind."""

COMMITTED = f"header.{pm.FixedHeader.grammar.subcons[0].name}"
"""The path of the committed size."""

HEADS = ("Offset", "Bytes", "Field", "Value")


def stepper(link: Link) -> Stepper:
    """The steps."""
    found = states()
    parts = regions(found[-1].pm)
    steps = [_step(number, state, found, parts, link) for number, state in enumerate(found)]
    steps += [_chain(link), _oldest(link)]
    first, second, last = (case_link(f"{CHAIN}{number}", link) for number in (0, 1, LAST))
    source = (
        f"Drawn from the bytes of the golden files {first}, {second} and {last}, partitions that QuestDB wrote. The bytes between the first "
        "two are those that the reference writes, which come out the same."
    )
    return Stepper(
        "pm-chain-steps", f"An update of {pm.FILE_NAME}, a crash at each step, and a chain", source, steps
    )


# -------------------------------------------------------------------------------------------------------- the update


def _step(number: int, state: State, found: Sequence[State], parts: Sequence[Region], link: Link) -> Step:
    before = found[max(number - 1, 0)]
    text = Markup(" ").join(_sentences(state, before, first=found[0].data_size, link=link))
    table = grid(f"What a reader reads of {pm.FILE_NAME}", HEADS, _read(state, before))
    return Step(state.step, text, [drawn(state, found, parts), table])


def _sentences(state: State, before: State, *, first: int, link: Link) -> Iterator[str | Markup]:
    """Yield what is new, and what a reader finds if the writer dies here."""
    committed, written = state.newest.size, len(state.pm)
    if written > committed:
        tail = counted(written - committed, "byte")
        if written > len(before.pm) and before.newest.size == len(before.pm):
            yield Markup("If the writer dies now, the file has a torn tail of {}, as {} has one.").format(
                tail, Markup(case_link(TORN, link))
            )
        else:
            yield f"All {tail} are there, and readers still ignore them."
    elif committed != before.newest.size:
        yield "Eight bytes, which reach the disk together, make the new footer the newest one."
    which = "old" if state.found.parquet_file_size == first else "new"
    back = f", {counted(state.steps_back, 'footer')} back in the chain" if state.steps_back else ""
    yield f"A reader comes with the size that {TXN} names, {state.pinned} bytes, and finds the {which} snapshot{back}."


def _read(state: State, before: State) -> Iterator[Sequence[str | Markup]]:
    """Yield the bytes that a reader looks at, in its order, and what follows from them."""
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
        yield (str(size), code(tail.hex(" ") + more), "(behind the committed size)", "never read")


_SIZE_FIELDS = [field.name or "" for field in pm.FooterFields.grammar.subcons[:2]]
"""The fields from which the size of the Parquet file follows."""

_PREVIOUS = "prev_parquet_meta_file_size"


def _row(leaf: Leaf, content: bytes, *, is_new: bool) -> Sequence[str | Markup]:
    stored = code(content[leaf.offset : leaf.offset + leaf.length].hex(" "))
    told = Markup("<strong>{} (new)</strong>").format(leaf.value) if is_new else str(leaf.value)
    return str(leaf.offset), stored, leaf.path, told


# --------------------------------------------------------------------------------------------------------- the chain


def _chain(link: Link) -> Step:
    reader = PmReader.from_bytes(raw(f"{CHAIN}{LAST}", pm.FILE_NAME))
    rows = [
        (
            str(snapshot.size),
            str(snapshot.start),
            str(snapshot.fields.parquet_file_size),
            str(snapshot.fields.unused_bytes),
            str(snapshot.fields.prev_parquet_meta_file_size)
            if snapshot.fields.prev_parquet_meta_file_size
            else "0: the first",
        )
        for snapshot in reader.snapshots()
    ]
    text = Markup(
        "Rows came late {} more times. Each update appended a footer that names the one before, so that the file has {} snapshots, newest first. See {}."
    ).format(LAST - 1, len(rows), linked(link, "spec/pm.md", "snapshots", "Snapshots"))
    heads = (
        "Committed size",
        "Footer at",
        f"Bytes of {pm.DATA_NAME}",
        "Dead bytes in it",
        "Committed size before",
    )
    return Step("Further updates make a chain", text, [chain_drawn(), grid("The chain", heads, rows)])


def _oldest(link: Link) -> Step:
    content = raw(f"{CHAIN}{LAST}", pm.FILE_NAME)
    reader = PmReader.from_bytes(content)
    chain = [snapshot.fields.parquet_file_size for snapshot in reader.snapshots()]
    found = PmReader.from_bytes(content, parquet_file_size=chain[-1])
    steps = [snapshot.size for snapshot in reader.snapshots()].index(found.footer.size)
    text = Markup(
        "A reader that began before all of it came with {} bytes. It goes {} footers back and finds the blocks of then, untouched. A {} would drop them."
    ).format(chain[-1], steps, linked(link, "spec/pm.md", "what-a-kill-leaves", "compaction"))
    rows = [
        (str(number), str(size), "has found it" if number == steps else "goes on")
        for number, size in enumerate(chain)
        if number <= steps
    ]
    heads = ("Footers back", f"It describes the length of {pm.DATA_NAME} in bytes", "The reader")
    return Step("A reader of long ago", text, [grid("The way of the reader", heads, rows)])


# ------------------------------------------------------------------------------------------------------- the pictures

TXN = "_txn"

LEFT, WIDTH, BAR = 88, 760, 34
"""Where files begin, width of the picture, and height of a file."""

SHARE = 0.35
"""Share of the width that goes by bytes; the rest is the same for each part, so that a footer has room for its name."""


def _scale(places: Sequence[int]) -> Ruler:
    return Ruler(places, LEFT, WIDTH - 6, SHARE)


def drawn(state: State, found: Sequence[State], parts: Sequence[Region]) -> str:
    """Both files and what leads to their ends, in one state."""
    first, last = found[0].data_size, found[-1].data_size
    committed = state.newest.size
    label = f"{pm.DATA_NAME} has {state.data_size} bytes, {TXN} names {state.pinned}; {pm.FILE_NAME} has {len(state.pm)} bytes, {committed} are committed"
    picture = Picture(WIDTH, label)
    data, own = _scale([0, first, last]), _scale([0, *(part.end for part in parts)])
    picture.text(LEFT - 8, 34 + BAR / 2 + 4, pm.DATA_NAME, "end label")
    _pointer(picture, data.x(state.pinned), 34, f"{TXN}: {state.pinned} bytes", up=True)
    _part(picture, data, 0, first, 34, "seen", f"{first} bytes", f"bytes 0 to {first - 1} of {pm.DATA_NAME}")
    if state.data_size > first:
        how = "seen" if state.found.parquet_file_size == state.data_size else "unseen"
        _part(
            picture,
            data,
            first,
            state.data_size,
            34,
            how,
            f"{state.data_size - first} more",
            "appended by the update",
        )
    y = 122
    picture.text(LEFT - 8, y + BAR / 2 + 4, pm.FILE_NAME, "end label")
    for part in parts:
        end = min(part.end, len(state.pm))
        if part.start < end:
            name = part.name if end == part.end else f"{part.name}, torn"
            how = look(part, state)
            _part(
                picture,
                own,
                part.start,
                end,
                y,
                how,
                name,
                f"{name}, bytes {part.start} to {end - 1}: {LOOKS[how]}",
            )
    _pointer(picture, own.x(committed), y, f"committed: {committed} bytes", up=False)
    _links(picture, state, own, y)
    _key(picture, y + BAR + 32)
    return picture.html("chain")


LOOKS: Mapping[str, str] = {
    "seen": "read by the newest snapshot",
    "dead": "by older ones alone",
    "unseen": "not visible yet",
}
"""How parts are drawn, and what it means."""


def _part(
    picture: Picture, scale: Ruler, start: int, end: int, y: float, how: str, name: str, hint: str
) -> None:
    x, width = scale.x(start), scale.x(end) - scale.x(start)
    picture.box(x, y, width, BAR, how, hint)
    words = fitted(name, width - 4, 2, SMALL) if width > 20 else []
    for number, each in enumerate(words):
        kind = "part middle"
        picture.text(x + width / 2, y + BAR / 2 + 4 + 13 * number - 6.5 * (len(words) - 1), each, kind)


def _pointer(picture: Picture, x: float, y: float, words: str, *, up: bool) -> None:
    """A line at the end of what counts, with its name above or below."""
    top, bottom = (y - 10, y + BAR) if up else (y, y + BAR + 14)
    picture.path([(x, top), (x, bottom)], "edge")
    # Right of the line where there is room, else left of it.
    kind, at = ("strong end", x - 4) if x > WIDTH / 2 else ("strong", x + 4)
    picture.text(at, y - 10 if up else y + BAR + 15, words, kind)


def _links(picture: Picture, state: State, scale: Ruler, y: float) -> None:
    """Lines from each footer that is committed to the one before."""
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


def chain_drawn() -> str:
    """The file after all updates, with a line from each footer to the one before."""
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
        _part(
            picture,
            scale,
            part.start,
            part.end,
            y,
            f"{how} footer" if short else how,
            short,
            f"{name}, bytes {part.start} to {part.end - 1}: {LOOKS[how]}",
        )
    for number, (later, earlier) in enumerate(pairwise(reader.snapshots())):
        start, end = ((scale.x(one.start) + scale.x(one.size)) / 2 for one in (later, earlier))
        depth = y + BAR + 14 + 10 * (number % 2)
        picture.path(
            [(start - 3, y + BAR), (start - 3, depth), (end + 3, depth), (end + 3, y + BAR + 4)], "arrow"
        )
        picture.path([(end - 1, y + BAR + 9), (end + 3, y + BAR + 3), (end + 7, y + BAR + 9)], "arrow")
    _key(picture, y + BAR + 36)
    return picture.html(
        "chain",
        "Footers have their numbers, from the oldest on; what is between them are blocks of row groups.",
    )
