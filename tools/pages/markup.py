"""Markdown for generated parts of the site: tables, and links relative to the current page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

Link = Callable[[str, str], str]
"""A function ``(page, anchor) -> link target``, relative to the current page."""

SAFE = " ….,:;-+/"
"""Characters, beside letters and digits, without a special meaning in Markdown or HTML within a line."""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a Markdown table with blank lines around it."""
    yield from ("", row(heads), row(["---"] * len(heads)), *map(row, rows), "")


def row(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    """A text escaped for a table cell. Between backticks, a bar is safe and a backslash would be visible."""
    parts = text.replace("\n", " ").split("`")
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "`".join(parts) or "-"


def anchored(text: str, anchor: str, target: str) -> str:
    """A link that is also an anchor."""
    return f"[{text}]({target}){{ #{anchor} }}"


def rule_link(rule_id: str, link: Link) -> str:
    """Return a rule's id, linked to its page."""
    return f'<a href="{generated_page("rules", rule_id.lower(), link)}">{rule_id}</a>'


def case_link(case_id: str, link: Link) -> str:
    """Return the id of a golden case, linked to its page."""
    return f'<a href="{generated_page("cases", case_id.replace("/", "-"), link)}"><code>{case_id}</code></a>'


def generated_page(folder: str, stem: str, link: Link) -> str:
    """The address of a generated page, which MkDocs does not know, so that the link must be HTML."""
    index, _, _ = link(f"{folder}/index.md", "").partition("#")
    return f"{index.removesuffix('index.md')}{stem}.html"


def literal(text: str, most: int = 200) -> str:
    """A text escaped for inline HTML, truncated to a number of characters.

    >>> literal('["=", 7] | <*>')
    '&#91;&#34;&#61;&#34;, 7&#93; &#124; &#60;&#42;&#62;'
    """
    line = " ".join(text.split())
    short = line if len(line) <= most else f"{line[: most - 1]}…"
    return "".join(one if one.isalnum() or one in SAFE else f"&#{ord(one)};" for one in short)
