"""The check of a request: finds the files, has them judged, and collects the report."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Unpack, cast

from pqassay.errors import UsageError
from pqassay.judge.file_check import Selection, why_none
from pqassay.judge.one_file import Judged, Settings, judge, judge_in_time
from pqassay.judge.options import AnyPath, CheckOptions
from pqassay.judge.selection.only_files import NOT_LISTED, OnlyFiles, read_list
from pqassay.judge.selection.tables import expanded, has_tables, only_since, read_tables
from pqassay.judge.table_reader import Live
from pqassay.report.gate import Gate, gate_of
from pqassay.report.model import COUNTED, SCHEMA_VERSION, Coverage, FileReport, Report, summarise
from pqassay.report.pin import NO_PREVIEW, pinned, require_release
from pqassay.report.redaction import salt_of, without_values
from pqassay.report.rules import judged_against
from pqassay.stores import kinds as file_kinds
from pqassay.stores.formats import Moment
from pqassay.stores.table_files import TableAt
from pqassay.stores.targets import Found, Listing, Target, find
from pqassay.tables.kept import kept_states
from pqassay.under_test.file import Options
from pqassay_spec import __version__
from pqassay_spec.base.sources import Source
from pqassay_spec.rules.catalogue import (
    DEFAULT_FILE,
    RELEASES,
    TABLE_TIER,
    TIERS,
    Tier,
    digest,
    file_rules,
    reader_rules,
)
from pqassay_spec.rules.profiles import NAMES as PROFILE_NAMES

if TYPE_CHECKING:
    from pqassay.judge.baseline import Baseline

VALUES_BY_DEFAULT_BELOW = 1 << 30
"""The largest size, in bytes, of a single file or table that is checked at tier ``values`` by default."""

VALUES_BY_DEFAULT_FILES = 100
"""The largest number of data files of a table that is checked at tier ``values`` by default."""

STATES = ("at", "version", "snapshot", "ref")
"""Options for the state in which a table is judged."""

_NUMBER = re.compile(r"[0-9]{1,19}")
"""A pattern for versions of Delta tables and ids of snapshots."""

META_BY_DEFAULT_ABOVE = 1000
"""The number of data files of tables above which none of them is opened by default."""

AnyBytes = bytes | bytearray | memoryview | Source
"""The bytes of one file, or a source of them."""


class Progress(Protocol):
    """A listener for the progress of a check."""

    def __call__(self, done: int, total: int, file: FileReport | None, /) -> object:
        """Called once before the first file, with ``None``, and after each file with its report."""
        ...


@dataclass(frozen=True)
class CheckPlan:
    """A check before its first verdict: what will be judged, and how.

    Attributes:
        found: The files to judge, and other files that were seen.
        settings: The settings of judging.
        known: Findings that do not count.
        complete: Whether parts that could not be checked count.
        gate: Selects the counting findings that fail the check; ``None`` for all.
        rules: The pinned release: only its rules fail the check; ``None`` for all rules.
        salt: The salt of the digests that replace values; ``None`` if reports show values.
    """

    found: Found
    settings: Settings
    known: Baseline | None = None
    complete: bool = False
    gate: Gate | None = None
    rules: str | None = None
    salt: str | None = None

    @property
    def targets(self) -> Sequence[Target]:
        """The files to judge, in order."""
        return self.found.targets


Verdict = tuple[Judged, str | None]
"""A verdict, and the object's etag before it was judged, if requested."""

Outcome = tuple[CheckPlan, Report, list[str]]
"""The judged plan, the report, and further messages for the user."""


class Work(Protocol):
    """The workers that judge: this machine, or a cluster."""

    @property
    def listing(self) -> Listing | None:
        """The function that lists folders; ``None`` if the judge lists them."""
        ...

    def judge(self, plan: CheckPlan, targets: Sequence[Target], *, wants_etags: bool) -> Generator[Verdict]:
        """Judge some targets of a plan, in order."""
        ...

    def etags(self, targets: Sequence[Target]) -> Sequence[str | None]:
        """The etags of objects; ``None`` for an object without one."""
        ...


