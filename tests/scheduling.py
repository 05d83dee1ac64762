"""Which process runs which module of tests: one process runs those that need Spark, whose Java is warm after the first of them.

The others take them only when nothing else is left; the process of Spark takes the others when no module needs Spark any more.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]  # xdist is not typed

from places import ROOT

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController  # type: ignore[import-untyped]  # see above


LONG = {
    "tests/conformance/implementations/test_spark_driver.py",
    "tests/conformance/judge/test_check_jobs.py",
    "tests/conformance/judge/test_structure_mutations.py",
    "tests/conformance/proof/test_proof.py",
    "tests/suite/test_self_test.py",
    "tests/docs/test_guides.py",
    "tests/docs/test_packaging.py",
    "tests/docs/test_site.py",
    "tests/golden_files/test_foreign_readers.py",
    "tests/pipeline/jobs/test_shipping.py",
}
"""Modules that take long, or wait for long: begun at the end, they would keep one process busy alone."""

SHARED_SESSION = re.compile(r'\bspark: (SparkSession|Any)\b|getfixturevalue\("spark"\)')
"""Takes the session that tests share; other tests that are marked ``spark`` start their own."""


@cache
def needs_spark(module: str) -> bool:
    """Whether tests of a module, by its path from the top of this repository, run on the session that tests share."""
    return SHARED_SESSION.search(Path(ROOT, module).read_text()) is not None


class SparkInOneProcess(LoadFileScheduling):  # type: ignore[misc]  # see above
    """Hands out modules in their order, long ones first; the first process prefers those that need Spark."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        preferred = node is self.nodes[0]
        modules = [module for module in self.workqueue if needs_spark(module) == preferred]
        if modules:
            self.workqueue.move_to_end(max(modules, key=LONG.__contains__), last=False)
        super()._assign_work_unit(node)
