"""The options of a check, each declared once.

The command line, ``pqassay.toml`` and the guide use these declarations. In Python, they are the keywords of
`pqassay.check`; Spark's check has the same ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from pqassay.report.model import Threshold
from pqassay_spec.rules.catalogue import Tier

if TYPE_CHECKING:
    from pqassay.judge.selection.since import Since

AnyPath = str | os.PathLike[str]

ProfileName = Literal["strict", "spark", "arrow", "questdb"]
"""The intended readers of the files."""

Panel = Literal["Select", "Depth", "Gate", "Table", "Output", "Limits"]
"""A heading of the help page."""

Kind = Literal["choice", "flag", "text", "texts", "path", "paths", "number", "whole", "size", "release"]
"""The form of a value, on the command line and in ``pqassay.toml``."""


@dataclass(frozen=True)
class Option:
    """The declaration of one option, beside its name and type.

    Attributes:
        help: Its description on the help page and in the guide.
        panel: Its heading on the help page.
        kind: The form of its value.
        metavar: The placeholder on the help page.
        short: The one-letter flag.
        in_file: Whether ``pqassay.toml`` may set it.
        rare: Whether only ``--help-all`` lists it.
    """

    help: str
    panel: Panel
    kind: Kind
    metavar: str = ""
    short: str = ""
    in_file: bool = True
    rare: bool = False


class CheckOptions(TypedDict, total=False):
    """The options of every kind of check: the rules to check, the files, and the findings that count.

    ``version``, ``snapshot`` and ``ref`` are forms of ``at`` for tables of one format. ``literal`` has further paths, in which wildcards
    have no special meaning. ``only`` and ``skip`` are former names of ``rule`` and ``skip_rule``. ``salt`` is the salt of the digests that
    replace values. Its default is the salt of the environment, or a random one for this run.
    """

    tier: Annotated[
        Tier | None,
        Option(
            "Depth: meta (tables only), footer, index, pages or values. Default: values for one small file or table, "
            "else index; meta over 1,000 files.",
            "Depth",
            "choice",
            "TIER",
        ),
    ]
    level: Annotated[
        Threshold,
        Option(
            "Lowest verdict that fails: must (FAIL) or should (WARN). Default: must.",
            "Gate",
            "choice",
            "LEVEL",
        ),
    ]
    rule: Annotated[
        Sequence[str],
        Option("Check only matching rules, such as `'IDX1-*'`; repeatable.", "Depth", "texts", "GLOB"),
    ]
    skip_rule: Annotated[
        Sequence[str],
        Option("Skip matching rules; repeatable.", "Depth", "texts", "GLOB"),
    ]
    only: Sequence[str]
    skip: Sequence[str]
    include: Annotated[
        Sequence[str],
        Option("Also check matching files in folders; repeatable.", "Select", "texts", "GLOB"),
    ]
    exclude: Annotated[
        Sequence[str],
        Option("Skip matching files and folders; repeatable.", "Select", "texts", "GLOB"),
    ]
    literal: Sequence[AnyPath]
    idx1_column: Annotated[
        str | None,
        Option(
            "Dotted path of the IDX1 index column. Default: from its record, else one that fits.",
            "Depth",
            "text",
            "COLUMN",
            rare=True,
        ),
    ]
    crc: Annotated[
        bool,
        Option(
            "Verify page checksums at tier pages too; tier values always does.", "Depth", "flag", rare=True
        ),
    ]
    profile: Annotated[
        ProfileName | None,
        Option(
            "Raise severity for spark, arrow or questdb; strict raises every WARN.",
            "Depth",
            "choice",
            "PROFILE",
        ),
    ]
    baseline: Annotated[
        AnyPath | None,
        Option("Known findings, which do not fail the check.", "Gate", "path", "FILE"),
    ]
    complete: Annotated[
        bool,
        Option("Fail with exit code 4 if anything could not be checked.", "Gate", "flag"),
    ]
    fail_on: Annotated[
        Sequence[str],
        Option(
            "Fail only on these effects: rows-lost, wrong-rows, read-fails, pruning-lost, cosmetic.",
            "Gate",
            "texts",
            "EFFECTS",
        ),
    ]
    max_files: Annotated[
        int | None,
        Option("Tolerate up to N files that fail.", "Gate", "whole", "N", rare=True),
    ]
    rules: Annotated[
        str | None,
        Option(
            "Fail only on rules of this release (such as 0.7). Default: all rules.",
            "Gate",
            "release",
            "RELEASE",
            rare=True,
        ),
    ]
    values: Annotated[
        bool | None,
        Option("Show values of files. Default: not in sarif and history.", "Output", "flag", rare=True),
    ]
    salt: str | None
    as_files: Annotated[
        bool,
        Option("Check Delta and Iceberg tables as plain folders of files.", "Table", "flag", rare=True),
    ]
    at: Annotated[
        str | int | None,
        Option(
            "Delta version; Iceberg snapshot, branch or tag. Default: current.",
            "Table",
            "text",
            "STATE",
            in_file=False,
            rare=True,
        ),
    ]
    version: int | None
    snapshot: int | None
    ref: str | None
    only_files: Annotated[
        AnyPath | None,
        Option(
            "Check only files on LIST, such as quarantine.csv, and their replacements.",
            "Select",
            "text",
            "LIST",
            in_file=False,
            rare=True,
        ),
    ]
    since: Annotated[
        str | Since | None,
        Option(
            "Check only files added since a version, snapshot, time, or `last` run.",
            "Table",
            "text",
            "MOMENT",
            in_file=False,
        ),
    ]


class Limits(TypedDict, total=False):
    """The resources that a check may use."""

    jobs: Annotated[
        int | None,
        Option("Worker processes; 0 uses one per processor. Default: 1.", "Limits", "whole", "N", short="j"),
    ]
    timeout: Annotated[
        float | None,
        Option(
            "Time limit per file; 0 means unlimited. Default: 60, plus 1 per MB.",
            "Limits",
            "number",
            "SECONDS",
            rare=True,
        ),
    ]
    memory: Annotated[
        int | None,
        Option(
            "Memory per worker, such as 2G; 0 means unlimited (Linux only). Default: its share of 80% of the machine.",
            "Limits",
            "size",
            "SIZE",
            rare=True,
        ),
    ]


@dataclass(frozen=True)
class Declared:
    """An option with its name and settings.

    Attributes:
        keyword: Its name in Python.
        option: The declaration.
        choices: The permitted values, if they are few.
    """

    keyword: str
    option: Option
    choices: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name in ``pqassay.toml``, and after ``--`` on the command line."""
        return self.keyword.replace("_", "-")


def declared(options: type) -> list[Declared]:
    """The options that a class declares, in order.

    Args:
        options: A `TypedDict`, such as `CheckOptions`.

    >>> [one.name for one in declared(Limits)]
    ['jobs', 'timeout', 'memory']
    """
    return [
        Declared(keyword, extra, tuple(_texts_of(hint.__origin__)))
        for keyword, hint in get_type_hints(options, localns={"Since": object}, include_extras=True).items()
        for extra in getattr(hint, "__metadata__", ())
        if isinstance(extra, Option)
    ]


def _texts_of(hint: Any) -> Iterator[str]:
    """The texts that a type permits: a `Literal` or an enum, alone or in a union."""
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        yield from hint
    for part in get_args(hint):
        if isinstance(part, str):
            yield part
        else:
            yield from _texts_of(part)
