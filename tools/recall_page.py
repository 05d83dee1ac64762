"""The page ``docs/recall.md``: which false facts are found in files, and in the metadata of tables.

`recall` and `table_recall` measure; what they found is stored in ``docs/data``, beside the reasons why some is not found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from page_tables import rendered
from recall_answers import SEVERAL, SHOWN, Kept, counts_by_writer, share_of_several
from recall_kinds import CASES
from table_recall_facts import TABLES, WRITERS
from upstream import Store

from pqassay_spec.rules.documents import SHORT, documents

PAGE = "docs/recall.md"

OF_FILES, OF_TABLES = Kept("recall"), Kept("table_recall")
"""What is stored of files, and of the metadata of tables."""


def contents() -> dict[str, str]:
    """The text of the page."""
    store, reasons, rows = Store.read(), Counter[str](), list[tuple[str | int, ...]]()
    for name, stored in store.documents.items():
        without = [row.reason for row in stored.sentences if row.reason]
        reasons.update(without)
        every, commit = len(stored.sentences), documents()[name].commit
        pinned, scope = (
            f"`{commit[:SHORT]}`" if commit else "",
            ", sections that rules cite" if stored.scope else "",
        )
        rows.append(
            (f"{name}{scope}", pinned, f"`{stored.copy[:SHORT]}`", every, every - len(without), len(without))
        )
    sentences = sum(len(stored.sentences) for stored in store.documents.values())
    shown = {
        "names": (*SHOWN, SEVERAL),
        "files": _told(OF_FILES, list(CASES)) | {"damages": OF_FILES.damages},
        "tables": _told(OF_TABLES, WRITERS) | {"number": len(TABLES)},
        "documents": rows,
        "sentences": sentences,
        "tested": sentences - reasons.total(),
        "reasons": [(store.reasons[key], count) for key, count in reasons.most_common()],
    }
    return {PAGE: rendered("recall.md", shown)}


def _told(kept: Kept, writers: Sequence[str]) -> dict[str, Any]:
    found = kept.found
    return {
        "writers": writers,
        "mutants": sum(map(len, found.values())),
        "counts": counts_by_writer(found, kept.reasons, writers),
        "several": share_of_several(found),
    }
