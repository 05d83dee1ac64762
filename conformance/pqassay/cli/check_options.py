"""The options of ``pqassay check``, which ``pqassay-spark check`` has as well, and what they and ``pqassay.toml`` ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pqassay.cli.failure import require_no_data
from pqassay.report.formats import FORMAT_HELP, FormatName

if TYPE_CHECKING:
    from pqassay.cli.config import Config


class TierName(StrEnum):
    """How deep to look."""

    FOOTER = "footer"
    INDEX = "index"
    PAGES = "pages"
    VALUES = "values"


class LevelName(StrEnum):
    """From which verdict on a finding counts."""

    MUST = "must"
    SHOULD = "should"


class ProfileName(StrEnum):
    """Whom the files are for."""

    STRICT = "strict"
    SPARK = "spark"
    ARROW = "arrow"
    QUESTDB = "questdb"


Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH...",
        help="Files, folders, patterns such as 'lake/**/*.parquet', or URIs (s3://, gs://, hdfs://).",
        show_default=False,
    ),
]
FilesFrom = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Read further paths from a file, one on each line; - is stdin.",
        show_default=False,
    ),
]
Null = Annotated[
    bool,
    typer.Option("--null", "-0", help="Paths of --files-from end in a zero byte, as find -print0 writes."),
]
TierChoice = Annotated[
    TierName | None,
    typer.Option(help="How deep to look. Default: values for one file under 1 GiB, else index."),
]
LevelChoice = Annotated[
    LevelName | None,
    typer.Option(help="From which verdict on a finding counts: must (default) is FAIL, should adds WARN."),
]
ProfileChoice = Annotated[
    ProfileName | None,
    typer.Option(
        "--profile",
        help="Report as more what weighs more: strict for writers; spark, arrow, questdb for what they cannot read.",
    ),
]
Rules = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Test only these rules; may be repeated.")
]
SkippedRules = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Do not test these rules; may be repeated.")
]
Included = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Of folders, check these files as well; may be repeated."),
]
Excluded = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Leave these files and folders out of folders; may be repeated."),
]
Idx1Column = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that the IDX1 index describes, its path joined by dots."),
]
Crc = Annotated[
    bool | None,
    typer.Option(
        "--crc/--no-crc",
        help="Read all pages for their CRC at tier pages as well; tier values always does.",
        show_default=False,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0,
        help="Time that one file may take. Default: 60, and 1 for each MB; 0 is no limit.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory that one worker may allocate, such as 2G (Linux only). Default: its share of 80% of the "
        "machine; 0 is no limit.",
    ),
]
KnownFindings = Annotated[
    str | None, typer.Option(metavar="FILE", help="Known findings: they are marked and do not count.")
]
WrittenBaseline = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write all findings to a baseline, so that only new ones count later."),
]
FormatChoice = Annotated[FormatName | None, typer.Option("--format", help=FORMAT_HELP)]
Output = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the report to a file instead of stdout.")
]
ConfigFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Defaults for these options. Default: the nearest pqassay.toml."),
]
NoConfig = Annotated[bool, typer.Option("--no-config", help="Read no pqassay.toml.")]


@dataclass(frozen=True)
class Wanted:
    """What a command line and its ``pqassay.toml`` ask for.

    Attributes:
        given: What to check.
        options: Arguments of `pqassay.judge.checker.planned`, ``literal`` among them.
        jobs: Worker processes.
        timeout: Seconds for one file.
        memory: Bytes for one worker.
        format: How to print the report.
        output: Where to write the report, instead of stdout.
        write_baseline: Where to write a baseline.
    """

    given: Sequence[str]
    options: dict[str, Any]
    jobs: int | None
    timeout: float | None
    memory: int | None
    format: FormatName
    output: Path | None
    write_baseline: str | None

    def require_apart(self, inputs: Sequence[str] | None = None) -> None:
        """What is written is none of the files that are checked, by default those that are named.

        Raises:
            UsageError: It is.
        """
        outputs = [str(path) for path in (self.output, self.write_baseline) if path is not None]
        require_apart(outputs, [*self.given, *self.options["literal"]] if inputs is None else inputs)


def wanted(
    *,
    paths: list[str] | None,
    files_from: str | None,
    null: bool,
    tier: TierName | None,
    level: LevelName | None,
    rule: list[str] | None,
    skip_rule: list[str] | None,
    include: list[str] | None,
    exclude: list[str] | None,
    idx1_column: str | None,
    crc: bool | None,
    profile: ProfileName | None,
    timeout: float | None,
    memory: str | None,
    baseline: str | None,
    write_baseline: str | None,
    output_format: FormatName | None,
    output: Path | None,
    config: str | None,
    no_config: bool,
    jobs: int | None = None,
) -> Wanted:
    """What the options ask for; where they are silent, ``pqassay.toml``.

    Raises:
        UsageError: They contradict each other, name what cannot be read, or would overwrite what is checked.
    """
    defaults = _defaults(config, no_config)
    options: dict[str, Any] = {
        "tier": defaults.get("tier", tier and tier.value),
        "level": defaults.get("level", level and level.value) or "must",
        "only": defaults.get("rule", rule) or (),
        "skip": defaults.get("skip-rule", skip_rule) or (),
        "include": defaults.get("include", include) or (),
        "exclude": defaults.get("exclude", exclude) or (),
        "idx1_column": defaults.get("idx1-column", idx1_column),
        "crc": bool(defaults.get("crc", crc)),
        "profile": defaults.get("profile", profile and profile.value),
        "baseline": defaults.get("baseline", baseline),
        "literal": _listed(files_from, null),
    }
    found = Wanted(
        given=paths or (defaults.values.get("paths") if files_from is None else None) or [],
        options=options,
        jobs=defaults.get("jobs", jobs),
        timeout=defaults.get("timeout", timeout),
        memory=defaults.get("memory", _memory(memory)),
        format=FormatName(defaults.get("format", output_format and output_format.value) or "text"),
        output=output,
        write_baseline=write_baseline,
    )
    found.require_apart()
    require_no_data({"--output": output, "--write-baseline": write_baseline})
    return found


def _defaults(config: str | None, no_config: bool) -> Config:
    from pqassay.cli import config as configuration
    from pqassay.errors import UsageError

    if config is not None and no_config:
        raise UsageError("--config and --no-config exclude each other")
    path = None if no_config else config or configuration.nearest()
    return configuration.read(path) if path is not None else configuration.Config()


def _memory(text: str | None) -> int | None:
    from pqassay.cli.config import parse_size
    from pqassay.errors import UsageError

    try:
        return None if text is None else parse_size(text)
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from None


def _listed(name: str | None, null: bool) -> list[str]:
    """The paths of ``--files-from``; empty ones are left out."""
    from pqassay.errors import UsageError

    if name is None:
        if null:
            raise UsageError("--null says how --files-from is written; there is none")
        return []
    try:
        if name == "-":
            content = sys.stdin.buffer.read()
        else:
            with open(name, "rb") as file:
                content = file.read()
    except OSError as error:
        raise UsageError(f"--files-from {name}: {error.strerror or error}") from None
    found = [os.fsdecode(line) for line in content.split(b"\0" if null else b"\n") if line]
    if not found:
        raise UsageError(f"--files-from {name}: there is no path in it")
    return found


def require_apart(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """What is written is none of the files that are checked.

    Raises:
        UsageError: It is.
    """
    from pqassay.errors import UsageError

    for output in outputs:
        real = os.path.realpath(output)
        if os.path.isfile(real) and any(os.path.realpath(path) == real for path in inputs):
            raise UsageError(f"{output} is one of the files to check; write somewhere else")