@kept_states()
def check(
    target: AnyPath | AnyBytes | Sequence[AnyPath],
    *,
    kind: str | None = None,
    beside: Mapping[str, AnyBytes] | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[CheckOptions],
) -> Report:
    """Check files against the specification.

    Args:
        target: The bytes of one file, or a `Source` of them, which is read in this process and stays open. Or
            one or several paths, patterns (``"lake/**/*.parquet"``) or URIs (``"s3://lake/sales"``). In
            folders, all files below with a name of a Parquet file or ``_pm`` are checked. If a folder is a
            Delta or Iceberg table, only the table and its live files are checked.
        kind: The kind of the bytes, ``"parquet"`` (the default) or ``"pm"``; for files, the names determine it.
        beside: The files beside the bytes, by name, such as ``{"data.parquet": …}`` for a ``_pm``.
        jobs: Worker processes. Without them, everything happens in this process, and a crash of a decoder
            ends it. With at least one, a crash only makes one file `errored`.
        timeout: Seconds that one file may take; by default 60 and one for each MB, at every tier; 0 for no limit. Without
            ``jobs`` there is none.
        memory: Bytes that a worker may allocate, on Linux; by default its share of the machine; 0 for no limit.
        progress: Called with each file.
        **options: The options of ``pqassay check``, under the same names (``skip_rule`` for ``--skip-rule``);
            see `pqassay.judge.options.CheckOptions`.

    Returns:
        The report, the same for any number of jobs. Broken files are findings in it; their bytes cannot cause an exception.

    Raises:
        UsageError: An unknown tier, level or profile; ``crc`` with a tier that does not read pages; a pattern
            that matches no rule, or no rule left to test; jobs or limits with a source; a path that does not
            exist, or nothing to check; an unreadable baseline.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs must be at least 1, not {jobs}")
    if _is_source(target) and any(limit is not None for limit in (jobs, timeout, memory)):
        raise UsageError("a source is judged in the calling process: leave out jobs, timeout and memory")
    plan = planned(target, kind=kind, beside=beside, **options)
    return carried_out(plan, jobs=jobs, timeout=timeout, memory=memory, progress=progress)


def carried_out(
    plan: CheckPlan,
    *,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Judge the targets of a plan; the arguments are those of `check`."""
    results = verdicts(plan.targets, plan.settings, jobs=jobs, timeout=timeout, memory=memory)
    with contextlib.closing(results):
        return concluded(plan, results, progress)


def verdicts(
    targets: Sequence[Target],
    settings: Settings,
    *,
    jobs: int | None = None,
    timeout: float | None = None,
    memory: int | None = None,
) -> Generator[Judged]:
    """Judge files in this process or in workers; yield the verdicts in order. The arguments are those of `check`."""
    if jobs is None and (timeout is not None or memory is not None):
        jobs = 1
    if jobs is not None and (jobs > 1 or wants_isolation(settings, timeout, memory)):
        from pqassay.judge import workers  # noqa: PLC0415 - most checks have none

        limits = workers.WorkerLimits(max(1, min(jobs, len(targets))), timeout, memory)
        return workers.judged(targets, settings, limits)
    # As a library, let own mistakes through; a run over a lake continues.
    return _in_this_process(targets, settings, is_safe=jobs is not None)


def wants_isolation(settings: Settings, timeout: float | None, memory: int | None) -> bool:
    """Whether even a single job judges in a separate process: if values are decoded, or limits are set."""
    return settings.tier == "values" or timeout is not None or memory is not None


def planned(
    target: AnyPath | AnyBytes | Sequence[AnyPath],
    *,
    kind: str | None = None,
    beside: Mapping[str, AnyBytes] | None = None,
    listing: Listing | None = None,
    **options: Unpack[CheckOptions],
) -> CheckPlan:
    """Find the files of a check, and decide how to judge them, without judging.

    A caller with its own way of judging begins here and ends with `concluded`. The arguments and errors are those of `check`; ``listing``
    lists folders of stores instead of `pqassay.stores.remote.listing`.
    """
    _require_known(options)
    known = None
    if (baseline := options.get("baseline")) is not None:
        from pqassay.judge.baseline import Baseline  # noqa: PLC0415 - most checks have none

        known = Baseline.read(baseline)
    tier, crc = options.get("tier"), options.get("crc", False)
    only = tuple(options.get("rule", options.get("only", ())))
    skip = tuple(options.get("skip_rule", options.get("skip", ())))
    level, profile = options.get("level", "must"), options.get("profile")
    _require_choices(tier, level, profile, (*only, *skip))
    require_release(options.get("rules"))
    gate = gate_of(options.get("fail_on", ()), options.get("max_files"))
    if crc and tier is not None and not Options(tier).reaches("pages"):
        raise UsageError(
            f"CRCs are in the headers of pages, which tier {tier} does not read; use tier pages, or --no-crc"
        )
    listed = None if (name := options.get("only_files")) is None else read_list(os.fspath(name))
    if listed is not None:
        target, tier = _limited(target, listed), tier or listed.tier
    targets = _found(target, kind, beside, listing, options)
    if listed is not None:
        targets = _on_the_list(targets, listed)
    if not targets.targets:
        raise UsageError(_why_nothing(targets))
    if (asked := _asked_moment(options)) is not None and not has_tables(targets):
        raise UsageError(f"{asked} needs a table, but no path is a table")
    if has_tables(targets):
        live = read_tables(targets)
        if (since := options.get("since")) is not None:
            from pqassay.judge.selection.since import Since, parse_since  # noqa: PLC0415 - most checks need it not

            live = only_since(live, since if isinstance(since, Since) else parse_since(since))
        if tier is None:
            tier = tier_of_tables(targets.targets, live, crc=crc)
        targets = expanded(targets, live, with_files=tier != TABLE_TIER, only=listed)
    settings = Settings(
        tier or default_tier(targets.targets, crc=crc),
        options.get("idx1_column"),
        crc,
        profile,
        level,
        Selection(only, skip),
    )
    if reason := why_none(settings.selection, settings, {target.kind for target in targets.targets}):
        raise UsageError(reason)  # a gate without tests accepts everything
    salt = salt_of(options.get("salt")) if options.get("values") is False else None
    return CheckPlan(
        targets, settings, known, options.get("complete", False), gate, options.get("rules"), salt
    )


