"""The command ``pqassay suite explore``: test an implementation with files and queries that are drawn at random."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.failure import fail
from pqassay_spec.base.help_pages import epilog, example
from pqassay_suite.cli.driver import DriverCommand, failing, named_drivers, require_positive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pqassay_suite.cases.case import GoldenCase
    from pqassay_suite.cases.expectations import Expectation
    from pqassay_suite.drivers.implementations import Implementation
    from pqassay_suite.exploring.asking import Asker
    from pqassay_suite.exploring.drawn_file import Question
    from pqassay_suite.exploring.search import Finding, Search

INTERRUPTED = 130

EPILOG = epilog(
    "`pqassay suite explore --driver duckdb --seconds 300`",
    "`pqassay suite explore --seed 7 --output explored -- python3 driver.py`",
    codes="0 nothing new, 1 new findings, 2 usage, 130 interrupted",
)


@example(EPILOG)
def explore(
    driver: DriverCommand = None,
    shipped: Annotated[
        str | None,
        typer.Option(
            "--driver",
            metavar="NAME",
            help="Driver that comes with pqassay; `pqassay suite drivers` lists them.",
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(metavar="SECONDS", help="Time limit of the search.")] = 60.0,
    examples: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Draw at most N files. Default: no limit.", show_default=False),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Random seed: the same one draws the same files.")
    ] = 0,
    lies: Annotated[
        bool, typer.Option("--lies", help="Draw files with one false, well-formed statistic or index.")
    ] = False,
    expectations: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Expected failures (TOML). Default: those of --driver.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep findings in this folder; later runs ask about them first."),
    ] = None,
    repeat: Annotated[
        str | None,
        typer.Option(metavar="QUESTION", help="Ask this question only: a question.json, or its text."),
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Processor time for one request.")] = 10.0,
) -> None:
    """Search for wrong answers with random files and queries; shrink each to a small file.

    Needs hypothesis.
    """  # fmt: skip
    require_positive({"--seconds": seconds, "--timeout": timeout})
    one, *others = named_drivers(driver or [], [shipped] if shipped else [])
    if others:
        fail("name one driver, with --driver or after --")
    command, known_driver = one.command, one.implementation
    entries, cases = _expected(expectations, known_driver)
    asker = _asker(command, known_driver, timeout)
    named = ["--driver", shipped] if shipped else ["--", *command]
    try:
        if repeat is not None:
            _repeat(asker, repeat)
            return
        search = _search(
            asker,
            lies=lies,
            seconds=seconds,
            examples=examples,
            seed=seed,
            kept=[_question(path) for path in sorted(output.glob("*/question.json"))] if output else [],
        )
        new = 0
        for finding in search.run():
            known = _show(finding, entries, cases, named, output)
            new += not (known or finding.question.file.lie)
        _summary(search, new)
    finally:
        asker.close()
    raise typer.Exit(INTERRUPTED if search.was_interrupted else 1 if new else 0)


def _asker(command: list[str], shipped: Implementation | None, timeout: float) -> Asker:
    from pqassay_suite.drivers.driver import DriverUnderTest, Settings
    from pqassay_suite.drivers.process import Limits
    from pqassay_suite.exploring.asking import Asker

    settings = Settings(command, Limits(timeout), jobs=1, shown=shipped.command if shipped else ())
    with contextlib.ExitStack() as stack, failing():
        under_test = stack.enter_context(contextlib.closing(DriverUnderTest(settings)))
        hello = under_test.greet()
        if hello is None:
            fail("the driver does not answer hello, so it is not known what it can read")
        stack.pop_all()
    return Asker(under_test, hello)


def _search(
    asker: Asker, *, lies: bool, seconds: float, examples: int | None, seed: int, kept: Sequence[Question]
) -> Search:
    try:
        from pqassay_suite.exploring.drawing import Choices
        from pqassay_suite.exploring.search import Search, SearchLimits
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        fail("files are drawn with hypothesis: pip install '.[explore]' in a checkout")
    if not asker.kinds:
        fail("the driver does not declare read, which exploring needs")
    if lies and asker.family is None:
        fail("--lies needs the operation scan, which the driver does not declare")
    choices = Choices(asker.kinds, asker.codecs, scans=asker.family is not None, lies=lies)
    limits = SearchLimits(seconds, seed=seed) if examples is None else SearchLimits(seconds, examples, seed)
    return Search(asker, choices, limits, kept)


def _question(path: Path) -> Question:
    from pqassay_suite.exploring.drawn_file import Question, QuestionError

    with failing(QuestionError, of=path):
        return Question.from_json(path.read_text("utf-8"))


def _expected(
    path: Path | None, shipped: Implementation | None
) -> tuple[Sequence[Expectation], Mapping[str, GoldenCase]]:
    """The expected failures, and the golden cases that they are about."""
    from pqassay_suite.cases.case import CaseError, golden_folder, load
    from pqassay_suite.cases.expectations import ExpectationsError, parse

    if path is None:
        if shipped is None:
            return (), {}
        path = shipped.folder / "expectations.toml"
    with failing(ExpectationsError, of=path):
        entries = parse(path.read_bytes()).entries
    with failing(CaseError):
        return entries, {golden.case.id: golden for golden in load(golden_folder())}


def _show(
    finding: Finding,
    entries: Sequence[Expectation],
    cases: Mapping[str, GoldenCase],
    named: Sequence[str],
    output: Path | None,
) -> str | None:
    """Print a finding, and write it into its folder; return the golden case whose expected failure explains it."""
    from pqassay_suite.exploring.known import foretold_by
    from pqassay_suite.exploring.shown import text_of, write_folder

    known = foretold_by(finding, entries, cases)
    data = finding.question.file.written()
    text = text_of(finding, data, named, known)
    typer.echo(f"{text}\n")
    if output is not None:
        with failing(of=output):
            write_folder(finding, data, text, output)
    return known


def _repeat(asker: Asker, question: str) -> None:
    """Ask one question, and exit with 1 if the answer is wrong."""
    from pqassay_suite.exploring.drawn_file import Question, QuestionError

    with failing(QuestionError):
        asked = (
            Question.from_json(question) if question.lstrip().startswith("{") else _question(Path(question))
        )
        (difference,) = asker.differences([asked])
    typer.echo(f"{difference.cause}: {difference.details}" if difference else "right, or not supported")
    raise typer.Exit(1 if difference else 0)


def _summary(search: Search, new: int) -> None:
    """Print the last line: the number of questions, and the result."""
    hello = search.asker.hello
    ended = "; interrupted" if search.was_interrupted else ""
    total = len(search.findings)
    typer.echo(
        f"{hello.name} {hello.version}: {search.drawn} file{'' if search.drawn == 1 else 's'} drawn, {search.asker.asked} asked about, seed {search.limits.seed}; "
        f"{total} finding{'' if total == 1 else 's'}, {new} new; {search.explained} more wrong answers are explained by them{ended}"
    )
