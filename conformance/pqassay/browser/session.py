"""A session of the page: the files that were dropped or opened, judged, shown and changed.

>>> session = Session([("data.parquet", 4, lambda offset, length: b"oops"[offset : offset + length])])
>>> json.loads(session.judged("footer"))["outcome"]
'nonconformant'
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pqassay.browser.bench import Bench
from pqassay.browser.recognised import not_judged
from pqassay.browser.tree import Node
from pqassay.errors import UsageError
from pqassay.judge.checker import check
from pqassay.report.formats import FormatName
from pqassay.report.json_form import encodable, members
from pqassay.report.model import Finding, Position, Report
from pqassay.report.rendering import write_report
from pqassay.report.view import view
from pqassay.report.view_model import Item
from pqassay.stores.kinds import judged_as
from pqassay_spec.base.sources import BytesSource, CallableSource, Source
from pqassay_spec.grammar.hexdump import ROW
from pqassay_spec.parquet.other_files import HEAD_LENGTH
from pqassay_spec.pm import grammar as pm
from pqassay_spec.rules.catalogue import Tier

MOST_BYTES = 2 << 20
"""The largest file, in bytes, whose fields are shown and can be changed: memory holds several copies of everything."""

MOST_NODES = 200
"""The number of nodes of the tree of fields that are sent at once."""

ROWS_AROUND = 4
"""The number of hexdump rows shown before and after the bytes of a finding."""

DEEPEST: Tier = "pages"
"""The deepest tier in a browser: the tier ``values`` needs pyarrow."""

Part = tuple[str, int, Callable[[int, int], bytes]]
"""A file: its name, its size, and the function that reads a range of it."""


class Session:
    """One file to judge, with the files beside it.

    Args:
        parts: The files. The first ``_pm`` file is judged, else the first file.

    Attributes:
        name: The name of the file that is judged.
        kind: Its kind.

    Raises:
        UsageError: There are no files, or the file cannot be judged alone.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        sources = [CallableSource(name, size, read) for name, size, read in parts]
        if not sources:
            raise UsageError("no file was named")
        main = next((source for source in sources if judged_as(source.name) == "pm"), sources[0])
        self.source: Source = main
        self.name, self.kind = main.name, judged_as(main.name)
        why = not_judged(encodable(self.name), main.read(0, min(HEAD_LENGTH, main.size)))
        if why is not None:
            raise UsageError(why)
        self._sources = sources
        self._beside = {source.name: source for source in sources if source is not main}
        self._benches: dict[str, Bench] = {}
        self._report: Report | None = None
        self._tier: Tier = DEEPEST

    @property
    def files(self) -> Sequence[str]:
        """The names of the files that can be changed: the judged file, and the data file of a ``_pm``."""
        data = [pm.DATA_NAME] if self.kind == "pm" and pm.DATA_NAME in self._beside else []
        return [self.name, *data]

    @property
    def bytes_read(self) -> int:
        """The number of bytes read so far from all files."""
        return sum(source.bytes_read for source in self._sources)

    def judged(self, tier: Tier = DEEPEST) -> str:
        """Judge the file; return the verdict and its findings as JSON."""
        self._tier = tier
        self._report = self._checked()
        told = self._told(self._report, self.source)
        return json.dumps({**told, "read": self.bytes_read, "files": self.files})

    def report(self, form: str, site: str | None = None) -> str:
        """The last report as ``json`` or ``html``, with links to the rules' pages of a site."""
        return written(self._report, form, site)

    def bytes_around(self, offset: int, length: int) -> str:
        """The hexdump rows around a place as JSON, each byte with its field."""
        source = self.source
        start = max(offset // ROW - ROWS_AROUND, 0) * ROW
        end = min(
            (offset + min(length, ROWS_AROUND * ROW)) // ROW * ROW + (ROWS_AROUND + 1) * ROW, source.size
        )
        data = source.read(start, max(end - start, 0)) if start < source.size else b""
        laid = self._on_bench(self.name)
        fields = [leaf for leaf in laid.leaves if _meets(leaf, start, end)]
        shown = {"start": start, "hex": data.hex(), "fields": fields, "whole": not laid.is_too_great}
        return json.dumps(shown)

    def level(self, path: str, name: str, start: int = 0) -> str:
        """A level of the tree of fields of a file, as JSON: ``nodes``, how many ``more`` there are, and ``why`` there are none.

        Args:
            path: The path of the opened node; empty for the whole file.
            name: The name of the file, one of ``files`` in the result of ``judged``.
            start: The number of nodes of the level that were sent before.
        """
        laid = self._on_bench(name)
        nodes = list(laid.tree.below(path))
        shown = [laid.told(node) for node in nodes[start : start + MOST_NODES]]
        more = max(len(nodes) - start - MOST_NODES, 0)
        return json.dumps({"nodes": shown, "more": more, "why": "" if nodes else laid.trouble})

    def search(self, words: str, name: str) -> str:
        """The fields of a file whose paths contain all the words, in the form that ``level`` returns."""
        laid = self._on_bench(name)
        paths = list(laid.tree.found(words.split()))
        shown = [laid.told(Node(path, path, 1, True, False)) for path in paths[:MOST_NODES]]
        return json.dumps({"nodes": shown, "more": max(len(paths) - MOST_NODES, 0), "why": ""})

    def offers(self, path: str, name: str) -> str:
        """The changes that the grammar suggests for a field of a file, as JSON."""
        return json.dumps(self._on_bench(name).offers(path))

    def changed(self, record: str, name: str) -> str:
        """Change one field of a file, judge again, and return the comparison as JSON.

        Args:
            record: The mutation, in the form of golden cases.
            name: The name of the changed file. The session's file is judged, and with a ``_pm`` also its data file.

        Returns:
            ``error`` if the change is impossible. Otherwise the verdicts ``before`` and ``after``, the rules
            that are newly broken (``come``) and no longer broken (``gone``), and the ``difference`` of the
            file.
        """
        laid = self._on_bench(name)
        changed, why = laid.changed(record)
        if changed is None:
            return json.dumps({"error": why or laid.trouble})
        before = self._report or self._checked()
        after = self._checked({name: BytesSource(changed, name)})
        old, new = ({finding.rule for finding in one.files[0].findings} for one in (before, after))
        difference, trouble = laid.difference()
        answer = {
            "before": before.files[0].outcome,
            "after": self._told(after, BytesSource(changed, name) if name == self.name else self.source),
            "come": sorted(new - old),
            "gone": sorted(old - new),
            "difference": difference and members(difference),
            "trouble": trouble,
            "size": len(changed),
        }
        return json.dumps(answer)

    def broken_file(self, name: str) -> bytes:
        """The bytes of a file after the last change."""
        return self._on_bench(name).last

    def _on_bench(self, name: str) -> Bench:
        """The bench of a file, created on first use.

        Raises:
            UsageError: The session does not have the file.
        """
        if name not in self._benches:
            source = next((one for one in self._sources if one.name == name), None)
            if source is None:
                raise UsageError(f"there is no file {encodable(name)}")
            data = source.read(0, source.size) if source.size <= MOST_BYTES else None
            self._benches[name] = Bench(data, name)
        return self._benches[name]

    def _checked(self, instead: Mapping[str, Source] = MappingProxyType({})) -> Report:
        beside = {name: instead.get(name, source) for name, source in self._beside.items()}
        source = instead.get(self.name, self.source)
        return check(source, kind=self.kind, beside=beside, tier=self._tier, crc=self._tier == DEEPEST)

    def _told(self, report: Report, source: Source) -> dict[str, Any]:
        """The report as the page shows it, with the same parts as the HTML report."""
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
            "findings": [item_told(item, of) for item, of in zip(groups, file.findings, strict=True)],
            "checked": len(coverage.checked),
            "absent": len(coverage.not_applicable),
            "deeper": len(deeper),
        }


def _meets(leaf: dict[str, Any], start: int, end: int) -> bool:
    return bool(leaf["offset"] < end and leaf["offset"] + leaf["length"] > start)


def written(report: Report | None, form: str, site: str | None) -> str:
    """A report as ``json`` or ``html``. Raises `UsageError` if there is none yet."""
    if report is None:
        raise UsageError("nothing was judged yet")
    stream = io.StringIO()
    write_report(report, FormatName(form), stream, site)
    return stream.getvalue()


def item_told(item: Item, finding: Finding) -> dict[str, Any]:
    """A finding as the page shows it."""
    position: Position = finding.at[0]
    members_of = {
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
    plain: dict[str, Any] = members(members_of)
    return plain
