"""The page ``docs/recall.md``: which false facts are found in files, and in the metadata of tables.

`recall` and `table_recall` measure; what they found is stored in ``docs/data``, beside the reasons why some is not found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from recall_answers import (
    Kept,
    by_writer,
    share_of_several,
)
from recall_kinds import CASES
from table_recall_facts import TABLES, WRITERS
from upstream import Store

from pqassay_spec.rules.documents import SHORT, documents

PAGE = "docs/recall.md"

OF_FILES, OF_TABLES = Kept("recall"), Kept("table_recall")
"""What is stored of files, and of the metadata of tables."""

HEAD = """# What is found, and what is not

A judge of files is worth what it finds. This page is made by `make recall`, which puts one false fact at a time into
files that are good: every field of every structure gets a value that is false, is removed, doubled, or changes places with
another, in files of {writers}. The grammar that the judge reads files by says which fields there are, so that none is
forgotten. What no field holds is made false as well: runs, differences and moments inside pages, the form in which a page is compressed, and
values, keys and filters that the golden cases make false. Each file is checked at tier `values`, and what is reported beyond what the good file has counts as
found.

{mutants:,} kinds of changes in the files of one writer were tried. Where a kind was tried at several places of them, its **weakest** answer
counts. Besides, {damages:,} files with random damage were checked: none ended in an error of pqassay itself.

| Answer | Meaning |
| --- | --- |
| FAIL | the change is found, and the file is nonconformant or untrue |
| errored | pqassay says that the file cannot be judged, and why |
| WARN, POLICY, INFO | the change is found, and the file stays conformant |
| not checked | a rule that was checked before is now named as not checked |
| valid | nothing is found, and nothing is to be found: the changed file is valid, too |
| unseen | the change is not found, though the file is no longer true |

One change should be one finding: where it breaks several rules, one of them speaks for all. *Several findings* counts the changes after which
more than one rule is reported as FAIL; a table and each of its files have reports of their own.

"""

SEVERAL = "{share:.1%} of the kinds that FAIL are more than one finding at some place.\n"

EVERY = """## Every field

What was done to each field, which rules report it, how many findings one change causes at most, and why some changes are not found.
Begin with <a href="?answer=unseen#every-field">what is not found</a>.

<!-- recall -->
"""


TABLES_HEAD = """## Tables by writer

The same was done to the metadata of {tables} good Delta and Iceberg tables, those of pqassay-ref and those that Spark wrote: each member of commits, checkpoints, version checksums and
metadata files, each field of manifest lists and manifests and what their headers say, and the footers of Puffin files. Columns of schemas also get other types, names in
capitals, a twin, and one beside them that no file has and that cannot be null; rows of data files become those of golden tables. {mutants:,} kinds of changes in the tables of one writer and format were
tried, at one place of each table that has such a field, and the weakest answer counts. `python tools/table_recall.py` makes this part.
"""

SENTENCES_HEAD = """## Sentences of the documents

Rules come from sentences of documents that say *must*, *should*, *required*, *not allowed* or the like. Each such sentence of the documents below was read: it has rules that test it, or a
reason why none does. `docs/data/upstream.json` lists them by heading, number and digest. `make upstream` compares the list with a newer text. Where the pinned commit itself was not at hand, the
sentences are from the copy that is named. Only the sections that rules cite are listed of some documents, with what is below them. Documents that are missing here were not read in this way yet.

| Document | Pinned | Read at | Sentences | With rules | With a reason |
| --- | --- | --- | --- | --- | --- |"""

REASONS_HEAD = """
| Reason | Sentences |
| --- | --- |"""


def contents() -> dict[str, str]:
    """The text of the page."""
    found, given, writers = OF_FILES.found, OF_FILES.reasons, list(CASES)
    words = f"{', '.join(writers[:-1])} and {writers[-1]}"
    head = HEAD.format(writers=words, mutants=sum(map(len, found.values())), damages=OF_FILES.damages)
    lines = [head.rstrip("\n"), "", "## By writer", "", *by_writer(found, given, writers, "Files of")]
    lines += [SEVERAL.format(share=share_of_several(found)), *_of_tables(), EVERY, *_of_sentences()]
    return {PAGE: "\n".join(lines) + "\n"}


def _of_sentences() -> Iterator[str]:
    """What became of the sentences that demand something, by document, and the reasons."""
    store, reasons = Store.read(), Counter[str]()
    yield SENTENCES_HEAD
    for name, stored in store.documents.items():
        without = [row.reason for row in stored.sentences if row.reason]
        reasons.update(without)
        all_of_it, commit = len(stored.sentences), documents()[name].commit
        pinned, copy = f"`{commit[:SHORT]}`" if commit else "", f"`{stored.copy[:SHORT]}`"
        scope = ", sections that rules cite" if stored.scope else ""
        yield f"| {name}{scope} | {pinned} | {copy} | {all_of_it} | {all_of_it - len(without)} | {len(without)} |"
    all_of_them = sum(len(stored.sentences) for stored in store.documents.values())
    tested = all_of_them - reasons.total()
    yield f"| all | | | {all_of_them:,} | {tested:,} ({tested / all_of_them:.0%}) | {reasons.total():,} |"
    yield REASONS_HEAD
    for key, count in reasons.most_common():
        yield f"| {store.reasons[key]} | {count} |"


def _of_tables() -> Iterator[str]:
    found, given, writers = OF_TABLES.found, OF_TABLES.reasons, list(WRITERS)
    head = TABLES_HEAD.format(tables=len(TABLES), mutants=sum(map(len, found.values())))
    yield from head.split("\n")
    yield from by_writer(found, given, writers, "Tables of")
    yield SEVERAL.format(share=share_of_several(found))
