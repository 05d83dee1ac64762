"""Tables from stored figures, which are inserted into pages between two comments, the first of which has the table's name.

People write the rest of a page. A template in ``templates`` writes tables in Markdown; its comments are those of the page. Its figures come
from the file that `tools/generate.py` or `pages.site_tables` names, or from ``figures()`` of the module with its name in this folder.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

TEMPLATES = Path(__file__).resolve().parent / "templates"

TABLE = re.compile(r"(?P<begin><!-- table: (?P<name>[a-z ]+) -->\n)(?P<lines>.*?)(?=<!-- end -->)", re.DOTALL)


def with_tables(page: str, tables: Mapping[str, str]) -> str:
    """The page with these tables in place of tables with the same names."""
    return TABLE.sub(lambda found: found["begin"] + tables.get(found["name"], found["lines"]), page)


def figures_of(template: str, path: Path) -> Mapping[str, Any]:
    """The figures of a template: from the module with its name, or from JSON at a path; a list is named ``figures``."""
    if importlib.util.find_spec(f"page_tables.{template}"):
        read: Mapping[str, Any] = importlib.import_module(f"page_tables.{template}").figures()
        return read
    stored = json.loads(path.read_text("utf-8"))
    return stored if isinstance(stored, dict) else {"figures": stored}


def tables_in(template: str, figures: Mapping[str, Any]) -> dict[str, str]:
    """The tables of a template by name, without the comments around them."""
    return {found["name"]: found["lines"] for found in TABLE.finditer(rendered(f"{template}.md", figures))}


def rendered(template: str, figures: Mapping[str, Any]) -> str:
    """A rendered template."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {function.__name__: function for function in (*FILTERS, math.log10)}
    return environment.get_template(template).render(figures)


# ------------------------------------------------------------------------------------------------------- the filters


def duration(seconds: float) -> str:
    """A duration in the usual unit, with two digits.

    >>> duration(0.0031), duration(75), duration(7300), duration(400_000)
    ('3.1 ms', '75 s', '2.0 h', '4.6 days')
    """
    for limit, unit, size in (
        (1e-3, "µs", 1e-6),
        (1, "ms", 1e-3),
        (180, "s", 1),
        (7200, "min", 60),
        (172_800, "h", 3600),
    ):
        if abs(seconds) < limit:
            return f"{two_digits(seconds / size)} {unit}"
    return f"{two_digits(seconds / 86400)} days"


def size(count: float) -> str:
    """Bytes in a unit of powers of ten.

    >>> size(24.8), size(131072), size(64e12)
    ('25 B', '130 kB', '64 TB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 999.5:
            return f"{two_digits(count)} {unit}"
        count /= 1000
    return f"{two_digits(count)} PB"


def two_digits(value: float) -> str:
    """A number rounded to two digits, the precision of a plan.

    >>> two_digits(0.4219), two_digits(9.96), two_digits(131.07), two_digits(20_400)
    ('0.42', '10', '130', '20,000')
    """
    if value == 0:
        return "0"
    rounded = float(f"{value:.1e}")
    if rounded >= 10:
        return f"{rounded:,.0f}"
    return f"{rounded:.1f}" if rounded >= 1 else f"{rounded:.2g}"


def milliseconds(seconds: float) -> str:
    """Milliseconds with two digits, the precision of such a measurement.

    >>> milliseconds(0.00123), milliseconds(0.0716), milliseconds(1.234)
    ('1.2', '72', '1,200')
    """
    return f"{float(f'{seconds * 1e3:.1e}'):,.{1 if seconds < 0.00995 else 0}f}"


def megabytes(count: float) -> str:
    """Bytes in megabytes.

    >>> megabytes(641_234), megabytes(30_390_000)
    ('0.64', '30')
    """
    return f"{count / 1e6:.2f}" if count < 1e7 else f"{count / 1e6:,.0f}"


def shown(value: Any, form: str) -> str:
    """A value in a Python format, such as ``,``."""
    return format(value, form)


def row(cells: Iterable[Any]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def heads(cells: Sequence[str], form: str = "---:") -> str:
    """The header of a Markdown table, whose columns after the first are numbers, or have another alignment."""
    return f"{row(cells)}\n{row(['---', *[form] * (len(cells) - 1)])}"


FILTERS = (duration, size, two_digits, milliseconds, megabytes, shown, row, heads)
