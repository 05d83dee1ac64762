"""The findings table: a report as a Parquet table, one row for each file and one for each finding.

A table is a folder with one file, `PART`, so any Parquet reader can read it, as a folder or as a file. The file is replaced atomically, so
a reader gets the old table or the new one. The key-value metadata of its footer have the settings of the check, and the rules that were
tested.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay.errors import UsageError
from pqassay.judge.one_file import Settings
from pqassay.report.json_form import members
from pqassay.report.model import Coverage, FileReport, Finding, Gap, Position, Report, Untested
from pqassay.report.weighing import Weighing
from pqassay.stores.targets import is_uri
from pqassay_spec import __version__
from pqassay_spec.base.sources import BytesSource, write_whole
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.rules.catalogue import digest, file_rules
from pqassay_spec.rules.observed import observed_like

PART = "findings.parquet"
"""The name of the only file of a table."""

METADATA_KEY = b"pqassay"
"""The key of the footer metadata with a JSON object about the table."""

DIGEST_KEY = b"pqassay.sha256"
"""The key of the digest of all bytes before the footer and of the JSON object."""

SCHEMA_VERSION = 3

ROWS_AT_ONCE = 50_000
"""The number of rows of a row group."""

POSITION = pa.struct(
    [
        pa.field("field", pa.string(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("length", pa.int64(), nullable=False),
        pa.field("expected", pa.string(), nullable=False),
        pa.field("actual", pa.string(), nullable=False),
        pa.field("row_group", pa.int32()),
        pa.field("page", pa.int32()),
        pa.field("file", pa.string()),
    ]
)
"""The type of a position of a finding, with the members of `pqassay.report.model.Position`."""

GAP = pa.struct(
    [
        pa.field("obstacle", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("rules", pa.list_(pa.string()), nullable=False),
        pa.field("columns", pa.list_(pa.string()), nullable=False),
        pa.field("of_columns", pa.int64(), nullable=False),
        pa.field("known", pa.bool_(), nullable=False),
    ]
)
"""The type of a gap, with the members of `pqassay.report.model.Gap`."""


WEIGHED = pa.struct([("wrong", pa.string()), ("reasons", pa.list_(pa.string()))])
"""The type of a weighing, with the members of `pqassay.report.weighing.Weighing`."""

OBSERVED = pa.struct(
    [
        pa.field("effect", pa.string(), nullable=False),
        pa.field("engines", pa.list_(pa.string()), nullable=False),
        pa.field("asked", pa.int32(), nullable=False),
        pa.field("date", pa.string()),
        pa.field("reason", pa.string()),
    ]
)
"""The type of an observation of a rule, with the members of `pqassay_spec.rules.observed.Observed`."""


@dataclass(frozen=True)
class Field:
    """A column of the table.

    Attributes:
        name: Its name.
        type: Its type.
        doc: Its description.
        rows: The rows in which it is set: rows of a ``file``, rows of a ``finding``, or ``both``.
        optional: Whether it may be null in these rows.
    """

    name: str
    type: pa.DataType
    doc: str
    rows: str = "both"
    optional: bool = False


_of_file = partial(Field, rows="file")
_of_finding = partial(Field, rows="finding")

FIELDS = (
    Field("kind", pa.string(), "`file` or `finding`: what the row is about"),
    Field("path", pa.string(), "the file, as it was named or found; a URI in stores"),
    Field("file_kind", pa.string(), "`parquet`, `pm`, or `folder` for a folder that could not be listed"),
    Field("size", pa.int64(), "length of the file in bytes, -1 if unknown"),
    Field("outcome", pa.string(), "`conformant`, `conformant where checked` (see `gaps`), `untrue`, `nonconformant` or `errored` (not judged; never a kind of pass)"),
    Field("created_by", pa.string(), "what the footer says about its writer", optional=True),
    Field("tier", pa.string(), "how deep the file was looked at: `footer`, `index`, `pages` or `values`"),
    Field("pqassay", pa.string(), "the version of pqassay"),
    Field("rules_sha256", pa.string(), "digest of the rules that were applied"),
    Field("settings_sha256", pa.string(), "digest of version, rules, tier, level and selection of rules: verdicts with the same one are comparable"),
    Field("modified_ns", pa.int64(), "when the file was changed, in nanoseconds since 1970", optional=True),
    _of_file("ctime_ns", pa.int64(), "when anything about a local file was changed, its times included; as `modified_ns`", optional=True),
    _of_file("etag", pa.string(), "the etag of an object in a store", optional=True),
    _of_file("beside", pa.string(), "name, length and times of change of what is beside the file and was looked at, and a digest of what its table says about it; empty if there is nothing"),
    _of_file("reusable", pa.bool_(), "whether `--reuse` may reuse the verdict: not if the file is errored, or was changed so shortly before it was judged that a further change could go unnoticed"),
    _of_file("judged_at", pa.timestamp("us", tz="UTC"), "when the run began that judged the file"),
    _of_file("findings", pa.int32(), "how many findings the file has"),
    _of_file("notes", pa.list_(pa.string()), "what of the file no rule looks at"),
    _of_file("gaps", pa.list_(GAP), "what of the file could not be looked at: one entry for each obstacle"),
    _of_file("error", pa.string(), "why an errored file could not be judged", optional=True),
    _of_file("coverage", pa.string(), "which rules were tested: a key of `coverages` in the metadata of the table's footer"),
    _of_finding("rule", pa.string(), "id of the rule that is broken"),
    _of_finding("level", pa.string(), "what the rule's document demands: `MUST`, `SHOULD` or `MAY`"),
    _of_finding("verdict", pa.string(), "how it is reported: `FAIL`, `WARN`, `POLICY` or `INFO`"),
    _of_finding("could", pa.string(), "the worst that the breach can do to readers"),
    _of_finding("observed", OBSERVED, "what engines were seen to do with golden files that break the rule: the gravest `effect`, or `nothing`, or `not asked`; the `engines` in which it was seen; how many were `asked`; the `date`; the `reason` why none was", optional=True),
    _of_finding("column", pa.string(), "the column, its path joined by dots", optional=True),
    _of_finding("count", pa.int64(), "how many places break the rule"),
    _of_finding("known", pa.bool_(), "whether a baseline lists it, so that it does not count"),
    _of_finding("message", pa.string(), "what was found, in one sentence"),
    _of_finding("field", pa.string(), "first position: the grammar path of the field"),
    _of_finding("offset", pa.int64(), "first position: byte of the file, -1 for what is absent"),
    _of_finding("length", pa.int64(), "first position: how many bytes"),
    _of_finding("expected", pa.string(), "first position: what should be there"),
    _of_finding("actual", pa.string(), "first position: what is there"),
    _of_finding("row_group", pa.int32(), "first position: number of the row group", optional=True),
    _of_finding("page", pa.int32(), "first position: number of the page", optional=True),
    _of_finding("remedy", pa.string(), "a command that repairs the file", optional=True),
    _of_finding("files", pa.list_(pa.string()), "of a finding about a table, the files that it is about, relative to the table; 10,000 at most"),
    _of_finding("also", pa.list_(pa.string()), "other rules that the same damage breaks, for which this one speaks"),
    _of_finding("shape", pa.string(), "how the rule is broken, in one line that is the same for breakages that are alike"),
    _of_finding("weighed", WEIGHED, "where a claim contradicts values, which side is likelier to be `wrong`, and the `reasons`", optional=True),
    _of_finding("explanation", pa.string(), "a known defect of the file's writer that does this", optional=True),
    _of_finding("positions", pa.list_(POSITION), "the first three positions, each with these members"),
    _of_finding("hexdump", pa.list_(pa.string()), "the bytes at the first position, marked"),
)  # fmt: skip
"""Every column, in order."""

SCHEMA = pa.schema(
    [pa.field(field.name, field.type, nullable=field.optional or field.rows != "both") for field in FIELDS]
)


@dataclass(frozen=True)
class FileState:
    """The state of a file in a table, beside its report.

    Attributes:
        modified: The time of its last change, in nanoseconds since 1970.
        beside: See `pqassay_lake.history.file_stamps.Stamp`.
        etag: Etag of an object.
        is_reusable: Whether a later run may reuse the verdict.
        judged_at: The start of the run that judged it, in microseconds since 1970.
        ctime: See `pqassay_lake.history.file_stamps.Stamp`.
    """

    modified: int | None
    beside: str
    etag: str | None
    is_reusable: bool
    judged_at: int
    ctime: int | None = None


@dataclass(frozen=True)
class Row:
    """A file of a table: its report, its coverage, and its state."""

    report: FileReport
    coverage: Coverage
    state: FileState


def settings_digest(settings: Settings) -> str:
    """A digest of everything beside the file that a verdict depends on: version, rules, tier, level, selection."""
    content = json.dumps([__version__, digest(), dataclasses.asdict(settings)], sort_keys=True)
    return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()


# ------------------------------------------------------------------------------------------------- writing


def require_place(table: Path, inputs: Sequence[str], files: Iterable[str] = ()) -> None:
    """Make sure that a table can be written at a place.

    Args:
        table: Its folder, which need not exist.
        inputs: Paths that are checked; the next check would include a table below one of them.
        files: Paths of checked files, since a pattern or a list may include the table itself.

    Raises:
        UsageError: The table is inside a checked folder, or its name is already used for something else.
    """
    place = table.resolve()
    for name in inputs:
        root = Path(name).resolve()
        if root == place or root in place.parents:
            raise UsageError(
                f"the table {table} would lie in {name}, which is checked; write it somewhere else"
            )
    for name in files:
        if name.endswith(PART) and Path(name).resolve().parent == place:
            raise UsageError(
                f"the table {table} is among the files that are checked; write it somewhere else"
            )
    if not table.exists():
        return
    if not table.is_dir():
        raise UsageError(f"{table} is not a folder; a findings table must be one")
    others = [
        entry.name for entry in table.iterdir() if entry.name != PART and not entry.name.startswith(".")
    ]
    if others:
        raise UsageError(f"{table} holds {min(others)}, so it is not a findings table; name another folder")
    if (table / PART).exists() and _metadata(table) is None:
        raise UsageError(f"{table / PART} is not a findings table; name another folder")


def write(table: Path, report: Report, states: Sequence[FileState], settings: Settings) -> None:
    """Write a report as a table, atomically.

    Args:
        table: The folder; it is made if it does not exist.
        report: The report.
        states: The state of each of its files.
        settings: The settings of the check.

    Raises:
        OSError: The folder cannot be written; the old table stays unchanged.
    """
    common = {
        "pqassay": report.pqassay,
        "rules_sha256": report.rules_sha256,
        "settings_sha256": settings_digest(settings),
    }
    about = {
        "schema_version": SCHEMA_VERSION,
        **common,
        "settings": members(settings),
        "folder": clean(_here()),
        "summary": members(report.summary),
        "ignored": members(report.ignored),
        "coverages": members(report.coverages),
    }
    schema = SCHEMA.with_metadata({METADATA_KEY: json.dumps(about).encode()})
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema, compression="zstd") as writer:
        waiting = _rows(report, states, common)
        while rows := list(islice(waiting, ROWS_AT_ONCE)):
            columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in FIELDS]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
        found = _digest(buffer.getvalue(), schema.metadata[METADATA_KEY])
        writer.add_key_value_metadata({DIGEST_KEY.decode(): found})
    table.mkdir(parents=True, exist_ok=True)
    write_whole(table / PART, buffer.getvalue())


def _here() -> str:
    return os.getcwd()  # noqa: PTH109 - text of any bytes, as the paths are


def _rows(report: Report, states: Sequence[FileState], common: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for file, state in zip(report.files, states, strict=True):
        shared = {
            **common,
            "path": clean(file.path),
            "file_kind": file.kind,
            "size": file.size,
            "outcome": file.outcome,
            "created_by": clean(file.created_by),
            "tier": report.coverages[file.coverage].tier,
            "modified_ns": state.modified,
        }
        yield {
            **shared,
            "kind": "file",
            "ctime_ns": state.ctime,
            "etag": state.etag,
            "beside": clean(state.beside),
            "reusable": state.is_reusable and is_exact(file),
            "judged_at": state.judged_at,
            "findings": len(file.findings),
            "notes": [clean(note) for note in file.notes],
            "gaps": [_gap_row(gap) for gap in file.gaps],
            "error": clean(file.error),
            "coverage": file.coverage,
        }
        for finding in file.findings:
            yield {**shared, "kind": "finding", **_finding_row(finding)}


def _gap_row(gap: Gap) -> dict[str, Any]:
    row: dict[str, Any] = members(gap)
    return {**row, "known": gap.known, "columns": [clean(name) for name in gap.columns]}


def _finding_row(finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = members(finding)
    positions: list[dict[str, Any]] = [{**_NO_PAGE, **position} for position in row.pop("at")]
    defaults = {"hexdump": [], "known": False, "files": [], "also": [], "shape": ""}
    seen = None if finding.observed is None else dataclasses.asdict(finding.observed)
    weighed = None if finding.weighed is None else dataclasses.asdict(finding.weighed)
    return {**defaults, **row, **positions[0], "observed": seen, "weighed": weighed, "positions": positions}


_NO_PAGE = {"row_group": None, "page": None, "file": None}


def clean(text: str | None) -> str | None:
    """Text that UTF-8 can represent; a path may have bytes that are not UTF-8."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()


