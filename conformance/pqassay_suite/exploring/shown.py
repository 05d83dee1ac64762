"""A finding as text, and as a folder of files."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pqassay
from pqassay_suite.exploring.drawn_file import Question
from pqassay_suite.exploring.recipe import recipe
from pqassay_suite.exploring.search import Finding
from pqassay_suite.judging.row_answers import counted

DATA, QUESTION, TEXT = "data.parquet", "question.json", "finding.txt"
"""Names of the files in a finding's folder."""


def name_of(finding: Finding) -> str:
    """The name of a finding: its fault, and a digest of the question."""
    digest = hashlib.sha256(finding.question.to_json().encode()).hexdigest()[:8]
    return f"{finding.difference.fault.replace(' ', '-')}-{digest}"


def text_of(finding: Finding, data: bytes, driver: Sequence[str], known: str | None = None) -> str:
    """A finding in lines for people.

    Args:
        finding: The finding.
        data: The bytes of its file.
        driver: Arguments of the command that name the driver.
        known: The golden case that explains it.
    """
    question, difference = finding.question, finding.difference
    states = [
        *(["exposure"] if question.file.lie else []),
        *([f"known by {known}"] if known else []),
        *(["unstable"] if finding.is_unstable else []),
    ]
    name = name_of(finding)
    size = f"{counted(question.file.count)}, {counted(len(question.file.columns), 'column')}"
    columns = ", ".join(question.columns)
    asked = (
        f"scan {columns} where {json.dumps(question.asked, ensure_ascii=False)}"
        if question.asked
        else f"read {columns}"
    )
    lines = [
        f"{name}  {'; '.join(states) or 'new'}",
        f"  cause    {difference.cause}",
        f"  asked    {asked}",
        f"  answer   {difference.details}",
        f"  file     {len(data)} bytes, {size}, {_verdict(data, question)}",
        f"  takes    {'; '.join(finding.takes)}",
        "  recipe",
        *(
            f"    {line}"
            for line in recipe(question, f"explored/{name}", f"{difference.fault.capitalize()}").splitlines()
        ),
        f"  repeat   {shlex.join(['pqassay', 'suite', 'explore', '--repeat', question.to_json(), *driver])}",
    ]
    return "\n".join(lines)


def _verdict(data: bytes, question: Question) -> str:
    """The verdict of a check on the file: if the writer made an error, the reader is excused."""
    if question.file.lie:
        return "with a lie"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DATA)
        path.write_bytes(data)
        findings = pqassay.check(path, tier="values").files[0].findings
    broken = sorted({finding.rule for finding in findings if finding.verdict == "FAIL"})
    return f"which breaks {', '.join(broken)}" if broken else "valid by pqassay check"


def write_folder(finding: Finding, data: bytes, text: str, folder: Path) -> Path:
    """Write a finding into its own folder within a folder, as a whole or not at all. An existing one stays.

    Raises:
        OSError: It cannot be written.
    """
    place = folder / name_of(finding)
    if place.exists():
        return place
    folder.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".finding-", dir=folder))
    try:
        (temporary / DATA).write_bytes(data)
        (temporary / QUESTION).write_text(f"{finding.question.to_json()}\n", "utf-8")
        (temporary / TEXT).write_text(f"{text}\n", "utf-8")
        temporary.chmod(0o755)
        temporary.replace(place)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return place
