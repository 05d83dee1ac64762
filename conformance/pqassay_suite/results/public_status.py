"""The format of Parquet's own status page, one YAML file per implementation, and its contradictions to measured results.

A file has ``engine_id``, ``last_updated`` and ``support``: for each feature ``full``, ``read``, ``write``,
``none`` or ``unknown``. The output also has ``note``, ``cases`` and ``failing``, because the
status alone cannot show that writing was not tested. This module needs PyYAML, which is an extra.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

import yaml  # type: ignore[import-untyped]  # pqassay does not depend on its stubs
from pydantic import BaseModel, Field, ValidationError

from pqassay.errors import UsageError
from pqassay.report.status_table import CASES_SHOWN, Aspect, Contradictions, StatusCell, StatusTable
from pqassay_suite.results.status import features

Support = Literal["full", "read", "write", "none", "unknown"]

DONE = ("yes", "partly")
"""Ticks for a supported aspect."""

MEASURED = (*DONE, "no")
"""Ticks that can contradict a claim."""

CLAIMS: Mapping[Support, tuple[bool, bool]] = {
    "full": (True, True),
    "read": (True, False),
    "write": (False, True),
    "none": (False, False),
}
"""What a status claims about reading and about writing."""


class Claim(BaseModel):
    """The claims about one feature in a file; other members are ignored."""

    status: Support


class PublicStatus(BaseModel):
    """A file about one implementation; other members are ignored."""

    engine_id: Annotated[str, Field(min_length=1)]
    support: dict[str, Claim]


def read_status(path: Path) -> PublicStatus:
    """The status in a file.

    Raises:
        UsageError: It is not such a file.
        OSError: It cannot be read.
    """
    try:
        return PublicStatus.model_validate(yaml.safe_load(path.read_bytes()))
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the document"
        raise UsageError(
            f"{path}: not a status of one implementation as Parquet's page keeps it: {where}: {first['msg']}"
        ) from None


def differences(status: StatusTable, public: PublicStatus) -> Iterator[Contradictions]:
    """Contradictions between results and a public status; untested features contradict nothing.

    The same is true of a group that is read as stored, because that needs no knowledge of its logical type.

    Args:
        status: The status of one implementation.
        public: The claims about it.
    """
    as_stored = {feature.id for feature in features() if feature.as_stored}
    for row in status.rows:
        claim = public.support.get(row.feature)
        (cell,) = row.cells
        if claim is None or claim.status == "unknown" or cell.tick not in MEASURED:
            continue
        claimed = CLAIMS[claim.status][row.aspect == "writes"]
        if claimed and cell.tick != "yes":
            yield Contradictions(row.feature, row.aspect, claim.status, cell.tick, cell.failing)
        elif not claimed and cell.tick in DONE and row.feature not in as_stored:
            yield Contradictions(row.feature, row.aspect, claim.status, cell.tick, cell.passing)


def write_yaml(status: StatusTable, dates: list[str | None], engine_ids: list[str], stream: TextIO) -> None:
    """Write a document for each implementation.

    Args:
        status: The table.
        dates: The day of each implementation's results, if it is known.
        engine_ids: The name of each implementation on the public page.
        stream: The output.
    """
    documents: list[dict[str, Any]] = []
    for place, (date, engine) in enumerate(zip(dates, engine_ids, strict=True)):
        cells: dict[str, dict[Aspect, StatusCell]] = {}
        for row in status.rows:
            cells.setdefault(row.feature, {})[row.aspect] = row.cells[place]
        document: dict[str, Any] = {"engine_id": engine}
        if date is not None:
            document["last_updated"] = date
        document["measured"] = status.implementations[place]
        document["support"] = {feature: _entry(own) for feature, own in cells.items()}
        if status.against is not None:
            document["differences"] = [
                {**vars(one), "cases": one.cases[:CASES_SHOWN]} for one in status.differences
            ]
        documents.append(document)
    yaml.safe_dump_all(documents, stream, sort_keys=False, width=110, allow_unicode=True)


def _entry(cells: Mapping[Aspect, StatusCell]) -> dict[str, Any]:
    """The entry of a file for one feature: the status, its basis, and the cases."""
    entry: dict[str, Any] = {"status": _support(cells)}
    entry["note"] = "; ".join(f"{aspect}: {_words(cell)}" for aspect, cell in cells.items())
    if "writes" not in cells:
        entry["note"] += "; writes: not asked"
    passing = {aspect: cell.passing[:CASES_SHOWN] for aspect, cell in cells.items() if cell.passing}
    failing = {aspect: cell.failing for aspect, cell in cells.items() if cell.failing}
    return entry | ({"cases": passing} if passing else {}) | ({"failing": failing} if failing else {})


def _words(cell: StatusCell) -> str:
    counts = f", {cell.passed} of {cell.passed + len(cell.failing)} cases" if cell.tick in MEASURED else ""
    return f"{cell.tick}{counts}"


def _support(cells: Mapping[Aspect, StatusCell]) -> Support:
    """The word for the result; a feature of queries has no writing."""
    ticks = {aspect: cell.tick for aspect, cell in cells.items()}
    writes = ticks.pop("writes", None)
    reads_it, writes_it = any(tick in DONE for tick in ticks.values()), writes in DONE
    if reads_it and (writes_it or set(cells) == {"uses"}):
        return "full"
    if reads_it or writes_it:
        return "read" if reads_it else "write"
    known = [cell.tick for cell in cells.values()]
    return "none" if all(tick == "no" for tick in known) else "unknown"
