"""A page for each golden table: the false claim, its bytes, the answers of engines, and its files."""

from __future__ import annotations

from collections.abc import Iterator

from pages.cases.byte_changes import Changed, Comparison, changed_in, comparison_of, fields_of
from pages.cases.case_pages import MOST_FIELDS, MOST_SIBLINGS, siblings, summary, verdict
from pages.cases.hex_view import HexView
from pages.implementations.matrix import catalogue_title
from pages.page import File, Page, Site, case_boost, case_file, case_page
from pages.places import GOLDEN_FILES
from pages.tables.engine_answers import SILENT, engines_of
from pages.tables.golden_tables import (
    Table,
    archive,
    archive_name,
    changed_file,
    command,
    findings,
    in_folder,
    is_compared,
    is_metadata,
    kind_of_table,
    mutation_sentence,
    sizes,
)
from pages.tables.lessons import trials_of
from pqassay_spec.golden.table_case import TABLE_FOLDER, TABLE_MANIFEST
from pqassay_spec.rules import catalogue


def pages(site: Site) -> Iterator[Page]:
    """Yield the page of every golden table."""
    for table in site.tables.values():
        yield page_of(table, site)


def files(site: Site) -> Iterator[File]:
    """Yield every file of every golden table, and each table as an archive."""
    for table in site.tables.values():
        folder = GOLDEN_FILES / table["id"]
        for name in [TABLE_MANIFEST, *(in_folder(one["file"]) for one in table["files"])]:
            yield File(case_file(table["id"], name), folder / name)
        yield File(archive_file(table), archive(table))


def archive_file(table: Table) -> str:
    """The path of a golden table's archive in the site."""
    return case_file(table["id"], archive_name(table))


def page_of(table: Table, site: Site) -> Page:
    """The page of a golden table."""
    path = case_page(table["id"])
    body = _body(table, path, site) if site.shows(path) else ""
    title, words = f"{table['id']}: {table['title']}", " ".join(table["rules"])
    return Page(path, title, summary(table), body, words, case_boost(table["id"]))


def _body(table: Table, path: str, site: Site) -> str:
    rules = [catalogue.rules()[rule] for rule in table["rules"]]
    trials = trials_of(table["id"], site)
    return site.render(
        "table.html",
        path,
        it=table,
        kind=kind_of_table(table),
        family=catalogue_title(table["family"]),
        rules=rules,
        verdict=verdict(rules),
        mutation=mutation_sentence(table) if "mutation" in table else "",
        changed=changed(table, MOST_FIELDS),
        found=compared.difference if (compared := _comparison(table)) else None,
        command=command(table),
        findings=findings(table["id"], table["tier"]),
        views=list(views(table)),
        trials=trials,
        engines=engines_of(trials),
        could_be_asked=any(rule.could in SILENT for rule in rules),
        sizes=sizes(table),
        archive=archive_file(table),
        siblings=siblings(table, site),
        most_siblings=MOST_SIBLINGS,
        in_folder=in_folder,
        changed_file=changed_file(table),
        folder=TABLE_FOLDER,
    )


def _comparison(table: Table) -> Comparison | None:
    """The comparison of a table with its parent; ``None`` without a parent, or if a file is missing."""
    if not is_compared(table):
        return None
    return comparison_of(table["parent"], table["id"], in_folder(table["mutation"]["file"]))


def changed(table: Table, most: int) -> Changed | None:
    """The fields in which a table differs from its parent; ``None`` without a parent, or if a file is missing."""
    found = _comparison(table)
    if found is None:
        return None
    change = table["mutation"]
    path = f"lines[{change['line']}].{change['path']}" if "line" in change and "path" in change else ""
    return changed_in(found, change["file"], path, most)


def views(table: Table) -> Iterator[HexView]:
    """Yield the hex view of the changed file; for a table without parent, the views of all its metadata."""
    if (found := _comparison(table)) is not None:
        yield found.view(table["mutation"]["file"])
    elif "mutation" not in table:
        for number, (name, _) in enumerate(sizes(table)):
            if is_metadata(name):
                fields = fields_of(table["id"], in_folder(name))
                yield HexView(name, fields, prefix=f"o{number}" if number else "")
