"""A session of the page: the files that were dropped or opened, judged, shown and changed.

>>> session = Session([("data.parquet", 4, lambda offset, length: b"oops"[offset : offset + length])])
>>> json.loads(session.judged("footer"))["outcome"]
'nonconformant'
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from pqassay.browser import bench
from pqassay.errors import UsageError
from pqassay.judge.checker import check
from pqassay.lake.kinds import judged_as
from pqassay.report.formats import FormatName
from pqassay.report.model import Finding, Position, Report, encodable, members
from pqassay.report.rendering import write_report
from pqassay.report.view import view
from pqassay.report.view_model import Item
from pqassay_spec.base.sources import BytesSource, CallableSource, Source
from pqassay_spec.grammar.hexdump import ROW, show
from pqassay_spec.rules.catalogue import Tier

MOST_BYTES = 2 << 20
"""Bytes of a file up to which its fields are shown and can be changed: everything is in memory several times then."""

ROWS_AROUND = 4
"""Rows of a hexdump shown before and behind what a finding is about."""

DEEPEST: Tier = "pages"
"""The deepest tier of a browser: values need pyarrow."""

Part = tuple[str, int, Callable[[int, int], bytes]]
"""A file: its name, its size and what reads a range of it."""


class Session:
    """One file to judge, and what lies beside it.

    Args:
        parts: The files; the first that is a ``_pm`` is judged, else the first of all.

    Attributes:
        name: The name of the file that is judged.
        kind: Its kind.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        sources = [CallableSource(name, size, read) for name, size, read in parts]
        if not sources:
            raise UsageError("no file was named")
        main = next((source for source in sources if judged_as(source.name) == "pm"), sources[0])
        self.source: Source = main
        self.name, self.kind = main.name, judged_as(main.name)
        self._sources = sources
        self._beside = {source.name: source for source in sources if source is not main}
        self._report: Report | None = None
        self._tier: Tier = DEEPEST

    @property
    def bytes_read(self) -> int:
        """How many bytes of all files were read so far."""
        return sum(source.bytes_read for source in self._sources)

    def judged(self, tier: Tier = DEEPEST) -> str:
        """Judge the file; the verdict and its findings as JSON."""
        self._tier = tier
        self._report = self._checked(self.source)
        return json.dumps({**self._told(self._report, self.source), "read": self.bytes_read})

    def report(self, form: str, site: str | None = None) -> str:
        """The last report as ``json`` or ``html``, with links to the rules' pages of a site."""
        if self._report is None:
            raise UsageError("nothing was judged yet")
        stream = io.StringIO()
        write_report(self._report, FormatName(form), stream, site)
        return stream.getvalue()

    def bytes_around(self, offset: int, length: int) -> str:
        """The rows around a place, each byte with the field that it belongs to, as JSON."""
        source = self.source
        start = max(offset // ROW - ROWS_AROUND, 0) * ROW
        end = min(
            (offset + min(length, ROWS_AROUND * ROW)) // ROW * ROW + (ROWS_AROUND + 1) * ROW, source.size
        )
        data = source.read(start, max(end - start, 0)) if start < source.size else b""
        fields = [] if self._too_great else [leaf for leaf in self._leaves if _meets(leaf, start, end)]
        shown = {"start": start, "hex": data.hex(), "fields": fields, "whole": not self._too_great}
        return json.dumps(shown)

    def fields(self) -> str:
        """What can be changed in this file, with its bytes where it has some, as JSON; ``why`` where nothing can be."""
        if self._too_great:
            limit = f"{MOST_BYTES >> 20} MiB"
            return json.dumps({"fields": [], "why": f"Files over {limit} are judged here, and not changed."})
        places = {leaf["path"]: leaf for leaf in self._leaves}
        paths = self._bench.paths
        known = [{**places.get(path, {"path": path}), "count": count} for path, count in paths.items()]
        return json.dumps({"fields": known, "why": "" if known else self._bench.trouble})

    def offers(self, path: str) -> str:
        """The changes that the grammar suggests for a field, as JSON."""
        return json.dumps(self._bench.offers(path))

    def changed(self, record: str) -> str:
        """Change one field, judge again and compare, as JSON.

        Args:
            record: The mutation, as golden cases hold it.

        Returns:
            ``error`` where it makes no sense; else the verdicts ``before`` and ``after``, rules that are broken since (``come``)
            and no longer (``gone``), and the ``difference`` of both files.
        """
        changed, why = self._bench.changed(record)
        if changed is None:
            return json.dumps({"error": why})
        before = self._report or self._checked(self.source)
        after = self._checked(BytesSource(changed, self.name))
        old, new = ({finding.rule for finding in one.files[0].findings} for one in (before, after))
        difference, trouble = bench.difference_of(self._bench.data, changed, self.kind)
        told = {
            "before": before.files[0].outcome,
            "after": self._told(after, BytesSource(changed, self.name)),
            "come": sorted(new - old),
            "gone": sorted(old - new),
            "difference": difference and members(difference),
            "trouble": trouble,
            "size": len(changed),
        }
        return json.dumps(told)

    def broken_file(self) -> bytes:
        """The bytes that the last change made."""
        return self._bench.last

    def _checked(self, source: Source) -> Report:
        beside = {**self._beside}
        return check(source, kind=self.kind, beside=beside, tier=self._tier, crc=self._tier == DEEPEST)

    def _told(self, report: Report, source: Source) -> dict[str, Any]:
        """The report as the page shows it: the same parts as the HTML report has."""
        shown, file = view(report), report.files[0]
        coverage = report.coverages[file.coverage]
        groups = [item for group in shown.groups for item in group.items]
        deeper = [rule for rule, why in coverage.reasons.items() if why.startswith("needs tier")]
        return {
            "name": encodable(self.name),
            "kind": self.kind,
            "size": source.size,
            "tier": coverage.tier,
            "outcome": file.outcome,
            "tone": shown.tone,
            "remarks": [encodable(line) for group in shown.groups for line in group.remarks],
            "findings": [_item(item, of) for item, of in zip(groups, file.findings, strict=True)],
            "checked": len(coverage.checked),
            "absent": len(coverage.not_applicable),
            "deeper": len(deeper),
        }

    @property
    def _too_great(self) -> bool:
        return self.source.size > MOST_BYTES

    @cached_property
    def _bench(self) -> bench.Bench:
        return bench.Bench(self.source.read(0, self.source.size), self.name)

    @cached_property
    def _leaves(self) -> Sequence[dict[str, Any]]:
        return [
            {
                "path": encodable(leaf.path),
                "offset": leaf.offset,
                "length": leaf.length,
                "value": encodable(show(leaf.value, leaf.label)),
                "doc": leaf.doc,
            }
            for leaf in bench.leaves(self.source, self.kind)
        ]


def _meets(leaf: dict[str, Any], start: int, end: int) -> bool:
    return bool(leaf["offset"] < end and leaf["offset"] + leaf["length"] > start)


def _item(item: Item, finding: Finding) -> dict[str, Any]:
    position: Position = finding.at[0]
    told = {
        "rule": item.rule,
        "verdict": item.verdict,
        "tone": item.tone,
        "part": item.part,
        "message": item.message,
        "sentence": item.sentence,
        "count": item.count,
        "details": [list(row) for row in item.details],
        "hexdump": item.hexdump,
        "further": item.further,
        "offset": position.offset,
        "length": position.length,
        "field": position.field,
    }
    plain: dict[str, Any] = members(told)
    return plain
