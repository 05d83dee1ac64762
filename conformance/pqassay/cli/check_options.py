"""The options of ``pqassay check``, which ``pqassay-spark check`` has as well, and what they and ``pqassay.toml`` ask for."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from pqassay.cli.failure import require_no_data
from pqassay.report.formats import FORMAT_HELP, FormatName

if TYPE_CHECKING:
    from pqassay.cli.config import Config
    from pqassay.judge.checker import CheckOptions


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
class Arguments:
    """The options that every command which checks files has, as they were given; `taking_arguments` adds them to a command."""

    paths: Paths = None
    files_from: FilesFrom = None
    null: Null = False
    tier: TierChoice = None
    level: LevelChoice = None
    rule: Rules = None
    skip_rule: SkippedRules = None
    include: Included = None
    exclude: Excluded = None
    idx1_column: Idx1Column = None
    crc: Crc = None
    profile: ProfileChoice = None
    timeout: Timeout = None
    memory: Memory = None
    baseline: KnownFindings = None
    write_baseline: WrittenBaseline = None
    output_format: FormatChoice = None
    output: Output = None
    config: ConfigFile = None
    no_config: NoConfig = False


def taking_arguments(command: Callable[..., None]) -> Callable[..., None]:
    """Make of a function, whose first parameter is `Arguments`, a command that has these options before its own."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    hints = get_type_hints(Arguments, include_extras=True)
    shared = [
        inspect.Parameter(
            option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[option.name]
        )
        for option in fields(Arguments)
    ]
    names = [option.name for option in shared]

    def called(**given: Any) -> None:
        command(Arguments(**{name: given.pop(name) for name in names}), **given)

    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what typer reads
        [*shared, *(option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own)]
    )
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    return called


@dataclass(frozen=True)
class Wanted:
    """What a command line and its ``pqassay.toml`` ask for.

    Attributes:
        given: What to check.
        options: What `pqassay.judge.checker.planned` is to look for.
        jobs: Worker processes.
        timeout: Seconds for one file.
        memory: Bytes for one worker.
        format: How to print the report.
        output: Where to write the report, instead of stdout.
        write_baseline: Where to write a baseline.
    """

    given: Sequence[str]
    options: CheckOptions
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
        require_apart(
            outputs,
            [*self.given, *(os.fspath(path) for path in self.options.get("literal", ()))]
            if inputs is None
            else inputs,
        )


def wanted(given: Arguments, jobs: int | None = None) -> Wanted:
    """What the options ask for; where they are silent, ``pqassay.toml``.

    Raises:
        UsageError: They contradict each other, name what cannot be read, or would overwrite what is checked.
    """
    defaults = _defaults(given.config, given.no_config)
    options: CheckOptions = {
        "tier": defaults.get("tier", given.tier and given.tier.value),
        "level": defaults.get("level", given.level and given.level.value) or "must",
        "only": defaults.get("rule", given.rule) or (),
        "skip": defaults.get("skip-rule", given.skip_rule) or (),
        "include": defaults.get("include", given.include) or (),
        "exclude": defaults.get("exclude", given.exclude) or (),
        "idx1_column": defaults.get("idx1-column", given.idx1_column),
        "crc": bool(defaults.get("crc", given.crc)),
        "profile": defaults.get("profile", given.profile and given.profile.value),
        "baseline": defaults.get("baseline", given.baseline),
        "literal": _listed(given.files_from, given.null),
    }
    output_format = given.output_format and given.output_format.value
    found = Wanted(
        given=given.paths or (defaults.values.get("paths") if given.files_from is None else None) or [],
        options=options,
        jobs=defaults.get("jobs", jobs),
        timeout=defaults.get("timeout", given.timeout),
        memory=defaults.get("memory", _memory(given.memory)),
        format=FormatName(defaults.get("format", output_format) or "text"),
        output=given.output,
        write_baseline=given.write_baseline,
    )
    found.require_apart()
    require_no_data({"--output": given.output, "--write-baseline": given.write_baseline})
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
