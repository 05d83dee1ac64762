"""The Java process of Spark: what it prints is passed on but for one line, and a signal while it starts ends it."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import processes
from pqassay_spark.jobs import java_process
from pqassay_spark.jobs.java_process import NOISE, quiet_stderr

ERROR = b"12:00:00 ERROR Executor: it failed\n"


def passed_on(chunks: list[bytes]) -> bytes:
    """What is passed on of what comes in pieces."""
    out, into = os.pipe()
    passed: list[bytes] = []
    reader = threading.Thread(target=java_process.pass_on, args=(out, passed.append))
    reader.start()
    with os.fdopen(into, "wb", buffering=0) as pipe:
        for chunk in chunks:
            pipe.write(chunk)
    reader.join(processes.PATIENCE)
    assert not reader.is_alive()
    return b"".join(passed)


@given(st.integers(0, len(NOISE)), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_the_line_that_every_start_brings_is_left_out_and_errors_around_it_are_not(
    cut: int, end: bytes, is_first: bool
) -> None:
    before = b"" if is_first else ERROR
    assert before + ERROR == passed_on([before + NOISE[:cut], NOISE[cut:] + end, ERROR])


@pytest.mark.parametrize(
    "said",
    [
        NOISE + b", jdk.incubator.foreign\n",
        b"it said: " + NOISE + b"\n",
        NOISE[:20] + b"\n",
        NOISE[:20],
        b"WARNING: a restricted method\n\n\nno end of line",
        b"",
    ],
)
def test_anything_else_is_passed_on_as_it_is(said: bytes) -> None:
    assert said == passed_on([said])
    assert said == passed_on([said[at : at + 1] for at in range(len(said))])


def test_the_last_words_of_a_process_stand_before_what_is_said_of_its_end(
    capfd: pytest.CaptureFixture[str],
) -> None:
    script = f"import sys; sys.stderr.write({NOISE.decode()!r} + '\\nno such option\\n')"
    with pytest.raises(ValueError, match="it ended"), quiet_stderr() as stderr:  # noqa: PT012 - as a start that fails
        processes.run([sys.executable, "-c", script], stderr=stderr, check=True)
        raise ValueError("it ended")
    assert "no such option\n" == capfd.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")
def test_a_signal_while_java_starts_ends_it_and_leaves_no_java(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    # As the real one: it has started when the signal has come, ends if its parent is gone, but stays if it cannot say
    # where it listens.
    java.write_text(
        f"""#!/bin/sh
        [ "$1" = -version ] && exec echo 'version "17.0.1"' >&2
        echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid
        cat > /dev/null
        test -d "${{_PYSPARK_DRIVER_CONN_INFO_PATH%/*}}" || exec tail -f /dev/null"""
    )
    java.chmod(0o755)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    command = [sys.executable, "-m", "pqassay", "spark", "check", str(tmp_path)]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    with processes.started(command, stderr=processes.PIPE, text=True, env=environment) as process:
        started = tmp_path / "pid"
        processes.until(lambda: started.exists() or process.poll() is not None, "Java has started")
        process.terminate()
        _, error = processes.ended(process)
    pid = int(started.read_text())
    try:
        assert ("", 143) == (error, process.returncode)
        processes.until(lambda: not processes.alive(pid), "Java ends")
    finally:
        processes.end_left_running({pid})
