"""Write the tables of ``docs/guide/findings.md`` from the sections of its two pages: ``python tools/write_findings.py``.

    --run    run the programs of both pages first, and write anew what they print; those whose library is not built are left

All else on the pages is written by people.  A test compares the tables, and what the programs print.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from finding_programs import GUIDES, READERS, ROOT, SPARK, WRITERS, Demonstration, Workshop, findings
from page_tables import with_tables

from pqassay_spec.base.sources import write_whole
from pqassay_suite.drivers.implementations import implementation

OVERVIEW = GUIDES / "findings.md"
PAGES = {"findings of readers": READERS, "findings of writers": WRITERS}
"""By the name of its table, the page whose sections it lists."""


def table(page: Path) -> Iterator[str]:
    """A row for each section of a page, the gravest first.

    The anchor of each section is that of its row as well, so that links to the overview lead on.
    """
    yield "| observed | in | finding | rules |"
    yield "| --- | --- | --- | --- |"
    for one in sorted(findings(page), key=lambda one: one.severity):
        finding = f'<span id="{one.anchor}"></span>[{one.title}]({page.name}#{one.anchor})'
        yield f"| {one.severity}, {one.observed} | {', '.join(one.software)} | {finding} | {one.rules} |"


def count(page: Path) -> Iterator[str]:
    """How many there are, in a sentence."""
    listed = findings(page)
    names = {name.rpartition(" ")[0] for one in listed for name in one.software}
    yield f"{len(listed)} findings in {len(names)} libraries and engines."


def written() -> str:
    """The overview with its tables made anew."""
    made = {name: partial(table, page) for name, page in PAGES.items()}
    made |= {f"number of {name}": partial(count, page) for name, page in PAGES.items()}
    return with_tables(OVERVIEW.read_text("utf-8"), made)


def lacking(demonstration: Demonstration) -> list[str]:
    """The drivers that have to be built before it can be run, or whose tools are not here."""
    needed = [implementation(name) for name in sorted(demonstration.needs - {SPARK})]
    return [driver.name for driver in needed if driver.missing or not driver.is_built]


class Session(contextlib.ExitStack):
    """A session of Spark that starts when it is first asked for."""

    @cached_property
    def spark(self) -> Any:
        """The session."""
        from pqassay_spark.jobs.session import spark_session  # noqa: PLC0415 - only some programs need it

        return self.enter_context(spark_session())


def run(page: Path) -> None:
    """Run the programs of a page, and write what they print into it."""
    text = page.read_text("utf-8")
    with (
        tempfile.TemporaryDirectory() as folder,
        Session() as session,
        Workshop(Path(folder, "built"), lambda: session.spark) as workshop,
    ):
        for number, one in enumerate(findings(page)):
            place = Path(folder, str(number))
            place.mkdir()
            (place / "golden_files").symlink_to(ROOT / "golden_files")
            for demonstration in one.demonstrations:
                if names := lacking(demonstration):
                    print(f"{one.title}: {', '.join(names)} not built (make drivers)")
                    continue
                last = f"{demonstration.programs[-1].text}```\n\n```text\n"
                printed = workshop.printed(demonstration, place)
                text = text.replace(f"{last}{demonstration.printed}```", f"{last}{printed}```")
    write_whole(page, text.encode())


def main() -> None:
    """Write all pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="run the programs first")
    if parser.parse_args().run:
        for page in PAGES.values():
            run(page)
    write_whole(OVERVIEW, written().encode())


if __name__ == "__main__":
    main()
