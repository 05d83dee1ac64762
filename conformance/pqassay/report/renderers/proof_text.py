"""A proof as lines of a report: the query, the true count, the answers of engines, and how to repeat them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pqassay.report.model import EngineAnswer, Proof
from pqassay.report.renderers.line import Part, counted, labelled
from pqassay_spec.base.installing import install

ERROR_LENGTH = 100
"""The number of characters of an engine's error that are shown; the JSON report has all."""

COMMAND = "try it"
"""The label of a shell line."""

ALWAYS_HERE = "pyarrow"
"""The beginning of the name of the engine that pqassay itself needs."""

STYLES = {"rows lost": "bold red", "wrong rows": "bold red", "refused": "yellow", "crashed": "yellow"}

HEADLINES = {
    "misled": "",
    "refused": "no engine here returns wrong rows, but some return none; ",
    "not misled": "no engine here is misled by it today; ",
}


def proof_rows(
    proof: Proof, *, shown_under: str | None = None, is_whole: bool = True
) -> list[Sequence[Part]]:
    """The lines of a proof.

    Args:
        proof: The proof.
        shown_under: The rule of an earlier finding with the same query and answers; then the proof is one line.
        is_whole: Whether all engines have a line, even if not installed, and all commands, not only the first.
    """
    if shown_under is not None:
        return [labelled("proof", f"as under {shown_under}: {proof.query}")]
    return [labelled(label, *parts) for label, parts in _lines(proof, is_whole=is_whole)]


def says_the_same(proof: Proof, other: Proof) -> bool:
    """Whether two proofs show the same query and answers, regardless of the number of tried queries."""
    return proof.query is not None and replace(proof, tried=other.tried) == other


def plain_lines(proof: Proof) -> list[str]:
    """The lines of a proof without styles, and without labels except those of commands."""
    return [
        f"{'try it: ' if label == COMMAND else ''}{''.join(part if isinstance(part, str) else part[0] for part in parts)}"
        for label, parts in _lines(proof)
    ]


def _lines(proof: Proof, *, is_whole: bool = True) -> Iterator[tuple[str, Sequence[Part]]]:
    if proof.query is None:
        yield "proof", [f"none: {proof.reason}"]
        return
    yield "proof", [proof.query]
    rows, tried = counted(proof.true_rows or 0, "row"), counted(proof.tried, "query", "queries")
    asked = [answer.engine for answer in proof.engines if answer.verdict != "not installed"]
    if len(proof.engines) > 1 and all(engine.startswith(ALWAYS_HERE) for engine in asked):
        yield "", [f"no engine is installed here but {ALWAYS_HERE}; {install('engines')} brings others"]
    yield "", [f"{HEADLINES[proof.outcome]}{rows} according to the values in the pages; {tried} tried"]
    answers = [each for each in proof.engines if is_whole or each.verdict != "not installed"]
    names = [f"{answer.engine} {answer.version or ''}".rstrip() for answer in answers]
    width = max(map(len, names), default=0)
    for name, answer in zip(names, answers, strict=True):
        yield (
            "",
            [
                f"{name:<{width}}  ",
                (_verdict(answer, is_count=proof.is_count), STYLES.get(answer.verdict, "")),
                *_detail(answer),
            ],
        )
    if len(answers) < len(proof.engines):
        yield "", [f"{len(proof.engines) - len(answers)} more not installed"]
    commands = [each.reproduce for each in answers if each.verdict in STYLES and each.reproduce]
    yield from ((COMMAND, [command]) for command in commands[: None if is_whole else 1])


def _verdict(answer: EngineAnswer, *, is_count: bool) -> str:
    if answer.rows is None:
        return answer.verdict
    rows = counted(answer.rows, "row")
    if is_count:
        off = f"{answer.lost:,} too few" if answer.lost else f"{answer.wrong:,} too many"
        return f"{rows}, {'right' if answer.verdict == 'right' else off}"
    if answer.verdict == "right":
        return f"{rows}, right"
    said = [f"{answer.wrong:,} of them wrong"] if answer.wrong else []
    if answer.lost > answer.wrong or not answer.wrong:
        said.append(f"{answer.lost:,} lost")
    return f"{rows}, {', '.join(said)}"


def _detail(answer: EngineAnswer) -> Iterator[str]:
    if answer.error:
        is_whole = len(answer.error) <= ERROR_LENGTH or answer.verdict == "not installed"
        text = answer.error if is_whole else f"{answer.error[: ERROR_LENGTH - 1]}…"
        yield f": {text}"
