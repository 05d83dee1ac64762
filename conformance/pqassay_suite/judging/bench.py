"""The bench on which one exchange with a driver is prepared and judged, and what a judgement is.

`pqassay_suite.judging.answers` and `pqassay_suite.judging.pm_answers` define the question and the right
answers of each operation.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pqassay.report.run.outcomes import Operation
from pqassay_spec.golden.case import Case
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.cases.manifest import handed_over
from pqassay_suite.drivers import protocol
from pqassay_suite.drivers.inspector import Inspector
from pqassay_suite.drivers.protocol import Answer, Reject, Unsupported
from pqassay_suite.judging.causes import ACCIDENTS, Accidents, Fault

OUTPUT = "written.parquet"


@dataclass(frozen=True)
class Judgement:
    """Verdict on an answer, with the reason against it.

    Attributes:
        right: Whether it is right.
        reason: What is wrong, in one line.
        expected: The expected answer.
        actual: The actual answer.
        rules: Rules that a written file breaks.
        fault: The problems of it; ``accident`` is a refusal that is right in itself.
        difference: The path of the first member of a value that differs.
        cause: The difference in words without names and values, which identifies failures of one cause.
        warnings: What the judge warns of in a written file.
    """

    right: bool
    reason: str = ""
    expected: str = ""
    actual: str = ""
    rules: tuple[str, ...] = ()
    fault: Fault = "wrong"
    difference: str = ""
    cause: str = ""
    warnings: tuple[str, ...] = ()


RIGHT = Judgement(right=True)


@dataclass(frozen=True)
class Bench:
    """The surroundings of one exchange: the case, the folder, what looks at written files, and which exceptions are accidents."""

    golden: GoldenCase
    folder: Path
    inspector: Inspector
    accidents: Accidents = ACCIDENTS

    @property
    def case(self) -> Case:
        """The case."""
        return self.golden.case

    @property
    def input(self) -> Path:
        """Path of the copy of the input."""
        return self.folder / handed_over(self.case)

    @property
    def output(self) -> Path:
        """Path to which a writer is to write. A file whose kind is told by its name has that name."""
        name = handed_over(self.case)
        return self.folder / (OUTPUT if name.endswith(".parquet") else name)

    def without_folder(self, text: str) -> str:
        """A text in which the files of this exchange are named without their folder, which is another one in the next run."""
        if self.folder.name not in text:  # of most texts, and to resolve a path takes long
            return text
        return text.replace(f"{self.folder.resolve()}/", "").replace(f"{self.folder}/", "")

    def hand_over(self) -> None:
        """Copy the input, and what is beside it, to where the driver finds them.

        Raises:
            CaseError: A golden file is damaged.
        """
        self.input.write_bytes(self.golden.content())
        for name, content in self.golden.beside().items():
            (self.folder / name).write_bytes(content)

    def keep(self, home: Path | None, case: str, request: protocol.CaseRequest, name: str) -> None:
        """Keep request, answers and files below the folder of a case, with the paths of where they are kept.

        Args:
            home: Where exchanges are kept; ``None`` if they are not.
            case: Id of the case that it is about.
            request: The request.
            name: The folder's name.
        """
        if home is None or not self.folder.is_dir():
            return
        target = home.resolve() / case / name
        target.mkdir(parents=True, exist_ok=True)
        for path in self.folder.iterdir():
            if path.is_file() and not path.is_symlink():
                shutil.copyfile(path, target / path.name)
        text = protocol.to_json(request).replace(str(self.folder), str(target))
        (target / "request.json").write_text(text, encoding="ascii")


@dataclass(frozen=True)
class Asking:
    """An operation: how it is asked, and how its answers are judged.

    Attributes:
        operation: Which.
        members: Members of the request for an expectation beside those that tell the file and the family.
        judge: The judgement of the answer.
    """

    operation: Operation
    members: Callable[[Bench, Any], Mapping[str, Any]]
    judge: Callable[[Bench, Any, Answer], Judgement]

    def expected(self, case: Case) -> Sequence[Any]:
        """The expectations of a case about it, one for each request; none if it is not asked."""
        found = getattr(case.expect, "snapshots" if self.operation == "snapshot" else self.operation)
        return found if isinstance(found, list) else () if found is None else (found,)

    def request(self, bench: Bench, expected: object) -> protocol.CaseRequest:
        """The request for one of them."""
        kind = protocol.OPERATIONS[self.operation]
        places = {"family": bench.case.family, "file": str(bench.input), "output": str(bench.output)}
        own = {field.name for field in fields(kind)} & places.keys()
        members = {**{name: places[name] for name in own}, **self.members(bench, expected)}
        return kind(protocol.PROTOCOL, self.operation, **members)


def described(answer: Answer) -> str:
    """An answer in one line."""
    if isinstance(answer, Reject):
        raised = (answer.raised or "").partition(":")[0]
        return f"reject{f' ({raised})' if raised else ''}: {answer.message}"
    if isinstance(answer, Unsupported):
        return f"unsupported: {answer.reason}"
    value = getattr(answer, "value", None)
    parts = [answer.message or "", "" if value is None else _shortened(json.dumps(value, ensure_ascii=False))]
    return ": ".join([answer.answer, *(part for part in parts if part)])


def _shortened(text: str) -> str:
    """Beginning and end of a text: what is wrong with a list often is at its end."""
    return text if len(text) <= 100 else f"{text[:48]} … {text[-48:]}"


def expects(wanted: str | None, answer: Answer, accidents: Accidents = ACCIDENTS) -> Judgement | None:
    """Judge whether the answer may be what it is; ``None`` if it may and what it carries is still to be judged."""
    if wanted == "reject":
        return (
            refusal(answer, accidents)
            if isinstance(answer, Reject)
            else Judgement(False, "accepted", "reject", described(answer), fault="accepted")
        )
    if not isinstance(answer, Reject):
        return None
    if wanted == "either":
        return refusal(answer, accidents)
    return refused(answer, "accept", accidents)


def refused(answer: Reject, expected: str, accidents: Accidents = ACCIDENTS) -> Judgement:
    """The judgement of a refusal that is wrong; one on purpose weighs less where the file is odd."""
    fault: Fault = "refused" if accidents.include(answer.raised) else "declined"
    return Judgement(False, "refused", expected, described(answer), fault=fault)


def refusal(answer: Reject, accidents: Accidents = ACCIDENTS) -> Judgement:
    """The judgement of a refusal that is right: users cannot rely on one by accident."""
    if not accidents.include(answer.raised):
        return RIGHT
    reason = f"refused by an accidental exception: {answer.raised}"
    return Judgement(False, reason, "a refusal on purpose", described(answer), fault="accident")
