"""The leaves of a JSON text: every value, including JSON within strings, and the text between values.

Names of members, brackets and commas are structural: they belong to the value that follows them. The text after the last value belongs to
the whole document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pqassay.dump.forms import Sink
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.table.json_places import members

Documented = Callable[[tuple[str, ...]], str]
"""The declared meaning of a value, by the member names that lead to it."""

LEADS, CLOSES = "names", "stop"
"""Parts of a path for structural text: before a value, and at the end of the document."""


def leaves_of(data: bytes, root: str, documented: Documented, base: int = 0) -> Iterator[Leaf]:
    """Yield leaves of a JSON text that together cover all its bytes.

    Args:
        data: The text, UTF-8.
        root: The path of the text; empty if the text is the whole file.
        documented: Returns the meaning of a value.
        base: The offset of the text in the file.

    Raises:
        ValueError: The text is not JSON; leaves yielded before the error are valid.
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
    """Pass the leaves of a text to a sink; return why it is not JSON, or ``None`` if it is."""
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
