"""Judging updates of ``_pm``: the appended snapshot, and the bytes that must not change."""

from __future__ import annotations

import json
from typing import Any

from pqassay_spec.base.sources import BytesSource
from pqassay_spec.golden.case import UpdateExpectation
from pqassay_spec.pm import file as pm_file
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm import header as pm_header
from pqassay_spec.pm.reading import read_value
from pqassay_spec.pm.value_json import to_json
from pqassay_suite.drivers.protocol import Answer
from pqassay_suite.drivers.written_file import Inspection
from pqassay_suite.judging.bench import Asking, Bench, Judgement, expects
from pqassay_suite.judging.pm_answers import judged_value


def _judge(bench: Bench, expected: UpdateExpectation, answer: Answer) -> Judgement:
    if (judged := expects("accept", answer)) is not None:
        return judged
    if bench.input.is_symlink() or not bench.input.is_file():
        return Judgement(False, "the file is gone", "an updated file", "no regular file")
    before, after = bench.golden.content(), bench.input.read_bytes()
    committed = pm_header.read_committed_size(BytesSource(before))
    kept = 0 if expected.stop else pm.CRC_START
    if after[kept:committed] != before[kept:committed]:
        place = next(
            (at for at in range(kept, min(committed, len(after))) if after[at] != before[at]), len(after)
        )
        what = "the committed size" if place < pm.CRC_START else "a byte of the snapshots before"
        return Judgement(False, f"the update changed {what}", "nothing is changed", f"offset {place} differs")
    if expected.stop:
        if after[committed:] == before[committed:]:
            return Judgement(False, "nothing was written", "all but the committed size", "the file as it was")
        # A writer that writes the size last has already written everything else.
        after = bytes(pm.COMMITTED_SIZE.build({"parquet_meta_file_size": len(after)})) + after[pm.CRC_START :]
        bench.input.write_bytes(after)
    return _judged_file(bench, before, after)


def _judged_file(bench: Bench, before: bytes, after: bytes) -> Judgement:
    """Judge the file: the rules, the content of its newest snapshot, and the blocks that are unnecessarily rewritten."""
    inspected = bench.inspector.inspect(Inspection(str(bench.input), {}, []))
    if isinstance(inspected, str):
        return Judgement(False, "the updated file cannot be judged", "a file that can be checked", inspected)
    if inspected.failures or inspected.error:
        told = "; ".join(f"{rule}: {message}" for rule, message in inspected.failures)
        broken = tuple(rule for rule, _ in inspected.failures)
        return Judgement(
            False, "the updated file breaks rules", "no rule broken", told or inspected.error, broken
        )
    value = bench.case.expect.value
    judged = judged_value(value, inspected.value or {}, "the updated file has a ")
    return judged if not judged.right else _judged_blocks(before, after)


def _judged_blocks(before: bytes, after: bytes) -> Judgement:
    """Check that a row group of the previous snapshot keeps its block."""
    there, now = _blocks(before), _blocks(after)
    known = {offset for _, offset in there}
    for number, (row_group, offset) in enumerate(now):
        if offset not in known and any(row_group == other for other, _ in there):
            return Judgement(
                False,
                f"row group {number} is written again",
                f"its block at {min(place for other, place in there if other == row_group)}",
                f"a block at {offset}",
            )
    return judged_value({}, {})


def _blocks(data: bytes) -> list[tuple[str, int]]:
    """The content of each row group in the newest snapshot, with the offset of its block."""
    source = BytesSource(data)
    size = pm_header.read_committed_size(source)
    header = pm_header.read_header(source, size)
    snapshot = pm_file.read_snapshot(source, header, size)
    value: dict[str, Any] = to_json(read_value(source, header, snapshot))
    groups = [json.dumps(group, sort_keys=True, default=vars) for group in value["row_groups"]]
    return list(zip(groups, snapshot.blocks, strict=True))


UPDATING = Asking(
    "update",
    lambda bench, expected: {"value": bench.case.expect.value or {}, "stop": expected.stop},
    _judge,
)
"""The operation ``update``."""
