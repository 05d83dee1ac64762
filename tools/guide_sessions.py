"""Run the console and Python blocks of a guide in order, and compare their output with the page.

    python tools/guide_sessions.py docs/guide/pm.md            compare
    python tools/guide_sessions.py docs/guide/pm.md --write    write the output into the page
    python tools/guide_sessions.py docs/guide/query.md --spark start Spark for the blocks that need it

Blocks run in a new folder with links to ``golden_files`` and ``tools``, on data that the page itself makes:

* A block of ``text`` after one of ``python`` is its output.
* A block with a title, such as ``title="driver.py"``, is written to that file. If it includes a file of the repository
  (``--8<-- "examples/row_bitmap.py"``), that file is copied.
* A line ``…`` (or ``...``) stands for any lines, and ``…`` in a line for any text. A block that still fits is not rewritten.
* A block after ``<!-- not run: why -->`` is skipped.
* A block after ``<!-- needs Spark -->``, or with a command ``pqassay spark``, runs only with --spark.
* A Python block after ``<!-- reads damaged files -->`` runs in its own process with a time limit, because libraries may hang.
  Commands that need a shell do, too.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner, Result

ROOT = Path(__file__).resolve().parent.parent

FENCE = re.compile(
    r"(?:^ *<!-- (?:not run: (?P<why>[^\n]+?)|(?P<spark>needs Spark)|(?P<damaged>reads damaged files)) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>console|python|text|toml)(?P<options>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)

TITLE = re.compile(r'title="([^"]+)"')
"""A pattern for the file name of a block."""

SNIPPET = re.compile(r'--8<-- "([^"]+)"\n')
"""A pattern for a block that the site fills with a file of the repository."""

OMISSION = ("…", "...")
"""Lines that match any lines."""

SECONDS = 200.0
"""The time limit in seconds of a shell command or a program in a separate process; an idle machine needs less than a tenth."""

WIDTH = "120"
"""The width of the terminal in which a shell runs."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: Its language.
        body: Its text.
        start: The offset of the text in the page.
        title: The file that it defines, if any.
        why_not: Why it is not run, if it is not.
        needs_spark: Whether it runs in a session of Spark.
        is_apart: Whether it runs in a separate process.
    """

    language: str
    body: str
    start: int
    title: str = ""
    why_not: str = ""
    needs_spark: bool = False
    is_apart: bool = False

    @property
    def end(self) -> int:
        """The offset after the text."""
        return self.start + len(self.body)


@dataclass(frozen=True)
class Played:
    """A block that was run, with its actual output."""

    block: Block
    printed: str

    @property
    def agrees(self) -> bool:
        """Whether the page shows the actual output."""
        return fits(self.block.body, self.printed)

    def difference(self) -> str:
        """The lines that differ."""
        return "\n".join(
            difflib.unified_diff(
                self.block.body.splitlines(), self.printed.splitlines(), "the page", "printed", lineterm=""
            )
        )


def blocks_of(page: str) -> list[Block]:
    """The console and Python blocks of a page, its files, and the outputs of blocks, in order."""
    return [
        Block(
            fence["language"],
            fence["body"],
            fence.start("body"),
            title[1] if (title := TITLE.search(fence["options"])) else "",
            fence["why"] or "",
            needs_spark=bool(fence["spark"]) or "$ pqassay spark " in fence["body"],
            is_apart=bool(fence["damaged"]),
        )
        for fence in FENCE.finditer(page)
    ]


def play(page: str, folder: Path, spark: object | None = None) -> Iterator[Played]:
    """Run the blocks of a page in order in a folder; Python blocks share their names.

    Args:
        page: The text of the page.
        folder: Where to run them.
        spark: A session of Spark, named ``spark`` in Python blocks; without it, blocks that need one are skipped.

    Raises:
        subprocess.CalledProcessError: A command that prepares something, such as ``cp``, failed.
        Exception: The error of a Python block.
    """
    for name in ("golden_files", "tools"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    names: dict[str, object] = {"__name__": "__main__", "spark": spark}
    printed: str | None = None
    with contextlib.chdir(folder):
        for block in blocks_of(page):
            before, printed = printed, None
            if block.why_not or (block.needs_spark and spark is None):
                continue
            if block.title:
                named = SNIPPET.fullmatch(block.body)
                text = (ROOT / named[1]).read_text("utf-8") if named else block.body
                Path(block.title).write_text(text, "utf-8")
            elif block.language == "python":
                if block.is_apart:
                    text, code = _in_time([sys.executable, "-c", block.body])
                    text += f"exit code {code}\n" if code else ""
                else:
                    stream = io.StringIO()
                    with contextlib.redirect_stdout(stream):
                        exec(compile(block.body, "guide", "exec"), names)
                    text = stream.getvalue()
                printed = "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())
            elif block.language == "text":
                if before is not None:
                    yield Played(block, before)
            elif block.language == "console":
                yield Played(block, "".join(_session(block.body)))


def _in_time(command: list[str], seconds: float = SECONDS) -> tuple[str, int]:
    """The output of a program on both streams, and its exit code; on timeout, it is ended with its children."""
    scripts = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": WIDTH}
    with (
        tempfile.TemporaryFile("w+") as out,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        ) as process,
    ):
        late = ""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            late = f"not ended after {seconds:g} s\n"
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        out.seek(0)
        return out.read() + late, code


def _session(body: str) -> Iterator[str]:
    """Yield the commands of a console block, each with its actual output."""
    code = 0
    for command in commands_of(body):
        yield "".join(
            f"{'$' if not number else '>'} {line}\n" for number, line in enumerate(command.split("\n"))
        )
        if command == "echo $?":
            yield f"{code}\n"
            continue
        printed, code = run(command)
        yield printed


def commands_of(body: str) -> list[str]:
    """The commands of a console block; a line that begins with ``>`` continues the previous one."""
    commands: list[str] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            commands.append(line[2:])
        elif line.startswith("> ") and commands:
            commands[-1] += "\n" + line[2:]
    return commands


def run(command: str) -> tuple[str, int]:
    """The output of a command on both streams, interleaved, and its exit code."""
    bare = QUOTED.sub(lambda found: "_" * len(found[0]), command)
    where = REST.search(bare)
    end = where.start() if where else len(command)
    words = shlex.split(command[:end], comments=True)
    if words and words[0] == "pqassay" and not BY_SHELL.search(bare):
        result = _invoked(words)
        if where is None:
            return result.output, result.exit_code
        return _handed_on(result, command[end:])
    return _by_shell(command)


QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")

REST = re.compile(r"\s(?:\||2?>)")
"""A pattern for the start of a redirection to another command or a file."""

BY_SHELL = re.compile(r"[;&`*$\n(<](?!1(?: |$))|^[^|]*\|.*pqassay")
"""A pattern for commands that need a shell from the beginning, except for ``2>&1``."""


SHOWN = {"COLUMNS": WIDTH, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
"""Environment variables that make output independent of language and time zone."""


def _by_shell(command: str, *arguments: str) -> tuple[str, int]:
    return _in_time(["bash", "-c", command, "bash", *arguments])


def _handed_on(result: Result, rest: str) -> tuple[str, int]:
    """The output that remains after a shell has redirected it, and the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("out", "err")]
        for path, content in zip(streams, (result.stdout_bytes, result.stderr_bytes), strict=True):
            path.write_bytes(content)
        again = f'{{ cat "$2" >&2; cat "$1"; (exit {result.exit_code}); }} {rest}'
        return _by_shell(again, *map(str, streams))


