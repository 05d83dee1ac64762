"""Runs Python programs of pages in a reusable process: a crash, a hang or excessive memory affects only one program.

python tools/python_programs.py --serve

Each line of its input is a request in JSON: texts that are run in order with shared names, and their folder. Each line of its output is
what they printed, in JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from pqassay_suite.drivers.inspector import own_program
from pqassay_suite.drivers.process import Launcher, Limits
from pqassay_suite.drivers.session import Session

LIMITS = Limits(seconds=24)
"""The limits of the programs of a section.

An idle machine needs a second or two of processor time. Ten times as much by the clock is still less than a test may take.
"""


class PythonPrograms:
    """One process for many programs; if a program ends it, the next program gets another.

    Args:
        folder: The folder for its temporary files.
        limits: The limits for the programs of a request.
    """

    def __init__(self, folder: Path, limits: Limits = LIMITS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._session = Session(Launcher(limits), own_program(str(Path(__file__).resolve())), folder)
        self._has_ended = False

    def printed(self, texts: Sequence[str], place: Path) -> str:
        """Run texts in a folder.

        Returns:
            Their output, including an error, or a note that the process died.
        """
        reply = self._session.ask(json.dumps([list(texts), str(place)]), bool)
        if reply.lines:
            text: str = json.loads(reply.lines[0])
        else:
            self._has_ended = True
            why = reply.problem or (reply.ended.crash if reply.ended else "") or "it ended"
            text = f"the process of the program: {why}\n{reply.stderr}"
        if self._has_ended:
            self.close()  # a test that requests the program must not leave its replacement behind
        return text

    def begin(self) -> None:
        """Start the process now instead of with the first program."""
        self.printed([], Path.cwd())

    def close(self) -> None:
        """End the process."""
        self._session.close()


def run(texts: Sequence[str], place: str) -> str:
    """Run texts with the same names in a folder; return what they print, and the traceback of an error."""
    names: dict[str, Any] = {}
    stream = io.StringIO()
    with contextlib.chdir(place), contextlib.redirect_stdout(stream):
        try:
            for text in texts:
                exec(text, names)
        except BaseException:  # noqa: BLE001 - a panic of Rust, or an exit, ends one program
            stream.write(traceback.format_exc())
    return stream.getvalue()


def serve(requests: Iterable[str], answers: TextIO) -> None:
    """Run the request of each line."""
    for line in requests:
        print(json.dumps(run(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    # Output of libraries and other processes must not mix with the answers.
    private = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    serve(sys.stdin, private)
