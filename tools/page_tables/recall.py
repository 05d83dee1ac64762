"""Which false facts are found in files and in the metadata of tables, and what became of the sentences of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from recall_answers import Kept, by_writer, share_of_several
from recall_kinds import CASES
from recall_page import OF_FILES, OF_TABLES
from table_recall_facts import TABLES as GOOD_TABLES
from table_recall_facts import WRITERS
from upstream import Store

from page_tables import table
from pqassay_spec.rules.documents import SHORT, documents


def read() -> None:
    """Nothing is read here: `Kept` and `Store` read their own files."""


def files(_: None) -> Iterator[str]:
    """Answers about files, by writer."""
    count = sum(map(len, OF_FILES.found.values()))
    yield (
        f"{count:,} kinds of changes in the files of one writer were tried. Besides, {OF_FILES.damages:,} files with random damage were checked:"
        " none ended in an error of pqassay itself."
    )
    yield ""
    yield from _answers(OF_FILES, list(CASES), "Files of")


def tables(_: None) -> Iterator[str]:
    """Answers about the metadata of tables, by writer."""
    count = sum(map(len, OF_TABLES.found.values()))
    yield f"{count:,} kinds of changes in {len(GOOD_TABLES)} tables were tried, at one place of each table that has such a field."
    yield ""
    yield from _answers(OF_TABLES, list(WRITERS), "Tables of")


def _answers(kept: Kept, writers: Sequence[str], of: str) -> Iterator[str]:
    yield from by_writer(kept.found, kept.reasons, writers, of)
    yield f"{share_of_several(kept.found):.1%} of the kinds that FAIL are more than one finding at some place."


def sentences(_: None) -> Iterator[str]:
    """How many sentences of each document have rules, and how many a reason why none tests them."""
    store, rows = Store.read(), list[list[str]]()
    for name, stored in store.documents.items():
        without = sum(1 for row in stored.sentences if row.reason)
        every, commit = len(stored.sentences), documents()[name].commit
        pinned = f"`{commit[:SHORT]}`" if commit else ""
        scope = ", sections that rules cite" if stored.scope else ""
        counts = map(str, (every, every - without, without))
        rows.append([f"{name}{scope}", pinned, f"`{stored.copy[:SHORT]}`", *counts])
    reasons = _reasons(store).total()
    total = sum(len(stored.sentences) for stored in store.documents.values())
    share = f"{total - reasons:,} ({(total - reasons) / total:.0%})"
    rows.append(["all", "", "", f"{total:,}", share, f"{reasons:,}"])
    yield from table(("Document", "Pinned", "Read at", "Sentences", "With rules", "With a reason"), rows)


def reasons(_: None) -> Iterator[str]:
    """Why no rule tests a sentence, the most frequent reason first."""
    store = Store.read()
    counted = _reasons(store).most_common()
    yield from table(("Reason", "Sentences"), ([store.reasons[key], str(count)] for key, count in counted))


def _reasons(store: Store) -> Counter[str]:
    return Counter(
        row.reason for stored in store.documents.values() for row in stored.sentences if row.reason
    )


TABLES = {
    "recall of files": files,
    "recall of tables": tables,
    "sentences of documents": sentences,
    "reasons for sentences": reasons,
}