def _invoked(words: list[str]) -> Result:
    """The result of the command ``pqassay``, called in this process."""
    app = importlib.import_module("pqassay.cli.main").app
    # A separate process would lose the caches of files that were already read.
    importlib.import_module("pqassay_reader.query.facts.footer_facts").KEPT_FACTS.clear()
    result = CliRunner().invoke(app, words[1:], prog_name=words[0])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def fits(shown: str, printed: str) -> bool:
    r"""Whether the text on a page matches the output, with omissions.

    >>> fits("a\n…\n", "a\nb\nc\n"), fits("a…c\n", "abc\n"), fits("a\n", "b\n")
    (True, True, False)
    """
    pattern = ""
    for line in shown.splitlines():
        if line.strip() in OMISSION:
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n"
    return re.fullmatch(pattern, printed if printed.endswith("\n") else f"{printed}\n") is not None


def rewritten(page: str, played: list[Played]) -> str:
    """The page, with actual output in blocks that do not match."""
    for each in sorted(played, key=lambda each: each.block.start, reverse=True):
        if not each.agrees:
            page = page[: each.block.start] + each.printed + page[each.block.end :]
    return page


def main() -> int:
    """Compare pages with the output of their blocks, or write the output into them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put what was printed into the page")
    parser.add_argument("--spark", action="store_true", help="start Spark, and run the blocks that need it")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        session: object | None = None
        if options.spark:
            module = importlib.import_module("pqassay_spark.jobs.session")
            session = stack.enter_context(module.spark_session(name="guides"))
        differing = sum(_compared(path, session, is_written=options.write) for path in options.pages)
    return 0 if options.write else min(differing, 1)


def _compared(path: Path, session: object | None, *, is_written: bool) -> int:
    """Compare or rewrite a page; return the number of its blocks that differ."""
    page = path.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        played = list(play(page, Path(folder), session))
    wrong = [each for each in played if not each.agrees]
    if is_written:
        path.write_text(rewritten(page, played), "utf-8")
    else:
        print("\n".join(each.difference() for each in wrong))
    print(f"{path}: {len(played)} blocks, {len(wrong)} {'rewritten' if is_written else 'differ'}")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
