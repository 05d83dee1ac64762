"""The driver under test: sends requests, as files or as lines, and reads the answers."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pqassay.report.run.outcomes import Operation, Outcome
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.excerpt import telling_lines
from pqassay_suite.drivers.inspector import Inspector
from pqassay_suite.drivers.process import Ended, Launcher, Limits, read_answer_file
from pqassay_suite.drivers.protocol import Answer, HelloAnswer, ProtocolError, ScanRequest
from pqassay_suite.drivers.session import Session, Sessions

NOT_SUPPORTED = 3
"""Exit status of a driver that does not support a request."""

MOST_CRASHES = 3
"""Crashes or malformed answers among the queries of one case after which the other queries are skipped."""

MOST_FRESH = 50
"""Bad answers of a run that are retried in a fresh process while all retries were bad as well: the driver then counts as stable.
After the first retry with a right answer, each bad answer is retried."""


WRITTEN = 200
"""Bytes to show of an invalid answer to a greeting."""


class CannotStartError(Exception):
    """The driver's command cannot be started."""


class NoGreetingError(CannotStartError):
    """The driver does not answer ``hello``, so it would not answer any other question either."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    Attributes:
        command: The driver: program and arguments; request and answer are appended.
        limits: The limits of each request.
        jobs: Requests that run at the same time.
        strict: Check requests and answers completely against the schemas.
        keep: Folder in which requests, answers and files are kept.
        only: Operations to ask; all if empty.
        tasks: Pairs of a case's id and an operation to ask; all if empty.
        shipped: The driver's name among the shipped implementations.
        shown: The command as reports show it, if that is different.
        fresh: The most bad answers that are retried in a fresh process while all retries are bad.
        queries: The most queries of a case; the first ones touch most.
        written: Folder in which correctly written files are kept, by the ids of their cases.
    """

    command: Sequence[str]
    limits: Limits = field(default_factory=Limits)
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    strict: bool = False
    keep: Path | None = None
    only: Sequence[Operation] = ()
    tasks: frozenset[tuple[str, str]] = frozenset()
    shipped: str | None = None
    shown: Sequence[str] = ()
    fresh: int = MOST_FRESH
    queries: int | None = None
    written: Path | None = None


@dataclass(frozen=True)
class NoAnswer:
    """The reason why there is no answer.

    Attributes:
        outcome: ``crashed``, ``protocol error``, or ``unsupported`` for exit status 3.
        reason: The reason in one line.
        stderr: The most informative lines of the driver's output.
        timed_out: Whether it exceeded its time.
    """

    outcome: Outcome
    reason: str
    stderr: str | None = None
    timed_out: bool = False


Reply = Answer | NoAnswer

NOT_KNOWN = NoAnswer("unsupported", "not supported (exit status 3)")


@dataclass
class _Collector:
    """Reads the lines that answer a request, as they arrive."""

    operation: Operation
    seqs: list[int]
    strict: bool
    answers: dict[int, Answer] = field(default_factory=dict[int, Answer])
    read: int = 0
    problem: str = ""

    def is_whole(self, lines: Sequence[bytes]) -> bool:
        """Read the new lines; return whether the answer is complete."""
        for line in lines[self.read :]:
            self.read += 1
            try:
                answer = protocol.read_answer(line, self.operation, strict=self.strict)
            except ProtocolError as error:
                self.problem = str(error)
                return True
            open_ = [seq for seq in self.seqs if seq not in self.answers]
            if answer.seq is None:
                self.answers |= dict.fromkeys(open_, answer)
            elif answer.seq in open_:
                self.answers[answer.seq] = answer
            else:
                self.problem = f"seq {answer.seq} is not a query that waits for an answer"
                return True
        return len(self.answers) == len(self.seqs)