def is_exact(file: FileReport) -> bool:
    """Whether a table can store the report without loss; false if a text in it is not UTF-8."""
    return all(clean(text) == text for text in _texts(file))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for declared in dataclasses.fields(value):
            yield from _texts(getattr(value, declared.name))


# ------------------------------------------------------------------------------------------------- reading


def read(table: Path, settings: Settings) -> Iterator[Row]:
    """Yield the files of a table with the same settings as a run; nothing if the settings differ.

    Raises:
        UsageError: The folder is not a findings table, or cannot be read.
    """
    path = table / PART
    if not path.exists():
        return
    about = _metadata(table)
    if about is None:
        raise UsageError(f"{path} is not a findings table")
    if about.get("settings_sha256") != settings_digest(settings):
        return
    is_here = about.get("folder") == clean(_here())
    try:
        coverages = {key: _coverage(value) for key, value in about["coverages"].items()}
        _require_sound(path)
        with pq.ParquetFile(path) as file:
            batches = file.iter_batches(batch_size=ROWS_AT_ONCE)
            rows = chain.from_iterable(batch.to_pylist() for batch in batches)
            for row in _files(rows, coverages):
                # A relative path means another file if the current folder differs.
                if is_here or is_uri(row.report.path) or row.report.path.startswith("/"):
                    yield row
    except (KeyError, TypeError, ValueError, OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(
            f"{path}: the table cannot be read: {reason}; remove it, and --reuse writes a new one"
        ) from None


def _digest(data: bytes | memoryview, about: bytes) -> str:
    """A digest of all pages of a table and of its metadata, since a flipped bit in a verdict would go unnoticed."""
    found = hashlib.sha256(data)
    found.update(about)
    return found.hexdigest()


def _require_sound(path: Path) -> None:
    content = path.read_bytes()
    keys: dict[bytes, bytes] = pq.read_metadata(io.BytesIO(content)).metadata or {}
    body = memoryview(content)[: read_framing(BytesSource(content)).footer_start]
    found = _digest(body, keys.get(METADATA_KEY, b""))
    if keys.get(DIGEST_KEY) != found.encode():
        raise ValueError("its bytes changed since it was written")


def _metadata(table: Path) -> dict[str, Any] | None:
    """The metadata in the footer of a table; ``None`` for other files."""
    try:
        found = (pq.read_schema(table / PART).metadata or {}).get(METADATA_KEY)
        about: Any = None if found is None else json.loads(found)
    except (OSError, ValueError, pa.ArrowException):
        return None
    if not isinstance(about, dict) or about.get("schema_version") != SCHEMA_VERSION:
        return None
    return about


def _coverage(stored: dict[str, Any]) -> Coverage:
    untested = {
        rule: Untested(why["obstacle"], why["reason"], tuple(why.get("further", ())))
        for rule, why in stored["not_checked"].items()
    }
    return dataclasses.replace(Coverage(**stored), not_checked=untested)


def _files(rows: Iterator[dict[str, Any]], coverages: Mapping[str, Coverage]) -> Iterator[Row]:
    """Yield files together with their findings; the rows of a file's findings follow its own row."""
    for row in rows:
        findings = [finding_of(next(rows)) for _ in range(row["findings"])]
        report = FileReport(
            path=row["path"],
            kind=row["file_kind"],
            size=row["size"],
            outcome=row["outcome"],
            coverage="",
            findings=findings,
            error=row["error"],
            created_by=row["created_by"],
            notes=row["notes"],
            gaps=[dataclasses.replace(Gap(**gap), known=False) for gap in row["gaps"]],
        )
        state = FileState(
            modified=row["modified_ns"],
            beside=row["beside"],
            etag=row["etag"],
            is_reusable=row["reusable"],
            judged_at=int(row["judged_at"].timestamp() * 1_000_000),
            ctime=row["ctime_ns"],
        )
        yield Row(report, coverages[row["coverage"]], state)


def finding_of(row: Mapping[str, Any]) -> Finding:
    """The finding of a row; members of columns that were not read have their defaults.

    The member ``known`` is not reused, since the baseline of the caller determines it.
    """
    names = {declared.name for declared in dataclasses.fields(Finding)} & row.keys()
    stored = {name: row[name] for name in names - {"known", "observed"}}
    stored |= {name: stored.get(name) or [] for name in ("files", "also")}
    stored["shape"] = stored.get("shape") or ""
    if (weighed := stored.pop("weighed", None)) is not None:
        stored["weighed"] = Weighing(**weighed)
    positions = [Position(**position) for position in row["positions"]]
    # Observations may be repeated without a change of rules, so the current ones are used.
    rule = file_rules().get(row["rule"])
    is_comparison = rule is not None and rule.compares_values
    return Finding(
        **stored,
        at=positions,
        observed=observed_like(row["rule"], stored["shape"]),
        compares_values=is_comparison,
        basis="stated" if rule is None else rule.origin.kind,
    )