def concluded(plan: CheckPlan, results: Iterable[Judged], progress: Progress | None = None) -> Report:
    """Make the report of a plan.

    Args:
        plan: The plan that was judged.
        results: The verdicts, in the order of the plan's targets.
        progress: Called with each file and its verdict.
    """
    files, coverages = _collected(results, len(plan.targets), progress)
    report = Report(
        schema_version=SCHEMA_VERSION,
        kind="check",
        pqassay=__version__,
        rules_sha256=digest(),
        coverages=coverages,
        files=files,
        summary=summarise(files, plan.found.ignored),
        ignored=plan.found.ignored,
        profile=plan.settings.profile,
        threshold=plan.settings.level,
        complete=plan.complete,
        judged_against=judged_against({target.kind for target in plan.targets}),
        pin=None
        if plan.rules is None
        else pinned(plan.rules, (one for file in files for one in file.findings)),
    ).at(plan.gate)
    if plan.salt is not None:
        report = without_values(report, plan.salt)
    return report if plan.known is None else plan.known.applied(report, plan.settings.level, plan.found.roots)


def default_tier(targets: Sequence[Target], *, crc: bool = False) -> Tier:
    """The default tier; it reaches the pages if their CRC is to be checked."""
    if len(targets) == 1 and _length(targets[0]) < VALUES_BY_DEFAULT_BELOW:
        return "values"
    return "pages" if crc else "index"


def tier_of_tables(targets: Sequence[Target], live: Mapping[TableAt, Live], *, crc: bool = False) -> Tier:
    """The default tier if some targets are tables: the more files they have, the less of each file is read."""
    files = sum(len(of_table.files) for of_table in live.values())
    if files > META_BY_DEFAULT_ABOVE:
        return "pages" if crc else TABLE_TIER
    if len(targets) == 1 and files <= VALUES_BY_DEFAULT_FILES:
        sizes = [
            table.size_of(file.path) or 0
            for table, of_table in live.items()
            for file in of_table.files
            if file.path is not None
        ]
        if sum(sizes) < VALUES_BY_DEFAULT_BELOW:
            return "values"
    return "pages" if crc else "index"


def _length(target: Target) -> int:
    return target.known_size() + target.size_beside()


def _require_known(options: CheckOptions) -> None:
    if unknown := sorted(options.keys() - CheckOptions.__annotations__.keys()):
        hint = f": {NO_PREVIEW.format(f'rules={RELEASES[-2]!r}')}" if unknown[0] == "preview" else ""
        raise TypeError(f"a check has no option {unknown[0]!r}{hint}")


def _require_choices(tier: str | None, level: str, profile: str | None, patterns: Iterable[str]) -> None:
    if tier is not None and tier not in TIERS:
        raise UsageError(f"there is no tier {tier!r}; tiers are {', '.join(TIERS)}")
    if level not in COUNTED:
        raise UsageError(f"there is no level {level!r}; levels are {', '.join(COUNTED)}")
    if profile is not None and profile not in PROFILE_NAMES:
        raise UsageError(f"there is no profile {profile!r}; profiles are {', '.join(PROFILE_NAMES)}")
    for pattern in patterns:
        if not fnmatch.filter(file_rules(), pattern):
            if for_readers := fnmatch.filter(reader_rules(), pattern):
                raise UsageError(
                    f"{for_readers[0]} is for readers: no file can break it; ask `pqassay suite run`"
                )
            raise UsageError(f"no rule matches {pattern!r}; `pqassay explain` lists them")


