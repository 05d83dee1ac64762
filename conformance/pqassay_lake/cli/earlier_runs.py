"""What options say of earlier runs: the findings table that one left, and the history of all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pqassay.errors import UsageError

if TYPE_CHECKING:
    from pqassay.judge.selection.since import Since

LAST = "last"
"""What ``--since`` says for the last run."""


def findings_folder(out: str | None, *, is_needed: bool) -> Path | None:
    """The folder of the findings table of ``--out``.

    Args:
        out: What the option says.
        is_needed: Whether verdicts are to be taken from it.

    Raises:
        UsageError: It is needed and not there, or is no local folder.
    """
    from pqassay.stores.targets import is_uri

    if out is None:
        if is_needed:
            raise UsageError("--incremental takes verdicts from the table of --out; there is none")
        return None
    if is_uri(out):
        raise UsageError(f"--out {out}: a findings table is written to a local folder; copy it from there")
    return Path(out)


def scope_of(paths: Sequence[str]) -> str:
    """What is asked to be checked, as a history names it."""
    return ",".join(paths)


def since_of(text: str | None, history: str | None, paths: Sequence[str]) -> str | Since | None:
    """What ``--since`` asks for; ``last`` is looked up in the history."""
    if text is None:
        return None
    if text != LAST:
        from pqassay.judge.selection.since import parse_since

        return parse_since(text)
    if history is None:
        raise UsageError("--since last is after what the last run in --history judged; give that as well")
    from pqassay.judge.selection.since import Since
    from pqassay_lake.history.stores import history_at
    from pqassay_lake.history.views import last_versions

    return Since(by_table=last_versions(history_at(history), scope_of(paths)))
