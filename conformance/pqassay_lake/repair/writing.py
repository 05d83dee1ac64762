"""Writing of a plan: the quarantine list as CSV, the plan as JSON, statements as SQL, commands as a shell script."""

from __future__ import annotations

import csv
import io
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from pqassay.checks.commands import OURS
from pqassay.judge.selection.only_files import MOMENT, PATH, TABLE, TIER
from pqassay.report.json_form import members_json
from pqassay.report.rules import COMPARE, STRIP
from pqassay_lake.repair.model import Plan, Step
from pqassay_lake.repair.planning import COMMANDS, SAFE
from pqassay_spec.base.sources import write_whole
from pqassay_spec.base.terminal import printable

QUARANTINE_CSV, QUARANTINE_JSON = "quarantine.csv", "quarantine.json"
STATEMENTS, SCRIPT = "repair.sql", "repair.sh"

VALUES_ARE_RIGHT = "--values-are-right"
"""The option without which a command refuses to remove claims about values."""

COLUMNS = (PATH, TABLE, MOMENT, TIER, "rules", "could", "created_by", "owner", "repair")


def write_plan(plan: Plan, folder: Path) -> list[Path]:
    """Write a plan into a folder, which is created if missing; each file is replaced atomically.

    Returns:
        The written files. Files of an earlier plan without current content are removed.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        QUARANTINE_CSV: quarantine_csv(plan),
        QUARANTINE_JSON: f"{members_json(plan, 2)}\n",
        STATEMENTS: "\n".join(sql_lines(plan)),
        SCRIPT: "\n".join(script_lines(plan)),
    }
    written: list[Path] = []
    for name, content in contents.items():
        path = folder / name
        if content:
            write_whole(os.fspath(path), f"{content.rstrip()}\n".encode("utf-8", "backslashreplace"))
            written.append(path)
        else:
            path.unlink(missing_ok=True)
    return written


def quarantine_csv(plan: Plan) -> str:
    """The quarantine list: a row for each file."""
    moments = {table.path: table.moment for table in plan.tables}
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow(COLUMNS)
    for file in plan.files:
        rows.writerow(
            (
                file.path,
                file.table,
                "" if (moment := moments.get(file.table)) is None else moment,
                plan.tier,
                " ".join(file.rules),
                file.could,
                file.created_by or "",
                file.owner or "",
                file.repair,
            )
        )
    return buffer.getvalue()


def heading(step: Step) -> str:
    """The effect of a step, in one line."""
    nothing = "no file yet" if step.repair in SAFE else "the table itself"
    about = f"{step.files:,} file{'s' * (step.files != 1)}" if step.files else nothing
    where = f" in {printable(step.table)}" if step.table else ""
    return f"{step.repair}: {about}{where} ({', '.join(step.rules)})"


def sql_lines(plan: Plan) -> Iterator[str]:
    """The statements for all tables, grouped by table and repair; empty without tables."""
    steps = [step for step in plan.steps if step.table]
    for step in steps:
        yield f"-- {heading(step)}"
        for note in step.notes:
            yield f"-- {printable(note)}"
        for statement in step.statements:
            yield f"{statement};"
        yield ""


def script_lines(plan: Plan) -> Iterator[str]:
    """Yield the commands for files outside tables; empty if there are none.

    The option that vouches for the values is omitted: the user must add it.
    """
    steps = [step for step in plan.steps if step.repair == COMMANDS and step.statements]
    if not steps:
        return
    yield "#!/bin/sh"
    yield f"# After you compared the values with their source: sh {SCRIPT} {VALUES_ARE_RIGHT}"
    yield "set -e"
    for step in steps:
        yield f"# {heading(step)}"
        for note in step.notes:
            yield f"# {printable(note)}"
        for command in step.statements:
            yield f'{command} "$@"' if command.startswith(STRIP) else command


def text_lines(plan: Plan) -> Iterator[str]:
    """Yield the printed lines: each step with its statements and notes."""
    for step in plan.steps:
        yield heading(step)
        for note in step.notes:
            yield f"  note: {printable(note)}"
        for statement in step.statements:
            yield f"  {printable(statement)}" if not step.table else f"  {printable(statement)};"
        if not step.statements:
            yield "  no statement repairs it: you have to decide"


def next_lines(plan: Plan, folder: Path) -> Iterator[str]:
    """Yield the user's next steps: compare the values with their source, run the statements, and check again."""
    with_statements = [step for step in plan.steps if step.statements]
    if any(step.repair == COMMANDS and not step.table for step in with_statements):
        yield f"next: {COMPARE}, then `{shlex.join(['sh', str(folder / SCRIPT), VALUES_ARE_RIGHT])}`"
    if any(step.table for step in with_statements):
        yield f"next: read {printable(str(folder / STATEMENTS))}, then give it to Spark"
    if with_statements:
        yield f"then: `{shlex.join([OURS, 'check', '--only-files', str(folder / QUARANTINE_CSV)])}`"
