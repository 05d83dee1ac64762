"""A folder dropped on the page: a Delta or Iceberg table, or Parquet files. It is judged as on the command line.

The files appear in the file system of the runtime, which reads slices of them in place.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pqassay.browser.session import DEEPEST, item_told, written
from pqassay.judge.checker import check
from pqassay.report.json_form import encodable
from pqassay.report.model import Report
from pqassay.report.view import view
from pqassay_spec.rules.catalogue import Tier

MOST_FINDINGS = 200
"""The number of findings shown at once; the report has all of them."""


class Folder:
    """A folder to judge.

    Args:
        root: The parent folder.
        name: Its name in reports.

    Attributes:
        files: The names of files that can be changed in the page; always empty.
    """

    files: Sequence[str] = ()

    def __init__(self, root: str, name: str) -> None:
        self._root, self.name = root, name
        self._report: Report | None = None

    def judged(self, tier: Tier = DEEPEST) -> str:
        """Judge the folder; return the verdict and the findings about all files as JSON.

        Raises:
            UsageError: The folder has nothing to judge.
        """
        with contextlib.chdir(self._root):
            size = sum(path.stat().st_size for path in Path(self.name).rglob("*") if path.is_file())
            self._report = check(self.name, tier=tier, crc=tier == DEEPEST)
        return json.dumps(self._told(self._report, size))

    def report(self, form: str, site: str | None = None) -> str:
        """The last report as ``json`` or ``html``, with links to the rules' pages of a site."""
        return written(self._report, form, site)

    def _told(self, report: Report, size: int) -> dict[str, Any]:
        shown, summary = view(report), report.summary
        files = {file.path: file for file in report.files}
        findings: list[dict[str, Any]] = []
        for group in shown.groups:
            for item, finding in zip(group.items, files[group.name].findings, strict=True):
                where = group.name.removeprefix(f"{self.name}/")
                part = " ".join(part for part in (where, item.part) if part)
                # Bytes are shown only for a single file.
                findings.append({**item_told(item, finding), "part": part, "offset": -1})
        coverages = report.coverages.values()
        deeper = {
            rule for one in coverages for rule, why in one.reasons.items() if why.startswith("needs tier")
        }
        remarks = [
            f"{group.name}: {line}"
            for group in shown.groups
            for line in group.remarks
            if "created by" not in line
        ]
        if len(findings) > MOST_FINDINGS:
            remarks.append(f"{len(findings) - MOST_FINDINGS} more findings are in the report")
        counts = [
            f"{summary.conformant} conformant",
            *(
                [f"{summary.conformant_where_checked} conformant where checked"]
                if summary.conformant_where_checked
                else []
            ),
            summary.broken_words,
            f"{summary.errored} errored",
        ]
        return {
            "name": encodable(self.name),
            "kind": "folder",
            "size": size,
            "tier": next(iter({one.tier for one in coverages}), DEEPEST),
            "outcome": shown.outcome,
            "tone": shown.tone,
            "summary": f"{summary.files} judged{', the table being one of them' if self.name in files else ''}: {', '.join(counts)}",
            "remarks": [
                encodable(line) for line in [*remarks, *(f"not judged: {line}" for line in shown.ignored)]
            ],
            "findings": findings[:MOST_FINDINGS],
            "checked": len({rule for one in coverages for rule in one.checked}),
            "absent": 0,
            "deeper": len(deeper),
            "read": None,
            "files": list(self.files),
        }