class DriverUnderTest:
    """A driver's command, and the exchanges with it; each thread uses its own process.

    Attributes:
        is_unstable: Whether a bad answer became right in a fresh process.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.launcher = Launcher(settings.limits)
        self.inspector = Inspector()
        self.serves = False
        self.is_unstable = False
        self._sessions = Sessions(self.launcher, settings.command)
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._fresh_left = settings.fresh
        self._wrote = ""

    def close(self) -> None:
        """End all processes."""
        self.launcher.stop()
        self.inspector.close()
        self._sessions.close()

    def hello(self) -> HelloAnswer | NoAnswer:
        """Greet the driver. If it declares ``serve``, later requests are sent as lines to a persistent process.

        Raises:
            CannotStartError: There is no such program.
        """
        request = protocol.HelloRequest(protocol.PROTOCOL, "hello")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            ended, content = self._by_files(protocol.to_json(request), Path(name))
        self._wrote = "" if isinstance(content, NoAnswer) else content[:WRITTEN].decode("utf-8", "replace")
        if isinstance(content, NoAnswer):
            return content
        try:
            answer = protocol.read_hello(content, strict=self.settings.strict)
        except ProtocolError as error:
            return _no_answer(ended, str(error))
        self.serves = answer.serve
        return answer

    def greet(self) -> HelloAnswer | None:
        """Greet the driver, and retry in a fresh process if there is no answer; ``None`` if it lacks ``hello`` (exit status 3).

        Raises:
            NoGreetingError: It has not answered; the message says what to do. A driver that exceeded its time is not retried.
            CannotStartError: There is no such program.
        """
        if shutil.which(self.settings.command[0]) is None:
            raise CannotStartError(f"there is no program {self.settings.command[0]}, or it is not executable")
        greeting = self.hello()
        times = 1
        if isinstance(greeting, NoAnswer) and greeting.outcome != "unsupported" and not greeting.timed_out:
            greeting, times = self.hello(), 2
        if isinstance(greeting, HelloAnswer):
            return greeting
        if greeting.outcome == "unsupported":
            return None
        raise NoGreetingError(self._without_greeting(greeting, times))

    def _without_greeting(self, greeting: NoAnswer, times: int) -> str:
        command = shlex.join(self.settings.shown or self.settings.command)
        asked = f"asked {'once' if times == 1 else 'twice'}"
        lines = [
            f"the driver does not answer hello ({asked}): {greeting.reason}; nothing else was asked",
            f"  it wrote     {self._wrote!r}" if self._wrote else "  it wrote     no answer",
            f"  on stderr    {' / '.join(greeting.stderr.splitlines())}" if greeting.stderr else "",
            '  wanted       {"answer": "accept", "name": "...", "version": "...", "language": "...", "capabilities": [...]}',
            "               in the file that its second argument names; or exit status 3, if it does not know hello",
            """  try by hand  echo '{"protocol": 2, "op": "hello"}' > request.json""",
            f"               {command} request.json answer.json; echo $?; cat answer.json",
        ]
        return "\n".join(filter(None, lines))

    def ask(self, request: protocol.CaseRequest, folder: Path) -> Reply:
        """The answer to a request without queries.

        Raises:
            CannotStartError: The program no longer exists.
        """
        reply = self._ask(request, [0], folder)[0]
        self._mine.had_answered = self.serves and self._session.answered > 0
        return reply

    def ask_queries(self, request: ScanRequest, folder: Path) -> list[Reply]:
        """The answers to the queries of a request.

        Questions after a crash are asked again, without the question that crashed.
        """
        replies: dict[int, Reply] = {}
        for number in range(MOST_CRASHES):
            left = [query for query in request.queries if query.seq not in replies]
            if not left:
                break
            answers = self._ask(replace(request, queries=left), [query.seq for query in left], folder)
            replies |= answers
            if number == 0:  # later ones may start new processes because of this one
                self._mine.had_answered = self.serves and self._session.answered > 0
            last = answers[max(answers)] if answers else None
            if isinstance(last, NoAnswer) and last.timed_out:
                break  # another wait would most likely be for nothing, too
            if len(answers) == len(left) and not (isinstance(last, NoAnswer) and last.outcome == "crashed"):
                break
        return [replies.get(query.seq) or _like(replies) for query in request.queries]

    def may_ask_again(self) -> bool:
        """Whether a bad answer came from a process with earlier answers, and may be retried in a fresh one."""
        if not self._mine.had_answered:
            return False
        with self._lock:
            self._fresh_left -= 1
            return self.is_unstable or self._fresh_left >= 0

    def start_afresh(self) -> None:
        """Use a new process for the next request."""
        if self.serves:
            self._session.close()

    @property
    def _session(self) -> Session:
        return self._sessions.mine

    def _ask(self, request: protocol.CaseRequest, seqs: list[int], folder: Path) -> dict[int, Reply]:
        """Replies by seq; if the process ended, only up to the first query without an answer."""
        text = protocol.to_json(request)
        if self.settings.strict:
            protocol.check_request(text)
        collector = _Collector(request.op, seqs, self.settings.strict)
        ended: Ended | None = None
        if self.serves:
            try:
                said = self._session.ask(text, collector.is_whole)
            except OSError as error:
                raise CannotStartError(f"{self.settings.command[0]}: {error.strerror or error}") from None
            ended, stderr, lines = said.ended, said.stderr, said.lines
            problem = collector.problem or said.problem
            if collector.problem:
                self._session.close()
        else:
            ended, content = self._by_files(text, folder)
            stderr, problem = ended.stderr, ""
            if isinstance(content, NoAnswer):
                if content is NOT_KNOWN:
                    return dict.fromkeys(seqs, content)
                problem = content.reason
                content = _written(folder)
            lines = content.splitlines()
            if not collector.is_whole(lines):
                problem = problem or "there are queries without an answer"
            problem = collector.problem or problem
        if self.settings.keep is not None:
            _keep_lines(folder, lines, stderr)
        replies: dict[int, Reply] = dict(collector.answers)
        if len(replies) < len(seqs) or problem:
            first = next((seq for seq in seqs if seq not in replies), seqs[-1])
            replies[first] = _no_answer(ended, problem, stderr)
        return replies

    def _by_files(self, text: str, folder: Path) -> tuple[Ended, bytes | NoAnswer]:
        """Start the driver for one request."""
        question, reply = folder / "request.json", folder / "answer.json"
        try:
            folder.mkdir(exist_ok=True)
            reply.unlink(missing_ok=True)
            question.write_text(text, encoding="ascii")
        except OSError as error:  # an earlier request may have changed the folder
            ended = Ended(0, timed_out=False, stderr="")
            return ended, _no_answer(ended, f"it damaged its folder: {error.strerror or error}")
        command = [*self.settings.command, str(question), str(reply)]
        try:
            ended = self.launcher.run(command, folder)
        except OSError as error:
            raise CannotStartError(f"{command[0]}: {error.strerror or error}") from None
        if ended.status == NOT_SUPPORTED and not ended.crash:
            return ended, NOT_KNOWN
        if ended.crash:
            return ended, _no_answer(ended, "")
        try:
            return ended, read_answer_file(reply)
        except ValueError as error:
            return ended, _no_answer(ended, str(error))


def _like(replies: Mapping[int, Reply]) -> NoAnswer:
    """The reply for queries that were skipped after the last one."""
    last = next(reply for reply in reversed(list(replies.values())) if isinstance(reply, NoAnswer))
    if last.timed_out:
        return NoAnswer(last.outcome, "not asked after a query that took too long", timed_out=True)
    return NoAnswer(last.outcome, f"not asked after {MOST_CRASHES} queries without an answer")


def _keep_lines(folder: Path, lines: Sequence[bytes], stderr: str) -> None:
    """Append the lines of a driver to those of the same exchange."""
    kept = {"answers.jsonl": b"".join(line + b"\n" for line in lines), "stderr.txt": stderr.encode()}
    for name, text in kept.items():
        with contextlib.suppress(OSError):  # by what it did to its folder
            if text:
                with (folder / name).open("ab") as file:
                    file.write(text)


def _written(folder: Path) -> bytes:
    """The whole lines that a process wrote before it ended."""
    try:
        return b"\n".join(read_answer_file(folder / "answer.json").split(b"\n")[:-1])
    except ValueError:
        return b""


def _no_answer(ended: Ended | None, problem: str, stderr: str = "") -> NoAnswer:
    said = "\n".join(telling_lines(stderr or (ended.stderr if ended else ""))) or None
    if ended is not None and ended.crash:
        return NoAnswer("crashed", ended.crash, said, ended.timed_out)
    if ended is not None and not problem:
        return NoAnswer("crashed", "it ended without an answer", said)
    return NoAnswer("protocol error", problem, said)
