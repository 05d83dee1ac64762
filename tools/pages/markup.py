"""Markdown of generated parts of the site: tables, and links as they are seen from the page that is being written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

Link = Callable[[str, str], str]
"""``(page, anchor) -> link target`` as seen from the page that is being written."""

SAFE = " ….,:;-+/"
"""Characters, beside letters and digits, that mean nothing to Markdown or HTML within a line."""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a Markdown table with blank lines around it."""
    yield from ("", row(heads), row(["---"] * len(heads)), *map(row, rows), "")


def row(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    """Keep a text inside its cell. Between backticks a bar is safe, and a backslash would be shown."""
    parts = text.replace("\n", " ").split("`")
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "`".join(parts) or "-"


def anchored(text: str, anchor: str, target: str) -> str:
    """Return a link that is an anchor itself."""
    return f"[{text}]({target}){{ #{anchor} }}"


def rule_link(rule_id: str, link: Link) -> str:
    """Return a rule's id, linked to its page."""
    return f'<a href="{generated_page("rules", rule_id.lower(), link)}">{rule_id}</a>'


def case_link(case_id: str, link: Link) -> str:
    """Return the id of a golden case, linked to its page."""
    return f'<a href="{generated_page("cases", case_id.replace("/", "-"), link)}"><code>{case_id}</code></a>'


def generated_page(folder: str, stem: str, link: Link) -> str:
    """The address of a generated page, which MkDocs does not know, so that it has to be a link in HTML."""
    index, _, _ = link(f"{folder}/index.md", "").partition("#")
    return f"{index.removesuffix('index.md')}{stem}.html"


def literal(text: str, most: int = 200) -> str:
    """Return a text that stands for itself wherever inline HTML may, cut to a number of characters.

    >>> literal('["=", 7] | <*>')
    '&#91;&#34;&#61;&#34;, 7&#93; &#124; &#60;&#42;&#62;'
    """
    line = " ".join(text.split())
    short = line if len(line) <= most else f"{line[: most - 1]}…"
    return "".join(one if one.isalnum() or one in SAFE else f"&#{ord(one)};" for one in short)