def _found(
    target: AnyPath | AnyBytes | Sequence[AnyPath],
    kind: str | None,
    beside: Mapping[str, AnyBytes] | None,
    listing: Listing | None,
    options: CheckOptions,
) -> Found:
    if is_content(target):
        known = file_kinds.judged_kinds()
        if kind not in (None, *known):
            raise UsageError(f"there are no rules for files of kind {kind!r}; kinds are {', '.join(known)}")
        content = cast("AnyBytes", target)
        name = str(getattr(content, "name", "<bytes>"))
        return Found([Target(name, "", kind=kind or DEFAULT_FILE, data=content, kept_beside=beside or {})])
    if kind is not None or beside is not None:
        raise UsageError("kind and beside are for bytes only; for paths, leave them out")
    paths = [target] if isinstance(target, (str, os.PathLike)) else target
    return find(
        [os.fspath(path) for path in cast("Sequence[AnyPath]", paths)],
        literal=[os.fspath(path) for path in options.get("literal", ())],
        include=options.get("include", ()),
        exclude=options.get("exclude", ()),
        listing=listing,
        moment=_moment(options),
    )


def _limited(target: AnyPath | AnyBytes | Sequence[AnyPath], only: OnlyFiles) -> AnyPath | Sequence[AnyPath]:
    """The paths of a check that is limited to a list; without named paths, everything on the list."""
    if is_content(target):
        raise UsageError("a list of files needs paths, not bytes")
    return cast("AnyPath | Sequence[AnyPath]", target) or only.targets


def _on_the_list(found: Found, only: OnlyFiles) -> Found:
    """The tables, and the files on a list."""
    kept = [at for at, target in enumerate(found.targets) if target.is_table or target.name in only]
    return found.reduced(kept, NOT_LISTED)


def is_content(target: object) -> bool:
    """Whether the target is a file's bytes or a source, and not one or several paths."""
    return isinstance(target, (bytes, bytearray, memoryview)) or _is_source(target)


def _is_source(target: object) -> bool:
    return all(hasattr(target, name) for name in ("name", "size", "read"))


def _moment(options: CheckOptions) -> Moment | None:
    """The state in which tables are judged; ``None`` if they are judged as files."""
    asked = [name for name in STATES if options.get(name) is not None]
    if options.get("as_files", False):
        if asked:
            raise UsageError(f"{asked[0]} needs a table; do not judge tables as files with it")
        return None
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} exclude each other")
    version, snapshot, ref = options.get("version"), options.get("snapshot"), options.get("ref")
    if (at := options.get("at")) is not None:
        number = int(at) if _NUMBER.fullmatch(str(at)) else None
        return Moment(number, number, str(at))
    for name, number in (("version", version), ("snapshot", snapshot)):
        if number is not None and type(number) is not int:
            raise UsageError(f"{name} must be a whole number, not {number!r}")
        if number is not None and number < 0:
            raise UsageError(f"{name} must not be negative, but is {number}")
    if ref is not None and not isinstance(ref, str):
        raise UsageError(f"ref must be the name of a branch or tag, not {ref!r}")
    return Moment(version, snapshot, ref)


def _asked_moment(options: CheckOptions) -> str | None:
    """The value of the option for the state of tables, if any."""
    return next((name for name in STATES if options.get(name) is not None), None)


def _why_nothing(found: Found) -> str:
    reasons = [f"{entry.count} ignored ({entry.reason})" for entry in found.ignored]
    if not reasons:
        reasons = ["name files, or folders of Parquet files"]
    return "; ".join(["nothing to check", *reasons])


def _in_this_process(targets: Sequence[Target], settings: Settings, *, is_safe: bool) -> Generator[Judged]:
    one = judge_in_time if is_safe else judge
    for target in targets:
        yield one(target, settings)


def _collected(
    results: Iterable[Judged], total: int, progress: Progress | None
) -> tuple[list[FileReport], dict[str, Coverage]]:
    """Collect the reports; equal coverages are stored once."""
    files: list[FileReport] = []
    coverages: dict[str, Coverage] = {}
    keys: dict[object, str] = {}
    last: Coverage | None = None
    key = ""
    if progress is not None:
        progress(0, total, None)
    for report, coverage in results:
        if coverage is not last:  # if verdicts arrive in bulk, files already share one object
            last = coverage
            key = keys.setdefault(coverage.identity, f"c{len(keys) + 1}")
            coverages.setdefault(key, coverage)
        files.append(replace(report, coverage=key))
        if progress is not None:
            progress(len(files), total, files[-1])
    return files, coverages
