"""Cases for writers of ``_pm``: append the newest snapshot of a golden file to the file before that snapshot.

These cases are derived from the golden files with several snapshots, three from each. Their ids begin with ``update/``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.case import CheckExpectation, Expect, UpdateExpectation, to_json
from pqassay_spec.golden.revision import case_digest
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_suite.cases.case import GoldenCase, golden_folder, load
from pqassay_suite.cases.writer_cases import writer_cases

ROOM = "update"
"""The first part of the ids of cases that append a snapshot."""

SINCE = "0.9.0"

STOP = "pm.update.stop"
"""The capability to stop at the point that a request names."""

_WAYS: tuple[tuple[str, str, UpdateExpectation, tuple[str, ...]], ...] = (
    ("next", "Append a snapshot", UpdateExpectation(), ()),
    ("behind-leftovers", "Append a snapshot where an earlier update was stopped", UpdateExpectation(), ()),
    (
        "stopped",
        "Append a snapshot, and stop before the committed size is written",
        UpdateExpectation(stop="before-size"),
        (STOP,),
    ),
)
"""Name, title, expectation and capabilities of each kind of update."""


def update_cases(cases: Iterable[GoldenCase]) -> list[GoldenCase]:
    """The update cases of the valid files with several snapshots.

    Args:
        cases: The golden cases.

    Raises:
        CaseError: A golden file is damaged.
    """
    return [
        found
        for golden in cases
        if (golden.case.family, golden.case.kind) == ("PM", "valid")
        and (golden.case.expect.value or {}).get("previous_sizes")
        for found in _cases(golden)
    ]


def _cases(golden: GoldenCase) -> Iterator[GoldenCase]:
    data = golden.content()
    source = BytesSource(data)
    size = pm_header.read_committed_size(source)
    _, earlier, *_ = pm_file.walk(source, pm_header.read_header(source, size), size)
    stopped = bytes(pm.COMMITTED_SIZE.build({"parquet_meta_file_size": earlier.size})) + data[pm.CRC_START :]
    for name, title, expectation, requires in _WAYS:
        before = stopped if name == "behind-leftovers" else stopped[: earlier.size]
        case = replace(
            golden.case,
            id=f"{ROOM}/{golden.case.id.rpartition('/')[2]}/{name}",
            since=SINCE,
            title=f"{title}: {golden.case.title}",
            requires=[*golden.case.requires, *requires],
            input=replace(golden.case.input, sha256=hashlib.sha256(before).hexdigest()),
            expect=Expect(
                check=CheckExpectation(rules=[], tier="values"),
                update=expectation,
                value=golden.case.expect.value,
            ),
        )
        manifest = to_json(case)
        digest = hashlib.sha256(json.dumps(manifest).encode()).hexdigest()
        yield GoldenCase(case, golden.folder, digest, case_digest(manifest), data=before)


def asked_cases() -> list[GoldenCase]:
    """All cases for an implementation: the golden cases of this installation, tables to write, and updates.

    Raises:
        CaseError: See `pqassay_suite.cases.case.load`.
    """
    golden = load(golden_folder())
    return [*golden, *writer_cases(), *update_cases(golden)]
