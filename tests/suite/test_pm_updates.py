"""Updates of ``_pm``: what writers are asked to append, and which faults of theirs are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from golden_cases import golden_cases
from inside import Here
from pqassay_reference.pm import write
from pqassay_reference.pm.storage import MemoryStorage
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.value import SnapshotValue
from pqassay_spec.pm.value_json import from_json
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.cases.update_cases import STOP, asked_cases, update_cases
from pqassay_suite.drivers.capabilities import missing_capability
from pqassay_suite.drivers.protocol import Accept, Reject
from pqassay_suite.judging.answers import operations
from pqassay_suite.judging.bench import Bench, Judgement
from pqassay_suite.judging.pm_updates import UPDATING

CASES = {golden.case.id: golden for golden in update_cases(golden_cases())}

Writer = Callable[[bytes, SnapshotValue], bytes]


def appended(data: bytes, value: SnapshotValue, *, commits: bool = True) -> bytes:
    storage = MemoryStorage(data)
    write.update_in(storage, value, commits=commits)
    return bytes(storage.data)


def judged(golden: GoldenCase, writer: Writer, folder: Path) -> Judgement:
    """What becomes of a case with a writer."""
    bench = Bench(golden, folder, Here())
    bench.hand_over()
    (expected,) = UPDATING.expected(golden.case)
    request = UPDATING.request(bench, expected)
    value = from_json(golden.case.expect.value or {})
    bench.input.write_bytes(writer(bench.input.read_bytes(), value))
    assert str(bench.input) == getattr(request, "file")  # noqa: B009 - a member of this request alone
    return UPDATING.judge(bench, expected, Accept("accept"))


def test_each_chain_gives_three_cases_which_ask_for_updates_alone() -> None:
    chains = {
        golden.case.id for golden in golden_cases() if (golden.case.expect.value or {}).get("previous_sizes")
    }

    assert len(CASES) == 3 * len({name.split("/")[1] for name in CASES}) > 0
    assert {name.split("/")[1] for name in CASES} <= {name.rpartition("/")[2] for name in chains}
    assert {("update",)} == {tuple(operations(golden.case)) for golden in CASES.values()}
    assert set(CASES) <= {golden.case.id for golden in asked_cases()}


@pytest.mark.parametrize("name", CASES)
def test_a_writer_that_appends_and_writes_the_size_last_is_right(name: str, tmp_path: Path) -> None:
    commits = not name.endswith("/stopped")

    def writer(data: bytes, value: SnapshotValue) -> bytes:
        return appended(data, value, commits=commits)

    assert Judgement(right=True) == judged(CASES[name], writer, tmp_path)


def test_a_stop_is_asked_for_where_it_is_declared() -> None:
    stopped, following = (CASES[f"update/three-snapshots/{name}"].case for name in ("stopped", "next"))

    assert STOP == missing_capability("update", "PM", stopped.requires, [], ["pm.update"])
    assert "" == missing_capability("update", "PM", following.requires, [], ["pm.update"])
    assert "" == missing_capability("update", "PM", stopped.requires, [], [STOP])


def rewritten(_: bytes, value: SnapshotValue) -> bytes:
    return write.create(replace(value, previous_sizes=()))


def other_value(data: bytes, value: SnapshotValue) -> bytes:
    return appended(data, replace(value, unused_bytes=value.unused_bytes + 8))


def spoilt(data: bytes, value: SnapshotValue) -> bytes:
    whole = bytearray(appended(data, value))
    whole[pm.FixedHeader.size + pm.CRC_START] ^= 1
    return bytes(whole)


def with_wrong_checksum(data: bytes, value: SnapshotValue) -> bytes:
    whole = bytearray(appended(data, value))
    whole[-pm.TRAILER_SIZE - 1] ^= 1
    return bytes(whole)


def without_reuse(data: bytes, value: SnapshotValue) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "_blocks_that_are_there", lambda *_: {})
        return appended(data, value)


@pytest.mark.parametrize(
    ("writer", "reason"),
    [
        (rewritten, "the update changed a byte of the snapshots before"),
        (spoilt, "the update changed a byte of the snapshots before"),
        (other_value, "the updated file has a wrong unused_bytes"),
        (with_wrong_checksum, "the updated file breaks rules"),
        (without_reuse, "row group 1 is written again"),
        (lambda data, _: data, "the updated file has a wrong row_groups[0].num_rows"),
    ],
)
def test_a_wrong_update_is_found(writer: Writer, reason: str, tmp_path: Path) -> None:
    assert reason == judged(CASES["update/three-snapshots/next"], writer, tmp_path).reason


@pytest.mark.parametrize(
    ("writer", "reason"),
    [
        (appended, "the update changed the committed size"),
        (lambda data, _: data, "nothing was written"),
        (lambda data, _: data + bytes(64), "the updated file breaks rules"),
    ],
)
def test_a_writer_that_writes_the_size_too_early_is_found(
    writer: Writer, reason: str, tmp_path: Path
) -> None:
    assert reason == judged(CASES["update/three-snapshots/stopped"], writer, tmp_path).reason


def test_a_refusal_is_wrong(tmp_path: Path) -> None:
    golden = CASES["update/three-snapshots/next"]
    (expected,) = UPDATING.expected(golden.case)
    found = UPDATING.judge(Bench(golden, tmp_path, Here()), expected, Reject("reject", "no"))

    assert (False, "refused") == (found.right, found.reason)
