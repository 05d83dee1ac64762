"""The tables of recall: false facts that are found in files and table metadata, and the coverage of documents' sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from recall_answers import OF_FILES, OF_TABLES, SEVERAL, SHOWN, Kept, counts_by_writer, share_of_several
from recall_kinds import CASES
from table_recall_facts import TABLES, WRITERS
from upstream import Store

from pqassay_spec.rules.documents import SHORT, documents


def figures() -> dict[str, Any]:
    """The answers by writer; and by document, the number of sentences with rules, and with a reason why no rule tests them."""
    store, reasons, rows = Store.read(), Counter[str](), list[tuple[str | int, ...]]()
    for name, stored in store.documents.items():
        without = [row.reason for row in stored.sentences if row.reason]
        reasons.update(without)
        every, commit = len(stored.sentences), documents()[name].commit
        pinned = f"`{commit[:SHORT]}`" if commit else ""
        scope = ", sections that rules cite" if stored.scope else ""
        counts = (every, every - len(without), len(without))
        rows.append((f"{name}{scope}", pinned, f"`{stored.copy[:SHORT]}`", *counts))
    sentences = sum(len(stored.sentences) for stored in store.documents.values())
    return {
        "names": (*SHOWN, SEVERAL),
        "files": _answers(OF_FILES, list(CASES)) | {"damages": OF_FILES.damages},
        "tables": _answers(OF_TABLES, WRITERS) | {"number": len(TABLES)},
        "documents": rows,
        "sentences": sentences,
        "tested": sentences - reasons.total(),
        "reasons": [(store.reasons[key], count) for key, count in reasons.most_common()],
    }


def _answers(kept: Kept, writers: Sequence[str]) -> dict[str, Any]:
    found = kept.answers
    return {
        "mutants": sum(map(len, found.values())),
        "counts": counts_by_writer(found, kept.reasons, writers),
        "several": share_of_several(found),
    }
