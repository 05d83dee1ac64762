"""Files that are removed between the listing of their folder and the moment at which they are read, and stores that throttle."""

from __future__ import annotations

import dataclasses
import os
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import pqassay
from places import GOLDEN_FILES
from pqassay.cli.main import app
from pqassay.judge import checker
from pqassay.judge.one_file import Judged, Settings, judge
from pqassay.report.formats import FormatName
from pqassay.stores import remote_source
from pqassay.stores.remote_source import RemoteSource, patiently
from pqassay.stores.target import Target
from report_samples import rendered

GOOD = GOLDEN_FILES / "pix/three-pages/data.parquet"


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files, the second of which is removed when the first is judged."""
    folder = tmp_path / "lake"
    folder.mkdir()
    for name in ("a", "b"):
        shutil.copy(GOOD, folder / f"{name}.parquet")

    def vacuumed(targets: list[Target], settings: Settings, **_: object) -> Generator[Judged]:
        (folder / "b.parquet").unlink(missing_ok=True)
        yield from (judge(target, settings) for target in targets)

    monkeypatch.setattr(checker, "_in_this_process", vacuumed)
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_file_that_was_removed_is_gone_and_fails_nothing(lake: Path) -> None:
    report = pqassay.check(lake)

    assert ["conformant", "gone"] == [file.outcome for file in report.files]
    assert (1, 0, 0) == (report.summary.gone, report.summary.errored, report.exit_code)


def test_what_is_to_be_complete_is_not(lake: Path) -> None:
    assert 4 == pqassay.check(lake, complete=True).exit_code


def test_texts_say_so(lake: Path) -> None:
    report = pqassay.check(lake)
    root = ET.fromstring(rendered(report, FormatName.JUNIT))

    assert "1 conformant, 0 nonconformant, 0 errored, 1 gone" in rendered(report, FormatName.TEXT)
    assert ["7", "7"] == [suite.get("tests") for suite in root]
    assert "0" == root.get("errors")
    assert "gone" in rendered(report, FormatName.HTML)


def test_a_baseline_keeps_what_it_says_of_a_gone_file(lake: Path) -> None:
    bad = GOLDEN_FILES / "sta/bound-cut-in-a-character/data.parquet"
    shutil.copy(bad, lake / "b.parquet")
    kept = shutil.copytree(lake, lake.parent / "kept")
    assert 0 == CliRunner().invoke(app, ["baseline", "--output", "known.json", str(kept)]).exit_code
    text = Path("known.json").read_text("utf-8").replace("kept/", "lake/")
    Path("known.json").write_text(text, "utf-8")
    shutil.copy(bad, lake / "b.parquet")
    report = pqassay.check(lake, baseline="known.json")

    assert (0, []) == (report.exit_code, report.baseline and report.baseline.stale)


# ------------------------------------------------------------------------------------------------- throttling

BUSY = OSError(
    "When reading: AWS Error SLOW_DOWN during GetObject operation (HTTP status 503): Please reduce"
)


@dataclasses.dataclass
class BusyFile:
    """An object of a store that refuses some requests before it answers one."""

    content: bytes
    refusals: int
    error: OSError = BUSY

    def size(self) -> int:
        return len(self.content)

    def read_at(self, nbytes: int, offset: int) -> bytes:
        if self.refusals:
            self.refusals -= 1
            raise self.error
        return self.content[offset : offset + nbytes]

    def close(self) -> None: ...


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []
    monkeypatch.setattr(remote_source, "time", SimpleNamespace(sleep=waited.append))
    return waited


@pytest.mark.parametrize("words", [str(BUSY), "429 Too Many Requests", "RequestLimitExceeded", "ServerBusy"])
def test_throttled_requests_are_made_again_and_counted(words: str, waits: list[float]) -> None:
    source = RemoteSource(BusyFile(GOOD.read_bytes(), 3, OSError(words)), "s3://lake/a.parquet")
    report, _ = judge(Target("a", "a", data=source), Settings("index"))

    assert ("conformant", 3, 3) == (report.outcome, report.throttled, len(waits))
    assert waits[0] < waits[2]


def test_a_store_that_throttles_for_good_is_an_error_in_words(waits: list[float]) -> None:
    source = RemoteSource(BusyFile(GOOD.read_bytes(), 99), "s3://lake/a.parquet")
    report, _ = judge(Target("a", "a", data=source), Settings("index"))

    assert ("errored", len(remote_source.WAITS)) == (report.outcome, len(waits))
    assert "the store throttles requests" in (report.error or "")


def test_other_errors_are_raised_at_once(waits: list[float]) -> None:
    with pytest.raises(OSError, match="denied"):
        patiently(lambda: (_ for _ in ()).throw(OSError("denied")))
    assert [] == waits


def test_the_summary_says_how_many(waits: list[float]) -> None:
    source = RemoteSource(BusyFile(GOOD.read_bytes(), 2), "s3://lake/a.parquet")
    report = pqassay.check(source)

    assert (2, 2) == (report.summary.throttled, len(waits))
    assert "throttled: 2 requests" in rendered(report, FormatName.TEXT)


# ------------------------------------------------------------------------------------------- a disk that is full


def test_a_full_disk_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:

        os.write(2, b"thread 'tokio-rt-worker' panicked\nstack backtrace:\n")
        raise RuntimeError(
            "Generic LocalFileSystem error: Unable to copy: No space left on device (os error 28)"
        )

    monkeypatch.setattr("deltalake.write_deltalake", full)
    place = f"delta:{tmp_path / 'h'}"
    done = CliRunner().invoke(app, ["check", str(GOOD), "--history", place])

    assert (2, f"error: history {place}: No space left on device\n") == (done.exit_code, done.stderr)
    assert "panicked" not in capfd.readouterr().err
