"""The bench, which prepares and judges one exchange with a driver, and the judgement.

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
        reason: The error, in one line.
        expected: The expected answer.
        actual: The actual answer.
        rules: Rules that a written file breaks.
        fault: The kind of error; ``accident`` is a right refusal that was not on purpose.
        difference: The path of the first member of a value that differs.
        cause: The difference in words without names and values, which identifies failures with one cause.
        warnings: Warnings of the judge about a written file.
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
    """The context of one exchange: the case, the folder, the inspector of written files, and the accidental exceptions."""

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
        """Path of the file for a writer. If the name of a file determines its kind, this is its name."""
        name = handed_over(self.case)
        return self.folder / (OUTPUT if name.endswith(".parquet") else name)

    def without_folder(self, text: str) -> str:
        """A text without the folder of this exchange in the paths of its files, because each run has another folder."""
        if self.folder.name not in text:  # of most texts, and to resolve a path takes long
            return text
        return text.replace(f"{self.folder.resolve()}/", "").replace(f"{self.folder}/", "")

    def hand_over(self) -> None:
        """Copy the input, and the files beside it, to the folder for the driver.

        Raises:
            CaseError: A golden file is damaged.
        """
        self.input.write_bytes(self.golden.content())
        for name, content in self.golden.beside().items():
            (self.folder / name).write_bytes(content)

    def keep(self, home: Path | None, case: str, request: protocol.CaseRequest, name: str) -> None:
        """Copy request, answers and files to the folder of a case, and adapt the paths in them.

        Args:
            home: The folder for exchanges; ``None`` to keep nothing.
            case: Id of its case.
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
    """An operation: its requests, and the judgement of its answers.

    Attributes:
        operation: The operation.
        members: Members of the request for an expectation, in addition to the file and the family.
        judge: The judgement of the answer.
    """

    operation: Operation
    members: Callable[[Bench, Any], Mapping[str, Any]]
    judge: Callable[[Bench, Any, Answer], Judgement]

    def expected(self, case: Case) -> Sequence[Any]:
        """The expectations of a case for the operation, one for each request; empty if it is not asked."""
        found = getattr(case.expect, "snapshots" if self.operation == "snapshot" else self.operation)
        return found if isinstance(found, list) else () if found is None else (found,)

    def request(self, bench: Bench, expected: object) -> protocol.CaseRequest:
        """The request for an expectation."""
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
    """Beginning and end of a text, because the error in a list is often at its end."""
    return text if len(text) <= 100 else f"{text[:48]} … {text[-48:]}"


def expects(wanted: str | None, answer: Answer, accidents: Accidents = ACCIDENTS) -> Judgement | None:
    """Judge whether an answer is of an expected kind; ``None`` if it is and its content must still be judged."""
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
    """The judgement of a wrong refusal; a refusal on purpose is less severe if the file is unusual."""
    fault: Fault = "refused" if accidents.include(answer.raised) else "declined"
    return Judgement(False, "refused", expected, described(answer), fault=fault)


def refusal(answer: Reject, accidents: Accidents = ACCIDENTS) -> Judgement:
    """The judgement of a right refusal, which is wrong if it is accidental: users cannot rely on it then."""
    if not accidents.include(answer.raised):
        return RIGHT
    reason = f"refused by an accidental exception: {answer.raised}"
    return Judgement(False, reason, "a refusal on purpose", described(answer), fault="accident")
