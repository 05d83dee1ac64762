"""Runs Python programs of pages in a process that goes on: what ends, hangs or bloats it costs one program.

    python tools/python_programs.py --serve

Each line of its input is a request in JSON: the texts that are run one after the other with the same names, and the folder in which. Each line of
its output is what they printed, in JSON.
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
"""Limits of the programs of a section: quiet machines need a second or two of processor time, and ten times as much by the clock is still
less than a test may take."""


class PythonPrograms:
    """One process for many programs; the one after a program that ended it has another.

    Args:
        folder: For its temporary files.
        limits: What the programs of a request may take.
    """

    def __init__(self, folder: Path, limits: Limits = LIMITS) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._session = Session(Launcher(limits), own_program(str(Path(__file__).resolve())), folder)
        self._has_ended = False

    def printed(self, texts: Sequence[str], place: Path) -> str:
        """Run texts in a folder.

        Returns:
            What they print; where one raises an error, or the process did not survive, that is told as well.
        """
        said = self._session.ask(json.dumps([list(texts), str(place)]), bool)
        if said.lines:
            text: str = json.loads(said.lines[0])
        else:
            self._has_ended = True
            why = said.problem or (said.ended.crash if said.ended else "") or "it ended"
            text = f"the process of the program: {why}\n{said.stderr}"
        if self._has_ended:
            self.close()  # nothing that takes the place of another is left behind where a test asked for the program
        return text

    def begin(self) -> None:
        """Start the process, which would start with the first program otherwise."""
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
    """Run what each line asks for."""
    for line in requests:
        print(json.dumps(run(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    # What libraries and other processes print must not come between the answers.
    private = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    serve(sys.stdin, private)
