"""The pytest plugin: a fixture for the tests of a writer.

``pqassay_check(path)`` fails a test with the text of the findings. Everything is loaded on use, so other test runs lose no time.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from pqassay.report.model import Report

# ruff: noqa: PLC0415


class CheckFixture:
    """The fixture ``pqassay_check``."""

    def __call__(
        self,
        path: str | os.PathLike[str] | bytes | Sequence[str | os.PathLike[str]],
        tier: str | None = "values",
        *,
        level: str = "must",
        complete: bool = True,
        **options: Any,
    ) -> Report:
        """Check files, and fail the test if a file is not conformant or could not be judged.

        Args:
            path: A file or folder, several of them, or the bytes of a file.
            tier: The tier of the check.
            level: The lowest verdict that counts: ``must`` or ``should``.
            complete: Whether parts that could not be checked, because of the file, a key or a tool, also fail the test.
            options: Other options of `pqassay.check`.

        Returns:
            The report, for further assertions. If ``rules`` pins the check to a release, a warning counts the findings that therefore do not fail.
        """
        __tracebackhide__ = True
        import pqassay

        files: Any = path
        if isinstance(path, os.PathLike):
            files = os.fspath(path)
        elif not isinstance(path, (str, bytes)):
            files = [os.fspath(one) for one in path]
        try:
            report = pqassay.check(
                files, tier=cast("Any", tier), level=cast("Any", level), complete=complete, **options
            )
        except pqassay.UsageError as error:
            # pytest shows only the message, without its traceback.
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        if report.exit_code:
            from pqassay.report.renderers.text import render

            stream = io.StringIO()
            render(report, stream)
            pytest.fail(stream.getvalue(), pytrace=False)
        if report.not_failing:
            import warnings

            warnings.warn(report.not_failing, stacklevel=2)
        return report


@pytest.fixture
def pqassay_check() -> CheckFixture:
    """Check Parquet files as ``pqassay check`` does; the test fails with the text of the findings."""
    return CheckFixture()
