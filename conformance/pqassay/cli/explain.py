"""The command ``pqassay explain``: the meaning of a rule."""

from __future__ import annotations

from typing import Annotated

import typer

from pqassay.cli.failure import fail
from pqassay_spec.base.help_pages import epilog, example


@example(epilog("`pqassay explain IDX1-016`", "`pqassay explain PIX`", codes="0 printed, 2 unknown rule"))
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(metavar="RULE", help="Rule id, or prefix of a family. Default: all rules."),
    ] = None,
) -> None:
    """Explain a rule: its source, what breaking it costs, an example."""
    from pqassay import explain as explaining

    rule_id = rule.upper() if rule else None
    if rule_id is None or rule_id in explaining.prefixes():
        lines = explaining.overview(rule_id)
    else:
        try:
            lines = iter(list(explaining.explain(rule_id)))
        except KeyError:
            near = " or ".join(explaining.nearest(rule_id))
            hint = f"; did you mean {near}?" if near else "; `pqassay explain` lists all"
            fail(f"there is no rule {rule}{hint}")
    for line in lines:
        print(line)  # noqa: T201 - plain output of a command
