"""The leaves of a JSON text: every value, those in texts that hold JSON themselves included, and what is written between values.

Names of members, brackets and commas carry structure: they belong to the value that they lead to, and what closes the text to the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pqassay.dump.forms import Sink
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.table.json_places import members

Documented = Callable[[tuple[str, ...]], str]
"""What is declared of a value, by the names that lead to it."""

LEADS, CLOSES = "names", "stop"
"""Parts of a path that carry structure: what leads to a value, and what closes the text."""


def leaves_of(data: bytes, root: str, documented: Documented, base: int = 0) -> Iterator[Leaf]:
    """Yield the leaves of a JSON text, so that each of its bytes belongs to one.

    Args:
        data: The text, UTF-8.
        root: Its path; empty if it is the whole file.
        documented: Says what a value means.
        base: Its offset in the file.

    Raises:
        ValueError: It is not JSON; leaves that were yielded before are true.
    """
    position = 0
    for one in members(data):
        begin, end = one.span
        path = _joined(root, one.path)
        if begin > position:
            yield _between(f"{path}:{LEADS}", data, position, begin, base)
        yield Leaf(path, base + begin, end - begin, one.value, documented(one.path))
        position = end
    if position < len(data):
        yield _between(f"{root}:{CLOSES}", data, position, len(data), base)


def hand_on(data: bytes, root: str, documented: Documented, sink: Sink, base: int = 0) -> str | None:
    """Hand the leaves of a text to a sink, and return why it is not JSON; ``None`` if it is."""
    leaves: list[Leaf] = []
    reason = None
    try:
        leaves.extend(leaves_of(data, root, documented, base))
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8"
    except ValueError as error:
        reason = str(error)
    sink(leaves)
    return reason


def _joined(root: str, names: tuple[str, ...]) -> str:
    return f"{root}{''.join(name if name.startswith('[') else f'.{name}' for name in names)}".removeprefix(
        "."
    )


def _between(path: str, data: bytes, start: int, end: int, base: int) -> Leaf:
    return Leaf(path, base + start, end - start, data[start:end].decode())
