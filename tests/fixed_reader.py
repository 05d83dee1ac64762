"""A second reader that gives the same rows of every file, or refuses."""

from __future__ import annotations

from pathlib import Path

from pqassay_spec.golden.literals import Written
from pqassay_suite.cases.file_facts import FileFacts
from pqassay_suite.drivers.protocol import Accept
from pqassay_suite.own_files.second_readers import Reader


class FixedReader(Reader):
    """Gives rows, or a text instead of them; counts how often it was asked."""

    def __init__(self, name: str, answer: list[list[Written]] | str) -> None:
        self._name, self._answer, self.asked = name, answer, 0

    @property
    def name(self) -> str:
        return self._name

    @property
    def was_asked(self) -> bool:
        return True

    def read(self, file: Path, facts: FileFacts) -> Accept | str:
        assert file.is_file()
        assert facts.names
        self.asked += 1
        return self._answer if isinstance(self._answer, str) else Accept("accept", rows=self._answer)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass
