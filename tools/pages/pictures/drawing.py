"""SVG pictures that are part of a page: their colors come from the page, so they are readable in light and dark mode.

A picture is as wide as its page, or scrolls within a frame that the keyboard reaches. Color alone never shows the meaning of a shape: each
kind has its own border or mark, and a hint in words.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from html import escape

CHARACTER = 7.3
"""The approximate width of a character of 12 px in fixed-width fonts."""

SMALL = 6.2
"""The approximate width of a character of 11 px in other fonts."""


class Picture:
    """A picture, built from the top down, in pixels of a wide page.

    Args:
        width: The width in units.
        label: The description for screen readers.
    """

    def __init__(self, width: float, label: str) -> None:
        self.width = width
        self.height = 0.0
        self.label = label
        self._body = ET.Element("g")
        self._has_links = False

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        kind: str,
        hint: str = "",
        parent: ET.Element | None = None,
    ) -> None:
        """Add a rectangle with a kind from the style sheet, perhaps inside a link; ``hint`` is its tooltip."""
        self._reach(y + height)
        place = {"x": x, "y": y, "width": max(width, 0.5), "height": height}
        found = ET.SubElement(
            self._body if parent is None else parent, "rect", {**_places(place), "class": kind}
        )
        if hint:
            ET.SubElement(found, "title").text = hint

    def boxes(
        self, places: Sequence[tuple[float, float]], y: float, height: float, kind: str, hint: str
    ) -> None:
        """Add rectangles of one kind side by side, given by their starts and widths, as one shape."""
        self._reach(y + height)
        parts = (
            f"M{x + 0.5:.4g} {y:g}h{max(width - 1, 0.5):.4g}v{height:g}h-{max(width - 1, 0.5):.4g}z"
            for x, width in places
        )
        found = ET.SubElement(self._body, "path", {"d": "".join(parts), "class": f"box {kind}"})
        ET.SubElement(found, "title").text = hint

    def link(self, href: str, hint: str) -> ET.Element:
        """Begin a link; elements added to the returned element lead there."""
        self._has_links = True
        found = ET.SubElement(self._body, "a", {"href": href})
        ET.SubElement(found, "title").text = hint
        return found

    def text(self, x: float, y: float, words: str, kind: str = "", parent: ET.Element | None = None) -> None:
        """Add a line of text whose baseline is at ``y``."""
        self._reach(y + 4)
        attributes = _places({"x": x, "y": y}) | ({"class": kind} if kind else {})
        ET.SubElement(self._body if parent is None else parent, "text", attributes).text = words

    def path(
        self, points: Sequence[tuple[float, float]], kind: str, parent: ET.Element | None = None
    ) -> None:
        """Add a line through points."""
        self._reach(max(y for _, y in points))
        drawn = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        ET.SubElement(self._body if parent is None else parent, "path", {"d": drawn, "class": kind})

    def html(self, kind: str, caption: str = "") -> str:
        """The picture as one line of HTML: a figure that scrolls sideways where there is no room.

        A picture with links is a group, since parts of an image cannot be focused.
        """
        height = self.height + 2
        shape = {
            "viewBox": f"0 0 {self.width:g} {height:g}",
            "style": f"min-width:{self.width * LEAST:g}px;max-width:{self.width:g}px",
        }
        is_image = {} if self._has_links else {"role": "img", "aria-label": self.label}
        svg = ET.Element("svg", {**shape, **is_image})
        svg.append(self._body)
        drawn = ET.tostring(svg, encoding="unicode")
        told = f"<figcaption>{caption}</figcaption>" if caption else ""
        group = f' role="group" aria-label="{escape(self.label)}"' if self._has_links else ""
        frame = f'<div class="scroll" tabindex="0"{group}>{drawn}</div>'
        return f'<figure class="drawn {kind}" data-search-exclude="">{frame}{told}</figure>'

    def _reach(self, y: float) -> None:
        self.height = max(self.height, y)


LEAST = 0.92
"""The smallest scale at which a picture is shown; below it, the picture scrolls."""


def _places(places: dict[str, float]) -> dict[str, str]:
    return {name: f"{at:.6g}" for name, at in places.items()}


def fitted(words: str, width: float, most: int, character: float = CHARACTER) -> list[str]:
    """Words in at most ``most`` lines of a width, broken after underscores and spaces, and truncated if still too long.

    >>> fitted("max_rep_level", 76, 2)
    ['max_rep_', 'level']
    >>> fitted("granularity", 40, 2)
    ['gran…']
    """
    room = max(int(width / character), 1)
    lines = [""]
    for part in re.findall(r"[^ _]+[_ ]?|[_ ]", words):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > room and len(lines) < most:
            lines.append("")
        lines[-1] += part
    return [line.strip() if len(line.strip()) <= room else f"{line[: room - 1]}…" for line in lines]


def bytes_told(start: int, length: int) -> str:
    """The byte range of a field in words.

    >>> bytes_told(29, 1), bytes_told(24, 4)
    ('byte 29', 'bytes 24 to 27')
    """
    return f"byte {start}" if length == 1 else f"bytes {start} to {start + length - 1}"
