"""The command ``pqassay explain``: what a rule demands."""

from __future__ import annotations

from typing import Annotated

import typer

from pqassay.cli.failure import fail
from pqassay_spec.base.help_pages import example


@example("Example: `pqassay explain IDX1-016`")
def explain(
    rule: Annotated[
        str | None,
        typer.Argument(metavar="RULE", help="Id of a rule, or prefix of a family; all rules if left out."),
    ] = None,
) -> None:
    """Explain what a rule demands, where it comes from and what breaking it costs."""
    from pqassay import explain as explaining

    wanted = rule.upper() if rule else None
    if wanted is None or wanted in explaining.prefixes():
        lines = explaining.overview(wanted)
    else:
        try:
            lines = iter(list(explaining.explain(wanted)))
        except KeyError:
            near = " or ".join(explaining.nearest(wanted))
            hint = f"; did you mean {near}?" if near else "; `pqassay explain` lists all"
            fail(f"there is no rule {rule}{hint}")
    for line in lines:
        print(line)  # noqa: T201 - plain output of a command
