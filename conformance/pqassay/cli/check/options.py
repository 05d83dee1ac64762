"""The options of commands that check files: those of `pqassay.judge.options`, and options of the command line.

`checking` turns a function into a command. The command line and ``pqassay.toml`` together become a `Request`.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from pqassay.cli.check.plug_ins import loaded
from pqassay.cli.failure import require_no_data
from pqassay.errors import UsageError
from pqassay.judge.options import CheckOptions, Declared, Kind, Limits, Option, Panel, declared
from pqassay.report.formats import FORMAT_HELP, SUFFIXES, FormatName, format_of
from pqassay.report.pin import NO_PREVIEW
from pqassay.report.redaction import salt_of
from pqassay_spec.base.help_pages import RARE, note_renamed
from pqassay_spec.rules.catalogue import RELEASES

if TYPE_CHECKING:
    from pqassay.judge.selection.since import Since

LAST = "last"
"""The value of ``--since`` that means the last run."""

STATES = ("version", "snapshot", "ref")
"""Old options for the state of a table; unlike ``--at``, each is for tables of one format."""

NO_FILE = "none"
"""The value of ``--config`` that means no file."""


class CommandOptions(CheckOptions, Limits, total=False):
    """The options on the command line: those of a check, and those of the report."""

    files_from: Annotated[
        str,
        Option(
            "Read paths from FILE, one per line or NUL-separated; `-` is stdin.",
            "Select",
            "text",
            "FILE",
            in_file=False,
            rare=True,
        ),
    ]
    verbose: Annotated[
        bool, Option("Show every detail of every finding, in text.", "Output", "flag", short="v")
    ]
    format: Annotated[FormatName, Option(FORMAT_HELP, "Output", "choice", "FORMAT")]
    output: Annotated[
        Path, Option("Write the report to FILE instead of stdout.", "Output", "path", "FILE", in_file=False)
    ]
    history: Annotated[
        str,
        Option(
            "Append findings to a history: folder, URI, delta:FOLDER or iceberg:CATALOG:NAMESPACE.TABLE.",
            "Output",
            "path",
            "HISTORY",
        ),
    ]
    metrics: Annotated[
        Path,
        Option(
            "Write metrics as OpenMetrics, or as JSON if FILE ends in .json.",
            "Output",
            "path",
            "FILE",
            rare=True,
        ),
    ]
    reuse: Annotated[
        str,
        Option(
            "Reuse verdicts for unchanged files from this findings table, then update it.",
            "Output",
            "text",
            "TABLE",
            in_file=False,
            rare=True,
        ),
    ]
    config: Annotated[
        str,
        Option(
            "Read defaults from FILE (`none`: no file). Default: the nearest pqassay.toml.",
            "Limits",
            "text",
            "FILE",
            in_file=False,
            rare=True,
        ),
    ]


OPTIONS: Mapping[str, Declared] = {one.keyword: one for one in declared(CommandOptions)}
"""All options, by keyword."""

PATHS = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH...",
        help="Files, folders, Delta or Iceberg tables, s3:// or other URIs, patterns (`'lake/**/*.parquet'`).",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Renamed:
    """An unlisted old option that works until 1.0: how its value is written, and its new name."""

    kind: Kind
    now: str
    flags: tuple[str, ...] = ()


RENAMED: Mapping[str, Renamed] = {
    "null": Renamed("flag", "", ("--null", "-0")),
    "no_config": Renamed("flag", f"--config {NO_FILE}", ("--no-config",)),
    "version": Renamed("whole", "--at"),
    "snapshot": Renamed("whole", "--at"),
    "ref": Renamed("text", "--at"),
    "as_": Renamed("text", "--as-files", ("--as",)),
    "out": Renamed("text", "--reuse"),
    "incremental": Renamed("flag", "--reuse", ("--incremental",)),
    "preview": Renamed("flag", "--rules", ("--preview/--no-preview",)),
}

_TYPES: Mapping[Kind, Any] = {
    "flag": bool | None,
    "texts": list[str] | None,
    "whole": int | None,
    "number": float | None,
}

Given = Mapping[str, Any]
"""The values of the command line, by keyword; ``None`` if an option is absent."""


def checking(
    *, without: Collection[str | Panel] = (), renamed: Mapping[str, Renamed] = {}
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that turns functions into commands.

    Their first parameter receives the options below (`Given`); their own options follow.

    Args:
        without: Keywords of options, or panels, that the command omits.
        renamed: Old options that the command also accepts.
    """
    left = [one for one in OPTIONS.values() if not {one.keyword, one.option.panel} & set(without)]
    order = list(get_args(Panel))
    left.sort(key=lambda one: order.index(one.option.panel))

    def command_of(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        names = {"paths", *(one.keyword for one in left), *renamed}
        parameters = [
            _parameter("paths", PATHS),
            *(option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own),
            *(_parameter(one.keyword, _typer_option(one)) for one in left),
            *(_parameter(keyword, _hidden_option(keyword, old)) for keyword, old in renamed.items()),
        ]

        def called(**values: Any) -> None:
            given = {name: value for name in names if (value := values.pop(name)) not in (None, [])}
            function(given, **values)

        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
        called.__name__, called.__doc__ = function.__name__, function.__doc__
        setattr(called, RARE, {one.keyword for one in left if one.option.rare})
        return called

    return command_of


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _typer_option(one: Declared) -> Any:
    option = one.option
    flags = [f"--{one.name}/--no-{one.name}"] if option.kind == "flag" else [f"--{one.name}"]
    if option.short:
        flags.append(f"-{option.short}")
    kind = Literal[one.choices] | None if option.kind == "choice" else _TYPES.get(option.kind, str | None)
    return Annotated[
        kind,
        typer.Option(
            *flags,
            help=option.help,
            metavar=option.metavar or None,
            min=0 if option.kind in ("whole", "number") else None,
            show_default=False,
            rich_help_panel=option.panel,
        ),
    ]


def _hidden_option(keyword: str, old: Renamed) -> Any:
    flags = old.flags or (f"--{keyword.replace('_', '-')}",)
    return Annotated[_TYPES.get(old.kind, str | None), typer.Option(*flags, hidden=True)]


@dataclass(frozen=True)
class Request:
    """The options of a run: command line and ``pqassay.toml`` together.

    Attributes:
        paths: The targets of the check.
        options: The options of `pqassay.judge.checker.planned`.
        limits: The resource limits.
        format: How to print the report.
        output: Where to write the report, instead of stdout.
        history: The history to which the run is appended.
        metrics: Where to write metrics.
        verbose: Whether text has every detail.
        outputs: All files that are written, by option.
        lists: Other files that are read, by option.
        table: A findings table that is updated.
        is_reused: Whether verdicts of unchanged files are reused from the table.
    """

    paths: Sequence[str]
    options: CheckOptions
    limits: Limits
    format: FormatName
    output: Path | None = None
    history: str | None = None
    metrics: Path | None = None
    verbose: bool = False
    outputs: Mapping[str, Path] = field(default_factory=dict[str, Path])
    lists: Mapping[str, str] = field(default_factory=dict[str, str])
    table: Path | None = None
    is_reused: bool = False

    @property
    def salt(self) -> str | None:
        """The salt of the digests that replace values."""
        return self.options.get("salt")

    @property
    def scope(self) -> str:
        """The targets of the check, as written in a history."""
        return scope_of(self.paths)

    @property
    def is_partial(self) -> bool:
        """Whether only some of the files of the scope are judged."""
        since = self.options.get("since")
        is_first = since is not None and not isinstance(since, str) and since.by_table == {}
        return bool(self.options.get("literal")) or (since is not None and not is_first)

    def require_apart(self, inputs: Sequence[str] | None = None) -> None:
        """Refuse outputs that are among the files to check; by default, the named files.

        Raises:
            UsageError: An output is a file to check.
        """
        if inputs is None:
            inputs = [*self.paths, *(os.fspath(path) for path in self.options.get("literal", ()))]
            self._require_apart_from_lists()
        for output in self.outputs.values():
            real = os.path.realpath(output)
            if os.path.isfile(real) and any(os.path.realpath(path) == real for path in inputs):
                raise UsageError(f"{output} is one of the files to check; choose another file")

    def _require_apart_from_lists(self) -> None:
        """Refuse outputs that are also read as lists or configuration, and outputs that two options write."""
        used = {os.path.realpath(path): option for option, path in self.lists.items()}
        for option, output in self.outputs.items():
            real = os.path.realpath(output)
            is_baseline = option == "--write-baseline" or (option == "--output" and self.output is None)
            if real in used and not (is_baseline and used[real] == "--baseline"):
                raise UsageError(f"{output} is also the file of {used[real]}; choose another file")
            used[real] = option


def request_of(given: Given, outputs: Mapping[str, Path] = {}, *, is_recorded: bool = True) -> Request:
    """Merge the options with ``pqassay.toml``; the command line has priority.

    Args:
        given: The values of the command line.
        outputs: Further files that the command writes, by option.
        is_recorded: Whether the command may record its findings as ``pqassay.toml`` requests.

    Raises:
        UsageError: The options contradict each other, name unreadable files, or would overwrite checked files.
    """
    given = _by_new_names(given)
    defaults = _defaults(given.get("config"))
    literal = _listed(given["files_from"]) if "files_from" in given else []
    paths = given.get("paths") or ([] if literal or "only_files" in given else defaults.get("paths", []))
    values = {
        one.keyword: defaults[one.name]
        for one in OPTIONS.values()
        if one.option.in_file and one.name in defaults
    }
    values |= {name: value for name, value in given.items() if name in OPTIONS or name in STATES}
    if isinstance(memory := values.get("memory"), str):
        values["memory"] = _size(memory)
    if "since" in values:
        values["since"] = since_of(values["since"], values.get("history"), paths)
    if not is_recorded:
        values = {name: value for name, value in values.items() if name not in ("history", "metrics")}
    output, metrics = (Path(values[name]) if name in values else None for name in ("output", "metrics"))
    options: CheckOptions = {"literal": literal}
    values["salt"] = salt_of(values.get("salt"))  # applies to the whole run
    limits: Limits = {}
    for part, keys in ((options, CheckOptions.__annotations__), (limits, Limits.__annotations__)):
        part.update({name: value for name, value in values.items() if name in keys})  # type: ignore[typeddict-item]
    request = Request(
        paths,
        options,
        limits,
        _format_of(given, values.get("format"), output),
        output,
        values.get("history"),
        metrics,
        values.get("verbose", False),
        {name: path for name, path in (("--output", output), ("--metrics", metrics)) if path is not None}
        | dict(outputs),
        {
            f"--{name.replace('_', '-')}": os.fspath(values[name])
            for name in ("files_from", "only_files", "baseline", "config")
            if values.get(name) not in (None, "-", NO_FILE)
        },
        _findings_folder(values.get("reuse")),
        is_reused="out" not in given or "incremental" in given,
    )
    request.require_apart()
    require_no_data(request.outputs, only_ours=True)
    return request


def _format_of(given: Given, chosen: str | None, output: Path | None) -> FormatName:
    """The format of the report. On the command line, the option comes first, then the file extension; then comes ``pqassay.toml``."""
    if (
        "output" in given
        and "format" not in given
        and output is not None
        and output.suffix.lower() in SUFFIXES
    ):
        chosen = None
    return format_of(chosen, output)


def _by_new_names(given: Given) -> dict[str, Any]:
    """The values of the command line under their new names; each old option is named on stderr."""
    new = dict(given)
    if "preview" in given:
        raise UsageError(f"--preview: {NO_PREVIEW.format(f'--rules {RELEASES[-2]}')}")
    for keyword, old in RENAMED.items():
        if keyword not in given or not old.now:
            continue
        note_renamed((old.flags or (f"--{keyword}",))[0], old.now)
    if "as_" in given:
        if given["as_"] != "files":
            raise UsageError(f"--as {given['as_']}: tables are judged as tables, or --as-files")
        new["as_files"] = True
    if "no_config" in given:
        if "config" in given:
            raise UsageError("--config and --no-config exclude each other")
        new["config"] = NO_FILE
    if "incremental" in given and "out" not in given:
        raise UsageError("--incremental takes verdicts from the table of --out; give --reuse TABLE")
    if "out" in given:
        if "reuse" in given:
            raise UsageError("--out is the old name of --reuse: give one of them")
        new["reuse"] = given["out"]
    return new


def _defaults(path: str | None) -> Mapping[str, Any]:
    from pqassay.cli.check import config

    if path == NO_FILE:
        return {}
    path = path or config.nearest()
    return config.read(path, OPTIONS.values()) if path is not None else {}


def _size(text: str) -> int:
    from pqassay.cli.check.config import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from None


def scope_of(paths: Sequence[str]) -> str:
    """The targets of the check, as written in a history."""
    return ",".join(paths)


def since_of(text: str, history: str | None, paths: Sequence[str]) -> str | Since:
    """The value of ``--since``; ``last`` is looked up in the history."""
    if text != LAST:
        from pqassay.judge.selection.since import parse_since

        return parse_since(text)
    if history is None:
        raise UsageError("--since last needs a history: give --history, or set it in pqassay.toml")
    since: Since = loaded("since_last_run")(history, scope_of(paths))
    return since


def _findings_folder(table: str | None) -> Path | None:
    """The folder of a findings table.

    Raises:
        UsageError: The table is not in a local folder.
    """
    from pqassay.stores.targets import is_uri

    if table is None:
        return None
    if is_uri(table):
        raise UsageError(f"--reuse {table}: a findings table is a local folder; copy it from there")
    return Path(table)


def _listed(name: str) -> list[str]:
    """The paths of ``--files-from``, without empty lines."""
    try:
        if name == "-":
            content = sys.stdin.buffer.read()
        else:
            with open(name, "rb") as file:
                content = file.read()
    except OSError as error:
        raise UsageError(f"--files-from {name}: {error.strerror or error}") from None
    end = b"\0" if b"\0" in content else b"\n"  # a path cannot contain a zero byte
    paths = [os.fsdecode(line) for line in content.split(end) if line]
    if not paths:
        raise UsageError(f"--files-from {name}: no path is listed")
    return paths
