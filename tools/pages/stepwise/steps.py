"""The HTML of a stepper: a list of steps that is whole without JavaScript, and of which ``stepper.js`` shows one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from pages.markup import Link


@dataclass(frozen=True)
class Step:
    """A step.

    Attributes:
        title: What happens in it, in a few words.
        text: What there is to see.
        parts: Pictures and tables, each a line of HTML.
    """

    title: str
    text: str | Markup
    parts: Sequence[str] = ()


@dataclass(frozen=True)
class Stepper:
    """A sequence of steps.

    Attributes:
        name: The beginning of its anchors.
        label: What it shows, in a few words.
        source: What it is drawn from: a line of Markdown behind it.
        steps: Its steps.
    """

    name: str
    label: str
    source: str
    steps: Sequence[Step]

    def html(self) -> str:
        """The stepper as lines of HTML without an empty one."""
        items = [
            f'<li class="step" id="{self.name}-{number}">\n'
            f'<p class="step-title">{escape(step.title)}</p>\n<p>{escape(step.text)}</p>\n'
            + "".join(f"{part}\n" for part in step.parts)
            + "</li>\n"
            for number, step in enumerate(self.steps, 1)
        ]
        opened = f'<section class="stepper" id="{self.name}" aria-label="{escape(self.label)}">'
        return f"{opened}\n<ol>\n{''.join(items)}</ol>\n</section>"


def grid(label: str, heads: Sequence[str], rows: Iterable[Sequence[str | Markup]]) -> str:
    """A table of a step as one line of HTML, which scrolls sideways where there is no room.

    A row of one cell goes from one end to the other: it says what follows from the rows above.
    """
    head = Markup("").join(Markup("<th>{}</th>").format(each) for each in heads if each)
    head = Markup("<thead><tr>{}</tr></thead>").format(head) if head else head
    body = Markup("")
    for row in rows:
        if len(row) == 1:
            cells = Markup('<td class="so" colspan="{}"><span>{}</span></td>').format(len(heads), row[0])
        else:
            cells = Markup("").join(Markup("<td>{}</td>").format(each) for each in row)
        body += Markup("<tr>{}</tr>").format(cells)
    table = Markup('<table class="told">{}<tbody>{}</tbody></table>').format(head, body)
    opened = Markup('<div class="scroll" tabindex="0" role="group" aria-label="{}">{}</div>')
    return str(opened.format(label, table))


def code(text: str) -> Markup:
    """A text as code."""
    return Markup("<code>{}</code>").format(text)


def linked(link: Link, page: str, anchor: str, words: str | Markup) -> Markup:
    """Words that lead to a section of a page, in HTML."""
    return Markup('<a href="{}">{}</a>').format(address(link, page, anchor), words)


def address(link: Link, page: str, anchor: str) -> str:
    """The address of a section of a page of Markdown as its HTML has it."""
    return link(page, anchor).replace(".md#", ".html#")


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "page"), counted(1_234, "byte")
    ('1 page', '1,234 bytes')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
