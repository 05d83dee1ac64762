"""The command ``pqassay suite explore``: ask an implementation about files and queries that are drawn at random.

Exit codes: 0 nothing new; 1 new findings; 2 wrong usage; 130 interrupted.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pqassay.cli.failure import fail, fail_at_length
from pqassay_spec.base.help_pages import epilog, example
from pqassay_suite.cli.driver import DriverCommand, named_drivers

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
        typer.Option(
            metavar="N", min=1, help="Limit the files that are drawn. Default: no limit.", show_default=False
        ),
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
    for name, value in (("--seconds", seconds), ("--timeout", timeout)):
        if not (math.isfinite(value) and value > 0):
            fail(f"{name} is a number greater than 0")
    one, *others = named_drivers(driver or [], [shipped] if shipped else [])
    if others:
        fail("name one driver, by --driver or behind --")
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
            kept=_kept(output),
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
    from pqassay_suite.drivers.driver import CannotStartError, DriverUnderTest, Settings
    from pqassay_suite.drivers.process import Limits
    from pqassay_suite.exploring.asking import Asker

    settings = Settings(command, Limits(timeout), jobs=1, shown=shipped.command if shipped else ())
    under_test = DriverUnderTest(settings)
    try:
        hello = under_test.greet()
    except CannotStartError as error:
        under_test.close()
        fail_at_length(str(error))
    if hello is None:
        under_test.close()
        fail("the driver does not answer hello, so it is not known what it can read")
    return Asker(under_test, hello)


def _search(
    asker: Asker, *, lies: bool, seconds: float, examples: int | None, seed: int, kept: Sequence[Question]
) -> Search:
    try:
        from pqassay_suite.exploring.drawing import Choices
        from pqassay_suite.exploring.search import Limits, Search
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        fail("files are drawn with hypothesis: pip install '.[explore]' in a checkout")
    if not asker.kinds:
        fail("the driver does not declare read, which exploring needs")
    if lies and asker.family is None:
        fail("--lies needs the operation scan, which the driver does not declare")
    choices = Choices(asker.kinds, asker.codecs, scans=asker.family is not None, lies=lies)
    limits = Limits(seconds, seed=seed) if examples is None else Limits(seconds, examples, seed)
    return Search(asker, choices, limits, kept)


def _kept(folder: Path | None) -> list[Question]:
    """The questions of a folder of findings."""
    paths = sorted(folder.glob("*/question.json")) if folder else []
    return [_question(path) for path in paths]


def _question(path: Path) -> Question:
    from pqassay_suite.exploring.drawn_file import Question, QuestionError

    try:
        return Question.from_json(path.read_text("utf-8"))
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")
    except QuestionError as error:
        fail(f"{path}: {error}")


def _expected(
    path: Path | None, shipped: Implementation | None
) -> tuple[Sequence[Expectation], Mapping[str, GoldenCase]]:
    """What is known to fail, and the golden cases that this is about."""
    from pqassay_suite.cases.case import CaseError, golden_folder, load
    from pqassay_suite.cases.expectations import ExpectationsError, parse

    if path is None:
        if shipped is None:
            return (), {}
        path = shipped.folder / "expectations.toml"
    try:
        entries = parse(path.read_bytes()).entries
        return entries, {golden.case.id: golden for golden in load(golden_folder())}
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")
    except (ExpectationsError, CaseError) as error:
        fail(f"{path}: {error}")


def _show(
    finding: Finding,
    entries: Sequence[Expectation],
    cases: Mapping[str, GoldenCase],
    named: Sequence[str],
    output: Path | None,
) -> str | None:
    """Print a finding, and write it into its folder; the golden case that foretells it."""
    from pqassay_suite.exploring.known import foretold_by
    from pqassay_suite.exploring.shown import text_of, write_folder

    known = foretold_by(finding, entries, cases)
    data = finding.question.file.written()
    text = text_of(finding, data, named, known)
    typer.echo(f"{text}\n")
    if output is not None:
        try:
            write_folder(finding, data, text, output)
        except OSError as error:
            fail(f"{output}: {error.strerror or error}")
    return known


def _repeat(asker: Asker, question: str) -> None:
    """Ask one question, and leave with 1 if the answer is wrong."""
    from pqassay_suite.exploring.drawn_file import Question, QuestionError

    try:
        asked = (
            Question.from_json(question) if question.lstrip().startswith("{") else _question(Path(question))
        )
        (difference,) = asker.differences([asked])
    except QuestionError as error:
        fail(str(error))
    typer.echo(f"{difference.cause}: {difference.details}" if difference else "right, or not supported")
    raise typer.Exit(1 if difference else 0)


def _summary(search: Search, new: int) -> None:
    """The last line: what was asked, and how it ended."""
    hello = search.asker.hello
    ended = "; interrupted" if search.was_interrupted else ""
    total = len(search.findings)
    typer.echo(
        f"{hello.name} {hello.version}: {search.drawn} file{'' if search.drawn == 1 else 's'} drawn, {search.asker.asked} asked about, seed {search.limits.seed}; "
        f"{total} finding{'' if total == 1 else 's'}, {new} new; {search.explained} more wrong answers are explained by them{ended}"
    )
