"""Run the programs on the pages of findings, and put their output into the pages: ``python tools/run_findings.py``.

Programs in a language whose drivers are not built stay as they are. `page_tables.findings` makes the overview of both pages.
"""

from __future__ import annotations

import contextlib
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from finding_programs import READERS, ROOT, SPARK, WRITERS, Demonstration, Workshop, findings

from pqassay_spec.base.sources import write_whole
from pqassay_suite.drivers.implementations import implementation


def lacking(demonstration: Demonstration) -> list[str]:
    """The drivers that must be built before it can run, or whose tools are missing."""
    needed = [implementation(name) for name in sorted(demonstration.needs - {SPARK})]
    return [driver.name for driver in needed if driver.missing or not driver.is_built]


class Session(contextlib.ExitStack):
    """A session of Spark that starts on first use."""

    @cached_property
    def spark(self) -> Any:
        """The session."""
        from pqassay_spark.jobs.session import spark_session  # noqa: PLC0415 - only some programs need it

        return self.enter_context(spark_session())


def run(page: Path) -> None:
    """Run the programs of a page, and put their output into it."""
    text = page.read_text("utf-8")
    with (
        tempfile.TemporaryDirectory() as folder,
        Session() as session,
        Workshop(Path(folder, "built"), lambda: session.spark) as workshop,
    ):
        for number, finding in enumerate(findings(page)):
            place = Path(folder, str(number))
            place.mkdir()
            (place / "golden_files").symlink_to(ROOT / "golden_files")
            for demonstration in finding.demonstrations:
                if names := lacking(demonstration):
                    print(f"{finding.title}: {', '.join(names)} not built (make drivers)")
                    continue
                last = f"{demonstration.programs[-1].text}```\n\n```text\n"
                printed = workshop.printed(demonstration, place)
                text = text.replace(f"{last}{demonstration.printed}```", f"{last}{printed}```")
    write_whole(page, text.encode())


if __name__ == "__main__":
    run(READERS)
    run(WRITERS)
