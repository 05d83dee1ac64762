"""A self-contained HTML page: no network, no fonts, no other files.

A content security policy in the page forbids all requests and all scripts except its own. Text from files is escaped: first unprintable
characters, then markup.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any, TextIO

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup

from pqassay_spec.base.terminal import printable


def write_page(template: str, stream: TextIO, style: str, script: str = "", **names: Any) -> None:
    """Write a page.

    Args:
        template: The name of a template of this package.
        stream: The output stream.
        style: The name of a style sheet of this package.
        script: The name of a script of this package; empty for none.
        names: The variables of the template.
    """
    policy = (
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        f"script-src '{_digest(script)}'" if script else "script-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    pieces = _template(template).generate(
        style=Markup(style),  # noqa: S704 - of this package
        script=Markup(script),  # noqa: S704 - of this package
        policy="; ".join(policy),
        **names,
    )
    stream.writelines(pieces)


def part(name: str) -> str:
    """The text of a template, a style sheet or a script of this package."""
    return (files("pqassay") / "templates" / name).read_text("utf-8")


def _digest(text: str) -> str:
    """The name of a style or script in a content security policy: its digest."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=DictLoader({"page": part(name)}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    return environment.get_template("page")


def _finalize(value: Any) -> Any:
    """A template value without control characters, which are illegal on the page even if escaped."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value)
